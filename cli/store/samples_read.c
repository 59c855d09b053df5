/* SPDX-License-Identifier: MIT */
/*
 * The tables of a recording that make its samples. All items are numbered from 0 without gaps, and none
 * is there twice: whatever is added must get the number that it has in the file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/store/read.h"

static struct samples *samples_of(struct store_reader *reader)
{
	return &reader->recording->samples;
}

/* Whether an item got the number of its row. 0 or -1 after a message. */
static int read_added(struct store_reader *reader, sqlite3_stmt *row, u32 number, const char *what)
{
	if (samples_of(reader)->no_memory)
		return read_no_memory();
	return number != SAMPLES_NONE && sqlite3_column_int64(row, 0) == number ? 0 : read_damaged(reader, what);
}

/* A number below a limit, or SAMPLES_NONE for NULL. */
static bool read_number(sqlite3_stmt *row, int column, u32 limit, u32 *number)
{
	*number = SAMPLES_NONE;
	if (sqlite3_column_type(row, column) == SQLITE_NULL)
		return true;
	*number = read_u32(row, column);
	return *number < limit;
}

static bool read_word(sqlite3_stmt *row, int column, const char *const *words, u32 *number)
{
	const char *word = (const char *)sqlite3_column_text(row, column);

	for (*number = 0; word && words[*number]; ++*number)
		if (!strcmp(words[*number], word))
			return true;
	return false;
}

/* A string of its own; NULL for NULL. */
static char *read_own(struct store_reader *reader, sqlite3_stmt *row, int column)
{
	const void *bytes = sqlite3_column_blob(row, column);
	char *text;

	if (sqlite3_column_type(row, column) == SQLITE_NULL)
		return NULL;
	text = strndup(bytes ? bytes : "", (size_t)sqlite3_column_bytes(row, column));
	samples_of(reader)->no_memory |= !text;
	return text;
}

/* 0 for what is no rate. */
static double read_rate(sqlite3_stmt *row, int column)
{
	double rate = sqlite3_column_double(row, column);

	return rate > 0 && rate < 1e12 ? rate : 0;
}

/* ---- how it was sampled ---------------------------------------------------------------------------- */

static int read_sampling(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct samples *samples = samples_of(reader);
	const char *key = (const char *)sqlite3_column_text(row, 0);

	reader->recording->facts.samples = samples;
	if (!key)
		return 0;
	if (!strcmp(key, "event") && !samples->event)
		samples->event = read_own(reader, row, 1);
	else if (!strcmp(key, "note") && !samples->note)
		samples->note = read_own(reader, row, 1);
	else if (!strcmp(key, "stacks") && !samples->stacks)
		samples->stacks = read_own(reader, row, 1);
	else if (!strcmp(key, "clock"))
		samples->clock = sqlite3_column_int(row, 1);
	else if (!strcmp(key, "frequency"))
		samples->frequency = read_u64(row, 1);
	else if (!strcmp(key, "effective"))
		samples->effective = read_rate(row, 1);
	else if (!strcmp(key, "lost"))
		samples->lost = read_u64(row, 1);
	else if (!strcmp(key, "throttled"))
		samples->throttled = read_u64(row, 1);
	else if (!strcmp(key, "stack_bytes"))
		samples->stack_bytes = read_u32(row, 1);
	return samples->no_memory ? read_no_memory() : 0;
}

/* ---- code ------------------------------------------------------------------------------------------ */

static int read_code_name(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	const char *bytes = sqlite3_column_blob(row, 1);

	return read_added(reader, row, samples_string(samples_of(reader), bytes ? bytes : "",
						      (size_t)sqlite3_column_bytes(row, 1)), "a name of code");
}

static int read_code_object(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct samples *samples = samples_of(reader);
	char *path = read_own(reader, row, 1), *build_id = read_own(reader, row, 2);
	u32 kind, number = SAMPLES_NONE;

	if (path && read_word(row, 3, store_object_kinds, &kind))
		number = samples_object(samples, path, build_id, (enum samples_object_kind)kind);
	free(path);
	free(build_id);
	if (number != SAMPLES_NONE && !samples->objects[number].note)
		samples->objects[number].note = read_own(reader, row, 4);
	return read_added(reader, row, number, "an object of code");
}

static int read_frame(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct samples *samples = samples_of(reader);
	u32 object, unresolved, number = SAMPLES_NONE;

	if (read_number(row, 1, samples->nobjects, &object) && read_word(row, 3, store_unresolved, &unresolved))
		number = samples_frame(samples, object, read_u64(row, 2));
	if (number != SAMPLES_NONE)
		samples->frames[number].unresolved = unresolved;
	return read_added(reader, row, number, "a frame");
}

/* Those of a frame stand behind one another. */
static int read_line(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct samples *samples = samples_of(reader);
	struct samples_frame *frame, before;
	struct samples_line line;
	u32 number;

	if (!read_number(row, 0, samples->nframes, &number) || number == SAMPLES_NONE ||
	    !read_number(row, 2, samples->nstrings, &line.function) || !read_number(row, 3, samples->nstrings, &line.file))
		return read_damaged(reader, "a line");
	frame = &samples->frames[number];
	before = *frame;
	if (sqlite3_column_int64(row, 1) != before.nlines ||
	    (before.nlines && before.first_line + before.nlines != samples->nlines))
		return read_damaged(reader, "a line");
	line.line = (u32)sqlite3_column_int64(row, 4);
	samples_name(samples, number, &line, 1);
	if (before.nlines)
		frame->first_line = before.first_line;
	frame->nlines = before.nlines + 1;
	frame->unresolved = before.unresolved;
	return samples->no_memory ? read_no_memory() : 0;
}

/* ---- chains, regions, rows ------------------------------------------------------------------------- */

static int read_chain(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct samples *samples = samples_of(reader);
	u32 parent, frame, number = SAMPLES_NONE;

	if (read_number(row, 1, samples->nchains, &parent) && read_number(row, 2, samples->nframes, &frame))
		number = samples_chain(samples, parent, frame);
	return read_added(reader, row, number, "a chain");
}

static u32 region_depth(const struct samples *samples, u32 region)
{
	u32 depth = 0;

	for (; region != SAMPLES_NONE && depth <= PROFILE_DEPTH_MAX; region = samples->regions[region].parent)
		depth++;
	return depth;
}

static int read_sampled_path(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct samples *samples = samples_of(reader);
	u32 parent, name, number = SAMPLES_NONE;

	if (read_number(row, 1, samples->nregions, &parent) && region_depth(samples, parent) < PROFILE_DEPTH_MAX &&
	    read_number(row, 2, samples->nstrings, &name) && name != SAMPLES_NONE)
		number = samples_region(samples, parent, samples->strings[name].bytes, samples->strings[name].length);
	return read_added(reader, row, number, "a region of samples");
}

static int read_sample(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct samples *samples = samples_of(reader);
	struct samples_row sample = {
		.process = read_u32(row, 1), .pid = read_u32(row, 2), .tid = read_u32(row, 3),
		.count = read_u64(row, 9), .weight = read_u64(row, 10),
	};
	u32 number = SAMPLES_NONE, truncated = MIN(read_u32(row, 6), (u32)SAMPLES_TRUNCATIONS);

	sample.flags = (truncated ? SAMPLES_TRUNCATED | (truncated - 1) << SAMPLES_TRUNCATION_SHIFT : 0u) |
		       (sqlite3_column_int(row, 7) ? SAMPLES_UNATTRIBUTED : 0u) |
		       (sqlite3_column_int(row, 8) ? SAMPLES_IN_KERNEL : 0u);
	if (sample.process <= reader->recording->facts.nprocesses && sample.count &&
	    read_number(row, 4, samples->nregions, &sample.region) && read_number(row, 5, samples->nchains, &sample.chain) &&
	    !(sample.flags & SAMPLES_UNATTRIBUTED && sample.region != SAMPLES_NONE))
		number = samples_row(samples, &sample);
	return read_added(reader, row, number, "a sample");
}

static int read_sample_events(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	const void *bytes = sqlite3_column_blob(row, 0);
	int err = bytes ? store_unpack_events(samples_of(reader), bytes, (size_t)sqlite3_column_bytes(row, 0)) : 0;

	if (err == -ENOMEM)
		return read_no_memory();
	return err ? read_damaged(reader, "a time of samples") : 0;
}

static int read_missed(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct samples *samples = samples_of(reader);
	struct samples_missed missed = {
		.process = read_u32(row, 0), .flags = sqlite3_column_int(row, 2) ? SAMPLES_UNATTRIBUTED : 0u,
		.lost = read_u64(row, 3), .throttled = read_u64(row, 4),
	};

	if (missed.process > reader->recording->facts.nprocesses || !read_number(row, 1, samples->nregions, &missed.region) ||
	    (missed.flags && missed.region != SAMPLES_NONE))
		return read_damaged(reader, "what samples miss");
	samples_miss(samples, &missed);
	return samples->no_memory ? read_no_memory() : 0;
}

int read_samples(struct store_reader *reader)
{
	static const struct {
		const char *sql;
		int (*row)(void *context, sqlite3_stmt *statement);
	} tables[] = {
		{ "SELECT key, value FROM sampling", read_sampling },
		{ "SELECT id, text FROM code_name ORDER BY id", read_code_name },
		{ "SELECT id, path, build_id, kind, note FROM code_object ORDER BY id", read_code_object },
		{ "SELECT id, object, address, unresolved FROM frame ORDER BY id", read_frame },
		{ "SELECT frame, place, function, file, line FROM line ORDER BY rowid", read_line },
		{ "SELECT id, parent, frame FROM chain ORDER BY id", read_chain },
		{ "SELECT id, parent, name FROM sampled_path ORDER BY id", read_sampled_path },
		{ "SELECT id, process, pid, tid, path, chain, truncated, unattributed, in_kernel, count, weight"
		  " FROM sample ORDER BY id", read_sample },
		{ "SELECT events FROM sample_events ORDER BY rowid", read_sample_events },
	};
	size_t i;
	int has;

	for (i = 0; i < ARRAY_SIZE(tables); i++)
		if (store_each(&reader->db, tables[i].sql, tables[i].row, reader))
			return -1;
	/* Recordings of before have none. */
	has = read_has_table(reader, "sample_missed");
	return has <= 0 ? has : store_each(&reader->db, "SELECT process, path, unattributed, lost, throttled"
					   " FROM sample_missed ORDER BY rowid", read_missed, reader);
}
