/* SPDX-License-Identifier: MIT */
/* A trace of markers as Chrome's trace events. */
#ifndef CLI_OUTPUT_CHROME_TRACE_H
#define CLI_OUTPUT_CHROME_TRACE_H

#include <stdio.h>

#include "cli/analyze/report.h"
#include "cli/analyze/trace.h"

/* Of a run that is over; whether the file could be written is to be asked of it. 0, or -1 after a message. */
int chrome_trace_write(FILE *file, struct trace *trace, const struct session_facts *facts);

#endif
