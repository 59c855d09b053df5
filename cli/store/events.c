/* SPDX-License-Identifier: MIT */
/* The events that threads were to count, and their cells behind those of the sources. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/store/read.h"

void store_write_events(struct store_db *db, const struct profile *profile)
{
	sqlite3_stmt *insert = store_prepare(db, "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");

	for (u32 i = 0; i < profile->nevents; i++) {
		const struct profile_event *e = &profile->events[i];

		store_put(db, insert, "ittrmmtnt", (s64)i, e->name, e->unit, e->scale,
			  e->place == PROFILE_NONE ? -1 : (s64)e->place, e->place == PROFILE_NONE ? -1 : (s64)e->group,
			  e->note, (s64)e->shared, e->cores);
	}
	sqlite3_finalize(insert);
}

void store_write_event_cells(struct store_db *db, sqlite3_stmt *insert, const struct profile *profile)
{
	u32 first = source_cells(SOURCE_ALL) + 1;
	char name[32];

	for (u32 i = 0; i < profile->nevents; i++)
		if (profile->events[i].place != PROFILE_NONE)
			store_put(db, insert, "ittt", (s64)(first + profile->events[i].place), "pmu", profile->events[i].name,
				  "count");
	for (u32 i = 0; i < 2 * profile->plan_groups; i++) {
		snprintf(name, sizeof(name), "%s:%u", i % 2 ? "running" : "enabled", i / 2);
		store_put(db, insert, "ittt", (s64)(first + profile->plan_events + i), "pmu", name, "ns");
	}
}

static int read_event(void *context, sqlite3_stmt *row)
{
	struct store_reader *reader = context;
	struct profile *profile = &reader->recording->profile;
	struct profile_event *e = &reader->recording->events[profile->nevents];

	*e = (struct profile_event){
		.name = read_text(reader, row, 1), .unit = read_text(reader, row, 2),
		.scale = sqlite3_column_double(row, 3), .group = read_u32(row, 5),
		.place = sqlite3_column_type(row, 4) == SQLITE_NULL ? PROFILE_NONE : read_u32(row, 4),
		.note = read_text(reader, row, 6), .shared = sqlite3_column_int(row, 7),
	};
	/* Where older recordings have a number that nobody needs. */
	if (sqlite3_column_type(row, 8) == SQLITE_TEXT)
		e->cores = read_text(reader, row, 8);
	if (!e->name || !e->unit)
		return read_damaged(reader, "an event");
	profile->nevents++;
	if (e->place == PROFILE_NONE)
		return 0;
	if (e->place >= WIRE_EVENTS || e->group >= WIRE_GROUPS)
		return read_damaged(reader, "an event");
	profile->plan_events = MAX(profile->plan_events, e->place + 1);
	profile->plan_groups = MAX(profile->plan_groups, e->group + 1);
	return 0;
}

int read_events(struct store_reader *reader)
{
	struct recording *recording = reader->recording;

	recording->events = read_array(reader, "event", sizeof(*recording->events));
	recording->profile.events = recording->events;
	return recording->events ? store_each(&reader->db, "SELECT * FROM event ORDER BY id", read_event, reader) : -1;
}
