/* SPDX-License-Identifier: MIT */
/*
 * A trace of markers as samply's marker files: marker-PID.txt, a line "START END NAME" for each time that a region or a
 * window was open, in ns of CLOCK_MONOTONIC, the clock of its samples.
 */
#ifndef CLI_OUTPUT_SAMPLY_MARKERS_H
#define CLI_OUTPUT_SAMPLY_MARKERS_H

#include "cli/analyze/report.h"
#include "cli/analyze/trace.h"

/* The same moment by two clocks, CLOCK_MONOTONIC_RAW being that of the session. */
struct samply_moment {
	u64 raw, monotonic;
};

struct samply_moment samply_moment(void);
/* Of a run that is over and began after a moment; the folder is there. 0, or -1 after a message. */
int samply_markers_write(const char *folder, struct trace *trace, const struct session_facts *facts,
			 const struct samply_moment *before);

#endif
