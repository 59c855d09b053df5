/* SPDX-License-Identifier: MIT */
/* Tracepoints whose fields are recorded: where those are, by the text of the file "format", and the event of each. */
#ifndef CLI_SESSION_TRACEPOINT_H
#define CLI_SESSION_TRACEPOINT_H

#include <linux/perf_event.h>

#include "common/base.h"

#define TRACEPOINT_BYTES 4096u     /* fields begin before that */

/* "ID: 318". False: there is none. */
bool tracepoint_id(const char *format, u64 *id);
/* "field:long prev_state; offset:24; size:8;": the numbers behind a field's name. False: there is none of that name. */
bool tracepoint_field(const char *format, const char *name, u32 *at, u32 *size);
/* An event of each time, with its fields and what type adds, for a ring of so many pages. */
void tracepoint_attr(struct perf_event_attr *attr, u64 id, u64 type, size_t pages);

#endif
