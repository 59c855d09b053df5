/* SPDX-License-Identifier: MIT */
/* Adding a note to a recording that is there: in place, by a transaction of SQLite's. */
#include <stdlib.h>
#include <time.h>

#include "cli/log.h"
#include "cli/store/internal.h"

int store_note(const char *path, const char *text)
{
	struct store_db db = { .path = path };
	struct recording *recording;
	struct timespec now;
	sqlite3_stmt *insert;

	/* All checks that there are; a note on something else would hide that. */
	recording = recording_read(path);
	if (!recording)
		return -1;
	recording_free(recording);
	clock_gettime(CLOCK_REALTIME, &now);
	if (sqlite3_open_v2(path, &db.handle, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		store_failed(&db);
	insert = store_prepare(&db, "INSERT INTO note VALUES (?, ?)");
	store_put(&db, insert, "it", (s64)now.tv_sec * (s64)NSEC_PER_SEC + now.tv_nsec, text);
	sqlite3_finalize(insert);
	sqlite3_close(db.handle);
	return db.failed ? -1 : 0;
}
