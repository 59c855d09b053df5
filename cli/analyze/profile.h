/* SPDX-License-Identifier: MIT */
/*
 * The sum of what all segments hold: one row for each region path of each process (or thread, or of
 * the whole run). The session adds slots as it reaps them and, at the end, those that are left;
 * report.c turns the rows into a report. Times are ticks throughout.
 */
#ifndef CLI_ANALYZE_PROFILE_H
#define CLI_ANALYZE_PROFILE_H

#include "cli/analyze/snapshot.h"
#include "cli/analyze/usage.h"
#include "common/hist.h"
#include "common/wire_view.h"

#define PROFILE_NONE (~0u)
#define PROFILE_ROWS_MAX (1u << 20)  /* further paths are charged to "[other]" and counted as lost */
#define PROFILE_ORIGINS_MAX (1u << 17)
#define PROFILE_DEPTH_MAX (4 * WIRE_DEPTH)

enum profile_group { PROFILE_BY_PROCESS, PROFILE_BY_THREAD, PROFILE_BY_REGION };

/* The words of --group-by in the order of enum profile_group; NULL ends the list. */
extern const char *const profile_group_words[];

struct profile_name {
	u64 hash;
	u32 len;
	char *bytes;                 /* terminated; may contain NULs if the target is hostile */
};

/* A client metric given in a region. */
struct profile_value {
	u32 next;                    /* in profile.values; PROFILE_NONE ends */
	u32 row;
	u32 name;
	u64 count;
	double sum, min, max, last;
	bool bounds;                 /* min and max may be of values from when nothing was measured */
};

/* An event of -e that threads were to count at their markers; a column of the report. */
struct profile_event {
	const char *name;
	const char *unit;
	double scale;                /* of a count, to be in that unit */
	u32 place;                   /* among the events of the plan; PROFILE_NONE: it is not counted */
	u32 group;                   /* of the plan */
	const char *note;            /* why it is not counted, or what is to be said; NULL */
	const char *pass;            /* another run of the command counted it; NULL: the same one */
	bool deferred;               /* not counted, for want of a counter alone */
	bool shared;                 /* groups take turns: a value is scaled */
	const char *cores;           /* it counts on cores of this kind alone; NULL: on any */
};

struct profile_row {
	u32 parent;                  /* PROFILE_NONE: a root, path [] */
	u32 name;
	u32 process;                 /* serial; 0 when merged over processes */
	u32 pid;
	u32 tid;                     /* 0: merged over threads */
	u32 depth;                   /* 0: a root */
	u64 calls;                   /* finished */
	u64 open;
	u64 left;                    /* finished calls that the end of their thread closed */
	u64 wall;                    /* finished + open; the cost of empty brackets is subtracted */
	u64 off;                     /* s64, added up modulo 2^64 */
	u64 min, max;                /* of finished calls; min > max: none */
	u64 raw_wall;                /* finished, nothing subtracted */
	double bracket;              /* subtracted from wall */
	u64 unsure;                  /* part of wall of open calls in which switches are not known */
	u64 units;
	u32 unit;                    /* name; PROFILE_NONE: none */
	bool unit_mixed;
	bool cells_lost;
	bool bounds;                 /* min and max are those of buckets */
	u64 crossed;                 /* finished calls that may have begun while nothing was measured: at most so many */
	u64 *cells;                  /* profile_cells() of them, or WIRE_ABSENT(); NULL: none read */
	u32 values;                  /* list; PROFILE_NONE: none */
	enum cell_state cpu_state;
	const char *cpu_note;        /* static */
	struct hist hist;
};

/* One measured thread (or several that used one slot in turn). */
struct profile_thread {
	u32 process, pid, tid;
	u32 threads;                 /* that have used the slot */
	u32 detector;
	u64 wall;
	struct usage usage;
};

struct profile_diag {
	u32 process, tid, name, kind;
	u64 count;
};

/* All windows of one name of one process. */
struct profile_window {
	u32 process, pid, name;
	u64 calls, open;
	u64 wall;
	struct usage usage;
	struct cell snapshot[SNAPSHOT_CELLS];
};

/* Where a region comes from that no marker begins. */
struct profile_origin {
	u32 name;
	u32 kind;                    /* enum wire_origin_kind */
	u32 library;                 /* name: path of the object that has the function; PROFILE_NONE: not known */
	u32 caller;                  /* name: path of an object that calls it; PROFILE_NONE: any */
	u32 slots;                   /* that lead through it, of the caller */
};

struct profile_loss {
	const char *name;            /* static */
	const char *text;            /* "%s markers dropped: ..." without the number */
	u64 count;
};

enum profile_own_loss {
	PROFILE_LOSS_DAMAGED = WIRE_LOSS_MAX,  /* records that could not be decoded */
	PROFILE_LOSS_ROWS,                     /* paths beyond PROFILE_ROWS_MAX */
	PROFILE_LOSS_ORIGINS,                  /* origins beyond PROFILE_ORIGINS_MAX */
	PROFILE_LOSS_COUNT
};

struct profile_index {
	u32 *slots;
	u32 count, size;
};

struct profile {
	enum profile_group group;
	u32 threads_most;            /* by thread: the threads beyond are one row of their process, tid 0; 0: no limit */
	u32 nroots;
	struct profile_row *rows;
	u32 nrows, rows_room;
	struct profile_name *names;
	u32 nnames, names_room;
	struct profile_value *values;
	u32 nvalues, values_room;
	struct profile_thread *threads;
	u32 nthreads, threads_room;
	struct profile_diag *diags;
	u32 ndiags, diags_room;
	struct profile_diag *opens;  /* open frames: kind unused */
	u32 nopens, opens_room;
	struct profile_window *windows;
	u32 nwindows, windows_room;
	struct profile_origin *origins;
	u32 norigins, origins_room;
	struct profile_index row_index, name_index, value_index, window_index;
	u64 losses[PROFILE_LOSS_COUNT];
	u64 repaired;                /* brackets that were torn by the end of their thread */
	double pairs;                /* finished begin + end pairs */
	double pair_cost;            /* ticks that they took beyond the regions' own time */
	u32 sources;                 /* union of the segments' */
	const struct profile_event *events; /* not the profile's own */
	u32 nevents;
	u32 plan_events, plan_groups; /* of struct wire_plan */
	const char *disks;           /* to be added up in windows, each between blanks; NULL: all. Not the profile's own */
	bool no_memory;
};

/* Cells of a row: those of all sources by their global numbers, then those of the plan (struct wire_plan). */
static inline u32 profile_cells(const struct profile *profile)
{
	return source_cells(SOURCE_ALL) + wire_plan_cells(profile->plan_events, profile->plan_groups);
}

void profile_init(struct profile *profile, enum profile_group group);
void profile_fini(struct profile *profile);

/* A slot of a segment, and whose it is. */
struct profile_slot {
	struct wire_view *view;
	u32 ref;
	u32 process;                 /* serial, not 0 */
	u32 pid;                     /* as sparkctl sees it */
	bool live;                   /* its thread runs still, or died without ending its slot */
	u64 now;                     /* ticks: end of time for its open regions, unless the slot has an end */
};

/*
 * Adds what a slot holds. Each slot is added once: when it is reaped or at the end. Damaged parts
 * are skipped and counted. Returns 0, or -1 after a message when memory is short.
 */
int profile_add_slot(struct profile *profile, const struct profile_slot *slot);

/* Adds the windows of one process, wire_pid being its pid as in the segment (0: of all). */
int profile_add_windows(struct profile *profile, const struct wire_view *view, u32 wire_pid,
			u32 process, u32 pid, u64 now);

/* Why nothing is known of its measured part; NULL: it is. */
const char *profile_window_lacks(const struct wire_window *window);
/* What files said at both edges of one, as cells[SNAPSHOT_CELLS]. */
void profile_window_snapshots(struct cell *cells, const struct profile *profile, const struct wire_view *view,
			      const struct wire_window *window);
/* Adds one that was opened from outside; its name is given apart. 0, or -1 after a message. */
int profile_add_window(struct profile *profile, const struct profile_window *one, const char *name, size_t len);

/* Adds a segment's own loss counters; once for each segment, at its end. */
void profile_add_losses(struct profile *profile, const struct wire_view *view);

/*
 * Adds where the regions of a segment come from; once for each segment, at its end. Damaged records
 * are skipped and counted. Returns 0, or -1 after a message when memory is short.
 */
int profile_add_origins(struct profile *profile, struct wire_view *view);

/*
 * Gives names with an origin of kind WIRE_ORIGIN_INSTRUMENTED another text; rename returns NULL for
 * one that stays. The profile's numbers change. Returns 0, or -1 after a message when memory is short.
 */
int profile_rename(struct profile *profile, const char *(*rename)(void *context, const char *name), void *context);

/*
 * Adds all of `from` to `to`, grouped as `to` is: from threads to processes or regions, not back. A
 * profile grouped by thread keeps what it needs for every grouping. Returns 0, or -1 after a
 * message when memory is short.
 */
int profile_merge(struct profile *to, const struct profile *from);

/*
 * Groups a profile of a single thread by region, in place, which takes no second copy of its rows. False: nothing was
 * done, since it has others or windows, or memory is short; profile_merge() does it then.
 */
bool profile_group_alone(struct profile *profile);

/* What is said of a count of another run; of user mode alone. */
struct pass_notes {
	char any[40], user[64];
};

/*
 * Adds the counts of another run of the command for events that this one has not counted; note says
 * which run, and must outlive the events, which are the profile's. 0, or -1 after a message.
 */
int profile_add_pass(struct profile *to, struct profile_event *events, const struct profile *from,
		     const struct pass_notes *note);

/* Name and text of a loss: enum wire_loss, enum profile_own_loss; NULL for numbers not in use. */
const char *profile_loss_name(u32 loss);
const char *profile_loss_text(u32 loss);

/* For report.c and tests: the row of a path below a root, or PROFILE_NONE. */
u32 profile_find_row(const struct profile *profile, u32 process, u32 tid, const char *const *path,
		     size_t depth);
/* The row of a name below a row, or PROFILE_NONE. */
u32 profile_find_child(const struct profile *profile, u32 row, const char *bytes, size_t len);
/* Finds or adds a root (path []); PROFILE_NONE when memory is short. */
u32 profile_root(struct profile *profile, u32 process, u32 pid, u32 tid);

#endif
