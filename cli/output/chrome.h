/* SPDX-License-Identifier: MIT */
/*
 * Writing Chrome's trace events, one on each line, as they come: the JSON object format, in which
 * times are microseconds with a fraction.
 */
#ifndef CLI_OUTPUT_CHROME_H
#define CLI_OUTPUT_CHROME_H

#include <stdio.h>

#include "common/base.h"

struct chrome {
	FILE *file;
	bool more;                   /* an event was written */
};

void chrome_begin(struct chrome *chrome, FILE *file);
void chrome_end(struct chrome *chrome);

/* An event up to its arguments, which the caller writes, beginning with a comma; and its end. */
void chrome_event(struct chrome *chrome, char phase, const char *name, const char *category, u32 pid, u32 tid,
		  u64 time_ns);
void chrome_event_end(struct chrome *chrome);

/* The metadata process_name or thread_name. */
void chrome_name(struct chrome *chrome, const char *what, u32 pid, u32 tid, const char *name);

/* A string of JSON; its bytes are valid UTF-8 without control characters. */
void chrome_string(struct chrome *chrome, const char *bytes, size_t length);

#endif
