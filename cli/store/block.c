/* SPDX-License-Identifier: MIT */
/* What devices did as tables, which only recordings of runs that were watched for it have. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/store/read.h"

static const char block_schema[] =
	"CREATE TABLE block_watch (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE block_device (id INTEGER PRIMARY KEY, name, major INTEGER, minor INTEGER, kind TEXT);"
	"CREATE TABLE block_figure (device INTEGER, direction TEXT, name TEXT, value REAL, state TEXT, note TEXT);"
	"CREATE TABLE block_latency (major INTEGER, minor INTEGER, direction TEXT, paired INTEGER, split INTEGER,"
	" min INTEGER, max INTEGER, sum REAL, hist BLOB);"
	"CREATE TABLE block_unpaired (major INTEGER, minor INTEGER, direction TEXT, reason TEXT, count INTEGER);";

/* ---- writing --------------------------------------------------------------------------------------- */

/* direction NULL: of the device as a whole. */
static void write_figure(struct store_db *db, sqlite3_stmt *insert, u32 device, const char *direction, const char *name,
			 const struct cell *cell)
{
	if (cell_has_value(cell))
		store_put(db, insert, "ittrtt", (s64)device, direction, name, cell->value, cell_state_name(cell->state), cell->note);
	else
		store_put(db, insert, "ittttt", (s64)device, direction, name, NULL, cell_state_name(cell->state), cell->note);
}

static void write_devices(struct store_db *db, const struct block *block)
{
	sqlite3_stmt *device = store_prepare(db, "INSERT INTO block_device VALUES (?, ?, ?, ?, ?)");
	sqlite3_stmt *figure = store_prepare(db, "INSERT INTO block_figure VALUES (?, ?, ?, ?, ?, ?)");

	for (u32 i = 0; i < block->ndevices; i++) {
		const struct block_device *d = &block->devices[i];

		store_put(db, device, "isiit", (s64)i, d->name, strlen(d->name), (s64)d->major, (s64)d->minor,
			  block_kind_names[d->kind]);
		for (u32 k = 0; k < BLOCK_CELLS; k++)
			write_figure(db, figure, i, NULL, block_cells[k].name, &d->cell[k]);
		for (u32 k = 0; k < BLOCK_DIRECTIONS * BLOCK_SIDE_CELLS; k++)
			write_figure(db, figure, i, block_direction_names[k / BLOCK_SIDE_CELLS], block_side_cells[k % BLOCK_SIDE_CELLS].name,
				     &d->side[k / BLOCK_SIDE_CELLS][k % BLOCK_SIDE_CELLS]);
	}
	sqlite3_finalize(device);
	sqlite3_finalize(figure);
}

static void write_latency(struct store_db *db, sqlite3_stmt *insert, const struct block_traced *traced, u32 direction)
{
	const struct block_latency *l = &traced->latency[direction];
	size_t size;
	u8 *hist = store_pack_hist(&l->hist, &size);

	store_put(db, insert, "iitiiiirb", (s64)traced->major, (s64)traced->minor, block_direction_names[direction], (s64)l->paired,
		  (s64)l->split, (s64)l->least, (s64)l->greatest, l->sum, hist, size);
	free(hist);
}

static void write_latencies(struct store_db *db, const struct block *block)
{
	sqlite3_stmt *latency = store_prepare(db, "INSERT INTO block_latency VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
	sqlite3_stmt *left = store_prepare(db, "INSERT INTO block_unpaired VALUES (?, ?, ?, ?, ?)");

	for (u32 i = 0; i < block->ntraced * BLOCK_DIRECTIONS; i++) {
		const struct block_traced *traced = &block->traced[i / BLOCK_DIRECTIONS];
		const struct block_latency *l = &traced->latency[i % BLOCK_DIRECTIONS];

		if (l->paired)
			write_latency(db, latency, traced, i % BLOCK_DIRECTIONS);
		for (u32 k = 0; k < BLOCK_LEFT_REASONS; k++)
			if (l->left[k])
				store_put(db, left, "iitti", (s64)traced->major, (s64)traced->minor,
					  block_direction_names[i % BLOCK_DIRECTIONS], block_left_names[k], (s64)l->left[k]);
	}
	sqlite3_finalize(latency);
	sqlite3_finalize(left);
}

void store_write_block(struct store_db *db, const struct block *block)
{
	sqlite3_stmt *insert;

	if (!block)
		return;
	if (!db->failed && sqlite3_exec(db->handle, block_schema, NULL, NULL, NULL) != SQLITE_OK)
		store_failed(db);
	insert = store_prepare(db, "INSERT INTO block_watch VALUES (?, ?)");
	store_put(db, insert, "ti", "duration_ns", (s64)block->duration_ns);
	store_put(db, insert, "ti", "records", (s64)block->records);
	store_put(db, insert, "ti", "lost", (s64)block->lost);
	store_put(db, insert, "tt", "no_diskstats", block->floor);
	store_put(db, insert, "tt", "no_records", block->why);
	sqlite3_finalize(insert);
	write_devices(db, block);
	write_latencies(db, block);
}

/* ---- reading --------------------------------------------------------------------------------------- */

/* The number of a word among n; n: it is none of them. */
static u32 word_of(sqlite3_stmt *row, int column, const char *const *words, u32 n)
{
	const char *text = (const char *)sqlite3_column_text(row, column);
	u32 i = 0;

	while (i < n && strcmp(text ? text : "", words[i]) != 0)
		i++;
	return i;
}

static int read_watch(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct block *block = &reader->recording->block;
	const char *key = (const char *)sqlite3_column_text(row, 0), *text = (const char *)sqlite3_column_text(row, 1);

	if (key && !strcmp(key, "duration_ns"))
		block->duration_ns = read_u64(row, 1);
	else if (key && !strcmp(key, "records"))
		block->records = sqlite3_column_int(row, 1);
	else if (key && !strcmp(key, "lost"))
		block->lost = read_u64(row, 1);
	else if (key && text && !strcmp(key, "no_diskstats"))
		snprintf(block->floor, sizeof(block->floor), "%s", text);
	else if (key && text && !strcmp(key, "no_records"))
		snprintf(block->why, sizeof(block->why), "%s", text);
	return 0;
}

static int read_device(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct block *block = &reader->recording->block;
	struct block_device *device = &block->devices[block->ndevices];
	const char *name = (const char *)sqlite3_column_text(row, 1);

	device->kind = (enum block_kind)word_of(row, 4, block_kind_names, BLOCK_KINDS);
	/* They are numbered as they come. */
	if (!name || device->kind >= BLOCK_KINDS || read_u32(row, 0) != block->ndevices)
		return read_damaged(reader, "a block device");
	snprintf(device->name, sizeof(device->name), "%s", name);
	device->major = read_u32(row, 2);
	device->minor = read_u32(row, 3);
	for (u32 i = 0; i < BLOCK_CELLS; i++)
		device->cell[i] = cell_absent(CELL_UNAVAILABLE, "not in the recording");
	for (u32 i = 0; i < BLOCK_DIRECTIONS * BLOCK_SIDE_CELLS; i++)
		device->side[i / BLOCK_SIDE_CELLS][i % BLOCK_SIDE_CELLS] = cell_absent(CELL_UNAVAILABLE, "not in the recording");
	block->ndevices++;
	return 0;
}

/* The cell that a row is of; NULL: none that is known here. */
static struct cell *figure_of(struct block_device *device, sqlite3_stmt *row)
{
	const char *name = (const char *)sqlite3_column_text(row, 2);
	u32 direction = word_of(row, 1, block_direction_names, BLOCK_DIRECTIONS);

	for (u32 i = 0; name && direction < BLOCK_DIRECTIONS && i < BLOCK_SIDE_CELLS; i++)
		if (!strcmp(name, block_side_cells[i].name))
			return &device->side[direction][i];
	for (u32 i = 0; name && sqlite3_column_type(row, 1) == SQLITE_NULL && i < BLOCK_CELLS; i++)
		if (!strcmp(name, block_cells[i].name))
			return &device->cell[i];
	return NULL;
}

static int read_figure(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct block *block = &reader->recording->block;
	u32 device = read_u32(row, 0);
	enum cell_state state;
	struct cell *cell;

	if (device >= block->ndevices || read_state(row, 4, &state))
		return read_damaged(reader, "a figure of a block device");
	cell = figure_of(&block->devices[device], row);
	if (!cell)
		return 0;
	*cell = (struct cell){ .state = state, .note = read_text(reader, row, 5) };
	if (cell_has_value(cell))
		cell->value = sqlite3_column_double(row, 3);
	return isfinite(cell->value) && cell->value >= 0 ? 0 : read_damaged(reader, "a figure of a block device");
}

/* Of the device and direction in the first columns; NULL after a message. */
static struct block_latency *latency_of(struct store_reader *reader, sqlite3_stmt *row)
{
	u32 direction = word_of(row, 2, block_direction_names, BLOCK_DIRECTIONS);
	struct block_traced *traced;

	if (direction >= BLOCK_DIRECTIONS) {
		read_damaged(reader, "a direction of requests");
		return NULL;
	}
	traced = block_traced(&reader->recording->block, read_u32(row, 0), read_u32(row, 1));
	if (!traced)
		read_no_memory();
	return traced ? &traced->latency[direction] : NULL;
}

static int read_latency(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct block_latency *l = latency_of(reader, row);

	if (!l)
		return -1;
	l->paired = read_u64(row, 3);
	l->split = read_u64(row, 4);
	l->least = read_u64(row, 5);
	l->greatest = read_u64(row, 6);
	l->sum = sqlite3_column_double(row, 7);
	if (store_unpack_hist(&l->hist, sqlite3_column_blob(row, 8), (size_t)sqlite3_column_bytes(row, 8)) ||
	    hist_total(&l->hist) != l->paired)
		return read_damaged(reader, "a histogram of requests");
	return 0;
}

static int read_unpaired(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct block_latency *l = latency_of(reader, row);
	u32 reason = word_of(row, 3, block_left_names, BLOCK_LEFT_REASONS);

	if (!l)
		return -1;
	/* A newer sparkctl may know more. */
	if (reason < BLOCK_LEFT_REASONS)
		l->left[reason] = read_u64(row, 4);
	return 0;
}

int read_block(struct store_reader *reader)
{
	struct block *block = &reader->recording->block;
	int has = read_has_table(reader, "block_watch");

	if (has <= 0)
		return has;
	reader->recording->facts.block = block;
	block->devices = read_array(reader, "block_device", sizeof(*block->devices));
	if (!block->devices)
		return -1;
	return store_each(&reader->db, "SELECT key, value FROM block_watch", read_watch, reader) ||
	       store_each(&reader->db, "SELECT id, name, major, minor, kind FROM block_device ORDER BY id", read_device, reader) ||
	       store_each(&reader->db, "SELECT device, direction, name, value, state, note FROM block_figure ORDER BY rowid",
			  read_figure, reader) ||
	       store_each(&reader->db, "SELECT major, minor, direction, paired, split, min, max, sum, hist FROM block_latency"
			  " ORDER BY rowid", read_latency, reader) ||
	       store_each(&reader->db, "SELECT major, minor, direction, reason, count FROM block_unpaired ORDER BY rowid",
			  read_unpaired, reader) ? -1 : 0;
}
