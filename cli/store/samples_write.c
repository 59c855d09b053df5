/* SPDX-License-Identifier: MIT */
/* The samples of a run as tables. Numbers are those of the lists; events are packed, many to a row. */
#include <stdlib.h>

#include "cli/log.h"
#include "cli/store/internal.h"

enum { EVENTS_OF_ROW = 1 << 16 };

/* NULL where a number is SAMPLES_NONE. */
static s64 number_of(u32 number)
{
	return number == SAMPLES_NONE ? -1 : (s64)number;
}

static void write_sampling(struct store_db *db, const struct samples *samples)
{
	sqlite3_stmt *insert = store_prepare(db, "INSERT INTO sampling VALUES (?, ?)");

	store_put(db, insert, "tt", "event", samples->event);
	store_put(db, insert, "ti", "clock", (s64)samples->clock);
	store_put(db, insert, "ti", "frequency", (s64)samples->frequency);
	store_put(db, insert, "tr", "effective", samples->effective);
	store_put(db, insert, "ti", "lost", (s64)samples->lost);
	store_put(db, insert, "ti", "throttled", (s64)samples->throttled);
	store_put(db, insert, "tt", "note", samples->note);
	store_put(db, insert, "tt", "stacks", samples->stacks);
	store_put(db, insert, "ti", "stack_bytes", (s64)samples->stack_bytes);
	sqlite3_finalize(insert);
}

static void write_code(struct store_db *db, const struct samples *samples)
{
	sqlite3_stmt *insert = store_prepare(db, "INSERT INTO code_name VALUES (?, ?)");
	u32 i;

	for (i = 0; i < samples->nstrings; i++)
		store_put(db, insert, "is", (s64)i, samples->strings[i].bytes, (size_t)samples->strings[i].length);
	sqlite3_finalize(insert);
	insert = store_prepare(db, "INSERT INTO code_object VALUES (?, ?, ?, ?, ?)");
	for (i = 0; i < samples->nobjects; i++)
		store_put(db, insert, "itttt", (s64)i, samples->objects[i].path, samples->objects[i].build_id,
			  store_object_kinds[samples->objects[i].kind], samples->objects[i].note);
	sqlite3_finalize(insert);
}

static void write_frames(struct store_db *db, const struct samples *samples)
{
	sqlite3_stmt *insert = store_prepare(db, "INSERT INTO frame VALUES (?, ?, ?, ?)");
	sqlite3_stmt *place = store_prepare(db, "INSERT INTO line VALUES (?, ?, ?, ?, ?)");
	u32 i, k;

	for (i = 0; i < samples->nframes; i++) {
		const struct samples_frame *frame = &samples->frames[i];

		store_put(db, insert, "iiit", (s64)i, (s64)frame->object, (s64)frame->address,
			  store_unresolved[frame->unresolved]);
		for (k = 0; k < frame->nlines; k++) {
			const struct samples_line *line = &samples->lines[frame->first_line + k];

			store_put(db, place, "iimmn", (s64)i, (s64)k, number_of(line->function), number_of(line->file),
				  (s64)line->line);
		}
	}
	sqlite3_finalize(insert);
	sqlite3_finalize(place);
}

static void write_trees(struct store_db *db, const struct samples *samples)
{
	sqlite3_stmt *insert = store_prepare(db, "INSERT INTO chain VALUES (?, ?, ?)");
	u32 i;

	for (i = 0; i < samples->nchains; i++)
		store_put(db, insert, "imi", (s64)i, number_of(samples->chains[i].parent), (s64)samples->chains[i].frame);
	sqlite3_finalize(insert);
	insert = store_prepare(db, "INSERT INTO sampled_path VALUES (?, ?, ?)");
	for (i = 0; i < samples->nregions; i++)
		store_put(db, insert, "imi", (s64)i, number_of(samples->regions[i].parent), (s64)samples->regions[i].name);
	sqlite3_finalize(insert);
}

static void write_rows(struct store_db *db, const struct samples *samples)
{
	sqlite3_stmt *insert = store_prepare(db, "INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	u32 i;

	for (i = 0; i < samples->nrows; i++) {
		const struct samples_row *row = &samples->rows[i];

		store_put(db, insert, "iiiimmnnnii", (s64)i, (s64)row->process, (s64)row->pid, (s64)row->tid,
			  number_of(row->region), number_of(row->chain), (s64)(row->flags & SAMPLES_TRUNCATED ? 1 + samples_truncation(row->flags) : 0),
			  (s64)(row->flags & SAMPLES_UNATTRIBUTED ? 1 : 0), (s64)(row->flags & SAMPLES_IN_KERNEL ? 1 : 0),
			  (s64)row->count, (s64)row->weight);
	}
	sqlite3_finalize(insert);
}

static void write_missed(struct store_db *db, const struct samples *samples)
{
	sqlite3_stmt *insert = store_prepare(db, "INSERT INTO sample_missed VALUES (?, ?, ?, ?, ?)");
	u32 i;

	for (i = 0; i < samples->nmissed; i++)
		store_put(db, insert, "imiii", (s64)samples->missed[i].process, number_of(samples->missed[i].region),
			  (s64)(samples->missed[i].flags & SAMPLES_UNATTRIBUTED ? 1 : 0), (s64)samples->missed[i].lost,
			  (s64)samples->missed[i].throttled);
	sqlite3_finalize(insert);
}

static void write_events(struct store_db *db, const struct samples *samples)
{
	sqlite3_stmt *insert = store_prepare(db, "INSERT INTO sample_events VALUES (?, ?, ?)");
	u32 i, n;

	for (i = 0; i < samples->nevents && !db->failed; i += n) {
		size_t size;
		u8 *bytes;

		n = MIN(samples->nevents - i, (u32)EVENTS_OF_ROW);
		bytes = store_pack_events(samples, i, n, &size);
		if (bytes)
			store_put(db, insert, "iib", (s64)samples->events[i].time_ns, (s64)n, bytes, size);
		else
			db->failed = error("out of memory for the recording %s", db->path);
		free(bytes);
	}
	sqlite3_finalize(insert);
}

void store_write_samples(struct store_db *db, const struct samples *samples)
{
	if (!db->failed && sqlite3_exec(db->handle, store_samples_schema, NULL, NULL, NULL) != SQLITE_OK)
		store_failed(db);
	write_sampling(db, samples);
	write_code(db, samples);
	write_frames(db, samples);
	write_trees(db, samples);
	write_rows(db, samples);
	write_events(db, samples);
	write_missed(db, samples);
	store_write_off(db, samples);
}
