/* SPDX-License-Identifier: MIT */
/*
 * SQLite, loaded when a recording is made or read. Its functions are called through the table that
 * it hands to extensions (sqlite.org/loadext.html): an automatic extension gets the address of that
 * when the first database is opened.
 */
#include <string.h>

#include "cli/library.h"
#include "cli/log.h"
#include "cli/store/internal.h"

#define SQLITE_SONAME "libsqlite3.so.0"
#define SQLITE_OLDEST 3036000 /* sqlite3_serialize() is in the table since then */

const sqlite3_api_routines *sqlite3_api;

static int table_take(sqlite3 *handle, char **message, const sqlite3_api_routines *table)
{
	(void)handle;
	(void)message;
	sqlite3_api = table;
	return SQLITE_OK;
}

int store_sqlite(void)
{
	int (*automatic)(void (*)(void)) = NULL, (*cancel)(void (*)(void)) = NULL, (*number)(void) = NULL;
	int (*open)(const char *, sqlite3 **, int, const char *) = NULL, (*close)(sqlite3 *) = NULL;
	const struct library_function functions[] = {
		{ "sqlite3_auto_extension", &automatic },
		{ "sqlite3_cancel_auto_extension", &cancel },
		{ "sqlite3_libversion_number", &number },
		{ "sqlite3_open_v2", &open },
		{ "sqlite3_close", &close },
	};
	sqlite3 *handle = NULL;

	if (sqlite3_api)
		return 0;
	if (!library_load(SQLITE_SONAME, functions, ARRAY_SIZE(functions)))
		return error("recordings need SQLite: %s", library_problem());
	if (number() < SQLITE_OLDEST)
		return error("recordings need SQLite 3.36 or later, here is %d.%d", number() / 1000000, number() / 1000 % 1000);
	automatic((void (*)(void))(uintptr_t)table_take);
	open(":memory:", &handle, SQLITE_OPEN_READWRITE, NULL);
	close(handle);
	cancel((void (*)(void))(uintptr_t)table_take);
	return sqlite3_api ? 0 : error("recordings need an SQLite that can load extensions");
}
