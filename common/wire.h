/* SPDX-License-Identifier: MIT */
/*
 * Every byte that crosses between the agent and sparkctl: the two messages of the hello, and the
 * shared segment.
 *
 * The segment is a memfd that sparkctl makes, sizes, partly preallocates and seals against
 * resizing. The agent and the processes forked from its process write to it in place; sparkctl
 * reads copies of it (wire_open()) and trusts no word of it. One segment serves one process image
 * and everything that image forks.
 *
 * Places in the segment are refs: offset / 64, never pointers; ref 0 means none (the header lies
 * there). Times are ticks of the clock that the header names. Every slot, lane and node has one
 * writer, its thread; words shared by several writers are marked "shared" and changed by atomic
 * operations only.
 *
 * Each struct is little-endian, naturally aligned, without implicit padding; sizes are asserted
 * below.
 */
#ifndef SPARK_COMMON_WIRE_H
#define SPARK_COMMON_WIRE_H

#include "base.h"

#define WIRE_MAGIC 0x31306b7261707321ULL /* "!spark01" */
#define WIRE_VERSION 8
#define WIRE_WAIT_SECONDS 2        /* for an answer: an agent goes on without one */

/*
 * The value of the one environment variable: "8,<sparkctl's pid>,<seccomp filters on it>,<32 hex
 * digits of token>, <socket path>", without the line break.
 */
#define WIRE_ENV "SPARK_SESSION"
#define WIRE_TOKEN_SIZE 16
/*
 * Abstract name of the second address of the socket, for targets that cannot reach the path:
 * "spark-" and the first digits of the token. Everybody can read such names (/proc/net/unix): the
 * other digits are the secret.
 */
#define WIRE_ABSTRACT_DIGITS 16
#define WIRE_ABSTRACT_PREFIX "spark-"

#define WIRE_PAGE 4096u
#define WIRE_CHUNK (1u << 20)      /* what the agent maps at a time */
#define WIRE_SEGMENT_SIZE (512u << 20)
#define WIRE_CHUNKS (WIRE_SEGMENT_SIZE / WIRE_CHUNK)
#define WIRE_UNIT 64u              /* granule of a ref */

#define WIRE_DEPTH 255             /* frames of a lane */
#define WIRE_LANES 4               /* the thread, and signal handlers that interrupted a marker, nested */
#define WIRE_NAME_MAX 1024         /* bytes of a name that are kept */
#define WIRE_CALIBRATION "[calibration]" /* brackets of the agent's own: no region */
#define WIRE_NAMES 65536           /* distinct names of one process */
#define WIRE_WINDOWS 16384         /* windows of one segment */
#define WIRE_FILES 32              /* copied at their edges */
#define WIRE_FILE_ROOM (WIRE_PAGE - (u32)sizeof(struct wire_snapshot)) /* of each: what is longer is cut */
#define WIRE_MARKS 128             /* region paths at an edge of a window */
#define WIRE_CELLS 32              /* cells of all sources of the table together */
#define WIRE_EVENTS 64             /* of a plan */
#define WIRE_GROUPS 8
#define WIRE_RINGS 16              /* descriptors in a message */
#define WIRE_CPUS 4096             /* numbers of CPUs that a ring can be of */
#define WIRE_WATCH_ENTRIES 1024u   /* a power of two */
#define WIRE_TRACE_ENTRIES 65536u  /* of a thread's own lane: a power of two, and a chunk */
#define WIRE_TRACE_UPPER 1024u     /* of a lane of signal handlers */
#define WIRE_TRACE_ROOM (WIRE_SEGMENT_SIZE / 4 * 3) /* beyond that threads get no rings, so that they get slots still */
#define WIRE_NODE_CELLS (WIRE_CELLS + WIRE_EVENTS + 2 * WIRE_GROUPS)

/* ---- messages ------------------------------------------------------------------------------------- */

enum wire_hello_flags {
	WIRE_HELLO_RSEQ = 1 << 0,    /* the C library has registered rseq */
	WIRE_HELLO_FORKED = 1 << 1,  /* a forked child that has a segment: it wants the rings alone */
};

struct wire_hello {
	u64 magic;
	u32 version;
	u32 size;
	u8 token[WIRE_TOKEN_SIZE];
	u32 pid;                     /* as the target sees it; sparkctl believes SO_PEERCRED */
	u32 tid;
	u32 abi;                     /* of the markers: SPARK_ABI_VERSION */
	u32 flags;
	u64 ns;                      /* CLOCK_MONOTONIC_RAW when it began to connect; 0: not known */
};

enum wire_verdict {
	WIRE_GO = 0,                 /* measure; a segment comes with the message */
	WIRE_DORMANT = 1,            /* stay dormant: not asked for (--no-inherit) */
	WIRE_MISMATCH = 2,           /* stay dormant: another version of the protocol */
};

enum wire_clock { WIRE_CLOCK_TSC = 0, WIRE_CLOCK_VDSO = 1 };

enum wire_config_flags {
	WIRE_CPU_CLOCK = 1 << 0,     /* read the thread's CPU clock at every marker where no switch detector works */
	WIRE_NO_FORKS = 1 << 1,      /* forked children stay dormant (--no-inherit) */
	WIRE_PER_THREAD = 1 << 2,    /* slots of ended threads are not reused by the agent: sparkctl reaps them */
	WIRE_EXECED = 1 << 3,        /* another measured image was in the process before: what it used is wanted */
	WIRE_THREAD_USAGE = 1 << 4,  /* of each thread all sources are read, though that delays its end */
	WIRE_WATCH = 1 << 5,         /* the rings of samples follow: markers watch their heads */
	WIRE_TRACE = 1 << 6,         /* each begin and end is to be recorded with its time (struct wire_trace) */
};

/* sparkctl's answer to the hello; the memfd comes with it as SCM_RIGHTS. */
struct wire_config {
	u64 magic;
	u32 version;
	u32 size;
	u32 verdict;
	u32 flags;
	u32 sources;                 /* bit mask of enum source_id: bracketed sources read at each marker */
	u32 clock;                   /* enum wire_clock */
	u32 peer_pid;                /* /proc/<peer_pid>/fd/<peer_fd> is the memfd, */
	s32 peer_fd;                 /* for a target without a free descriptor */
	u32 rings;                   /* WIRE_WATCH: how many there are, in messages of WIRE_RINGS; the last may have fewer */
	u32 ring_bytes;              /* to be mapped of each: the kernel wants all of it (perf_event_open(2), "MMAP layout") */
};

/* Descriptors of sampling rings, which come with it as SCM_RIGHTS. */
struct wire_rings {
	u64 magic;
	u32 n;
	u32 cpu[WIRE_RINGS];         /* that each belongs to */
	u32 reserved;
};

/* ---- segment -------------------------------------------------------------------------------------- */

enum wire_loss {
	WIRE_LOSS_NAMES,             /* markers whose name found the table full: charged to "[other]" */
	WIRE_LOSS_NODES,             /* regions charged to "[other]" since no node could be had */
	WIRE_LOSS_HIST,              /* durations missing from a histogram */
	WIRE_LOSS_SLOTS,             /* markers dropped: no slot for the thread */
	WIRE_LOSS_EARLY,             /* markers dropped: the agent was being initialized */
	WIRE_LOSS_LANES,             /* markers dropped: more than WIRE_LANES nested interruptions of markers */
	WIRE_LOSS_WINDOWS,           /* window edges dropped */
	WIRE_LOSS_METRICS,           /* client values and units dropped */
	WIRE_LOSS_NULL_NAMES,        /* markers ignored: a null pointer for a name */
	WIRE_LOSS_NO_CLOCK,          /* markers dropped: the thread may not read the time stamp counter */
	WIRE_LOSS_UNTRACED,          /* threads, or signal handlers in them, without a ring to trace to: no memory */
	WIRE_LOSS_CALLS,             /* slots left alone: all stubs are taken */
	WIRE_LOSS_MAX = 16
};

struct wire_header {
	u64 magic;                   /* sparkctl */
	u32 version;                 /* sparkctl */
	u32 clock;                   /* sparkctl: enum wire_clock */
	u64 size;                    /* sparkctl */
	/* Ticks per nanosecond, 32.32 fixed point, refined while the run goes on.  sparkctl writes, agent reads. */
	u64 ticks_per_ns;
	u64 used;                    /* shared: first byte not handed out */
	u64 free_slots;              /* shared: slots that sparkctl reaped: tag << 32 | ref of the first (wire_slot.next_free) */
	u64 arena;                   /* shared: page that small records come from: ref << 32 | bytes used */
	u32 processes;               /* shared: ref of the newest struct wire_process */
	u32 slots;                   /* shared: ref of the newest struct wire_slot */
	u32 windows;                 /* shared: ref of the newest struct wire_window */
	u32 window_count;            /* shared */
	u32 sources;                 /* sparkctl: as in struct wire_config */
	u32 cells;                   /* sparkctl: of each node, those of the plan after those of the sources */
	u32 plan;                    /* sparkctl: ref of struct wire_plan; 0: none */
	u32 claims;                  /* shared: threads that have taken a slot */
	u32 calls;                   /* sparkctl: ref of struct wire_calls; 0: none */
	u32 origins;                 /* shared: ref of the newest struct wire_origin (wire_calls.h) */
	u32 functions;               /* sparkctl: ref of struct wire_functions (wire_calls.h); 0: none */
	u32 files;                   /* sparkctl: ref of struct wire_files; 0: none */
	u32 released;                /* sparkctl sets it when nobody reads any more: the agent goes dormant */
	u32 ended;                   /* shared: ref of the newest struct wire_snapshot with the marks of a thread that ended */
	u64 losses[WIRE_LOSS_MAX];   /* shared */
};

/*
 * The perf events that each thread counts, in groups that lie one after the other. A node's cells
 * for it: the count of each event, then for each group how long it was enabled and how long it ran,
 * ns. A group's counts are exact where the two are the same.
 */
enum wire_plan_flags {
	WIRE_PLAN_SHARED = 1 << 0,   /* groups do not always count: how long each ran is read as of now */
};

enum wire_event_flags {
	WIRE_EVENT_USER = 1 << 0,    /* sparkctl could read it by its user page */
};

struct wire_event {
	u8 attr[136];                /* struct perf_event_attr, and config3 behind it */
	u16 group;
	u16 flags;                   /* enum wire_event_flags */
	u32 path;                    /* offset in the plan of what attr.config1 is to point to; 0: nothing */
};

struct wire_plan {
	u32 events;
	u32 groups;
	u32 flags;                   /* enum wire_plan_flags */
	u32 size;                    /* of it all: paths follow the events */
	struct wire_event event[];
};

static inline u32 wire_plan_cells(u32 events, u32 groups)
{
	return events + 2 * groups;
}

/*
 * Why a cell of a source, in a node or in struct wire_usage, is absent. Such a cell holds
 * WIRE_ABSENT(reason); what is added to it later changes nothing. A count never comes near.
 */
enum wire_absent_reason {
	WIRE_ABSENT_SEALED,          /* the process had set a seccomp filter: no system call any more */
	WIRE_ABSENT_NO_FILE,         /* the kernel, or the root directory, has no such file */
	WIRE_ABSENT_DENIED,
	WIRE_ABSENT_LIMIT,           /* no free descriptor, or no memory */
	WIRE_ABSENT_UNREADABLE,      /* any other error */
	WIRE_ABSENT_FIELD,           /* the file has no such field, or it is no number */
	WIRE_ABSENT_OFF,             /* all zeros: the kernel does not count */
	WIRE_ABSENT_MANY,            /* too many threads to read them all */
	WIRE_ABSENT_THREADS,         /* of several threads: only if the source is asked for */
	WIRE_ABSENT_NOT_ASKED,       /* of a thread: only if WIRE_THREAD_USAGE */
	WIRE_ABSENT_REGIONS,         /* the source has no figures of whole threads and processes */
	WIRE_ABSENT_NO_COUNTER,      /* the kernel had no counter for the event in this thread */
	WIRE_ABSENT_EVENT_DENIED,    /* the process may not open the event */
	WIRE_ABSENT_EVENT_LIMIT,     /* no descriptor or memory for it */
	WIRE_ABSENT_EVENT_REFUSED,   /* any other error of opening or reading it */
	WIRE_ABSENT_TAKEN,           /* the program closed the event's descriptor, or has another file there */
	WIRE_ABSENT_PASS,            /* sparkctl's: the run that counted the event did not come there */
	WIRE_ABSENT_REASONS,
	WIRE_ABSENT_MAX = 32
};

#define WIRE_ABSENT(reason) (UINT64_MAX - (u64)(reason))

static inline bool wire_absent(u64 cell)
{
	return cell > UINT64_MAX - WIRE_ABSENT_MAX;
}

/* Running totals of a thread or process, or sums of differences of such. */
struct wire_usage {
	u64 valid;                   /* 0: not read (seccomp, or its end was not seen) */
	u64 cpu_ns;                  /* CLOCK_PROCESS_CPUTIME_ID or CLOCK_THREAD_CPUTIME_ID */
	u64 unseen_ns;               /* CPU time of ended threads that are not in cells with SOURCE_BY_THREAD */
	u64 cell[WIRE_CELLS];        /* of all sources, in the order of sources.def; WIRE_ABSENT() */
};

/*
 * Which region a thread's samples belong to. A marker that finds the head of its CPU's ring moved,
 * or that the thread was switched out, logs: until that position of that ring, and until that time
 * in the others, the thread's samples since the entry before are of that node. What follows the
 * last entry belongs to the region on top, as no marker has come since.
 */
struct wire_watch_entry {
	u64 head;                    /* data_head of the ring */
	u64 ticks;
	u32 node;
	u32 tid;
	u32 cpu;                     /* WIRE_CPUS: of none, the ring is not known; then the time counts alone */
	u32 reserved;
};

struct wire_watch {
	u64 count;                   /* entries so far; the newest WIRE_WATCH_ENTRIES are kept */
	u64 reserved[7];
	struct wire_watch_entry entry[WIRE_WATCH_ENTRIES];
};

/*
 * A begin or an end of a region. Each lane has a ring of them, written by its thread alone; what
 * nobody has read is overwritten. Times rise along it. Brackets beyond the depth limit have none.
 */
enum wire_trace_kind {
	WIRE_TRACE_BEGIN,
	WIRE_TRACE_END,              /* what was begun above it is a child of it no longer */
	WIRE_TRACE_UNENDED,          /* it was closed in place of an end that never came */
	WIRE_TRACE_OVERLAP,          /* a region that encloses its begin ended first */
};

#define WIRE_TRACE_SHIFT 62      /* of the kind, above the time */

struct wire_trace {
	u64 ticks;                   /* and the kind */
	u32 node;
	u32 tid;
};

enum wire_process_flags {
	WIRE_PROCESS_FORKED = 1 << 0,  /* began by fork, not by exec */
	WIRE_PROCESS_EXITED = 1 << 1,  /* exit handlers ran: end and status are valid */
	WIRE_PROCESS_SEALED = 1 << 2,  /* entered a seccomp sandbox: no system call since */
};

enum wire_detector {
	WIRE_DETECTOR_NONE = 0,      /* wall only */
	WIRE_DETECTOR_RSEQ = 1,      /* the kernel clears rseq_cs of a thread that it switches out */
	WIRE_DETECTOR_PAGE = 2,      /* the lock word of a perf page steps */
	WIRE_DETECTOR_CLOCK = 3,     /* the thread's CPU clock at every marker (asked for) */
};

struct wire_process {
	u32 next;
	u32 pid;
	u32 ppid;
	u32 flags;
	u64 start;                   /* ticks at the agent's constructor, or at a forked child's first marker */
	u64 end;                     /* ticks in the exit handler */
	u64 own_calls;               /* shared: read(2) by the agent, which the kernel counts as the process's */
	u64 own_bytes;               /* shared: what it brought */
	struct wire_usage begin_usage; /* at start; all sources only if WIRE_EXECED */
	struct wire_usage end_usage;
	s32 status;                  /* as given to exit(3) */
	u32 detector;                /* enum wire_detector of its threads */
	u32 bracket;                 /* ticks that an empty bracket reads, median of 9 */
	u32 pair;                    /* ticks that an empty begin + end pair takes, median of 9 */
	u32 sealed_cpu;              /* shared: switches seen but not resynchronized, since sealed */
	u32 abi;
	u32 source_cost[WIRE_NODE_CELLS]; /* what an empty bracket of the sources reads, per cell, median of 9 */
};

enum wire_slot_state {
	WIRE_SLOT_FREE = 0,
	WIRE_SLOT_LIVE = 1,          /* a thread of pid writes to it */
	WIRE_SLOT_IDLE = 2,          /* its thread ended; the agent keeps it for the next thread of the process */
	WIRE_SLOT_DEAD = 3,          /* its thread ended; sparkctl shall read and reap it */
};

/*
 * An unfinished bracket. sp: near the marker's stack pointer, to find frames that were jumped over.
 * A frame beyond the lane's depth is the bracket that ended there last; the agent begins it again
 * if it is the same.
 */
struct wire_frame {
	u64 start;
	s64 off;                     /* off-CPU ticks since start, up to the slot's last resynchronization */
	u64 sp;
	u32 node;
	u32 region;                  /* name of its region, and enum wire_frame_flags; 0: none */
};

enum wire_frame_flags {
	WIRE_FRAME_ORPHAN = 1 << 24, /* the region below it ended first: no longer a parent */
	WIRE_FRAME_CALL = 1 << 25,   /* of a call through a bracket: sp is its frame's very address */
};

/*
 * The newest finished bracket, not yet in its node's histogram (a store whose address depends on a
 * fresh time stamp delays the next time stamp). Written before its node is updated, with what the
 * node's sums will be, so that a torn update can be repaired: node.calls < calls means that the
 * node may lack any part of it. It is in the histogram already if that holds as many calls as the
 * node.
 */
struct wire_pending {
	u64 wall;
	u64 node_wall;               /* the node's sum with it */
	u64 calls;                   /* the node's, with it; 0: none */
	u32 node;
	u32 reserved;
};

struct wire_lane {
	u32 depth;
	u32 root;                    /* ref of the lane's root node */
	u32 node_pages;              /* ref of the first node page */
	u32 hist_pages;              /* ref of the first histogram page */
	struct wire_pending pending;
	u32 trace;                   /* ref of a ring of struct wire_trace; 0: none */
	u32 reserved;
	u64 trace_count;             /* records so far; the newest WIRE_TRACE_ENTRIES, or WIRE_TRACE_UPPER, are kept */
	struct wire_frame base;      /* below the first: never begun */
	struct wire_frame frames[WIRE_DEPTH + 1]; /* the last is never begun */
};

/* One measured thread, or one after the other of the same process. */
struct wire_slot {
	u32 next;
	u32 state;                   /* enum wire_slot_state */
	u32 pid;
	u32 tid;
	u32 next_free;               /* next in the list of header.free_slots */
	u32 threads;                 /* threads that have used it */
	u32 detector;
	u32 reserved;
	u64 start;                   /* the thread's first marker */
	u64 end;                     /* 0: not seen to end */
	u64 done_wall;               /* of the threads that used it before, ticks */
	struct wire_usage begin_usage;
	struct wire_usage end_usage;
	struct wire_usage done_usage; /* of the threads before */
	u64 switches;                /* times the detector moved */
	u64 resyncs;                 /* readings of the thread's CPU clock */
	u64 missed;                  /* switches proven that the detector did not see */
	s64 off;                     /* off-CPU ticks since start */
	u64 sync_ticks;              /* last resynchronization */
	u64 sync_cpu_ns;
	u32 lanes[WIRE_LANES];       /* refs; [0] is always there */
	u32 watch;                   /* ref of a struct wire_watch; 0: its thread does not watch the rings */
	u32 reserved2[3];
	char comm[16];
};

/* Node and histogram pages: 4096 bytes, header first. */
struct wire_page {
	u32 next;
	u32 used;                    /* items handed out */
	u32 kind;
	u32 reserved[13];
};

enum wire_page_kind { WIRE_PAGE_NODES = 1, WIRE_PAGE_HIST = 2 };

/*
 * What kind of node: the top byte of wire_node.region; the rest is the ref of its name.
 */
enum wire_node_kind {
	WIRE_NODE_REGION = 0,
	WIRE_NODE_METRIC = 1,        /* client values: calls, wall = sum, off = last, min, max: bits of a double */
	WIRE_NODE_DIAGNOSIS = 16,    /* + enum wire_diagnosis: calls = count, min = ticks of the first */
};

enum wire_diagnosis {
	WIRE_DIAG_UNMATCHED,         /* an end without a begin on this thread */
	WIRE_DIAG_UNENDED,           /* closed by the end of an enclosing region: its own end never came */
	WIRE_DIAG_SKIPPED,           /* found abandoned (longjmp) when the stack of frames was full */
	WIRE_DIAG_OVERLAP,           /* ended after a region that encloses its begin */
	WIRE_DIAG_DEEP,              /* begun beyond the depth limit: counted into the last node */
	WIRE_DIAG_NAME_CUT,          /* name longer than WIRE_NAME_MAX */
	WIRE_DIAG_UNIT,              /* units given with another unit before */
	WIRE_DIAG_NO_REGION,         /* units for a region that is not known here */
	WIRE_DIAG_WINDOW,            /* a window's end without a begin in this process */
	WIRE_DIAG_LATE,              /* an end of a frame that had been dropped as skipped */
	WIRE_DIAG_THREAD_END,        /* still open when its thread ended: a call, and open */
	WIRE_DIAG_PART,              /* a part of a window out of its order, or of none that is open */
	WIRE_DIAG_MAX
};

#define WIRE_NODE_KIND_SHIFT 24
#define WIRE_NODE_NAME_MASK ((1u << WIRE_NODE_KIND_SHIFT) - 1)

/*
 * Totals of one region path of one lane. cpu = wall - off. Source cells (u64, or WIRE_ABSENT())
 * follow in the same stride.
 */
struct wire_node {
	u32 region;                  /* kind and ref of struct wire_name; 0: a root */
	u32 parent;                  /* ref; 0: a root */
	s32 near;                    /* the agent's: from the node to its histogram, in units; 0: not in one mapping */
	u32 hist;                    /* ref of a struct wire_hist; 0: none yet */
	u64 calls;                   /* finished brackets */
	u64 wall;
	s64 off;
	u64 min;
	u64 max;
	u64 units;
};

#define WIRE_HIST_OCTAVES 64
#define WIRE_HIST_SUB 32         /* buckets of an octave: half a bucket is 1/64 of its value */

/* Chunks of a histogram: one of 32 buckets for each octave that was met. */
struct wire_hist {
	u32 chunk[WIRE_HIST_OCTAVES];
	s32 near[WIRE_HIST_OCTAVES]; /* the agent's: from here to the chunk, in units; 0: not in one mapping */
};

struct wire_hist_chunk {
	u64 count[WIRE_HIST_SUB];
};

struct wire_name {
	u64 hash;                    /* of all its bytes, also of those cut off */
	u32 length;                  /* bytes kept */
	u32 full_length;
	u32 unit;                    /* shared: ref of the name of the unit of its work; 0: none */
	u32 reserved;
	char bytes[];
};

/* Files whose bytes are copied at both edges of windows. In the segment, written by sparkctl; paths follow. */
struct wire_files {
	u32 n;                       /* at most WIRE_FILES */
	u32 size;                    /* of it all */
	u32 path[];                  /* offsets in it, each of a text with its end */
};

/* A file's bytes at an edge, as the process saw it. */
struct wire_snapshot {
	u32 next;                    /* of the same edge */
	u32 file;                    /* its number among wire_files.path */
	u32 size;
	u32 absent;                  /* 0, or 1 + enum wire_absent_reason */
	char bytes[];
};

/*
 * What markers have added up in the threads of a process at an edge, by region path: the bytes of a struct
 * wire_snapshot of this file. A slot that sparkctl may reap loses its sums: of such threads that ended while a window
 * was open, the list header.ended has a record each. A sum of the process at an edge is that of the threads that had
 * not ended; between two edges, those that ended there are added.
 */
#define WIRE_MARKS_FILE WIRE_FILES

enum wire_marks_flags {
	WIRE_MARKS_CUT = 1 << 0,     /* not all paths are there; those that are have all their sums */
	WIRE_MARKS_MANY = 1 << 1,    /* too many threads and regions to look at: sums may lack any part */
};

struct wire_mark {
	u32 name;                    /* ref of struct wire_name */
	u16 parent;                  /* 1 + its number among the marks, lower than the own; 0: directly in a thread */
	u16 open;                    /* brackets that have begun and not ended */
	u64 calls;                   /* finished brackets */
	u64 ticks;                   /* of them, and of open ones until the edge */
};

struct wire_marks {
	u32 n;
	u32 flags;
	u32 pid;
	u32 reserved;
	u64 ticks;                   /* of the edge, or of the thread's end */
	struct wire_mark mark[WIRE_MARKS]; /* n of them */
};

enum wire_window_state { WIRE_WINDOW_OPEN = 1, WIRE_WINDOW_ENDED = 2 };

/* Of a window whose parts are marked; as spark.h has them, in this order. */
#define WIRE_NEVER UINT64_MAX

enum wire_window_part { WIRE_WINDOW_WHOLE, WIRE_WINDOW_WARMUP, WIRE_WINDOW_MEASURED, WIRE_WINDOW_COOLDOWN };

/* Usage and snapshots are of the measured part, from `from` to `to`: else of all of it. */
struct wire_window {
	u32 next;
	u32 name;
	u32 pid;
	u32 state;                   /* shared */
	u64 start;
	u64 end;
	u64 from, to;                /* WIRE_NEVER: no such part was marked; to is 0 until it has ended */
	u32 part;                    /* shared; the newest that was marked */
	u32 reserved;
	u32 snapshots[2];            /* at its begin and end: refs of struct wire_snapshot */
	struct wire_usage begin_usage;
	struct wire_usage end_usage;
};

_Static_assert(sizeof(struct wire_hello) == 56, "wire");
_Static_assert(sizeof(struct wire_config) == 48, "wire");
_Static_assert(sizeof(struct wire_rings) == 80, "wire");
_Static_assert(sizeof(struct wire_watch_entry) == 32, "wire");
_Static_assert(sizeof(struct wire_watch) == 64 + 32 * WIRE_WATCH_ENTRIES, "wire");
_Static_assert(sizeof(struct wire_trace) == 16, "wire");
_Static_assert(sizeof(struct wire_header) == 112 + 8 * WIRE_LOSS_MAX && sizeof(struct wire_header) <= WIRE_PAGE, "wire");
_Static_assert(sizeof(struct wire_usage) == 24 + 8 * WIRE_CELLS, "wire");
_Static_assert(sizeof(struct wire_process) == 72 + 2 * sizeof(struct wire_usage) + 4 * WIRE_NODE_CELLS, "wire");
_Static_assert(sizeof(struct wire_event) == 144, "wire");
_Static_assert(sizeof(struct wire_plan) == 16, "wire");
_Static_assert(sizeof(struct wire_frame) == 32, "wire");
_Static_assert(sizeof(struct wire_pending) == 32, "wire");
_Static_assert(sizeof(struct wire_lane) == 64 + 32 * (WIRE_DEPTH + 2), "wire");
_Static_assert(sizeof(struct wire_slot) % 8 == 0 && sizeof(struct wire_slot) <= 1024, "wire");
_Static_assert(sizeof(struct wire_page) == 64, "wire");
_Static_assert(sizeof(struct wire_node) == 64, "wire");
_Static_assert(sizeof(struct wire_hist) == 512, "wire");
_Static_assert(sizeof(struct wire_hist_chunk) == 256, "wire");
_Static_assert(sizeof(struct wire_name) == 24, "wire");
_Static_assert(sizeof(struct wire_files) == 8, "wire");
_Static_assert(sizeof(struct wire_snapshot) == 16, "wire");
_Static_assert(sizeof(struct wire_mark) == 24, "wire");
_Static_assert(sizeof(struct wire_marks) == 24 + 24 * WIRE_MARKS && sizeof(struct wire_marks) <= WIRE_FILE_ROOM, "wire");
_Static_assert(sizeof(struct wire_window) == 64 + 2 * sizeof(struct wire_usage), "wire");

/* Bytes of a node with its cells. */
static inline u32 wire_node_stride(u32 cells)
{
	return ALIGN_UP((u32)sizeof(struct wire_node) + cells * 8, WIRE_UNIT);
}

#endif
