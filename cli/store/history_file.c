/* SPDX-License-Identifier: MIT */
/* The file of a history: whose it is, its tables, its lock; see history.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/store/history_build.h"

const char *const history_tables[] = { "text", "command", "run", "field", "line", "metric", "value", NULL };

static const char schema[] =
	"CREATE TABLE text (id INTEGER PRIMARY KEY, text UNIQUE NOT NULL);"
	"CREATE TABLE command (id INTEGER PRIMARY KEY, text UNIQUE NOT NULL);"
	"CREATE TABLE run (id INTEGER PRIMARY KEY, command INTEGER NOT NULL, started_ns INTEGER, duration_ns INTEGER,"
	" status INTEGER, signal INTEGER, unfinished INTEGER);"
	"CREATE INDEX run_of ON run (command, started_ns);"
	"CREATE TABLE field (run INTEGER, name TEXT, text INTEGER, PRIMARY KEY (run, name)) WITHOUT ROWID;"
	"CREATE TABLE line (id INTEGER PRIMARY KEY, kind TEXT, parent INTEGER NOT NULL, name NOT NULL, origin NOT NULL,"
	" unit TEXT, diagnostic INTEGER, UNIQUE (kind, parent, name, origin));"
	"CREATE TABLE metric (id INTEGER PRIMARY KEY, kind TEXT, name NOT NULL, unit TEXT, format TEXT, diagnostic INTEGER,"
	" UNIQUE (kind, name));"
	"CREATE TABLE value (run INTEGER, line INTEGER, metric INTEGER, value REAL, state TEXT, user INTEGER,"
	" PRIMARY KEY (run, line, metric)) WITHOUT ROWID;"
	/* For people. */
	"CREATE VIEW lines AS WITH RECURSIVE deep(id, text) AS ("
	"  SELECT id, CASE kind WHEN 'total' THEN name ELSE '[]' END FROM line WHERE parent = 0"
	"  UNION ALL SELECT line.id, CASE deep.text WHEN '[]' THEN '' ELSE deep.text || ';' END || line.name"
	"  FROM deep JOIN line ON line.parent = deep.id)"
	" SELECT id, text FROM deep;"
	"CREATE VIEW history AS SELECT command.text AS command, run.id AS run,"
	" datetime(run.started_ns / 1000000000, 'unixepoch') AS started, line.kind AS kind, lines.text AS path,"
	" metric.name AS metric, coalesce(line.unit, metric.unit) AS unit, value.value AS value, value.state AS state"
	" FROM value JOIN run ON run.id = value.run JOIN command ON command.id = run.command"
	" JOIN line ON line.id = value.line JOIN lines ON lines.id = line.id JOIN metric ON metric.id = value.metric;";

/* ---- whose it is ----------------------------------------------------------------------------------- */

static int foreign(int fd, const char *path)
{
	enum store_file_kind kind = store_kind(fd);

	if (kind == STORE_FILE_HISTORY)
		return 0;
	return kind == STORE_FILE_RECORDING ?
	       error("%s is a recording, not a history, which is made by run --history", path) :
	       error("%s is not a history, so it is left alone", path);
}

/* A file that is there and could be somebody's is looked at before SQLite is. 1: it is empty, or not there. */
static int history_former(const char *path, bool writing)
{
	struct stat st;
	int fd, ret;

	if (writing && lstat(path, &st))
		return errno == ENOENT ? 1 : error("cannot add to the history %s: %s", path, strerror(errno));
	if (writing && S_ISLNK(st.st_mode))
		return error("cannot add to the history %s: it is a symbolic link; name the file itself", path);
	if (writing && !S_ISREG(st.st_mode))
		return error("cannot add to the history %s: it is no regular file", path);
	fd = open(path, (writing ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK | (writing ? O_NOFOLLOW : 0));
	if (fd < 0)
		return error("cannot %s the history %s: %s", writing ? "add to" : "read", path, strerror(errno));
	ret = fstat(fd, &st) ? error("cannot read the history %s: %s", path, strerror(errno)) :
	      !S_ISREG(st.st_mode) ? error("%s is not a history", path) : !st.st_size ? 1 : foreign(fd, path);
	close(fd);
	return ret;
}

/* For its owner alone, as a recording is; somebody else may have been quicker. */
static int make_empty(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno == EEXIST ? 0 : error("cannot make the history %s: %s", path, strerror(errno));
	close(fd);
	return 0;
}

/* ---- SQLite ---------------------------------------------------------------------------------------- */

int history_failed(struct store_db *db)
{
	int code = db->handle ? sqlite3_extended_errcode(db->handle) : SQLITE_NOMEM;

	if (!db->failed && (code & 0xff) == SQLITE_BUSY)
		db->failed = error("the history %s is locked: it stays in use by another process", db->path) != 0;
	else if (!db->failed && (code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY))
		db->failed = error("the history %s was left by a sparkctl that was killed: nobody can read it before somebody has "
				   "who may write it and its folder", db->path) != 0;
	else if (!db->failed && ((code & 0xff) == SQLITE_READONLY || (code & 0xff) == SQLITE_CANTOPEN))
		db->failed = error("cannot write the history %s: neither it nor its folder may be read-only", db->path) != 0;
	else
		store_failed(db);
	return -1;
}

int history_run_sql(struct store_db *db, const char *sql)
{
	return db->failed || sqlite3_exec(db->handle, sql, NULL, NULL, NULL) != SQLITE_OK ? history_failed(db) : 0;
}

static int number_row(void *context, sqlite3_stmt *row)
{
	*(s64 *)context = sqlite3_column_int64(row, 0);
	return 0;
}

static int check_version(struct store_db *db)
{
	struct store_reader reader = { .db = *db };
	s64 application = 0, version = 0;

	if (store_each(db, "PRAGMA application_id", number_row, &application) ||
	    store_each(db, "PRAGMA user_version", number_row, &version))
		return -1;
	if (application != HISTORY_APPLICATION)
		return error("%s is not a history, so it is left alone", db->path);
	if (version != HISTORY_VERSION)
		return error("%s has version %lld of the format, this sparkctl knows version %d: use the one that wrote it",
			     db->path, (long long)version, HISTORY_VERSION);
	for (size_t i = 0; history_tables[i]; i++) {
		int has = read_has_table(&reader, history_tables[i]);

		if (has <= 0)
			return has ? -1 : error("%s is damaged: it has no table %s", db->path, history_tables[i]);
	}
	return 0;
}

/* In a transaction that is open: of two that come at once the second one finds the tables. */
static int make_tables(struct store_db *db)
{
	char sql[96];
	s64 tables = 0;

	if (store_each(db, "SELECT count(*) FROM sqlite_schema", number_row, &tables) || tables)
		return db->failed ? -1 : 0;
	snprintf(sql, sizeof(sql), "PRAGMA application_id = %d; PRAGMA user_version = %d", HISTORY_APPLICATION,
		 HISTORY_VERSION);
	return history_run_sql(db, schema) || history_run_sql(db, sql);
}

static int database_open(struct store_db *db, int flags, int wait_ms)
{
	char *path = NULL;
	int code;

	/* SQLite has names of its own, such as :memory:. */
	if (asprintf(&path, "%s%s", db->path[0] == '/' ? "" : "./", db->path) < 0)
		return error("out of memory for the history");
	code = sqlite3_open_v2(path, &db->handle, flags | SQLITE_OPEN_NOMUTEX, NULL);
	free(path);
	if (code != SQLITE_OK)
		return history_failed(db);
	sqlite3_busy_timeout(db->handle, wait_ms);
	return history_run_sql(db, "PRAGMA trusted_schema = OFF");
}

int history_open_write(struct store_db *db, int wait_ms)
{
	if (store_sqlite() || history_former(db->path, true) < 0 || make_empty(db->path) ||
	    database_open(db, SQLITE_OPEN_READWRITE, wait_ms) || history_run_sql(db, "BEGIN IMMEDIATE") || make_tables(db) ||
	    check_version(db))
		return -1;
	return 0;
}

/* The first look takes the lock, and undoes what a writer that was killed has left in the file. */
#define BEGIN_READ "BEGIN; SELECT count(*) FROM sqlite_schema"

int history_open_read(struct store_db *db)
{
	int former = store_sqlite() ? -1 : history_former(db->path, false);

	if (former)
		return former < 0 ? -1 : error("%s is empty, and no history", db->path);
	if (database_open(db, SQLITE_OPEN_READONLY, HISTORY_WAIT_MS))
		return -1;
	if (sqlite3_exec(db->handle, BEGIN_READ, NULL, NULL, NULL) != SQLITE_OK) {
		/* A journal was left that only who may write can play back. */
		if ((sqlite3_extended_errcode(db->handle) & 0xff) != SQLITE_READONLY)
			return history_failed(db);
		sqlite3_close(db->handle);
		db->handle = NULL;
		if (database_open(db, SQLITE_OPEN_READWRITE, HISTORY_WAIT_MS) || history_run_sql(db, BEGIN_READ))
			return -1;
	}
	return check_version(db);
}

void history_outlive_limit(struct sigaction *before)
{
	sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, before);
}

int store_history_check(const char *path)
{
	struct store_db db = { .path = path };
	struct sigaction before;
	char sql[64];
	int err;

	history_outlive_limit(&before);
	/* Something has to be written for SQLite to find that nothing can be. */
	snprintf(sql, sizeof(sql), "PRAGMA user_version = %d; COMMIT", HISTORY_VERSION);
	err = history_open_write(&db, HISTORY_WAIT_MS) || history_run_sql(&db, sql);
	sqlite3_close(db.handle);
	sigaction(SIGXFSZ, &before, NULL);
	return err ? -1 : 0;
}
