/* SPDX-License-Identifier: MIT */
/* Where the regions come from that no marker begins: a table that only recordings with such regions have. */
#include <string.h>

#include "cli/analyze/profile_build.h"
#include "cli/store/read.h"

static const char schema[] =
	"CREATE TABLE origin (name INTEGER, kind TEXT, library INTEGER, caller INTEGER, slots INTEGER);";

static s64 number_of(u32 name)
{
	return name == PROFILE_NONE ? -1 : (s64)name;
}

void store_write_origins(struct store_db *db, const struct profile *profile)
{
	sqlite3_stmt *insert;

	if (!profile->norigins)
		return;
	if (!db->failed && sqlite3_exec(db->handle, schema, NULL, NULL, NULL) != SQLITE_OK)
		store_failed(db);
	insert = store_prepare(db, "INSERT INTO origin VALUES (?, ?, ?, ?, ?)");
	for (u32 i = 0; i < profile->norigins; i++) {
		const struct profile_origin *o = &profile->origins[i];

		store_put(db, insert, "itmmi", (s64)o->name, report_kind_words[o->kind], number_of(o->library),
			  number_of(o->caller), (s64)o->slots);
	}
	sqlite3_finalize(insert);
}

static int read_origin(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct profile *profile = &reader->recording->profile;
	struct profile_origin origin = { .kind = WIRE_ORIGIN_CALL, .slots = read_u32(row, 4) };
	const char *word = (const char *)sqlite3_column_text(row, 1);

	while (report_kind_words[origin.kind] && strcmp(word ? word : "", report_kind_words[origin.kind]) != 0)
		origin.kind++;
	if (read_name_at(reader, row, 0, &origin.name) || read_name_at(reader, row, 2, &origin.library) ||
	    read_name_at(reader, row, 3, &origin.caller))
		return -1;
	if (!report_kind_words[origin.kind] || origin.name == PROFILE_NONE)
		return read_damaged(reader, "an origin");
	profile_add_origin(profile, &origin);
	return profile->no_memory ? read_no_memory() : 0;
}

int read_origins(struct store_reader *reader)
{
	int has = read_has_table(reader, "origin");

	return has <= 0 ? has : store_each(&reader->db, "SELECT name, kind, library, caller, slots FROM origin ORDER BY rowid",
					   read_origin, reader);
}
