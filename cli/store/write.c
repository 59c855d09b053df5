/* SPDX-License-Identifier: MIT */
/* A profile and the facts of its run as a database in memory, and that as a file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/profile_build.h"
#include "cli/log.h"
#include "cli/store/internal.h"
#include "common/source_table.h"

struct store_writer {
	struct store_db db;
	const struct profile *profile;
	const struct session_facts *facts;
	const struct store_options *options;
	struct profile paths;        /* its rows are the paths of all rows */
	u32 *path;                   /* of each row */
	u32 *root;                   /* row number of each row's root */
	sqlite3_stmt *usage, *reason;
	const char *reasons[64];     /* written so far */
	u32 nreasons;
};

/* ---- the run --------------------------------------------------------------------------------------- */

static void write_text(struct store_writer *writer, sqlite3_stmt *insert, const char *key, const char *value)
{
	if (value)
		store_put(&writer->db, insert, "tt", key, value);
}

static void write_number(struct store_writer *writer, sqlite3_stmt *insert, const char *key, u64 value)
{
	store_put(&writer->db, insert, "ti", key, (s64)value);
}

static void write_run(struct store_writer *writer)
{
	const struct session_facts *facts = writer->facts;
	const struct store_options *options = writer->options;
	sqlite3_stmt *insert = store_prepare(&writer->db, "INSERT INTO run VALUES (?, ?)");

	write_text(writer, insert, "version", facts->provenance->version);
	write_number(writer, insert, "started_ns", facts->provenance->started_ns);
	write_text(writer, insert, "environment", facts->provenance->environment);
	write_number(writer, insert, "finished", !facts->unfinished);
	write_number(writer, insert, "alive", facts->alive);
	write_number(writer, insert, "status", (u64)facts->status);
	write_number(writer, insert, "signal", (u64)facts->signal);
	write_number(writer, insert, "timeout", facts->timeout);
	write_number(writer, insert, "duration_ns", facts->duration_ns);
	write_text(writer, insert, "host", facts->host);
	write_text(writer, insert, "kernel", facts->kernel);
	write_text(writer, insert, "cpu", facts->cpu);
	write_text(writer, insert, "clock", facts->clock);
	store_put(&writer->db, insert, "tr", "ns_per_tick", (double)clock_map_slope(facts->clock_map));
	store_put(&writer->db, insert, "tr", "ns_per_tick_hint", facts->clock_map->hint);
	write_number(writer, insert, "start_waits", facts->start_waits);
	write_number(writer, insert, "start_longest_ns", facts->start_longest_ns);
	write_number(writer, insert, "start_unheard", facts->start_unheard);
	write_number(writer, insert, "clock_is_ns", facts->clock_map->identity);
	write_text(writer, insert, "not_preloaded", facts->not_preloaded);
	write_text(writer, insert, "uncounted", facts->uncounted);
	write_text(writer, insert, "target", facts->target);
	write_text(writer, insert, "metrics", options->report.metrics);
	write_text(writer, insert, "regions", options->report.regions);
	write_text(writer, insert, "sort_by", options->report.sort_by);
	write_text(writer, insert, "define", options->define);
	write_text(writer, insert, "group_by", profile_group_words[options->group]);
	write_number(writer, insert, "repaired", writer->profile->repaired);
	store_put(&writer->db, insert, "tr", "marker_pairs", writer->profile->pairs);
	store_put(&writer->db, insert, "tr", "marker_ticks", writer->profile->pair_cost);
	write_number(writer, insert, "sources", writer->profile->sources);
	sqlite3_finalize(insert);
}

static void write_argv(struct store_writer *writer)
{
	sqlite3_stmt *insert = store_prepare(&writer->db, "INSERT INTO argument VALUES (?)");
	size_t i;

	for (i = 0; writer->facts->argv && writer->facts->argv[i]; i++)
		store_put(&writer->db, insert, "t", writer->facts->argv[i]);
	sqlite3_finalize(insert);
}

static void write_provenance(struct store_writer *writer)
{
	const struct provenance *provenance = writer->facts->provenance;
	sqlite3_stmt *insert = store_prepare(&writer->db, "INSERT INTO note VALUES (?, ?)");
	size_t i;

	for (i = 0; i < provenance->nnotes; i++)
		store_put(&writer->db, insert, "it", (s64)provenance->notes[i].time_ns, provenance->notes[i].text);
	sqlite3_finalize(insert);
	insert = store_prepare(&writer->db, "INSERT INTO object VALUES (?, ?)");
	for (i = 0; i < provenance->nobjects; i++)
		store_put(&writer->db, insert, "tt", provenance->objects[i].path, provenance->objects[i].build_id);
	sqlite3_finalize(insert);
}

static void write_facts(struct store_writer *writer)
{
	const struct session_facts *facts = writer->facts;
	sqlite3_stmt *insert = store_prepare(&writer->db, "INSERT INTO capability VALUES (?, ?, ?, ?, ?)");
	size_t i;

	for (i = 0; i < facts->ncapabilities; i++)
		store_put(&writer->db, insert, "tiitt", facts->capabilities[i].name,
			  (s64)facts->capabilities[i].available, (s64)facts->capabilities[i].asked,
			  facts->capabilities[i].because, facts->capabilities[i].remedy);
	sqlite3_finalize(insert);
	insert = store_prepare(&writer->db, "INSERT INTO clock VALUES (?, ?)");
	for (i = 0; i < facts->clock_map->count; i++)
		store_put(&writer->db, insert, "ii", (s64)facts->clock_map->pairs[i].ticks,
			  (s64)facts->clock_map->pairs[i].ns);
	sqlite3_finalize(insert);
	insert = store_prepare(&writer->db, "INSERT INTO total VALUES (?, ?, ?, ?, ?, ?)");
	for (i = 0; i < facts->ntotals; i++) {
		const struct total_fact *total = &facts->totals[i];

		/* A NaN is NULL in SQLite. */
		store_put(&writer->db, insert, "ttrttt", total->name, total->unit,
			  cell_has_value(&total->cell) ? total->cell.value : (double)NAN,
			  cell_state_name(total->cell.state), total->cell.note, total->source);
	}
	sqlite3_finalize(insert);
}

static void write_losses(struct store_writer *writer)
{
	sqlite3_stmt *insert = store_prepare(&writer->db, "INSERT INTO loss VALUES (?, ?, ?)");
	size_t i;

	for (i = 0; i < PROFILE_LOSS_COUNT; i++)
		if (writer->profile->losses[i])
			store_put(&writer->db, insert, "tit", profile_loss_name((u32)i),
				  (s64)writer->profile->losses[i], profile_loss_text((u32)i));
	for (i = 0; i < writer->facts->nlosses; i++)
		if (writer->facts->losses[i].count)
			store_put(&writer->db, insert, "tit", writer->facts->losses[i].name,
				  (s64)writer->facts->losses[i].count, writer->facts->losses[i].text);
	sqlite3_finalize(insert);
}

/* ---- processes and threads ------------------------------------------------------------------------- */

/* The number of a text of why; 0: none. They are static texts and few. */
static u32 write_reason(struct store_writer *writer, const char *text)
{
	u32 i;

	if (!text)
		return 0;
	for (i = 0; i < writer->nreasons; i++)
		if (writer->reasons[i] == text || !strcmp(writer->reasons[i], text))
			return i + 1;
	if (writer->nreasons == ARRAY_SIZE(writer->reasons))
		return 0;
	writer->reasons[writer->nreasons++] = text;
	store_put(&writer->db, writer->reason, "it", (s64)writer->nreasons, text);
	return writer->nreasons;
}

/* What is 0 and counted is left out. */
static void write_usage_cell(struct store_writer *writer, enum store_usage_kind kind, u64 owner, u32 number,
			     const struct cell *cell)
{
	if (cell->state == CELL_COUNTED && cell->value == 0 && !cell->note)
		return;
	store_put(&writer->db, writer->usage, "iiirtn", (s64)kind, (s64)owner, (s64)number,
		  cell_has_value(cell) ? cell->value : (double)NAN, cell_state_name(cell->state),
		  (s64)write_reason(writer, cell->note));
}

static void write_usage(struct store_writer *writer, enum store_usage_kind kind, u64 owner, const struct usage *usage)
{
	u32 i;

	write_usage_cell(writer, kind, owner, 0, &usage->cpu);
	for (i = 0; i < source_cells(SOURCE_ALL); i++)
		write_usage_cell(writer, kind, owner, i + 1, &usage->cell[i]);
}

/* Cell 0 is the CPU time of a usage; those of the sources follow. */
static void write_cells(struct store_writer *writer)
{
	sqlite3_stmt *insert = store_prepare(&writer->db, "INSERT INTO cell VALUES (?, ?, ?, ?)");
	u32 i;

	store_put(&writer->db, insert, "ittt", (s64)0, "time", "cpu", "ns");
	for (i = 0; i < source_cells(SOURCE_ALL); i++)
		store_put(&writer->db, insert, "ittt", (s64)i + 1, source_table[source_of_cell(i)].name,
			  source_cell_of(i)->name, source_cell_of(i)->unit);
	store_write_event_cells(&writer->db, insert, writer->profile);
	for (i = 0; writer->profile->nwindows && i < SNAPSHOT_CELLS; i++)
		store_put(&writer->db, insert, "ittt", (s64)STORE_SNAPSHOTS + i, snapshot_files[snapshot_file_of(i)].source,
			  snapshot_cells[i].name, snapshot_cells[i].unit);
	sqlite3_finalize(insert);
}

static void write_processes(struct store_writer *writer)
{
	sqlite3_stmt *insert = store_prepare(&writer->db,
		"INSERT INTO process VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	size_t i;

	for (i = 0; i < writer->facts->nprocesses; i++) {
		const struct process_facts *process = &writer->facts->processes[i];

		store_put(&writer->db, insert, "iinttiitiiniiiiit", (s64)process->id, (s64)process->pid,
			  (s64)process->parent, process->command, process->image, (s64)process->start_ns,
			  (s64)process->end_ns, store_ends[process->ended], (s64)process->status,
			  (s64)process->signal, (s64)process->threads, (s64)process->bracket,
			  (s64)process->pair, (s64)process->detector, (s64)process->sealed_cpu,
			  (s64)process->agent, process->no_agent);
		write_usage(writer, STORE_USAGE_PROCESS, process->id, &process->usage);
	}
	sqlite3_finalize(insert);
}

static void write_threads(struct store_writer *writer)
{
	sqlite3_stmt *insert = store_prepare(&writer->db, "INSERT INTO thread VALUES (?, ?, ?, ?, ?, ?, ?)");
	u32 i;

	for (i = 0; i < writer->profile->nthreads; i++) {
		const struct profile_thread *thread = &writer->profile->threads[i];

		store_put(&writer->db, insert, "iiiiiii", (s64)i + 1, (s64)thread->process, (s64)thread->pid,
			  (s64)thread->tid, (s64)thread->threads, (s64)thread->detector, (s64)thread->wall);
		write_usage(writer, STORE_USAGE_THREAD, (u64)i + 1, &thread->usage);
	}
	sqlite3_finalize(insert);
}

static void write_windows(struct store_writer *writer)
{
	sqlite3_stmt *insert = store_prepare(&writer->db, "INSERT INTO window VALUES (?, ?, ?, ?, ?, ?, ?)");
	u32 i;

	for (i = 0; i < writer->profile->nwindows; i++) {
		const struct profile_window *window = &writer->profile->windows[i];

		store_put(&writer->db, insert, "iiiiiii", (s64)i + 1, (s64)window->process, (s64)window->pid,
			  (s64)window->name, (s64)window->calls, (s64)window->open, (s64)window->wall);
		write_usage(writer, STORE_USAGE_WINDOW, (u64)i + 1, &window->usage);
		for (u32 k = 0; k < SNAPSHOT_CELLS; k++)
			write_usage_cell(writer, STORE_USAGE_WINDOW, (u64)i + 1, STORE_SNAPSHOTS + k, &window->snapshot[k]);
	}
	sqlite3_finalize(insert);
}

/* ---- regions --------------------------------------------------------------------------------------- */

static void write_names(struct store_writer *writer)
{
	sqlite3_stmt *insert = store_prepare(&writer->db, "INSERT INTO name VALUES (?, ?)");
	u32 i;

	for (i = 0; i < writer->profile->nnames; i++)
		store_put(&writer->db, insert, "is", (s64)i, writer->profile->names[i].bytes,
			  (size_t)writer->profile->names[i].len);
	sqlite3_finalize(insert);
}

/* Numbers the paths of all rows: one of the same names below each other is one path, whatever the thread. */
static void find_paths(struct store_writer *writer)
{
	const struct profile *profile = writer->profile;
	u32 i;

	writer->path = calloc((size_t)profile->nrows + 1, sizeof(*writer->path));
	writer->root = calloc((size_t)profile->nrows + 1, sizeof(*writer->root));
	for (i = 0; writer->path && writer->root && i < profile->nrows; i++) {
		u32 parent = profile->rows[i].parent;

		writer->root[i] = parent == PROFILE_NONE ? i : writer->root[parent];
		writer->path[i] = parent == PROFILE_NONE ? profile_root(&writer->paths, 0, 0, 0)
			: profile_child(&writer->paths, writer->path[parent], profile->rows[i].name);
		if (writer->path[i] == PROFILE_NONE)
			break;
	}
	if (i == profile->nrows)
		return;
	error("out of memory for the recording %s", writer->db.path);
	writer->db.failed = true;
}

static void write_paths(struct store_writer *writer)
{
	sqlite3_stmt *insert = store_prepare(&writer->db, "INSERT INTO path VALUES (?, ?, ?)");
	u32 i;

	/* Path 0 is the empty one, of the roots. */
	for (i = 1; i < writer->paths.nrows; i++)
		store_put(&writer->db, insert, "ini", (s64)i, (s64)writer->paths.rows[i].parent,
			  (s64)writer->paths.rows[i].name);
	sqlite3_finalize(insert);
}

static void write_counters(struct store_writer *writer, sqlite3_stmt *insert, u32 i)
{
	const struct profile_row *row = &writer->profile->rows[i];
	u32 k;

	for (k = 0; row->cells && k < profile_cells(writer->profile); k++) {
		bool absent = wire_absent(row->cells[k]);

		if (absent || row->cells[k])
			store_put(&writer->db, insert, "iiiin", (s64)writer->root[i], (s64)writer->path[i], (s64)k + 1,
				  (s64)row->cells[k], (s64)(absent ? write_reason(writer, usage_absent_note(row->cells[k])) : 0));
	}
}

static void write_region(struct store_writer *writer, sqlite3_stmt *insert, u32 i)
{
	const struct profile_row *row = &writer->profile->rows[i];
	bool lasted = row->min <= row->max;
	size_t size;
	u8 *hist = store_pack_hist(&row->hist, &size);
	/* Of the calls that were open; the rest follows from what the finished ones took. */
	u64 open_wall = row->wall - (row->raw_wall - (u64)row->bracket);

	store_put(&writer->db, insert, "iiiinmmrbnnnnnmnntt", (s64)writer->root[i], (s64)writer->path[i],
		  (s64)row->calls, (s64)row->wall, (s64)row->off, lasted ? (s64)row->min : -1,
		  lasted ? (s64)row->max : -1, row->bracket, hist, size, (s64)row->open, (s64)open_wall,
		  (s64)row->unsure, (s64)row->left, (s64)row->units,
		  row->unit == PROFILE_NONE ? -1 : (s64)row->unit, (s64)row->unit_mixed, row->cells_lost ? 2L : (s64)(row->cells != NULL),
		  row->cpu_state ? cell_state_name(row->cpu_state) : NULL, row->cpu_note);
	free(hist);
}

static void write_regions(struct store_writer *writer)
{
	const struct profile *profile = writer->profile;
	sqlite3_stmt *root = store_prepare(&writer->db, "INSERT INTO root VALUES (?, ?, ?, ?)");
	sqlite3_stmt *region = store_prepare(&writer->db,
		"INSERT INTO region VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	sqlite3_stmt *counter = store_prepare(&writer->db, "INSERT INTO counter VALUES (?, ?, ?, ?, ?)");
	u32 i;

	for (i = 0; i < profile->nrows && !writer->db.failed; i++) {
		if (profile->rows[i].parent == PROFILE_NONE)
			store_put(&writer->db, root, "iiii", (s64)i, (s64)profile->rows[i].process,
				  (s64)profile->rows[i].pid, (s64)profile->rows[i].tid);
		else
			write_region(writer, region, i);
		write_counters(writer, counter, i);
	}
	sqlite3_finalize(root);
	sqlite3_finalize(region);
	sqlite3_finalize(counter);
}

static void write_values(struct store_writer *writer)
{
	sqlite3_stmt *insert = store_prepare(&writer->db, "INSERT INTO value VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
	u32 i;

	for (i = 0; i < writer->profile->nvalues; i++) {
		const struct profile_value *value = &writer->profile->values[i];

		store_put(&writer->db, insert, "iiiirrrr", (s64)writer->root[value->row],
			  (s64)writer->path[value->row], (s64)value->name, (s64)value->count, value->sum,
			  value->min, value->max, value->last);
	}
	sqlite3_finalize(insert);
}

static void write_diagnoses(struct store_writer *writer)
{
	const struct profile *profile = writer->profile;
	sqlite3_stmt *insert = store_prepare(&writer->db, "INSERT INTO diagnosis VALUES (?, ?, ?, ?, ?)");
	u32 i;

	for (i = 0; i < profile->ndiags; i++)
		store_put(&writer->db, insert, "iitmi", (s64)profile->diags[i].process, (s64)profile->diags[i].tid,
			  report_diagnosis_name(profile->diags[i].kind),
			  profile->diags[i].name == PROFILE_NONE ? -1 : (s64)profile->diags[i].name,
			  (s64)profile->diags[i].count);
	sqlite3_finalize(insert);
	insert = store_prepare(&writer->db, "INSERT INTO open_region VALUES (?, ?, ?, ?)");
	for (i = 0; i < profile->nopens; i++)
		store_put(&writer->db, insert, "iiii", (s64)profile->opens[i].process, (s64)profile->opens[i].tid,
			  (s64)profile->opens[i].name, (s64)profile->opens[i].count);
	sqlite3_finalize(insert);
}

/* ---- the file -------------------------------------------------------------------------------------- */

static void write_all(struct store_writer *writer)
{
	write_run(writer);
	write_argv(writer);
	write_provenance(writer);
	write_facts(writer);
	write_losses(writer);
	writer->usage = store_prepare(&writer->db, "INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?)");
	writer->reason = store_prepare(&writer->db, "INSERT INTO reason VALUES (?, ?)");
	write_cells(writer);
	store_write_events(&writer->db, writer->profile);
	write_processes(writer);
	write_threads(writer);
	write_windows(writer);
	find_paths(writer);
	write_names(writer);
	write_paths(writer);
	write_regions(writer);
	write_values(writer);
	write_diagnoses(writer);
	store_write_origins(&writer->db, writer->profile);
	store_write_portion(&writer->db, writer->profile, writer->facts, &(struct store_places){ writer->root, writer->path });
	store_write_storage(&writer->db, writer->facts->storage);
	store_write_cache(&writer->db, writer->facts->cache);
	store_write_windows(&writer->db, writer->facts);
	store_write_block(&writer->db, writer->facts->block);
	if (writer->facts->samples)
		store_write_samples(&writer->db, writer->facts->samples);
	sqlite3_finalize(writer->usage);
	sqlite3_finalize(writer->reason);
}

static void run_sql(struct store_writer *writer, const char *sql)
{
	if (!writer->db.failed && sqlite3_exec(writer->db.handle, sql, NULL, NULL, NULL) != SQLITE_OK)
		store_failed(&writer->db);
}

/* In memory: it costs no more than the file itself, and no reader ever sees it half written. */
static void make_database(struct store_writer *writer)
{
	char pragma[96];

	snprintf(pragma, sizeof(pragma), "PRAGMA page_size=4096; PRAGMA application_id=%d; PRAGMA user_version=%d;",
		 STORE_APPLICATION, STORE_VERSION);
	if (sqlite3_open_v2(":memory:", &writer->db.handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
	    SQLITE_OK)
		store_failed(&writer->db);
	run_sql(writer, pragma);
	run_sql(writer, "BEGIN");
	run_sql(writer, store_schema);
	if (!writer->db.failed)
		write_all(writer);
	run_sql(writer, "COMMIT");
}

int store_write(struct store_file *file, const struct profile *profile, const struct session_facts *facts,
		const struct store_options *options)
{
	struct store_writer writer = { .db = { .path = file->path }, .profile = profile, .facts = facts,
				       .options = options };
	unsigned char *bytes = NULL;
	sqlite3_int64 size = 0;

	profile_init(&writer.paths, PROFILE_BY_REGION);
	make_database(&writer);
	if (!writer.db.failed) {
		bytes = sqlite3_serialize(writer.db.handle, "main", &size, 0);
		if (!bytes)
			writer.db.failed = error("out of memory for the recording %s", file->path);
	}
	if (!writer.db.failed && store_replace(file, bytes, (size_t)size))
		writer.db.failed = true;
	sqlite3_free(bytes);
	sqlite3_close(writer.db.handle);
	profile_fini(&writer.paths);
	free(writer.path);
	free(writer.root);
	return writer.db.failed ? -1 : 0;
}
