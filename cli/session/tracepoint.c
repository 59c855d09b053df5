/* SPDX-License-Identifier: MIT */
/* See tracepoint.h. */
#include "cli/session/tracepoint.h"

#include <stdio.h>
#include <string.h>

#include "cli/session/record.h"
#include "cli/session/ring.h"
#include "common/perf.h"

bool tracepoint_id(const char *format, u64 *id)
{
	const char *line = strstr(format, "ID: ");
	unsigned long long number;

	if (!line || sscanf(line, "ID: %llu", &number) != 1)
		return false;
	*id = number;
	return true;
}

bool tracepoint_field(const char *format, const char *name, u32 *at, u32 *size)
{
	size_t length = strlen(name);

	for (const char *found = strstr(format, name); found; found = strstr(found + length, name)) {
		const char *behind = found + length;

		/* An array has its length behind the name. */
		if (found == format || found[-1] != ' ' || (*behind != ';' && *behind != '['))
			continue;
		if (sscanf(behind + strcspn(behind, ";"), "; offset:%u; size:%u;", at, size) == 2 && *at < TRACEPOINT_BYTES)
			return true;
	}
	return false;
}

void tracepoint_attr(struct perf_event_attr *attr, u64 id, u64 type, size_t pages)
{
	perf_attr_init(attr, PERF_TYPE_TRACEPOINT, id);
	attr->sample_period = 1;
	ring_attr(attr, RECORD_SAMPLE | PERF_SAMPLE_RAW | type, pages);
}
