/* SPDX-License-Identifier: MIT */
/*
 * A single window: when it was, and what its time was spent on. The time that is taken apart is that of all threads
 * that were there, added up, so that a part never exceeds it.
 */
#ifndef CLI_ANALYZE_WINDOW_H
#define CLI_ANALYZE_WINDOW_H

#include <stddef.h>

#include "cli/analyze/snapshot.h"
#include "cli/analyze/usage.h"

/* What is known of one, of its measured part. Order is that of recordings: append only. */
enum window_cell {
	WINDOW_THREADS,              /* time of the threads that were there, ns */
	WINDOW_CPU, WINDOW_UTIME, WINDOW_STIME, WINDOW_RUNWAIT, WINDOW_DELAY, /* ns; the last one by delay accounting */
	WINDOW_READ, WINDOW_WRITE,   /* B, from and to disks, of its processes */
	WINDOW_PSI_CPU, WINDOW_PSI_MEMORY, WINDOW_PSI_IO, /* some, ns; of the system */
	WINDOW_GROUP_CPU, WINDOW_GROUP_MEMORY, WINDOW_GROUP_IO, /* the same of the control group */
	WINDOW_REGIONS,              /* time of threads in regions, ns; absent: why nothing is known of them */
	WINDOW_CELLS
};

/* Name, unit and meaning of a cell, as JSON and recordings have them. */
struct window_cell_row {
	const char *name, *unit;
};

extern const struct window_cell_row window_cells[WINDOW_CELLS];

enum window_part { WINDOW_USER, WINDOW_KERNEL, WINDOW_QUEUE, WINDOW_DISK, WINDOW_REST, WINDOW_PARTS };

extern const char *const window_part_names[WINDOW_PARTS];

/* What stands out in a window: a part, or pressure on memory. */
enum window_cause { WINDOW_BY_MEMORY = WINDOW_PARTS, WINDOW_BY_NOTHING, WINDOW_CAUSES };

extern const char *const window_cause_names[WINDOW_CAUSES];

/* A region that ran in it. */
struct window_region {
	u32 path;                    /* a region of the facts' window_paths */
	u64 calls;                   /* those too that began before it, or ended behind it */
	u64 ns, self_ns;             /* of all threads; without the regions in it */
	u64 first_ns, last_ns;       /* when it began first and ended last, of the window; 0 and 0: not known */
};

#define WINDOW_REGIONS_MOST 64

/* Texts belong to whose list it is in. */
struct window_fact {
	const char *name;            /* raw bytes, terminated */
	size_t len;
	u32 process, pid;            /* 0: opened from outside, of all processes */
	bool open;                   /* nobody has ended it */
	u64 begin_ns, end_ns;        /* since the start of the run */
	u64 from_ns, to_ns;          /* the measured part: the whole, where no parts are marked */
	bool marked;                 /* they are */
	bool by_lines;               /* its edges are the arrivals of lines of output: see window_by_lines */
	struct cell cell[WINDOW_CELLS];
	const char *disk;            /* that was read or written most in it; NULL: none, or not known */
	u64 disk_read, disk_written; /* B, by all */
	struct window_region *regions; /* those with most time of their own, most first */
	u32 nregions;
};

/* Why figures of those are estimates. */
extern const char window_by_lines[];

/* Takes its time apart: what the parts add up to is the time of its threads, where that is known. */
void window_split(const struct window_fact *window, struct cell *parts);
/*
 * What stands out, a part or enum window_cause, and its share of the threads' time (memory: of the window's), 0 to 1.
 * waited_for: it is what threads did that others waited for; the share is of the window's time then.
 */
u32 window_stands_out(const struct window_fact *window, const struct cell *parts, double *share, bool *waited_for);

/* The cells that lie in what was read at both edges: usage of processes, files of the system. */
void window_take_usage(struct window_fact *window, const struct usage *usage);
void window_take_snapshot(struct window_fact *window, const struct cell *snapshot);
/*
 * Of two texts of /proc/diskstats the disk with most bytes read and written in between: its name, to be freed; NULL:
 * none. disks: as for snapshot_parse().
 */
char *window_disk(const char *begin, size_t begin_size, const char *end, size_t end_size, const char *disks, u64 *read_bytes,
		  u64 *written);

/* ---- window_regions.c: regions that ran in it */

struct clock_map;
struct samples;
struct trace;

/*
 * Takes of all regions that ran in it, each once, those with most time of their own; the list is put in another
 * order. 0, or -1 when memory is short.
 */
int window_set_regions(struct window_fact *window, const struct samples *paths, struct window_region *list, u32 n);
/* The same of all n windows, from the trace of the run; it may be read again. 0, or -1 after a message. */
int window_trace_regions(struct window_fact *list, u32 n, struct trace *trace, const struct clock_map *clock);

/* ---- threads over time */

/* How many there were: the number since each change, and what makes a sum of lives of it. */
struct thread_history {
	struct thread_change {
		u64 ns, n;
		u64 starts;          /* sum of the times at which those that live began, modulo 2^64 */
	} *list;
	u32 n, room;
	bool incomplete;             /* no memory, or too many */
};

void thread_history_free(struct thread_history *history);
/* Changes may come a little out of order. */
void thread_history_add(struct thread_history *history, u64 ns, bool began);
/* The time of all threads between two times. */
struct cell thread_history_between(const struct thread_history *history, u64 from_ns, u64 to_ns);

#endif
