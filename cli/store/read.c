/* SPDX-License-Identifier: MIT */
/*
 * A recording as a profile and the facts of its run. The file may be anybody's: numbers are checked
 * before they are used as places, and what makes no sense ends the reading with one message.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/store/read.h"

struct recording_text {
	struct recording_text *next;
	char text[];
};

enum { READ_ROWS_MAX = PROFILE_ROWS_MAX * 2 };

int read_damaged(struct store_reader *reader, const char *what)
{
	return error("%s is damaged: %s makes no sense", reader->db.path, what);
}

int read_no_memory(void)
{
	return error("out of memory for the recording");
}

/* Text that lives as long as the recording; NULL for NULL, and when memory is short. */
static const char *keep(struct recording *recording, const void *bytes, size_t len)
{
	struct recording_text *text = bytes ? malloc(sizeof(*text) + len + 1) : NULL;

	if (!text)
		return NULL;
	memcpy(text->text, bytes, len);
	text->text[len] = '\0';
	text->next = recording->texts;
	recording->texts = text;
	return text->text;
}

const char *read_text(struct store_reader *reader, sqlite3_stmt *row, int i)
{
	const void *bytes = sqlite3_column_blob(row, i);

	if (sqlite3_column_type(row, i) == SQLITE_NULL)
		return NULL;
	return keep(reader->recording, bytes ? bytes : "", (size_t)sqlite3_column_bytes(row, i));
}

u64 read_u64(sqlite3_stmt *row, int i)
{
	return (u64)sqlite3_column_int64(row, i);
}

u32 read_u32(sqlite3_stmt *row, int i)
{
	sqlite3_int64 value = sqlite3_column_int64(row, i);

	return value < 0 || value > 0xffffffffLL ? READ_NONE : (u32)value;
}

int read_state(sqlite3_stmt *row, int i, enum cell_state *state)
{
	const char *name = (const char *)sqlite3_column_text(row, i);

	for (*state = CELL_COUNTED; *state <= CELL_LOST; ++*state)
		if (name && !strcmp(cell_state_name(*state), name))
			return 0;
	return -1;
}

static int count_row(void *context, sqlite3_stmt *row)
{
	*(u64 *)context = read_u64(row, 0);
	return 0;
}

/* The number is limited, so that a made-up one cannot take all memory. */
void *read_array(struct store_reader *reader, const char *table, size_t size)
{
	char sql[96];
	u64 count = 0;
	void *array;

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", table);
	if (store_each(&reader->db, sql, count_row, &count))
		return NULL;
	if (count > READ_ROWS_MAX) {
		read_damaged(reader, table);
		return NULL;
	}
	array = calloc((size_t)count + 1, size);
	if (!array)
		read_no_memory();
	return array;
}

/* ---- the run --------------------------------------------------------------------------------------- */

struct run_row {
	const char *key;
	void (*take)(struct store_reader *reader, sqlite3_stmt *row);
};

#define TAKE_TEXT(name, member) static void take_##name(struct store_reader *reader, sqlite3_stmt *row) \
	{ reader->recording->member = read_text(reader, row, 1); }
#define TAKE_NUMBER(name, type, member) static void take_##name(struct store_reader *reader, sqlite3_stmt *row) \
	{ reader->recording->member = (type)sqlite3_column_int64(row, 1); }
#define TAKE_REAL(name, member) static void take_##name(struct store_reader *reader, sqlite3_stmt *row) \
	{ reader->recording->member = sqlite3_column_double(row, 1); }

TAKE_TEXT(version, provenance.version)
TAKE_NUMBER(started, u64, provenance.started_ns)
TAKE_TEXT(environment, provenance.environment)
TAKE_NUMBER(alive, bool, facts.alive)
TAKE_NUMBER(status, int, facts.status)
TAKE_NUMBER(signal, int, facts.signal)
TAKE_NUMBER(timeout, bool, facts.timeout)
TAKE_NUMBER(duration, u64, facts.duration_ns)
TAKE_TEXT(host, facts.host)
TAKE_TEXT(kernel, facts.kernel)
TAKE_TEXT(cpu, facts.cpu)
TAKE_TEXT(clock, facts.clock)
TAKE_REAL(hint, clock.hint)
TAKE_NUMBER(identity, bool, clock.identity)
TAKE_NUMBER(start_waits, u64, facts.start_waits)
TAKE_NUMBER(start_longest, u64, facts.start_longest_ns)
TAKE_NUMBER(start_unheard, u64, facts.start_unheard)
TAKE_TEXT(not_preloaded, facts.not_preloaded)
TAKE_TEXT(uncounted, facts.uncounted)
TAKE_TEXT(target, facts.target)
TAKE_TEXT(metrics, options.report.metrics)
TAKE_TEXT(regions, options.report.regions)
TAKE_TEXT(sort_by, options.report.sort_by)
TAKE_TEXT(define, options.define)
TAKE_NUMBER(repaired, u64, profile.repaired)
TAKE_REAL(pairs, profile.pairs)
TAKE_REAL(pair_cost, profile.pair_cost)
TAKE_NUMBER(sources, u32, profile.sources)

static void take_finished(struct store_reader *reader, sqlite3_stmt *row)
{
	reader->recording->facts.unfinished = !sqlite3_column_int64(row, 1);
}

static void take_group(struct store_reader *reader, sqlite3_stmt *row)
{
	const char *word = (const char *)sqlite3_column_text(row, 1);
	u32 i;

	for (i = 0; word && profile_group_words[i]; i++)
		if (!strcmp(profile_group_words[i], word))
			reader->recording->options.group = (enum profile_group)i;
}

static const struct run_row run_rows[] = {
	{ "version", take_version }, { "started_ns", take_started }, { "environment", take_environment },
	{ "finished", take_finished }, { "alive", take_alive }, { "status", take_status },
	{ "signal", take_signal }, { "timeout", take_timeout }, { "duration_ns", take_duration },
	{ "host", take_host }, { "kernel", take_kernel }, { "cpu", take_cpu }, { "clock", take_clock },
	{ "ns_per_tick_hint", take_hint }, { "clock_is_ns", take_identity },
	{ "start_waits", take_start_waits }, { "start_longest_ns", take_start_longest }, { "start_unheard", take_start_unheard },
	{ "not_preloaded", take_not_preloaded }, { "uncounted", take_uncounted }, { "metrics", take_metrics }, { "regions", take_regions },
	{ "target", take_target }, { "sort_by", take_sort_by }, { "define", take_define }, { "group_by", take_group }, { "repaired", take_repaired },
	{ "marker_pairs", take_pairs }, { "marker_ticks", take_pair_cost }, { "sources", take_sources },
};

static int read_run(void *context, sqlite3_stmt *row)
{
	const char *key = (const char *)sqlite3_column_text(row, 0);
	size_t i;

	for (i = 0; key && i < ARRAY_SIZE(run_rows); i++)
		if (!strcmp(run_rows[i].key, key))
			run_rows[i].take(context, row);
	return 0;
}

static int read_argument(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	const char **argv = (const char **)(uintptr_t)reader->recording->facts.argv;

	argv[reader->narguments++] = read_text(reader, row, 0);
	return 0;
}

static int read_note(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct provenance *provenance = &reader->recording->provenance;

	provenance->notes[provenance->nnotes++] =
		(struct note_fact){ read_u64(row, 0), read_text(reader, row, 1) };
	return 0;
}

static int read_object(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct provenance *provenance = &reader->recording->provenance;

	provenance->objects[provenance->nobjects++] =
		(struct object_fact){ read_text(reader, row, 0), read_text(reader, row, 1) };
	return 0;
}

static int read_capability(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct session_facts *facts = &reader->recording->facts;
	struct capability_fact *all = (struct capability_fact *)(uintptr_t)facts->capabilities;

	all[facts->ncapabilities++] = (struct capability_fact){
		.name = read_text(reader, row, 0), .available = sqlite3_column_int(row, 1),
		.asked = sqlite3_column_int(row, 2), .because = read_text(reader, row, 3),
		.remedy = read_text(reader, row, 4),
	};
	return all[facts->ncapabilities - 1].name ? 0 : read_damaged(reader, "a capability");
}

static int read_clock(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;

	return clock_map_add(&reader->recording->clock, read_u64(row, 0), read_u64(row, 1)) ? read_no_memory() : 0;
}

static int read_total(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct session_facts *facts = &reader->recording->facts;
	struct total_fact *all = (struct total_fact *)(uintptr_t)facts->totals, *total = &all[facts->ntotals];

	*total = (struct total_fact){ .name = read_text(reader, row, 0), .unit = read_text(reader, row, 1),
				      .source = read_text(reader, row, 5) };
	total->cell = (struct cell){ .value = sqlite3_column_double(row, 2), .note = read_text(reader, row, 4) };
	if (!total->name || !total->unit || !isfinite(total->cell.value) || read_state(row, 3, &total->cell.state))
		return read_damaged(reader, "a total");
	facts->ntotals++;
	return 0;
}

static int read_loss(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct session_facts *facts = &reader->recording->facts;
	struct loss_fact *all = (struct loss_fact *)(uintptr_t)facts->losses;
	const char *name = read_text(reader, row, 0), *text = read_text(reader, row, 2);
	u32 i;

	if (!name || !text)
		return read_damaged(reader, "a loss");
	for (i = 0; i < PROFILE_LOSS_COUNT; i++)
		if (profile_loss_name(i) && !strcmp(profile_loss_name(i), name)) {
			reader->recording->profile.losses[i] = read_u64(row, 1);
			return 0;
		}
	all[facts->nlosses++] = (struct loss_fact){ name, text, read_u64(row, 1) };
	return 0;
}

/* Of what ran already there is no command. */
static int read_command(struct store_reader *reader)
{
	struct session_facts *facts = &reader->recording->facts;
	int err = store_each(&reader->db, "SELECT text FROM argument", read_argument, reader);

	if (!err && facts->target && !reader->narguments) {
		free((void *)(uintptr_t)facts->argv);
		facts->argv = NULL;
	}
	return err;
}

static int read_facts(struct store_reader *reader)
{
	struct recording *recording = reader->recording;
	struct session_facts *facts = &recording->facts;

	facts->argv = read_array(reader, "argument", sizeof(char *));
	recording->provenance.notes = read_array(reader, "note", sizeof(struct note_fact));
	recording->provenance.objects = read_array(reader, "object", sizeof(struct object_fact));
	facts->capabilities = read_array(reader, "capability", sizeof(struct capability_fact));
	facts->totals = read_array(reader, "total", sizeof(struct total_fact));
	facts->losses = read_array(reader, "loss", sizeof(struct loss_fact));
	if (!facts->argv || !recording->provenance.notes || !recording->provenance.objects ||
	    !facts->capabilities || !facts->totals || !facts->losses)
		return -1;
	return store_each(&reader->db, "SELECT key, value FROM run", read_run, reader) ||
	       read_command(reader) ||
	       store_each(&reader->db, "SELECT time_ns, text FROM note", read_note, reader) ||
	       store_each(&reader->db, "SELECT path, build_id FROM object", read_object, reader) ||
	       store_each(&reader->db, "SELECT name, available, asked, because, remedy FROM capability",
			  read_capability, reader) ||
	       store_each(&reader->db, "SELECT ticks, ns FROM clock", read_clock, reader) ||
	       store_each(&reader->db, "SELECT name, unit, value, state, note, source FROM total", read_total, reader) ||
	       store_each(&reader->db, "SELECT name, count, text FROM loss", read_loss, reader);
}

/* ---- the file -------------------------------------------------------------------------------------- */

static int read_pragma(struct store_reader *reader, const char *sql, u64 *value)
{
	return store_each(&reader->db, sql, count_row, value);
}

/* A view of the same name could take any time and answer anything. 1, 0, or -1 after a message. */
int read_has_table(struct store_reader *reader, const char *name)
{
	char sql[160];
	u64 count = 0;

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '%s'"
		 " AND sql LIKE 'CREATE TABLE %%'", name);
	return store_each(&reader->db, sql, count_row, &count) ? -1 : count == 1;
}

static int check_tables(struct store_reader *reader, const char *const *tables)
{
	size_t i;
	int has;

	for (i = 0; tables[i]; i++) {
		has = read_has_table(reader, tables[i]);
		if (has <= 0)
			return has ? -1 : error("%s is damaged: it has no table %s", reader->db.path, tables[i]);
	}
	return 0;
}

static int check_version(struct store_reader *reader)
{
	u64 application = 0, version = 0;

	/* What is no database at all says so here. */
	if (sqlite3_exec(reader->db.handle, "PRAGMA trusted_schema=OFF", NULL, NULL, NULL) != SQLITE_OK)
		return store_failed(&reader->db);
	if (read_pragma(reader, "PRAGMA application_id", &application) ||
	    read_pragma(reader, "PRAGMA user_version", &version))
		return -1;
	if (application != STORE_APPLICATION)
		return error("%s is not a recording", reader->db.path);
	if (version < STORE_VERSION_OLDEST || version > STORE_VERSION)
		return error("%s has version %llu of the format, this sparkctl reads versions %d to %d: use the one that wrote it",
			     reader->db.path, (unsigned long long)version, STORE_VERSION_OLDEST, STORE_VERSION);
	return check_tables(reader, store_tables);
}

/* Of a run that was not sampled there are none. */
static int read_sampled(struct store_reader *reader)
{
	int has = read_has_table(reader, store_samples_tables[0]);

	if (has <= 0)
		return has;
	return check_tables(reader, store_samples_tables) || read_samples(reader) || read_off(reader) ? -1 : 0;
}

static int read_all(struct store_reader *reader)
{
	struct recording *recording = reader->recording;
	struct session_facts *facts = &recording->facts;

	facts->clock_map = &recording->clock;
	facts->provenance = &recording->provenance;
	recording->provenance.recorded = true;
	profile_init(&recording->profile, PROFILE_BY_THREAD);
	samples_init(&recording->samples);
	samples_init(&recording->window_paths);
	if (check_version(reader) || read_facts(reader) || read_processes(reader) || read_profile(reader) ||
	    read_storage(reader) || read_sampled(reader) || read_block(reader))
		return -1;
	return reader->db.failed ? -1 : 0;
}

struct recording *recording_read(const char *path)
{
	struct store_reader reader = { .db = { .path = path } };
	int code, failed = -1;

	if (store_sqlite())
		return NULL;
	reader.recording = calloc(1, sizeof(*reader.recording));
	if (!reader.recording) {
		read_no_memory();
		return NULL;
	}
	if (!store_is_recording(path)) {
		/* It is this thread's alone: a lock for each value of each row takes a third of the time. */
		code = sqlite3_open_v2(path, &reader.db.handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
		failed = code == SQLITE_OK ? read_all(&reader) : store_failed(&reader.db);
	}
	sqlite3_close(reader.db.handle);
	free(reader.names);
	free(reader.paths);
	free(reader.roots);
	free(reader.rows);
	if (!failed)
		return reader.recording;
	recording_free(reader.recording);
	return NULL;
}

void recording_free(struct recording *recording)
{
	struct recording_text *next;

	if (!recording)
		return;
	while (recording->texts) {
		next = recording->texts->next;
		free(recording->texts);
		recording->texts = next;
	}
	profile_fini(&recording->profile);
	samples_fini(&recording->samples);
	block_fini(&recording->block);
	free(recording->events);
	clock_map_fini(&recording->clock);
	recording_free_storage(recording);
	free((void *)(uintptr_t)recording->facts.argv);
	free((void *)(uintptr_t)recording->facts.capabilities);
	free((void *)(uintptr_t)recording->facts.totals);
	free((void *)(uintptr_t)recording->facts.losses);
	free((void *)(uintptr_t)recording->facts.spans);
	free((void *)(uintptr_t)recording->facts.inside);
	recording_free_windows(recording);
	free((void *)(uintptr_t)recording->facts.processes);
	free(recording->provenance.notes);
	free(recording->provenance.objects);
	free(recording);
}
