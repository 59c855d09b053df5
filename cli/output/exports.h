/* SPDX-License-Identifier: MIT */
/* The functions behind export_formats, one for each format, in a file of its own, and what they share. */
#ifndef CLI_OUTPUT_EXPORTS_H
#define CLI_OUTPUT_EXPORTS_H

#include "cli/output/export.h"

int folded_export(const struct exporter *exporter);
int pprof_export(const struct exporter *exporter);
int chrome_export(const struct exporter *exporter);
int perf_script_export(const struct exporter *exporter);
int speedscope_export(const struct exporter *exporter);
int firefox_export(const struct exporter *exporter);

/* Frames that are none of the program's. */
#define EXPORT_REGION "[region] "
#define EXPORT_NO_REGION "[region not known]"
#define EXPORT_TRUNCATED "[truncated]"
#define EXPORT_NO_FRAME "[unknown]"

/* Says so and returns -1. */
int export_no_memory(void);

/* A string of JSON; its bytes are valid UTF-8 without control characters. */
void export_json(FILE *file, const char *bytes, size_t length);

/*
 * What a row's next event stands for. Only their sum is known: they differ by one at most, and add up to it.
 * printed, by row, begins zeroed.
 */
u64 export_period(const struct exporter *exporter, u32 row, u32 *printed);

/* Of a serial; NULL: nothing is known of it. */
const struct process_facts *export_process(const struct exporter *exporter, u32 serial);

/*
 * Names as they may be printed (text_escape), to be freed; NULL when memory is short. Of a process, which
 * may be NULL, the command without its folder and arguments, or ":PID"; of code without a function its
 * object, "[libc.so.6]".
 */
char *export_process_name(const struct process_facts *process, u32 pid);
char *export_string_name(const struct exporter *exporter, u32 string);
char *export_object_name(const struct exporter *exporter, u32 object);
/* A text in front, and length bytes of a stranger. */
char *export_name(const char *front, const char *bytes, size_t length);

/* Writes a colon for each semicolon: these part names from each other. */
void export_colons(char *name);

/*
 * The numbers from 0 to n - 1 by their keys, each plus more and below nkeys, in their order where keys are
 * equal: those of key k are order[starts[k]] to order[starts[k + 1] - 1]. starts, of nkeys + 2, begins zeroed.
 */
void export_order(const u32 *keys, u32 n, u32 more, u32 *starts, u32 nkeys, u32 *order);

#endif
