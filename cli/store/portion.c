/* SPDX-License-Identifier: MIT */
/*
 * Which portion of its run a recording is of, and which figures are no exact ones for that: tables that only
 * recordings of a portion have.
 */
#include <stdlib.h>

#include "cli/log.h"
#include "cli/store/read.h"

static const char schema[] =
	"CREATE TABLE span (begin_ns INTEGER, end_ns INTEGER);"
	"CREATE TABLE inside (region TEXT);"
	"CREATE TABLE portion (root INTEGER, path INTEGER, value INTEGER, crossed INTEGER, bounds INTEGER);";

static void write_marks(struct store_db *db, const struct profile *profile, const struct store_places *places)
{
	sqlite3_stmt *insert = store_prepare(db, "INSERT INTO portion VALUES (?, ?, ?, ?, ?)");

	for (u32 i = 0; i < profile->nrows; i++)
		if (profile->rows[i].crossed || profile->rows[i].bounds)
			store_put(db, insert, "iimii", (s64)places->root[i], (s64)places->path[i], (s64)-1,
				  (s64)profile->rows[i].crossed, (s64)profile->rows[i].bounds);
	for (u32 i = 0; i < profile->nvalues; i++) {
		const struct profile_value *value = &profile->values[i];

		if (value->bounds)
			store_put(db, insert, "iimii", (s64)places->root[value->row], (s64)places->path[value->row],
				  (s64)value->name, (s64)0, (s64)1);
	}
	sqlite3_finalize(insert);
}

void store_write_portion(struct store_db *db, const struct profile *profile, const struct session_facts *facts,
			 const struct store_places *places)
{
	sqlite3_stmt *insert;

	if (!facts->partial && !facts->ninside)
		return;
	if (!db->failed && sqlite3_exec(db->handle, schema, NULL, NULL, NULL) != SQLITE_OK)
		store_failed(db);
	insert = store_prepare(db, "INSERT INTO span VALUES (?, ?)");
	for (size_t i = 0; facts->partial && i < facts->nspans; i++)
		store_put(db, insert, "ii", (s64)facts->spans[i].begin_ns,
			  (s64)MAX(MIN(facts->spans[i].end_ns, facts->duration_ns), facts->spans[i].begin_ns));
	sqlite3_finalize(insert);
	insert = store_prepare(db, "INSERT INTO inside VALUES (?)");
	for (size_t i = 0; i < facts->ninside; i++)
		store_put(db, insert, "t", facts->inside[i]);
	sqlite3_finalize(insert);
	write_marks(db, profile, places);
}

static int read_span(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct session_facts *facts = &reader->recording->facts;
	struct span_fact *all = (struct span_fact *)(uintptr_t)facts->spans, *span = &all[facts->nspans];

	*span = (struct span_fact){ read_u64(row, 0), read_u64(row, 1) };
	if (span->end_ns < span->begin_ns || (facts->nspans && span->begin_ns < span[-1].end_ns))
		return read_damaged(reader, "a span");
	facts->nspans++;
	return 0;
}

static int read_inside(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct session_facts *facts = &reader->recording->facts;
	const char **all = (const char **)(uintptr_t)facts->inside;

	all[facts->ninside] = read_text(reader, row, 0);
	return all[facts->ninside++] ? 0 : read_damaged(reader, "a region of interest");
}

static int read_mark(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct profile *profile = &reader->recording->profile;
	u32 i = read_row_of(reader, read_u32(row, 0), read_u32(row, 1)), name;
	struct profile_value *value;

	if (i == READ_NONE || read_name_at(reader, row, 2, &name))
		return -1;
	if (name == PROFILE_NONE) {
		profile->rows[i].crossed = read_u64(row, 3);
		profile->rows[i].bounds = sqlite3_column_int(row, 4);
		return 0;
	}
	for (u32 k = profile->rows[i].values; k != PROFILE_NONE; k = value->next) {
		value = &profile->values[k];
		value->bounds = value->bounds || value->name == name;
	}
	return 0;
}

int read_portion(struct store_reader *reader)
{
	struct session_facts *facts = &reader->recording->facts;
	int has = read_has_table(reader, "portion");

	if (has <= 0)
		return has;
	facts->spans = read_array(reader, "span", sizeof(struct span_fact));
	facts->inside = read_array(reader, "inside", sizeof(char *));
	if (!facts->spans || !facts->inside ||
	    store_each(&reader->db, "SELECT begin_ns, end_ns FROM span ORDER BY rowid", read_span, reader) ||
	    store_each(&reader->db, "SELECT region FROM inside ORDER BY rowid", read_inside, reader) ||
	    store_each(&reader->db, "SELECT root, path, value, crossed, bounds FROM portion ORDER BY rowid", read_mark, reader))
		return -1;
	/* Without regions it was the time that was chosen, even if nothing was measured then. */
	facts->partial = facts->nspans || !facts->ninside;
	facts->measured_ns = spans_overlap(facts->spans, facts->nspans, 0, facts->duration_ns);
	return 0;
}
