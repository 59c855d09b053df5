/* SPDX-License-Identifier: MIT */
/*
 * Windows one by one: those that are opened from outside, of the whole tree, by --window and --window-file, and those
 * of the programs' own. What the tree has used is read from /proc at both edges of the first, so that programs
 * without an agent have them, too.
 */
#ifndef CLI_SESSION_WINDOWS_H
#define CLI_SESSION_WINDOWS_H

#include "cli/analyze/window.h"
#include "cli/session/internal.h"
#include "cli/session/phases.h"

#define WINDOWS_MOST (1u << 16)    /* in a list */
#define WINDOW_NAME_MOST 1024      /* bytes, as of markers */

/* ---- windows_read.c: what the tree has used, and what the system says */

struct window_reading {
	u64 ns;                      /* since the start */
	struct usage usage;          /* running totals of the tree */
	struct cell delay;           /* waits for disks, by delay accounting; ns */
	u64 children_ns;             /* of its CPU time, in clock ticks */
	u32 ended, ended_threads;    /* processes that nobody waited for, and threads: their last figures may be older */
	u64 snapshot[SNAPSHOT_CELLS];
	struct window_marks *marks;  /* NULL: regions are not known */
	char *disks;                 /* text of /proc/diskstats; NULL: none */
	size_t disks_size;
};

struct window_reader;

/* NULL after a message. */
struct window_reader *window_reader_new(void);
void window_reader_free(struct window_reader *reader);
/* What processes and threads have used by now, before they end. */
void window_reader_look(struct session *s, struct window_reader *reader);
/* All of it; to be freed with window_reading_free(). */
struct window_reading *window_reading_take(struct session *s, struct window_reader *reader);
void window_reading_free(struct window_reading *reading);
/* What lies between two, into the window's cells; usage and snapshot are filled as well. */
void window_reading_between(const struct session *s, const struct window_reading *begin, const struct window_reading *end,
			    struct window_fact *fact, struct usage *usage, struct cell *snapshot);

/* ---- windows_regions.c: which regions ran in them */

/* Of all that markers have added up by now; NULL: it is not known, or memory was short, after a message. */
struct window_marks *window_marks_take(struct session *s);
void window_marks_free(struct window_marks *marks);
void window_marks_between(const struct session *s, const struct window_marks *begin, const struct window_marks *end,
			  struct window_fact *fact);
/* The same of a window that a program has opened: the agent left what had been added up. */
void windows_marked(struct session *s, struct window_fact *fact, const struct wire_view *view, const struct wire_window *window);
/* At the end of the run: by its trace, which knows them of all windows. */
void windows_traced(struct session *s);

/* ---- windows_channel.c: lines that open and close windows */

struct window_channel {
	int control, ack;            /* -1: none */
	char line[WINDOW_NAME_MOST + 16];
	u32 length;
	bool cut;                    /* the line was longer */
	bool mute;                   /* an answer could not be given */
	u32 complaints;
};

/* Does what the lines say that have come. all: until there are no more. */
void window_channel_read(struct session *s, bool all);

/* ---- windows.c */

enum window_phase { WINDOW_WARMUP, WINDOW_MEASURED, WINDOW_COOLDOWN };

struct windows {
	struct window_fact *list;    /* of the run, in the order in which they began */
	u32 n, room;
	struct samples paths;        /* of their regions, without a trace; paths and strings alone */
	struct window_open {
		u32 number;          /* in the list */
		enum window_phase phase;
		struct window_reading *begin; /* of the measured part; NULL: it has not begun */
		bool settled;        /* its cells are filled */
	} *open;
	u32 nopen, open_room;
	struct window_reader *reader; /* NULL: none is opened from outside */
	struct window_channel channel;
	struct phases phases;
	struct thread_history threads; /* of the tree */
	u32 exits;                   /* of threads */
	u64 next_ns;                 /* when to look at processes again, while one is open */
	bool delays;                 /* the kernel accounts delays */
	u64 lost, unopened;          /* beyond WINDOWS_MOST: of programs, from outside */
};

/* Before the command starts. 0, or -1 after a message. */
int windows_open(struct session *s);
void windows_free(struct session *s);
/* The command is about to start, or what was attached to is measured from now on. */
void windows_start(struct session *s);
int windows_descriptor(const struct session *s);
int windows_phases_descriptor(const struct session *s);
u64 windows_until(const struct session *s, u64 until);
void windows_look(struct session *s, u64 now);
/* The command has ended and can still be read, or nothing is measured any more. last: no window goes on. */
void windows_ending(struct session *s, bool last);
/* A thread of the process began or ended. */
void windows_thread(struct session *s, struct process *process, u64 ns, bool began);
/* All windows that the programs of a segment have opened. */
void windows_inside(struct session *s, const struct segment *segment, const struct wire_view *view);
void windows_facts(struct session *s);

/* What lines say; false: it was refused, after a message. */
bool windows_begin(struct session *s, const char *name, size_t len);
bool windows_end(struct session *s, const char *name, size_t len);
bool windows_phase(struct session *s, const char *name, size_t len, enum window_phase phase);

/* NULL: it is not open. */
struct window_open *window_find_open(struct windows *w, const char *name, size_t len);
/* at: when its end was known, since the start; the reading is taken somewhat later. */
void window_close_at(struct session *s, struct window_open *open, bool ended, u64 at);

#endif
