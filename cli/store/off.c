/* SPDX-License-Identifier: MIT */
/* Intervals off the CPU as tables, which only recordings of runs that were watched for them have. */
#include <stdlib.h>
#include <string.h>

#include "cli/store/read.h"

static const char off_schema[] =
	"CREATE TABLE off_watch (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE off_interval (process INTEGER, pid INTEGER, tid INTEGER, path INTEGER, chain INTEGER, cause TEXT,"
	" shared INTEGER, recorded INTEGER, truncated INTEGER, unattributed INTEGER, count INTEGER, ns INTEGER);"
	"CREATE TABLE off_thread (process INTEGER, pid INTEGER, tid INTEGER, life_ns INTEGER, running_ns INTEGER,"
	" unknown_ns INTEGER, blocked INTEGER, preempted INTEGER, woken_ns INTEGER);"
	"CREATE TABLE off_wake (process INTEGER, tid INTEGER, path INTEGER, waker TEXT, waker_process INTEGER,"
	" waker_pid INTEGER, waker_tid INTEGER, name TEXT, chain INTEGER, count INTEGER, ns INTEGER);"
	"CREATE TABLE off_delay (thread INTEGER, ns INTEGER, whole INTEGER);";

static const char *const causes[] = {
	[SAMPLES_OFF_PREEMPTED] = "preempted", [SAMPLES_OFF_WOKEN] = "woken", [SAMPLES_OFF_DISK] = "disk",
	[SAMPLES_OFF_FUTEX] = "futex", [SAMPLES_OFF_IO] = "io", [SAMPLES_OFF_SLEEP] = "sleep",
	[SAMPLES_OFF_OTHER] = "other", [SAMPLES_OFF_UNSEEN] = "unseen", NULL,
};

static const char *const wakers[] = {
	[SAMPLES_WAKER_THREAD] = "thread", [SAMPLES_WAKER_OUTSIDE] = "outside", [SAMPLES_WAKER_INTERRUPT] = "interrupt",
	[SAMPLES_WAKER_SOFTIRQ] = "softirq", [SAMPLES_WAKER_OTHERS] = "others", NULL,
};

/* ---- writing --------------------------------------------------------------------------------------- */

/* NULL where a number is SAMPLES_NONE. */
static s64 number_of(u32 number)
{
	return number == SAMPLES_NONE ? -1 : (s64)number;
}

static void write_intervals(struct store_db *db, const struct samples *samples)
{
	sqlite3_stmt *insert = store_prepare(db, "INSERT INTO off_interval VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

	for (u32 i = 0; i < samples->noff_rows; i++) {
		const struct samples_row *row = &samples->off_rows[i];

		store_put(db, insert, "iiimmtnnnnii", (s64)row->process, (s64)row->pid, (s64)row->tid, number_of(row->region),
			  number_of(row->chain), causes[samples_off_kind(row->flags)],
			  (s64)(row->flags & SAMPLES_OFF_SHARED ? 1 : 0), (s64)(row->flags & SAMPLES_OFF_RECORDED ? 1 : 0),
			  (s64)(row->flags & SAMPLES_TRUNCATED ? 1 + samples_truncation(row->flags) : 0),
			  (s64)(row->flags & SAMPLES_UNATTRIBUTED ? 1 : 0), (s64)row->count, (s64)row->weight);
	}
	sqlite3_finalize(insert);
}

static void write_off_threads(struct store_db *db, const struct samples *samples)
{
	sqlite3_stmt *insert = store_prepare(db, "INSERT INTO off_thread VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");

	for (u32 i = 0; i < samples->nthreads; i++) {
		const struct samples_thread *t = &samples->threads[i];

		store_put(db, insert, "iiiiiiiim", (s64)t->process, (s64)t->pid, (s64)t->tid, (s64)t->life_ns, (s64)t->running_ns,
			  (s64)t->unknown_ns, (s64)t->blocked, (s64)t->preempted, t->woken_known ? (s64)t->woken_ns : -1);
	}
	sqlite3_finalize(insert);
}

/* By the numbers of rows of off_thread. */
static void write_delays(struct store_db *db, const struct samples *samples)
{
	sqlite3_stmt *insert = store_prepare(db, "INSERT INTO off_delay VALUES (?, ?, ?)");

	for (u32 i = 0; i < samples->nthreads; i++)
		if (samples->threads[i].disk_known)
			store_put(db, insert, "iii", (s64)i + 1, (s64)samples->threads[i].disk_ns,
				  (s64)samples->threads[i].disk_known - SAMPLES_DELAY_LEAST);
	sqlite3_finalize(insert);
}

static void write_wakes(struct store_db *db, const struct samples *samples)
{
	sqlite3_stmt *insert = store_prepare(db, "INSERT INTO off_wake VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

	for (u32 i = 0; i < samples->nwakes; i++) {
		const struct samples_wake *wake = &samples->wakes[i];

		store_put(db, insert, "iimtiiitmii", (s64)wake->process, (s64)wake->tid, number_of(wake->region), wakers[wake->by],
			  (s64)wake->waker_process, (s64)wake->waker_pid, (s64)wake->waker_tid,
			  wake->name == SAMPLES_NONE ? NULL : samples->strings[wake->name].bytes, number_of(wake->chain),
			  (s64)wake->count, (s64)wake->ns);
	}
	sqlite3_finalize(insert);
}

void store_write_off(struct store_db *db, const struct samples *samples)
{
	sqlite3_stmt *insert;

	if (!samples->off)
		return;
	if (!db->failed && sqlite3_exec(db->handle, off_schema, NULL, NULL, NULL) != SQLITE_OK)
		store_failed(db);
	insert = store_prepare(db, "INSERT INTO off_watch VALUES (?, ?)");
	store_put(db, insert, "ti", "lost", (s64)samples->off_lost);
	store_put(db, insert, "ti", "polled", (s64)samples->off_polled);
	store_put(db, insert, "tt", "note", samples->off_note);
	store_put(db, insert, "tt", "stacks", samples->off_stacks);
	store_put(db, insert, "tt", "waker", samples->off_waker);
	store_put(db, insert, "tt", "no_waker", samples->off_no_waker);
	store_put(db, insert, "ti", "unwoken", (s64)samples->off_unwoken);
	store_put(db, insert, "ti", "shared", (s64)samples->off_shared);
	store_put(db, insert, "tt", "no_delay", samples->off_no_delay);
	sqlite3_finalize(insert);
	write_intervals(db, samples);
	write_off_threads(db, samples);
	write_wakes(db, samples);
	write_delays(db, samples);
}

/* ---- reading --------------------------------------------------------------------------------------- */

static struct samples *samples_of(struct store_reader *reader)
{
	return &reader->recording->samples;
}

/* A number below a limit, or SAMPLES_NONE for NULL. */
static bool off_number(sqlite3_stmt *row, int column, u32 limit, u32 *number)
{
	*number = SAMPLES_NONE;
	if (sqlite3_column_type(row, column) == SQLITE_NULL)
		return true;
	*number = read_u32(row, column);
	return *number < limit;
}

static int read_watch(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct samples *samples = samples_of(reader);
	const char *key = (const char *)sqlite3_column_text(row, 0), *text = (const char *)sqlite3_column_text(row, 1);

	if (key && !strcmp(key, "lost"))
		samples->off_lost = read_u64(row, 1);
	else if (key && !strcmp(key, "polled"))
		samples->off_polled = sqlite3_column_int(row, 1);
	else if (key && text && !strcmp(key, "note") && !samples->off_note)
		samples->off_note = strdup(text);
	else if (key && text && !strcmp(key, "stacks") && !samples->off_stacks)
		samples->off_stacks = strdup(text);
	else if (key && text && !strcmp(key, "waker") && !samples->off_waker)
		samples->off_waker = strdup(text);
	else if (key && text && !strcmp(key, "no_waker") && !samples->off_no_waker)
		samples->off_no_waker = strdup(text);
	else if (key && !strcmp(key, "unwoken"))
		samples->off_unwoken = read_u64(row, 1);
	else if (key && !strcmp(key, "shared"))
		samples->off_shared = read_u64(row, 1);
	else if (key && text && !strcmp(key, "no_delay") && !samples->off_no_delay)
		samples->off_no_delay = strdup(text);
	return 0;
}

static int read_interval(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct samples *samples = samples_of(reader);
	const char *word = (const char *)sqlite3_column_text(row, 5);
	u32 cause = 0, truncated = MIN(read_u32(row, 8), (u32)SAMPLES_TRUNCATIONS);
	struct samples_row off = { .process = read_u32(row, 0), .pid = read_u32(row, 1), .tid = read_u32(row, 2),
				   .count = read_u64(row, 10), .weight = read_u64(row, 11) };

	while (causes[cause] && strcmp(word ? word : "", causes[cause]) != 0)
		cause++;
	off.flags = cause << SAMPLES_OFF_SHIFT | (sqlite3_column_int(row, 6) ? SAMPLES_OFF_SHARED : 0u) |
		    (sqlite3_column_int(row, 7) ? SAMPLES_OFF_RECORDED : 0u) |
		    (truncated ? SAMPLES_TRUNCATED | (truncated - 1) << SAMPLES_TRUNCATION_SHIFT : 0u) |
		    (sqlite3_column_int(row, 9) ? SAMPLES_UNATTRIBUTED : 0u);
	if (!causes[cause] || off.process > reader->recording->facts.nprocesses ||
	    !off_number(row, 3, samples->nregions, &off.region) || !off_number(row, 4, samples->nchains, &off.chain))
		return read_damaged(reader, "an interval off the CPU");
	samples_off(samples, &off);
	return samples->no_memory ? read_no_memory() : 0;
}

static int read_off_thread(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	const struct samples_thread thread = {
		.process = read_u32(row, 0), .pid = read_u32(row, 1), .tid = read_u32(row, 2), .life_ns = read_u64(row, 3),
		.running_ns = read_u64(row, 4), .unknown_ns = read_u64(row, 5), .blocked = read_u64(row, 6),
		.preempted = read_u64(row, 7), .woken_ns = read_u64(row, 8),
		.woken_known = sqlite3_column_type(row, 8) != SQLITE_NULL,
	};

	return samples_thread(samples_of(reader), &thread) ? read_no_memory() : 0;
}

static int read_wake(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct samples *samples = samples_of(reader);
	const char *word = (const char *)sqlite3_column_text(row, 3);
	const char *name = (const char *)sqlite3_column_text(row, 7);
	struct samples_wake wake = {
		.process = read_u32(row, 0), .tid = read_u32(row, 1), .waker_process = read_u32(row, 4),
		.waker_pid = read_u32(row, 5), .waker_tid = read_u32(row, 6), .name = SAMPLES_NONE,
		.count = read_u64(row, 9), .ns = read_u64(row, 10),
	};

	while (wakers[wake.by] && strcmp(word ? word : "", wakers[wake.by]) != 0)
		wake.by++;
	if (!wakers[wake.by] || wake.process > reader->recording->facts.nprocesses ||
	    wake.waker_process > reader->recording->facts.nprocesses ||
	    !off_number(row, 2, samples->nregions, &wake.region) || !off_number(row, 8, samples->nchains, &wake.chain))
		return read_damaged(reader, "the end of a wait");
	if (name)
		wake.name = samples_string(samples, name, strlen(name));
	return samples->no_memory || samples_wake(samples, &wake) ? read_no_memory() : 0;
}

static int read_delay(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct samples *samples = samples_of(reader);
	u32 thread = read_u32(row, 0), whole = read_u32(row, 2);

	if (!thread || thread > samples->nthreads || whole > SAMPLES_DELAY_EXCESS - SAMPLES_DELAY_LEAST)
		return read_damaged(reader, "the delay of a thread");
	samples->threads[thread - 1].disk_ns = read_u64(row, 1);
	samples->threads[thread - 1].disk_known = SAMPLES_DELAY_LEAST + whole;
	return 0;
}

/* Recordings of before have no such tables. */
static int read_delays(struct store_reader *reader)
{
	int has = read_has_table(reader, "off_delay");

	if (has > 0)
		return store_each(&reader->db, "SELECT thread, ns, whole FROM off_delay ORDER BY rowid", read_delay, reader);
	if (!has && !samples_of(reader)->off_no_delay)
		samples_of(reader)->off_no_delay = strdup("not in recordings of that version");
	return has;
}

static int read_wakes(struct store_reader *reader)
{
	int has = read_has_table(reader, "off_wake");

	if (has <= 0)
		return has;
	return store_each(&reader->db, "SELECT process, tid, path, waker, waker_process, waker_pid, waker_tid, name, chain,"
			  " count, ns FROM off_wake ORDER BY rowid", read_wake, reader);
}

int read_off(struct store_reader *reader)
{
	int has = read_has_table(reader, "off_watch");

	if (has <= 0)
		return has;
	samples_of(reader)->off = true;
	return store_each(&reader->db, "SELECT key, value FROM off_watch", read_watch, reader) ||
	       store_each(&reader->db, "SELECT process, pid, tid, path, chain, cause, shared, recorded, truncated, unattributed,"
			  " count, ns FROM off_interval ORDER BY rowid", read_interval, reader) ||
	       store_each(&reader->db, "SELECT process, pid, tid, life_ns, running_ns, unknown_ns, blocked, preempted, woken_ns"
			  " FROM off_thread ORDER BY rowid", read_off_thread, reader) ||
	       read_wakes(reader) || read_delays(reader) ? -1 : 0;
}
