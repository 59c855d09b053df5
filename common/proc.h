/* SPDX-License-Identifier: MIT */
/*
 * What the files of /proc hold that both parts read: bytes in, cells out. The texts come from the
 * kernel and differ by its version: a field that is missing, or is no number, is WIRE_ABSENT() and
 * harms no other.
 */
#ifndef SPARK_COMMON_PROC_H
#define SPARK_COMMON_PROC_H

#include "wire.h"

#define PROC_IO_ROOM 512           /* seven lines of at most 45 bytes, and as much again for what may come */
#define PROC_SCHEDSTAT_ROOM 128

/* /proc/PID/io (proc(5)): cells[PROCIO_CELLS] in the order of the source. */
void proc_parse_io(const char *text, size_t size, u64 *cells);
/*
 * /proc/PID/schedstat (Documentation/scheduler/sched-stats.rst): cells[SCHED_CELLS]. All zeros mean
 * that nobody counts: a thread that can be asked has run.
 */
void proc_parse_schedstat(const char *text, size_t size, u64 *cells);
/* The reason that an error of opening or reading such a file stands for; error: errno, positive. */
enum wire_absent_reason proc_absent(int error);
/* cells[n], all absent. */
void proc_fill_absent(u64 *cells, u32 n, enum wire_absent_reason reason);

#endif
