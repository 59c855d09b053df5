/* SPDX-License-Identifier: MIT */
/* The storage of a run, and the page cache that its command found: tables of recordings that know of it. */
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/store/read.h"

static const char storage_schema[] =
	"CREATE TABLE storage (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE storage_path (id INTEGER PRIMARY KEY, path, role TEXT, file_system TEXT, source, mount, options,"
	" super_options, layer, because);"
	"CREATE TABLE storage_device (path INTEGER, depth INTEGER, name TEXT, kind TEXT, detail, scheduler TEXT,"
	" write_cache TEXT, rotational INTEGER, read_ahead INTEGER, requests INTEGER, queue_depth INTEGER, direct INTEGER,"
	" because TEXT);";

static const char cache_schema[] =
	"CREATE TABLE cache (asked TEXT, dropped INTEGER, regime TEXT, because);"
	"CREATE TABLE cache_file (path, files INTEGER, pages INTEGER, found INTEGER, at_start INTEGER, at_end INTEGER, regime TEXT,"
	" because);";

/* ---- writing --------------------------------------------------------------------------------------- */

static void write_tables(struct store_db *db, const char *schema)
{
	if (!db->failed && sqlite3_exec(db->handle, schema, NULL, NULL, NULL) != SQLITE_OK)
		store_failed(db);
}

static void write_devices(struct store_db *db, const struct storage_fact *storage)
{
	sqlite3_stmt *insert = store_prepare(db, "INSERT INTO storage_device VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

	for (size_t i = 0; i < storage->npaths; i++)
		for (size_t k = 0; k < storage->paths[i].ndevices; k++) {
			const struct storage_device *device = &storage->paths[i].devices[k];

			store_put(db, insert, "iitttttmmmmmt", (s64)i, (s64)device->depth, device->name, device->kind,
				  device->detail, device->scheduler, device->write_cache, device->rotational,
				  device->read_ahead, device->requests, device->queue_depth, device->direct, device->because);
		}
	sqlite3_finalize(insert);
}

void store_write_storage(struct store_db *db, const struct storage_fact *storage)
{
	sqlite3_stmt *insert;

	if (!storage)
		return;
	write_tables(db, storage_schema);
	insert = store_prepare(db, "INSERT INTO storage VALUES (?, ?)");
	store_put(db, insert, "tt", "huge_pages", storage->huge_pages);
	store_put(db, insert, "tt", "swap", storage->swap);
	store_put(db, insert, "tt", "io_model", storage->io_model);
	store_put(db, insert, "tm", "page_size", storage->page_size);
	store_put(db, insert, "tm", "looks", storage->looks);
	store_put(db, insert, "ti", "refused", (s64)storage->refused);
	store_put(db, insert, "ti", "more", (s64)storage->more);
	sqlite3_finalize(insert);
	insert = store_prepare(db, "INSERT INTO storage_path VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	for (size_t i = 0; i < storage->npaths; i++) {
		const struct storage_path *path = &storage->paths[i];

		store_put(db, insert, "ittttttttt", (s64)i, path->path, path->role, path->type, path->source, path->mount,
			  path->options, path->super_options, path->layer, path->because);
	}
	sqlite3_finalize(insert);
	write_devices(db, storage);
}

void store_write_cache(struct store_db *db, const struct cache_fact *cache)
{
	sqlite3_stmt *insert;

	if (!cache)
		return;
	write_tables(db, cache_schema);
	insert = store_prepare(db, "INSERT INTO cache VALUES (?, ?, ?, ?)");
	store_put(db, insert, "titt", cache_asked_words[cache->asked], (s64)cache->dropped, cache_regime_words[cache->regime],
		  cache->because);
	sqlite3_finalize(insert);
	insert = store_prepare(db, "INSERT INTO cache_file VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
	for (size_t i = 0; i < cache->nfiles; i++) {
		const struct cache_file *file = &cache->files[i];

		store_put(db, insert, "tiimmmtt", file->path, (s64)file->files, (s64)file->pages, file->found, file->start, file->end,
			  cache_regime_words[file->regime], file->because);
	}
	sqlite3_finalize(insert);
}

/* ---- reading --------------------------------------------------------------------------------------- */

/* -1 where it is NULL. */
static s64 read_known(sqlite3_stmt *row, int i)
{
	return sqlite3_column_type(row, i) == SQLITE_NULL ? -1 : MAX((s64)sqlite3_column_int64(row, i), (s64)-1);
}

/* The number of a word; -1: it is none of them. */
static int read_word(sqlite3_stmt *row, int column, const char *const *words)
{
	const char *word = (const char *)sqlite3_column_text(row, column);

	for (int i = 0; word && words[i]; i++)
		if (!strcmp(words[i], word))
			return i;
	return -1;
}

static int read_storage_row(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct storage_fact *storage = &reader->recording->storage;
	const char *key = (const char *)sqlite3_column_text(row, 0);

	if (key && !strcmp(key, "huge_pages"))
		storage->huge_pages = read_text(reader, row, 1);
	else if (key && !strcmp(key, "swap"))
		storage->swap = read_text(reader, row, 1);
	else if (key && !strcmp(key, "io_model"))
		storage->io_model = read_text(reader, row, 1);
	else if (key && !strcmp(key, "page_size"))
		storage->page_size = read_known(row, 1);
	else if (key && !strcmp(key, "looks"))
		storage->looks = read_known(row, 1);
	else if (key && !strcmp(key, "refused"))
		storage->refused = read_u64(row, 1);
	else if (key && !strcmp(key, "more"))
		storage->more = sqlite3_column_int(row, 1);
	return 0;
}

static int read_path(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct storage_fact *storage = &reader->recording->storage;
	struct storage_path *path = &storage->paths[storage->npaths];

	*path = (struct storage_path){
		.path = read_text(reader, row, 1), .role = read_text(reader, row, 2), .type = read_text(reader, row, 3),
		.source = read_text(reader, row, 4), .mount = read_text(reader, row, 5), .options = read_text(reader, row, 6),
		.super_options = read_text(reader, row, 7), .layer = read_text(reader, row, 8), .because = read_text(reader, row, 9),
	};
	if (read_u32(row, 0) != storage->npaths || !path->path)
		return read_damaged(reader, "a path of storage");
	storage->npaths++;
	return 0;
}

static int read_device(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct storage_fact *storage = &reader->recording->storage;
	u32 i = read_u32(row, 0), depth = read_u32(row, 1);
	struct storage_path *path = i < storage->npaths ? &storage->paths[i] : NULL;

	if (!path || path->ndevices == STORAGE_DEVICES || depth > path->ndevices)
		return read_damaged(reader, "a device");
	if (!path->devices)
		path->devices = calloc(STORAGE_DEVICES, sizeof(*path->devices));
	if (!path->devices)
		return read_no_memory();
	path->devices[path->ndevices++] = (struct storage_device){
		.depth = depth, .name = read_text(reader, row, 2), .kind = read_text(reader, row, 3),
		.detail = read_text(reader, row, 4), .scheduler = read_text(reader, row, 5), .write_cache = read_text(reader, row, 6),
		.rotational = read_known(row, 7), .read_ahead = read_known(row, 8), .requests = read_known(row, 9),
		.queue_depth = read_known(row, 10), .direct = read_known(row, 11), .because = read_text(reader, row, 12),
	};
	return 0;
}

static int read_cache_row(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct cache_fact *cache = &reader->recording->cache;
	int asked = read_word(row, 0, cache_asked_words), regime = read_word(row, 2, cache_regime_words);

	if (asked < 0 || regime < 0 || reader->recording->facts.cache)
		return read_damaged(reader, "the state of the page cache");
	cache->asked = (enum cache_asked)asked;
	cache->dropped = sqlite3_column_int(row, 1);
	cache->regime = (enum cache_regime)regime;
	cache->because = read_text(reader, row, 3);
	reader->recording->facts.cache = cache;
	return 0;
}

static int read_cache_file(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct cache_fact *cache = &reader->recording->cache;
	struct cache_file *file = (struct cache_file *)(uintptr_t)&cache->files[cache->nfiles];
	int regime = read_word(row, 6, cache_regime_words);

	*file = (struct cache_file){
		.path = read_text(reader, row, 0), .files = read_u64(row, 1), .pages = read_u64(row, 2), .found = read_known(row, 3),
		.start = read_known(row, 4), .end = read_known(row, 5), .because = read_text(reader, row, 7),
	};
	if (!file->path || regime < 0)
		return read_damaged(reader, "a file of the page cache");
	file->regime = (enum cache_regime)regime;
	cache->nfiles++;
	return 0;
}

/* 1: all are there; 0; -1 after a message. */
static int read_has_tables(struct store_reader *reader, const char *const *names)
{
	int has = read_has_table(reader, names[0]);

	for (size_t i = 1; has > 0 && names[i]; i++) {
		has = read_has_table(reader, names[i]);
		if (!has)
			return error("%s is damaged: it has no table %s", reader->db.path, names[i]);
	}
	return has;
}

static int read_cache(struct store_reader *reader)
{
	static const char *const tables[] = { "cache", "cache_file", NULL };
	int has = read_has_tables(reader, tables);

	if (has <= 0)
		return has;
	reader->recording->cache.files = read_array(reader, "cache_file", sizeof(struct cache_file));
	return !reader->recording->cache.files ||
	       store_each(&reader->db, "SELECT asked, dropped, regime, because FROM cache", read_cache_row, reader) ||
	       store_each(&reader->db, "SELECT path, files, pages, found, at_start, at_end, regime, because FROM cache_file"
			  " ORDER BY rowid", read_cache_file, reader) ? -1 : 0;
}

int read_storage(struct store_reader *reader)
{
	static const char *const tables[] = { "storage", "storage_path", "storage_device", NULL };
	int has = read_has_tables(reader, tables);
	struct storage_fact *storage = &reader->recording->storage;

	if (has > 0) {
		reader->recording->facts.storage = storage;
		storage->page_size = storage->looks = -1;
		storage->paths = read_array(reader, "storage_path", sizeof(*storage->paths));
		if (!storage->paths || store_each(&reader->db, "SELECT key, value FROM storage", read_storage_row, reader) ||
		    store_each(&reader->db, "SELECT id, path, role, file_system, source, mount, options, super_options, layer,"
			       " because FROM storage_path ORDER BY id", read_path, reader) ||
		    store_each(&reader->db, "SELECT path, depth, name, kind, detail, scheduler, write_cache, rotational, read_ahead,"
			       " requests, queue_depth, direct, because FROM storage_device ORDER BY rowid", read_device, reader))
			return -1;
	}
	return has < 0 ? -1 : read_cache(reader);
}

void recording_free_storage(struct recording *recording)
{
	for (size_t i = 0; i < recording->storage.npaths; i++)
		free(recording->storage.paths[i].devices);
	free(recording->storage.paths);
	free((void *)(uintptr_t)recording->cache.files);
}
