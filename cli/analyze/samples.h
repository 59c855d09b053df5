/* SPDX-License-Identifier: MIT */
/*
 * The samples of a run: where each thread was when a clock or a counter came round, by process,
 * thread, region path and call chain. The session adds them while the run goes on and names their
 * frames at its end; a recording keeps them; reports and exports add them up (stacks.h).
 *
 * Chains are kept as a tree from the outermost frame, regions as a tree of names, both without
 * duplicates, so that a million samples of a thousand places cost their times and little else.
 */
#ifndef CLI_ANALYZE_SAMPLES_H
#define CLI_ANALYZE_SAMPLES_H

#include "common/base.h"

#define SAMPLES_NONE (~0u)

enum samples_object_kind {
	SAMPLES_FILE,                /* a program or shared object */
	SAMPLES_KERNEL,
	SAMPLES_VDSO,
	SAMPLES_JIT,                 /* memory without a file that a map of its functions describes, or none */
	SAMPLES_UNKNOWN,             /* nothing was mapped there, as far as is known */
	SAMPLES_OBJECT_KINDS
};

/* What code lies in. */
struct samples_object {
	char *path;                  /* "[kernel]", "[vdso]", "[jit]", "[unknown]" for those without a file */
	char *build_id;              /* hexadecimal digits; NULL: none */
	char *note;                  /* why names are missing, or may be wrong ("stripped", "replaced during the run"); NULL */
	u32 kind;                    /* enum samples_object_kind */
};

/* A function that code belongs to. */
struct samples_line {
	u32 function;                /* string; SAMPLES_NONE: not known */
	u32 file;                    /* string; SAMPLES_NONE: not known */
	u32 line;                    /* 0: not known */
};

/* Why a frame has no function. */
enum samples_unresolved {
	SAMPLES_RESOLVED,
	SAMPLES_STRIPPED,            /* no symbol covers it */
	SAMPLES_DELETED,             /* the file is gone, or is another one now */
	SAMPLES_UNREADABLE,          /* not to be opened, or not to be decoded */
	SAMPLES_NO_MAP,              /* JIT code, and no map tells of it */
	SAMPLES_HIDDEN,              /* the kernel does not show its addresses */
	SAMPLES_UNMAPPED,            /* no mapping is known there */
	SAMPLES_NOT_ASKED,           /* not looked up: in a build without the library, or out of time */
	SAMPLES_UNRESOLVED_KINDS
};

/* One place of the code. */
struct samples_frame {
	u32 object;
	u32 unresolved;              /* enum samples_unresolved */
	u64 address;                 /* as in the object's own file (an ELF virtual address), or as sampled */
	u32 first_line, nlines;      /* in lines: the functions inlined here, innermost first, and last the one that was called */
};

/* One step of a chain. Its parent is its caller. */
struct samples_chain {
	u32 parent;                  /* SAMPLES_NONE: the outermost frame */
	u32 frame;
};

/* A region path; parents come before their children. */
struct samples_region {
	u32 parent;                  /* SAMPLES_NONE: directly in its thread */
	u32 name;                    /* string */
};

enum samples_flags {
	SAMPLES_TRUNCATED = 1 << 0,  /* the chain ends before its outermost function */
	SAMPLES_UNATTRIBUTED = 1 << 1, /* the region is not known (region is SAMPLES_NONE) */
	SAMPLES_IN_KERNEL = 1 << 2,  /* the thread was in the kernel */
};

/* Why a chain was truncated: in the flags of its row, above SAMPLES_TRUNCATION_SHIFT. */
#define SAMPLES_TRUNCATION_SHIFT 8

enum samples_truncation {
	SAMPLES_NO_REASON,
	SAMPLES_SHORT_COPY,          /* more of the stack than was copied */
	SAMPLES_OTHER_STACK,         /* a signal handler's own stack */
	SAMPLES_NO_CFI,              /* code without call frame information */
	SAMPLES_BAD_CFI,
	SAMPLES_NO_MAPPING,          /* a return address where no code is */
	SAMPLES_NO_UNWINDER,         /* information that only libunwind understands, which is not there */
	SAMPLES_TOO_DEEP,
	SAMPLES_NO_REGISTERS,        /* a 32-bit program, or the thread was ending */
	SAMPLES_TRUNCATIONS
};

static inline u32 samples_truncation(u32 flags)
{
	u32 reason = flags >> SAMPLES_TRUNCATION_SHIFT & 0xff;

	return reason < SAMPLES_TRUNCATIONS ? reason : SAMPLES_NO_REASON;
}

/* All samples that are alike. */
struct samples_row {
	u32 process;                 /* serial of struct process_facts */
	u32 pid, tid;
	u32 region;                  /* SAMPLES_NONE: in none */
	u32 chain;                   /* the innermost step; SAMPLES_NONE: no frame */
	u32 flags;
	u64 count;
	u64 weight;                  /* sum of their periods: ns of the clock, or counts of the event */
};

/* What a region of a process did not get. */
struct samples_missed {
	u32 process;                 /* serial; 0: not known */
	u32 region;                  /* SAMPLES_NONE: in none, or not known */
	u32 flags;                   /* SAMPLES_UNATTRIBUTED, or 0 */
	u64 lost, throttled;
};

/* One of them, in the order of time. */
struct samples_event {
	u64 time_ns;                 /* since the start of the run */
	u32 row;
	u32 cpu;
};

/* Why a thread was off the CPU: in the flags of its row, above SAMPLES_OFF_SHIFT. */
#define SAMPLES_OFF_SHIFT 16
#define SAMPLES_OFF_SHARED (1u << 20) /* its weight includes a share of intervals in which nobody looked */
#define SAMPLES_OFF_RECORDED (1u << 21) /* the kernel's record has the cause; else somebody looked into /proc */

enum samples_off {
	SAMPLES_OFF_PREEMPTED,       /* it could run, and another one did */
	SAMPLES_OFF_WOKEN,           /* it was woken and waited for a CPU: taken from its time blocked, by the run queue's sums */
	SAMPLES_OFF_DISK,
	SAMPLES_OFF_FUTEX,
	SAMPLES_OFF_IO,              /* sockets, pipes, terminals, and waiting for any of them */
	SAMPLES_OFF_SLEEP,
	SAMPLES_OFF_OTHER,           /* other causes, and those that a look did not tell */
	SAMPLES_OFF_UNSEEN,          /* nobody looked: at any wait of the process, or, while the run goes on, at these */
	SAMPLES_OFF_KINDS
};

static inline u32 samples_off_kind(u32 flags)
{
	u32 kind = flags >> SAMPLES_OFF_SHIFT & 15;

	return kind < SAMPLES_OFF_KINDS ? kind : SAMPLES_OFF_OTHER;
}

/* What is known of a sum of the kernel's. */
enum samples_delay {
	SAMPLES_DELAY_UNKNOWN,
	SAMPLES_DELAY_LEAST,         /* the thread went on after it was read last */
	SAMPLES_DELAY_WHOLE,
	SAMPLES_DELAY_EXCESS         /* it is more than the thread waited */
};

/* How the life of a thread was spent, as far as it was followed. */
struct samples_thread {
	u32 process, pid, tid;
	u64 life_ns;                 /* it was there, in all */
	u64 running_ns;
	u64 unknown_ns;              /* between records of which some were lost */
	u64 blocked, preempted;      /* times that it was switched out */
	u64 woken_ns;                /* between wake-ups and CPUs, by the kernel's sums */
	bool woken_known;
	u32 disk_known;              /* enum samples_delay */
	u64 disk_ns;                 /* waited for block devices, by the kernel's accounting */
};

/* Who ended a wait. */
enum samples_waker {
	SAMPLES_WAKER_THREAD,        /* a thread of the tree */
	SAMPLES_WAKER_OUTSIDE,       /* one of another program, or of the kernel */
	SAMPLES_WAKER_INTERRUPT,     /* a device or a timer */
	SAMPLES_WAKER_SOFTIRQ,       /* what an interrupt left to do, or a packet of this machine to itself */
	SAMPLES_WAKER_OTHERS,        /* there were more than SAMPLES_WAKES_MOST ways */
	SAMPLES_WAKER_KINDS
};

#define SAMPLES_WAKES_MOST 65536u

/* All ends of waits that are alike. */
struct samples_wake {
	u32 process, tid, region;    /* whose wait it was, as of its rows off the CPU */
	u32 by;                      /* enum samples_waker */
	u32 waker_process;           /* serial; 0: not of the tree */
	u32 waker_pid, waker_tid;    /* 0: none, or one of the threads that were folded (samples_fold()) */
	u32 name;                    /* string: what the thread is called; SAMPLES_NONE: not known */
	u32 chain;                   /* where it was; SAMPLES_NONE: not known */
	u64 count;
	u64 ns;                      /* blocked, until then */
};

struct samples_string {
	u64 hash;
	u32 length;
	char *bytes;                 /* terminated */
};

/* An open-addressing index over one of the lists. */
struct samples_index {
	u32 *slots;
	u32 count, size;
};

struct samples {
	char *event;                 /* what came round: "cycles", "task-clock" */
	bool clock;                  /* weights are ns */
	u64 frequency;               /* as asked, Hz */
	double effective;            /* samples a second of CPU time; 0: not known */
	u64 lost;                    /* no room in a ring */
	u64 throttled;               /* times that the kernel paused sampling, for it took too much time */
	char *note;                  /* what is less than was asked for; NULL: nothing */
	char *stacks;                /* "fp", "dwarf", "none" */
	u32 stack_bytes;             /* of a copied stack */

	/* Off the CPU: intervals by cause; weights are ns, whatever those of rows are. */
	bool off;                    /* it was watched for */
	bool off_polled;             /* by looks into /proc alone: all of it is an estimate */
	char *off_note;              /* what is less than was asked for; NULL: nothing */
	char *off_stacks;            /* where their stacks come from; NULL: nowhere */
	u64 off_lost;                /* intervals without an end or a begin, and records that were lost */
	char *off_waker;             /* what tells who ended waits, and when ("sched_waking"); NULL: nothing does */
	char *off_no_waker;          /* why nothing does; NULL: not asked */
	u64 off_unwoken;             /* waits of which it was lost */
	u64 off_shared;              /* wake-ups whose place is that of others by the same thread */
	char *off_no_delay;          /* why no thread's waits for block devices are accounted; NULL: they are, or not asked */
	struct samples_wake *wakes;
	struct samples_row *off_rows;
	struct samples_thread *threads;
	u32 noff_rows, off_rows_room, nthreads, threads_room, nwakes, wakes_room;
	struct samples_index off_index, wake_index;

	struct samples_object *objects;
	struct samples_frame *frames;
	struct samples_line *lines;
	struct samples_chain *chains;
	struct samples_region *regions;
	struct samples_row *rows;
	struct samples_event *events;
	struct samples_string *strings;
	struct samples_missed *missed; /* of lost and throttled what is known to be whose */
	u32 nobjects, nframes, nlines, nchains, nregions, nrows, nevents, nstrings, nmissed;
	u32 objects_room, frames_room, lines_room, chains_room, regions_room, rows_room, events_room, strings_room,
		missed_room;
	struct samples_index object_index, frame_index, chain_index, region_index, row_index, string_index;
	bool no_memory;              /* something is missing */
};

void samples_init(struct samples *samples);
void samples_fini(struct samples *samples);

/* Each of these finds or adds; SAMPLES_NONE when memory is short. */
u32 samples_string(struct samples *samples, const char *bytes, size_t length);
u32 samples_object(struct samples *samples, const char *path, const char *build_id, enum samples_object_kind kind);
u32 samples_frame(struct samples *samples, u32 object, u64 address);
u32 samples_chain(struct samples *samples, u32 parent, u32 frame);
u32 samples_region(struct samples *samples, u32 parent, const char *name, size_t length);

/* Names a frame, which is resolved then, if n is not 0. The lines are copied. */
void samples_name(struct samples *samples, u32 frame, const struct samples_line *lines, u32 n);

/* A sample: row.count and row.weight are ignored, period is its weight. 0, or -1 when memory is short. */
int samples_add(struct samples *samples, const struct samples_row *row, u64 period, u64 time_ns, u32 cpu);

/* The same in two steps, for those that have sums: a row, whose count and weight are added; events of it. */
u32 samples_row(struct samples *samples, const struct samples_row *row);
int samples_event(struct samples *samples, u32 row, u64 time_ns, u32 cpu);

/* Adds what a region did not get to its entry, not to the sums of all. 0, or -1 when memory is short. */
int samples_miss(struct samples *samples, const struct samples_missed *missed);
/* The same as samples_row() for intervals off the CPU, whose flags have their kind. */
u32 samples_off(struct samples *samples, const struct samples_row *row);
/* The list of these was put in another order: it must be said before others are added. */
void samples_off_sorted(struct samples *samples);
/* There were to be samples; otherwise all there is are intervals off the CPU. */
static inline bool samples_taken(const struct samples *samples)
{
	return samples->event || !samples->off;
}
/* Adds a thread. 0, or -1 when memory is short. */
int samples_thread(struct samples *samples, const struct samples_thread *thread);
/* Adds ends of waits. 0, or -1 when memory is short. */
int samples_wake(struct samples *samples, const struct samples_wake *wake);
/* Of wake-ups by a thread those that have no place take shares in the places of the others by it, of the same wait. */
void samples_wakes_share(struct samples *samples);
/*
 * samples_fold.c: of the threads in the list all but so many, those that lived longest, and what lives by its number
 * still, become one of their process, whose number is 0. Sums stay what they are.
 */
int samples_fold(struct samples *samples, u32 most, bool (*lives)(const void *context, u32 process, u32 tid),
		 const void *context);
/* A thread's wait for block devices and its number of waits are added to a sum. */
void samples_delay_add(struct samples_thread *sum, const struct samples_thread *thread);
/* A look at the intervals off the CPU as at samples, weights in ns: nothing is copied, nor to be freed. */
struct samples samples_off_view(const struct samples *samples);

/* Puts the events in the order of time, in which nobody adds them who reads one ring for each CPU. */
void samples_sort(struct samples *samples);

/*
 * Gives names of regions another text, in place: what compares them afterwards, samples_merge() among it,
 * finds those the same that are. rename returns NULL for one that stays. True: there was another.
 */
bool samples_rename_regions(struct samples *samples, const char *(*rename)(void *context, const char *name), void *context);

/* Adds all of another list, whose processes have the same serials: for recordings in parts and for passes. */
int samples_merge(struct samples *to, const struct samples *from);

#endif
