/* SPDX-License-Identifier: MIT */
/* Windows one by one: tables that only recordings with windows have. A cell that has no value has its reason once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/store/read.h"

static const char schema[] =
	"CREATE TABLE single_window (id INTEGER PRIMARY KEY, process INTEGER, pid INTEGER, name, open INTEGER, marked INTEGER,"
	" begin_ns INTEGER, end_ns INTEGER, from_ns INTEGER, to_ns INTEGER, disk TEXT, disk_read INTEGER, disk_written INTEGER);"
	"CREATE TABLE single_reason (id INTEGER PRIMARY KEY, text TEXT);"
	"CREATE TABLE single_cell (window INTEGER, cell TEXT, value REAL, state TEXT, reason INTEGER);"
	"CREATE TABLE single_path (id INTEGER PRIMARY KEY, parent INTEGER, name);"
	"CREATE TABLE single_region (window INTEGER, path INTEGER, calls INTEGER, ns INTEGER, self_ns INTEGER, first_ns INTEGER,"
	" last_ns INTEGER);";

enum { REASONS_MOST = 64 };

/* Reasons are static texts, and few: each is written once. */
struct window_writer {
	struct store_db *db;
	sqlite3_stmt *window, *reason, *cell, *region;
	const char *reasons[REASONS_MOST];
	u32 nreasons;
};

static s64 reason_number(struct window_writer *w, const char *text)
{
	u32 i = 0;

	if (!text)
		return -1;
	while (i < w->nreasons && strcmp(w->reasons[i], text) != 0)
		i++;
	if (i == REASONS_MOST)
		return -1;
	if (i == w->nreasons) {
		w->reasons[w->nreasons++] = text;
		store_put(w->db, w->reason, "it", (s64)i, text);
	}
	return i;
}

static void write_window(struct window_writer *w, s64 id, const struct window_fact *fact)
{
	store_put(w->db, w->window, "iiisiiiiiitii", id, (s64)fact->process, (s64)fact->pid, fact->name, fact->len, (s64)fact->open,
		  (s64)(fact->marked | fact->by_lines << 1), (s64)fact->begin_ns, (s64)fact->end_ns, (s64)fact->from_ns, (s64)fact->to_ns, fact->disk,
		  (s64)fact->disk_read, (s64)fact->disk_written);
	for (u32 i = 0; i < WINDOW_CELLS; i++) {
		const struct cell *cell = &fact->cell[i];

		/* The first one tells which there are: then 0 needs no row. */
		if (id > 1 && cell->state == CELL_COUNTED && cell->value == 0 && !cell->note)
			continue;
		store_put(w->db, w->cell, "itrtm", id, window_cells[i].name, cell_has_value(cell) ? cell->value : 0,
			  cell_state_name(cell->state), reason_number(w, cell->note));
	}
	for (u32 i = 0; i < fact->nregions; i++) {
		const struct window_region *region = &fact->regions[i];

		store_put(w->db, w->region, "iiiiinn", id, (s64)region->path, (s64)region->calls, (s64)region->ns, (s64)region->self_ns,
			  (s64)region->first_ns, (s64)region->last_ns);
	}
}

static void write_paths(struct store_db *db, const struct samples *paths)
{
	sqlite3_stmt *insert = store_prepare(db, "INSERT INTO single_path VALUES (?, ?, ?)");

	for (u32 i = 0; i < paths->nregions; i++) {
		const struct samples_region *region = &paths->regions[i];
		const struct samples_string *name = &paths->strings[region->name];

		store_put(db, insert, "ims", (s64)i, region->parent == SAMPLES_NONE ? (s64)-1 : (s64)region->parent, name->bytes,
			  (size_t)name->length);
	}
	sqlite3_finalize(insert);
}

void store_write_windows(struct store_db *db, const struct session_facts *facts)
{
	struct window_writer w = { .db = db };

	if (!facts->nwindows)
		return;
	if (!db->failed && sqlite3_exec(db->handle, schema, NULL, NULL, NULL) != SQLITE_OK)
		store_failed(db);
	w.window = store_prepare(db, "INSERT INTO single_window VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	w.reason = store_prepare(db, "INSERT INTO single_reason VALUES (?, ?)");
	w.cell = store_prepare(db, "INSERT INTO single_cell VALUES (?, ?, ?, ?, ?)");
	w.region = store_prepare(db, "INSERT INTO single_region VALUES (?, ?, ?, ?, ?, ?, ?)");
	if (facts->window_paths)
		write_paths(db, facts->window_paths);
	for (size_t i = 0; i < facts->nwindows; i++)
		write_window(&w, (s64)i + 1, &facts->windows[i]);
	sqlite3_finalize(w.window);
	sqlite3_finalize(w.reason);
	sqlite3_finalize(w.cell);
	sqlite3_finalize(w.region);
}

/* ---- reading --------------------------------------------------------------------------------------- */

static int read_single(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct session_facts *facts = &reader->recording->facts;
	struct window_fact *all = (struct window_fact *)(uintptr_t)facts->windows, *fact = &all[facts->nwindows];

	*fact = (struct window_fact){
		.process = read_u32(row, 1), .pid = read_u32(row, 2), .name = read_text(reader, row, 3),
		.len = (size_t)sqlite3_column_bytes(row, 3), .open = sqlite3_column_int(row, 4), .marked = sqlite3_column_int(row, 5) & 1,
		.by_lines = sqlite3_column_int(row, 5) & 2,
		.begin_ns = read_u64(row, 6), .end_ns = read_u64(row, 7), .from_ns = read_u64(row, 8), .to_ns = read_u64(row, 9),
		.disk = read_text(reader, row, 10), .disk_read = read_u64(row, 11), .disk_written = read_u64(row, 12),
	};
	for (u32 i = 0; i < WINDOW_CELLS; i++)
		fact->cell[i] = cell_absent(CELL_UNAVAILABLE, "the sparkctl that recorded did not read it");
	if (!fact->name || read_u32(row, 0) != facts->nwindows + 1 || fact->from_ns < fact->begin_ns || fact->to_ns < fact->from_ns ||
	    fact->end_ns < fact->to_ns)
		return read_damaged(reader, "a single window");
	facts->nwindows++;
	return 0;
}

static int read_single_cell(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct session_facts *facts = &reader->recording->facts;
	struct window_fact *all = (struct window_fact *)(uintptr_t)facts->windows;
	const char *name = (const char *)sqlite3_column_text(row, 1);
	u32 window = read_u32(row, 0), i = 0;
	struct cell cell = { .value = sqlite3_column_double(row, 2) };

	if (!window || window > facts->nwindows || !name || read_state(row, 3, &cell.state) || !isfinite(cell.value) ||
	    cell.value < 0)
		return read_damaged(reader, "a cell of a single window");
	cell.note = read_text(reader, row, 4);
	while (i < WINDOW_CELLS && strcmp(window_cells[i].name, name) != 0)
		i++;
	/* A later sparkctl has cells that this one does not know. */
	if (i == WINDOW_CELLS)
		return 0;
	for (size_t k = 0; window == 1 && !reader->singles[i] && k < facts->nwindows; k++)
		all[k].cell[i] = cell_counted(0);
	reader->singles[i] = true;
	all[window - 1].cell[i] = cell;
	return 0;
}

static int read_single_path(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct samples *paths = &reader->recording->window_paths;
	u32 parent = sqlite3_column_type(row, 1) == SQLITE_NULL ? SAMPLES_NONE : read_u32(row, 1), number = SAMPLES_NONE;
	const char *name = read_text(reader, row, 2);

	if (name && (parent == SAMPLES_NONE || parent < paths->nregions))
		number = samples_region(paths, parent, name, (size_t)sqlite3_column_bytes(row, 2));
	if (paths->no_memory)
		return read_no_memory();
	return number != SAMPLES_NONE && sqlite3_column_int64(row, 0) == number ? 0 : read_damaged(reader, "a region path of windows");
}

static int read_single_region(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct session_facts *facts = &reader->recording->facts;
	struct window_fact *all = (struct window_fact *)(uintptr_t)facts->windows, *fact;
	struct window_region region = { read_u32(row, 1), read_u64(row, 2), read_u64(row, 3), read_u64(row, 4), read_u64(row, 5),
					read_u64(row, 6) }, *list;
	u32 window = read_u32(row, 0);

	fact = window && window <= facts->nwindows ? &all[window - 1] : NULL;
	if (!fact || region.path >= reader->recording->window_paths.nregions || fact->nregions == WINDOW_REGIONS_MOST ||
	    region.self_ns > region.ns || region.last_ns < region.first_ns)
		return read_damaged(reader, "a region of a window");
	list = realloc(fact->regions, (fact->nregions + 1) * sizeof(*list));
	if (!list)
		return read_no_memory();
	fact->regions = list;
	list[fact->nregions++] = region;
	return 0;
}

/* A former sparkctl wrote none. */
static int read_window_regions(struct store_reader *reader)
{
	int has = read_has_table(reader, "single_region");

	if (has <= 0)
		return has;
	reader->recording->facts.window_paths = &reader->recording->window_paths;
	return store_each(&reader->db, "SELECT id, parent, name FROM single_path ORDER BY id", read_single_path, reader) ||
	       store_each(&reader->db, "SELECT window, path, calls, ns, self_ns, first_ns, last_ns FROM single_region ORDER BY rowid",
			  read_single_region, reader);
}

void recording_free_windows(struct recording *recording)
{
	struct window_fact *all = (struct window_fact *)(uintptr_t)recording->facts.windows;

	for (size_t i = 0; i < recording->facts.nwindows; i++)
		free(all[i].regions);
	free(all);
	samples_fini(&recording->window_paths);
}

int read_windows(struct store_reader *reader)
{
	int has = read_has_table(reader, "single_window");

	if (has <= 0)
		return has;
	reader->recording->facts.windows = read_array(reader, "single_window", sizeof(struct window_fact));
	if (!reader->recording->facts.windows)
		return -1;
	return store_each(&reader->db, "SELECT id, process, pid, name, open, marked, begin_ns, end_ns, from_ns, to_ns, disk, disk_read,"
			  " disk_written FROM single_window ORDER BY id", read_single, reader) ||
	       store_each(&reader->db, "SELECT window, cell, value, state, text FROM single_cell LEFT JOIN single_reason"
			  " ON single_reason.id = single_cell.reason ORDER BY single_cell.rowid", read_single_cell, reader) ||
	       read_window_regions(reader);
}
