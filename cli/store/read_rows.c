/* SPDX-License-Identifier: MIT */
/* The tables of a recording that make its profile: processes, threads, region paths, values, windows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/profile_build.h"
#include "cli/log.h"
#include "cli/store/read.h"
#include "common/source_table.h"

static struct process_facts *processes_of(struct store_reader *reader)
{
	return (struct process_facts *)(uintptr_t)reader->recording->facts.processes;
}

/* ---- processes and threads ------------------------------------------------------------------------- */

static int read_process(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct session_facts *facts = &reader->recording->facts;
	struct process_facts *process = &processes_of(reader)[facts->nprocesses];
	const char *ended = (const char *)sqlite3_column_text(row, 7);
	u32 i;

	*process = (struct process_facts){
		.id = read_u32(row, 0), .pid = read_u32(row, 1), .parent = (u32)sqlite3_column_int64(row, 2),
		.command = read_text(reader, row, 3), .image = read_text(reader, row, 4),
		.start_ns = read_u64(row, 5), .end_ns = read_u64(row, 6), .status = sqlite3_column_int(row, 8),
		.signal = sqlite3_column_int(row, 9), .threads = read_u32(row, 10), .bracket = read_u32(row, 11),
		.pair = read_u32(row, 12), .detector = read_u32(row, 13), .sealed_cpu = read_u32(row, 14),
		.agent = sqlite3_column_int(row, 15), .no_agent = read_text(reader, row, 16),
	};
	for (i = 0; ended && store_ends[i] && strcmp(store_ends[i], ended) != 0; i++)
		;
	/* They are numbered without gaps, from 1. */
	if (process->id != ++facts->nprocesses || !ended || !store_ends[i])
		return read_damaged(reader, "a process");
	process->ended = (enum process_end)i;
	return 0;
}

static int read_thread(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct profile *profile = &reader->recording->profile;
	struct profile_thread thread = {
		.process = read_u32(row, 1), .pid = read_u32(row, 2), .tid = read_u32(row, 3),
		.threads = read_u32(row, 4), .detector = read_u32(row, 5), .wall = read_u64(row, 6),
	};

	if (read_u32(row, 0) != profile->nthreads + 1)
		return read_damaged(reader, "a thread");
	profile_add_thread(profile, &thread);
	return profile->no_memory ? read_no_memory() : 0;
}

/* The usage that a row of its table is of; NULL: of nothing. */
static struct usage *usage_of(struct store_reader *reader, u32 kind, u32 owner)
{
	struct profile *profile = &reader->recording->profile;

	if (!owner)
		return NULL;
	if (kind == STORE_USAGE_PROCESS && owner <= reader->recording->facts.nprocesses)
		return &processes_of(reader)[owner - 1].usage;
	if (kind == STORE_USAGE_THREAD && owner <= profile->nthreads)
		return &profile->threads[owner - 1].usage;
	if (kind == STORE_USAGE_WINDOW && owner <= profile->nwindows)
		return &profile->windows[owner - 1].usage;
	return NULL;
}

static int read_cell(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	u32 number = read_u32(row, 0), i;
	const char *name = (const char *)sqlite3_column_text(row, 1);
	const char *source = (const char *)sqlite3_column_text(row, 2);

	if (number >= STORE_CELLS_MAX || !name)
		return read_damaged(reader, "a cell");
	reader->cells[number] = number ? READ_NONE : 0;
	if (number && !strcmp(source ? source : "", "pmu")) {
		reader->cells[number] = source_cells(SOURCE_ALL) + ++reader->plan_cells;
		return reader->cells[number] <= profile_cells(&reader->recording->profile) ? 0 : read_damaged(reader, "a cell");
	}
	for (i = 0; number && i < SNAPSHOT_CELLS; i++)
		if (!strcmp(snapshot_cells[i].name, name) && (reader->snapshots[i] = true))
			reader->cells[number] = READ_SNAPSHOT + i;
	for (i = 0; number && i < source_cells(SOURCE_ALL); i++)
		if (!strcmp(source_cell_of(i)->name, name))
			reader->cells[number] = i + 1;
	return 0;
}

static int read_reason(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	u32 number = read_u32(row, 0);

	if (number >= STORE_REASONS_MAX)
		return read_damaged(reader, "a reason");
	reader->reasons[number] = read_text(reader, row, 1);
	return 0;
}

/* A cell of the file as it is numbered here, READ_NONE for one that is not known here; -1 after a message. */
static int cell_at(struct store_reader *reader, sqlite3_stmt *row, int column, u32 *number)
{
	u32 i = read_u32(row, column);

	if (i >= STORE_CELLS_MAX)
		return read_damaged(reader, "the number of a cell");
	*number = reader->cells[i];
	return 0;
}

/* Windows alone have them. */
static int read_snapshot(struct store_reader *reader, sqlite3_stmt *row, u32 number, const struct cell *cell)
{
	struct profile *profile = &reader->recording->profile;
	u32 owner = read_u32(row, 1);

	if (read_u32(row, 0) != STORE_USAGE_WINDOW || owner > profile->nwindows)
		return read_damaged(reader, "a usage");
	profile->windows[owner - 1].snapshot[number] = *cell;
	return 0;
}

static int read_usage(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct usage *usage = usage_of(reader, read_u32(row, 0), read_u32(row, 1));
	u32 number = READ_NONE, reason = read_u32(row, 5);
	struct cell cell = { .value = sqlite3_column_double(row, 3) };

	if (!usage || reason >= STORE_REASONS_MAX || read_state(row, 4, &cell.state))
		return read_damaged(reader, "a usage");
	cell.note = reader->reasons[reason];
	if (cell_at(reader, row, 2, &number))
		return -1;
	if (number == 0)
		usage->cpu = cell;
	else if (number != READ_NONE && number >= READ_SNAPSHOT)
		return read_snapshot(reader, row, number - READ_SNAPSHOT, &cell);
	else if (number != READ_NONE && number > source_cells(SOURCE_ALL))
		return read_damaged(reader, "a usage");
	else if (number != READ_NONE)
		usage->cell[number - 1] = cell;
	return 0;
}

static int read_cells(struct store_reader *reader)
{
	memset(reader->cells, 0xff, sizeof(reader->cells));
	return read_events(reader) ||
	       store_each(&reader->db, "SELECT id, name, source FROM cell ORDER BY id", read_cell, reader) ||
	       store_each(&reader->db, "SELECT id, text FROM reason", read_reason, reader);
}

int read_processes(struct store_reader *reader)
{
	reader->recording->facts.processes = read_array(reader, "process", sizeof(struct process_facts));
	if (!reader->recording->facts.processes || read_cells(reader))
		return -1;
	return store_each(&reader->db, "SELECT id, pid, parent, command, image, start_ns, end_ns, ended, status,"
			  " signal, threads, bracket, pair, detector, sealed_cpu, agent, no_agent FROM process ORDER BY id", read_process, reader) ||
	       store_each(&reader->db, "SELECT id, process, pid, tid, threads, detector, wall FROM thread"
			  " ORDER BY id", read_thread, reader);
}

/* ---- names and paths ------------------------------------------------------------------------------- */

static int read_name(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	const char *bytes = sqlite3_column_blob(row, 1);
	int len = sqlite3_column_bytes(row, 1);
	u32 name;

	if (read_u32(row, 0) != reader->nnames)
		return read_damaged(reader, "a name");
	name = profile_intern(&reader->recording->profile, bytes ? bytes : "", (size_t)len);
	reader->names[reader->nnames++] = name;
	return name == PROFILE_NONE ? read_no_memory() : 0;
}

int read_name_at(struct store_reader *reader, sqlite3_stmt *row, int column, u32 *name)
{
	u32 number = read_u32(row, column);

	*name = PROFILE_NONE;
	if (sqlite3_column_type(row, column) == SQLITE_NULL)
		return 0;
	if (number >= reader->nnames)
		return read_damaged(reader, "the number of a name");
	*name = reader->names[number];
	return 0;
}

/* A path comes after the one that it is below. */
static int read_path(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct store_path path;

	path.parent = (u32)sqlite3_column_int64(row, 1);
	if (read_name_at(reader, row, 2, &path.name))
		return -1;
	if (read_u32(row, 0) != reader->npaths || path.parent >= reader->npaths || path.name == PROFILE_NONE)
		return read_damaged(reader, "a path");
	reader->paths[reader->npaths++] = path;
	return 0;
}

static int read_root(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct profile *profile = &reader->recording->profile;
	u32 process = read_u32(row, 1), *grown, number = read_u32(row, 0);

	if (!process || process > reader->recording->facts.nprocesses || number > PROFILE_ROWS_MAX ||
	    number < reader->nroots)
		return read_damaged(reader, "a root");
	grown = realloc(reader->roots, (number + 1) * sizeof(*grown));
	if (!grown)
		return read_no_memory();
	reader->roots = grown;
	while (reader->nroots < number)
		grown[reader->nroots++] = READ_NONE;
	grown[reader->nroots++] = profile_root(profile, process, read_u32(row, 2), read_u32(row, 3));
	return profile->no_memory ? read_no_memory() : 0;
}

/* ---- regions --------------------------------------------------------------------------------------- */

u32 read_row_of(struct store_reader *reader, u32 root, u32 path)
{
	struct profile *profile = &reader->recording->profile;
	u32 chain[PROFILE_DEPTH_MAX], n = 0, i;

	if (root >= reader->nroots || reader->roots[root] == READ_NONE || path >= reader->npaths) {
		read_damaged(reader, "the path of a region");
		return READ_NONE;
	}
	if (root != reader->root) {
		memset(reader->rows, 0xff, reader->npaths * sizeof(*reader->rows));
		reader->root = root;
		reader->rows[0] = reader->roots[root];
	}
	for (; reader->rows[path] == READ_NONE && n < PROFILE_DEPTH_MAX; path = reader->paths[path].parent)
		chain[n++] = path;
	if (reader->rows[path] == READ_NONE) {
		read_damaged(reader, "the depth of a region");
		return READ_NONE;
	}
	for (i = reader->rows[path]; n--; i = reader->rows[chain[n]]) {
		reader->rows[chain[n]] = profile_child(profile, i, reader->paths[chain[n]].name);
		if (reader->rows[chain[n]] == PROFILE_NONE) {
			read_no_memory();
			return READ_NONE;
		}
	}
	return i;
}

static int region_hist(struct store_reader *reader, struct profile_row *to, sqlite3_stmt *row, int column)
{
	int err = store_unpack_hist(&to->hist, sqlite3_column_blob(row, column),
				    (size_t)sqlite3_column_bytes(row, column));

	if (err == -ENOMEM)
		return read_no_memory();
	return err ? read_damaged(reader, "a histogram") : 0;
}

static int region_cells(const struct store_reader *reader, struct profile_row *to)
{
	if (!to->cells)
		to->cells = calloc(profile_cells(&reader->recording->profile), sizeof(u64));
	return to->cells ? 0 : read_no_memory();
}

/* Columns 2 on of the query below. */
static int region_fill(struct store_reader *reader, struct profile_row *to, sqlite3_stmt *row)
{
	to->calls = read_u64(row, 2);
	to->wall = read_u64(row, 3);
	to->off = read_u64(row, 4);
	if (sqlite3_column_type(row, 5) != SQLITE_NULL) {
		to->min = read_u64(row, 5);
		to->max = read_u64(row, 6);
	}
	to->bracket = sqlite3_column_double(row, 7);
	to->open = read_u64(row, 9);
	/* What is negative or no number could not be turned into ticks. */
	if (!(to->bracket >= 0 && to->bracket < 9e18))
		return read_damaged(reader, "a region's cost");
	to->raw_wall = to->wall - read_u64(row, 10) + (u64)to->bracket;
	to->unsure = read_u64(row, 11);
	to->left = read_u64(row, 12);
	to->units = read_u64(row, 13);
	if (read_name_at(reader, row, 14, &to->unit))
		return -1;
	to->unit_mixed = sqlite3_column_int(row, 15);
	to->cells_lost = sqlite3_column_int(row, 16) == 2;
	if (sqlite3_column_int(row, 16) == 1 && region_cells(reader, to))
		return -1;
	if (sqlite3_column_type(row, 17) != SQLITE_NULL && read_state(row, 17, &to->cpu_state))
		return read_damaged(reader, "the state of a region's cpu");
	to->cpu_note = read_text(reader, row, 18);
	return region_hist(reader, to, row, 8);
}

static int read_region(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	u32 i = read_row_of(reader, read_u32(row, 0), read_u32(row, 1));

	return i == READ_NONE ? -1 : region_fill(reader, &reader->recording->profile.rows[i], row);
}

static int read_counter(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	u32 i = read_row_of(reader, read_u32(row, 0), read_u32(row, 1)), number = READ_NONE;
	struct profile_row *to;

	if (i == READ_NONE || cell_at(reader, row, 2, &number))
		return -1;
	if (number == 0)
		return read_damaged(reader, "a counter");
	to = &reader->recording->profile.rows[i];
	if (region_cells(reader, to))
		return -1;
	if (number != READ_NONE)
		to->cells[number - 1] = read_u64(row, 3);
	return 0;
}

static int read_value(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	u32 i = read_row_of(reader, read_u32(row, 0), read_u32(row, 1)), name;
	struct profile_value *value;

	if (i == READ_NONE || read_name_at(reader, row, 2, &name))
		return -1;
	if (name == PROFILE_NONE || !read_u64(row, 3))
		return read_damaged(reader, "a value");
	value = profile_value(&reader->recording->profile, i, name);
	if (!value)
		return read_no_memory();
	value->count = read_u64(row, 3);
	value->sum = sqlite3_column_double(row, 4);
	value->min = sqlite3_column_double(row, 5);
	value->max = sqlite3_column_double(row, 6);
	value->last = sqlite3_column_double(row, 7);
	return 0;
}

/* ---- beside the regions ---------------------------------------------------------------------------- */

static int read_window(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct profile *profile = &reader->recording->profile;
	struct profile_window *window;
	u32 name;

	if (read_name_at(reader, row, 3, &name))
		return -1;
	if (name == PROFILE_NONE || read_u32(row, 0) != profile->nwindows + 1)
		return read_damaged(reader, "a window");
	window = profile_window(profile, read_u32(row, 1), read_u32(row, 2), name);
	if (!window)
		return read_no_memory();
	window->calls = read_u64(row, 4);
	window->open = read_u64(row, 5);
	window->wall = read_u64(row, 6);
	for (u32 i = 0; i < SNAPSHOT_CELLS; i++)
		if (!reader->snapshots[i])
			window->snapshot[i] = cell_absent(CELL_UNAVAILABLE, "the sparkctl that recorded did not read it");
	return 0;
}

static int read_diagnosis(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct profile_diag diag = { .process = read_u32(row, 0), .tid = read_u32(row, 1), .count = read_u64(row, 4) };
	const char *kind = (const char *)sqlite3_column_text(row, 2);

	for (diag.kind = 0; diag.kind < WIRE_DIAG_MAX; diag.kind++)
		if (kind && report_diagnosis_name(diag.kind) && !strcmp(report_diagnosis_name(diag.kind), kind))
			break;
	if (diag.kind == WIRE_DIAG_MAX)
		return read_damaged(reader, "a diagnosis");
	if (read_name_at(reader, row, 3, &diag.name))
		return -1;
	profile_add_diag(&reader->recording->profile, &diag);
	return reader->recording->profile.no_memory ? read_no_memory() : 0;
}

static int read_open(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct profile_diag open = { .process = read_u32(row, 0), .tid = read_u32(row, 1), .count = read_u64(row, 3) };

	if (read_name_at(reader, row, 2, &open.name))
		return -1;
	if (open.name == PROFILE_NONE)
		return read_damaged(reader, "an open region");
	profile_add_open(&reader->recording->profile, &open);
	return reader->recording->profile.no_memory ? read_no_memory() : 0;
}

static int read_paths(struct store_reader *reader)
{
	reader->names = read_array(reader, "name", sizeof(*reader->names));
	reader->paths = read_array(reader, "path", sizeof(*reader->paths));
	if (!reader->names || !reader->paths)
		return -1;
	reader->npaths = 1; /* path 0 is that of a root */
	if (store_each(&reader->db, "SELECT id, text FROM name ORDER BY id", read_name, reader) ||
	    store_each(&reader->db, "SELECT id, parent, name FROM path ORDER BY id", read_path, reader) ||
	    store_each(&reader->db, "SELECT id, process, pid, tid FROM root ORDER BY id", read_root, reader))
		return -1;
	reader->rows = calloc(reader->npaths, sizeof(*reader->rows));
	reader->root = READ_NONE;
	return reader->rows ? 0 : read_no_memory();
}

int read_profile(struct store_reader *reader)
{
	if (read_paths(reader))
		return -1;
	return store_each(&reader->db, "SELECT root, path, calls, wall, off, min, max, bracket, hist, open, open_wall,"
			  " unsure, left, units, unit, unit_mixed, counters, cpu_state, cpu_note FROM region"
			  " ORDER BY rowid", read_region, reader) ||
	       store_each(&reader->db, "SELECT root, path, cell, value FROM counter ORDER BY rowid", read_counter,
			  reader) ||
	       store_each(&reader->db, "SELECT root, path, name, count, sum, min, max, last FROM value ORDER BY rowid",
			  read_value, reader) ||
	       store_each(&reader->db, "SELECT id, process, pid, name, calls, open, wall FROM window"
			  " ORDER BY id", read_window, reader) ||
	       store_each(&reader->db, "SELECT kind, owner, cell, value, state, reason FROM usage", read_usage, reader) ||
	       store_each(&reader->db, "SELECT process, tid, kind, name, count FROM diagnosis", read_diagnosis, reader) ||
	       store_each(&reader->db, "SELECT process, tid, name, count FROM open_region", read_open, reader) ||
	       read_origins(reader) || read_portion(reader) || read_windows(reader);
}
