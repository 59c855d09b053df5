/* SPDX-License-Identifier: MIT */
/* The few ways in which we use SQLite. */
#include <stdarg.h>
#include <string.h>

#include "cli/log.h"
#include "cli/store/internal.h"
#include "cli/text.h"

int store_failed(struct store_db *db)
{
	int code = db->handle ? sqlite3_errcode(db->handle) : SQLITE_NOMEM;

	if (!db->failed && (code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR))
		error("%s is damaged: %s", db->path, sqlite3_errmsg(db->handle));
	else if (!db->failed)
		error("%s: %s", db->path, db->handle ? sqlite3_errmsg(db->handle) : "out of memory");
	db->failed = true;
	return -1;
}

sqlite3_stmt *store_prepare(struct store_db *db, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	if (!db->failed && sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL) != SQLITE_OK)
		store_failed(db);
	return statement;
}

static bool text_is_utf8(const char *bytes, size_t len)
{
	unsigned int code;
	size_t i, n;

	for (i = 0; i < len; i += n) {
		n = text_decode(bytes + i, len - i, &code);
		/* SQL text ends at the first NUL for most readers. */
		if (!n || !code)
			return false;
	}
	return true;
}

static int bind_bytes(sqlite3_stmt *statement, int at, const char *bytes, size_t len)
{
	if (text_is_utf8(bytes, len))
		return sqlite3_bind_text64(statement, at, bytes, len, SQLITE_STATIC, SQLITE_UTF8);
	return sqlite3_bind_blob64(statement, at, bytes, len, SQLITE_STATIC);
}

static int bind_next(sqlite3_stmt *statement, int at, char type, va_list *args)
{
	const char *text;
	s64 number;
	size_t len;

	switch (type) {
	case 'i':
	case 'n':
	case 'm':
		number = va_arg(*args, s64);
		if ((type == 'n' && !number) || (type == 'm' && number < 0))
			return sqlite3_bind_null(statement, at);
		return sqlite3_bind_int64(statement, at, number);
	case 'r':
		return sqlite3_bind_double(statement, at, va_arg(*args, double));
	case 't':
		text = va_arg(*args, const char *);
		return text ? bind_bytes(statement, at, text, strlen(text)) : sqlite3_bind_null(statement, at);
	default:
		text = va_arg(*args, const char *);
		len = va_arg(*args, size_t);
		if (type == 's')
			return bind_bytes(statement, at, text, len);
		return len ? sqlite3_bind_blob64(statement, at, text, len, SQLITE_STATIC)
			   : sqlite3_bind_null(statement, at);
	}
}

/* Binds what types say. Nothing is done where something went wrong before. */
static void bind_all(struct store_db *db, sqlite3_stmt *statement, const char *types, va_list *args)
{
	for (int at = 1; types[at - 1]; at++)
		if (!db->failed && bind_next(statement, at, types[at - 1], args) != SQLITE_OK)
			store_failed(db);
}

void store_put(struct store_db *db, sqlite3_stmt *statement, const char *types, ...)
{
	va_list args;

	if (db->failed || !statement)
		return;
	va_start(args, types);
	bind_all(db, statement, types, &args);
	va_end(args);
	if (!db->failed && sqlite3_step(statement) != SQLITE_DONE)
		store_failed(db);
	sqlite3_reset(statement);
}

s64 store_put_id(struct store_db *db, sqlite3_stmt *statement, const char *types, ...)
{
	va_list args;
	s64 id = 0;

	if (db->failed || !statement)
		return 0;
	va_start(args, types);
	bind_all(db, statement, types, &args);
	va_end(args);
	if (!db->failed && sqlite3_step(statement) == SQLITE_ROW)
		id = sqlite3_column_int64(statement, 0);
	else
		store_failed(db);
	/* A row that is returned before the statement is at its end is stored when it is. */
	if (!db->failed && sqlite3_step(statement) != SQLITE_DONE)
		store_failed(db);
	sqlite3_reset(statement);
	return id;
}

int store_each(struct store_db *db, const char *sql, int (*row)(void *context, sqlite3_stmt *statement), void *context)
{
	sqlite3_stmt *statement = store_prepare(db, sql);
	int code = SQLITE_DONE;

	while (statement && !db->failed && (code = sqlite3_step(statement)) == SQLITE_ROW)
		if (row(context, statement))
			db->failed = true;
	if (code != SQLITE_DONE && code != SQLITE_ROW)
		store_failed(db);
	sqlite3_finalize(statement);
	return db->failed ? -1 : 0;
}
