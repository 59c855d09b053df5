/* SPDX-License-Identifier: MIT */
/*
 * What the files of the agent share: the state of the process, of a thread and of a lane.
 *
 * Contexts, named in the comment of each function:
 *   CTOR    in the loader, before main
 *   THREAD  a thread's first marker, or its end
 *   SAFE    anywhere, signal handlers too; keeps errno; makes only raw or async-signal-safe system calls
 *   MARKER  SAFE, and touches nothing but its own lane and what its sources declare
 *
 * Nothing here allocates from the heap, locks, prints or ends the program. After the process
 * entered a seccomp sandbox (process.sealed) nothing here makes a system call.
 */
#ifndef SPARK_AGENT_H
#define SPARK_AGENT_H

#include "common/base.h"
#include "common/source_table.h"
#include "common/wire.h"
#include "source.h"
#include "sys.h"

/* The types of the marker interface alone: the agent has no markers. */
#define SPARK_DISABLE
#include "spark/spark.h"

#define LANE_HASH 256              /* first size of a lane's table of nodes */

/* lane.gate: 0 not begun, or wiped by fork; a stack pointer: a marker is inside. */
enum lane_gate {
	GATE_NONE = 0,
	GATE_FAST = 1,             /* idle */
	GATE_SLOW = 2,             /* idle; the fast path must not be taken (lane.special) */
	GATE_MOST = GATE_SLOW,
	GATE_HELD = 3,             /* the thread begins or ends: no marker is inside, but its session must not end */
};

struct lane {
	u64 gate;
	u32 next_region;           /* of the frame above the top: the same region takes it again; 0: none */
	u32 top_region;
	struct wire_frame *top;    /* frames[depth - 1] */
	struct wire_node **top_node; /* np[depth] */
	u64 *bucket;               /* where the pending duration is to be counted */
	struct wire_lane *w;
	u64 sink;                  /* the bucket of nothing */
	u32 special;               /* LANE_* */
	u32 first_parent;          /* lanes above 0: node that regions begun at depth 0 belong to */
	u32 *hash;                 /* refs of nodes by parent and region; open addressing */
	u32 hash_mask;
	u32 hash_used;
	u32 other;                 /* node of "[other]" */
	u32 deep;                  /* brackets begun beyond the depth limit */
	u32 orphans;               /* frames with WIRE_FRAME_ORPHAN */
	u32 dropped;               /* frames dropped as skipped whose end may still come */
	u64 orphaned_at;           /* ticks when a frame last became an orphan */
	u32 node_page;             /* page that nodes are taken from */
	u32 node_reuse;            /* pages of a reaped slot not used again yet */
	u32 hist_page;
	u32 hist_reuse;
	u64 *cells;                /* source readings at begin, agent.cells for each frame, and room for one more reading */
	struct wire_trace *trace;  /* ring; with LANE_TRACE */
	u32 trace_mask;
	u32 trace_tid;
	u32 trace_ref;
	u32 session;               /* agent.session that it belongs to */
	u32 cells_bytes;           /* of cells */
	u64 early;                 /* stack pointer of an end that has read the sources already, before it looks up its name */
	struct wire_node *np[WIRE_DEPTH + 2]; /* np[0] the root, np[d] the region at depth d */
};

enum lane_special {
	LANE_SOURCES = 1 << 0,
	LANE_ORPHANS = 1 << 1,
	LANE_DEEP = 1 << 2,
	LANE_UPPER = 1 << 3,       /* a lane of signal handlers */
	LANE_LATE = 1 << 4,        /* claimed after the last destructor round: released at depth 0 */
	LANE_CLOCK = 1 << 5,       /* the clock is not the TSC */
	LANE_WATCH = 1 << 6,       /* samples are taken: watch.h */
	LANE_TRACE = 1 << 7,       /* begins and ends are recorded: trace.h */
};

/* The private half of a thread, one page of memory that fork wipes: a closed gate sends a child the slow way. */
struct thread {
	const volatile u32 *detector_word;
	u32 detector_seen;
	u32 detector;              /* enum wire_detector */
	u64 force_ticks;           /* brackets as long as this are resynchronized anyway */
	struct lane lane;
	s64 off;                   /* off-CPU ticks since the slot's start */
	u64 sync_ticks;
	u64 sync_cpu_ns;
	u64 base_moves;            /* proof that the detector sees switches: state at the last forced look */
	u64 base_csw;
	struct wire_slot *slot;
	struct lane *upper[WIRE_LANES - 1];
	u32 state;                 /* enum unit_state */
	u32 slot_ref;
	u32 rounds;                /* destructor rounds seen */
	const void *page;          /* perf page of the detector */
	struct counters *counters; /* of the plan; NULL: none */
	u32 counting;              /* counters.c: whose they are */
	const volatile u64 *watch_head; /* of the ring of samples of the CPU it is on */
	u64 watch_seen;            /* what that was at the last entry */
	struct wire_watch *watch;  /* in the segment; with LANE_WATCH */
	u32 watch_cpu;
	u64 stack_page;            /* can be read: arguments on the stack reached into it */
	bool watch_switched;       /* it was switched out since: it may be on another CPU, or have been */
	u32 deep;                  /* instrumented functions that are open and too deep for regions */
	u64 deep_sp, deep_function, deep_caller; /* of the outermost of them */
	u32 hash[LANE_HASH];
};

_Static_assert(sizeof(struct thread) <= WIRE_PAGE, "a thread is one page");

enum process_state { PROCESS_NEW = 0, PROCESS_STARTING, PROCESS_LIVE, PROCESS_DORMANT };

/* Of threads that were released: what source sched keeps of them. */
struct process_ended {
	u64 cells[SCHED_CELLS];    /* sums */
	u32 tids[64];              /* the newest: they may be on their way out still */
	u32 next;
	u32 reserved;
};

/* Wiped by fork: a child sees PROCESS_NEW. */
struct process_life {
	u32 state;                 /* enum process_state */
	u32 pid;
	u32 first_unit;            /* of the thread pool: those below were a parent's */
	u32 patching;              /* patch.c: 1 slots are being looked at, 2 they were given back */
	u64 lowest_free;           /* units below the low half are in use; the high half counts what was given back */
	u32 windows;               /* edges that are being recorded */
	u32 resting;               /* threads that give back what the session has changed */
	u32 open;                  /* windows that have begun and not ended */
	u32 ended_marks;           /* threads that ended meanwhile: marks.c */
	struct wire_process *wire;
	char *room;                /* to read files into: snapshot.c; NULL: there is none, or it is in use */
	struct process_ended ended;
};

_Static_assert(sizeof(struct process_life) <= WIRE_PAGE, "a process is one page");

/* Kept over fork. */
struct agent {
	u32 flags;                 /* enum wire_config_flags */
	u32 sources;               /* mask of bracketed sources */
	u32 cells;                 /* of a node */
	u32 plan_cell;             /* the first of the plan's */
	u32 stride;                /* bytes of a node */
	u32 clock;                 /* enum wire_clock */
	u32 detector;              /* what the constructor proved */
	u32 session;               /* counts those of the process, from 1: what an earlier one has left is not used */
	u32 tid_offset;            /* of the thread's id behind pthread_self(); 0: not found */
	bool ready;                /* a segment is mapped */
	bool sealed;               /* no more system calls */
	bool blind;                /* a thread may not read the clock: none starts any more */
	bool calibrated;
	bool joined;               /* by spark_agent_wake(): regions may have been open before */
	u32 bracket;               /* ticks, see struct wire_process */
	u32 pair;
	u32 source_cost[WIRE_NODE_CELLS];
	struct wire_header *header;
	const struct wire_plan *plan; /* in the segment; NULL: no events to count */
};

extern struct agent agent;
extern struct process_life *life;
extern __thread struct thread *thread_self __attribute__((tls_model("initial-exec")));
extern struct thread thread_none;

extern const struct spark_agent_v1 spark_agent_v1 __attribute__((visibility("default")));

/* SAFE. No more system calls. */
static inline bool agent_sealed(void)
{
	return load_relaxed(&agent.sealed);
}

/* ---- agent.c */

/*
 * CTOR, called by sparkctl in a process that runs already, again for each session: says hello on a connected socket,
 * and begins a session. 0, or -errno: dormant.
 */
long spark_agent_wake(int socket, const u8 *token) __attribute__((visibility("default")));

/* SAFE. Makes this process live if it can be; false: stay silent. */
bool agent_live(void);
/* SAFE. The process is live and the name is one; a null name is counted. */
bool agent_takes(const char *name);
/* SAFE. Nobody reads any more: gives back what leads here, and goes dormant until the next session. */
void agent_rest(void);
/* SAFE. The same, if it is so. */
static inline void agent_rest_if_released(void)
{
	if (unlikely(load_relaxed(&agent.header->released)))
		agent_rest();
}
/* SAFE. Counts something that could not be kept. */
void agent_lose(enum wire_loss loss);
/* SAFE. Ticks of the clock that the configuration names. */
static inline u64 agent_ticks(void)
{
	return likely(agent.clock == WIRE_CLOCK_TSC) ? cpu_ticks() : clock_ns(CLOCK_MONOTONIC_RAW);
}
/*
 * SAFE. CPU time of the thread or process, and the usage of the sources of the mask; not valid
 * after sealing.
 */
void agent_usage(enum source_scope scope, u32 sources, struct wire_usage *usage);
/* SAFE. The sources whose usage is read of each thread: all only if its rows are asked for. */
static inline u32 agent_thread_sources(void)
{
	return agent.flags & WIRE_THREAD_USAGE ? SOURCE_ALL : 1u << SOURCE_rusage;
}
/* SAFE. Writes the calibration into the process's record. */
void agent_publish_costs(void);
/* SAFE. ns to ticks by the header's rate. */
s64 agent_ns_to_ticks(s64 ns);

/* ---- segment.c */

extern char *segment_chunks[WIRE_CHUNKS];

/* CTOR. Maps the first chunk of the memfd, and over those of a session before, what was mapped of that. 0 or -errno. */
int segment_open(int fd);
/* MARKER. Pages of fresh zeroed memory that lie within one chunk; 0: none to be had. */
u32 segment_alloc(u32 bytes);
/* MARKER. Maps the chunk that ref lies in, where another process handed it out. */
void *segment_map_ref(u32 ref);
/* MARKER. What lies at a ref from another process can be used here; maps it if need be. */
bool segment_reach(u32 ref);
/* MARKER. */
static inline void *segment_ptr(u32 ref)
{
	char *chunk = load_relaxed(&segment_chunks[ref / (WIRE_CHUNK / WIRE_UNIT) % WIRE_CHUNKS]);

	if (unlikely(!chunk))
		return segment_map_ref(ref);
	return chunk + (size_t)(ref % (WIRE_CHUNK / WIRE_UNIT)) * WIRE_UNIT;
}
/* MARKER. The same for what lies in the lane's own pages: they were mapped when they were taken. */
static inline void *segment_own_ptr(u32 ref)
{
	return segment_chunks[ref / (WIRE_CHUNK / WIRE_UNIT)] + (size_t)(ref % (WIRE_CHUNK / WIRE_UNIT)) * WIRE_UNIT;
}
/* SAFE. Private zeroed memory and what fork does to it in the child; NULL: none to be had, or sealed. */
enum private_kind { PRIVATE_INHERITED, PRIVATE_WIPED, PRIVATE_ABSENT };
void *segment_private(size_t bytes, enum private_kind kind);
void segment_private_drop(void *p, size_t bytes);

/* ---- unit.c */

/* IDLE: an ended thread's, with its slot. LANE: the memory of a lane of signal handlers. */
enum unit_state { UNIT_FREE = 0, UNIT_IDLE, UNIT_LIVE, UNIT_LANE };

/* CTOR. 0 or -errno. */
int unit_start(void);
/*
 * CTOR, of a later session. Lanes of those before take no marker the fast way any more, and what ended threads left is
 * dropped. unit_retired(): no thread was in the midst of a marker, for what that may have written since.
 */
void unit_retire(void);
bool unit_retired(void);
/* SAFE. The counters of all threads are closed. */
void unit_rest(void);
/* THREAD. A unit in the new state; its memory is zero, or an idle one's. NULL: none to be had. */
struct thread *unit_take(enum unit_state state);
/* SAFE. The unit of the number, or none from there on. */
struct thread *unit_number(u32 number);
void unit_give(struct thread *unit, enum unit_state state);
/* THREAD. Empties a unit that is to be given back as UNIT_FREE. */
void unit_clear(struct thread *unit);
/* SAFE. In a forked child, before anything takes a unit. */
void unit_forked(void);

/* ---- thread.c */

/* THREAD. The calling thread with a slot, or NULL. */
struct thread *thread_claim(void);
/* THREAD. The calling thread's unit is of a session that is over. */
void thread_forget(struct thread *t);
/* THREAD. At depth 0 after the last destructor round. */
void thread_release(struct thread *t);
/* THREAD. The calling thread's markers end: it may not read the clock any more. */
void thread_blind(void);
/* THREAD. The calling thread's figures are brought up to now, in case that nothing follows. */
void thread_settle(void);
/* MARKER. Reads the thread's CPU clock and settles off-CPU time; the ticks at which it did. */
u64 thread_resync(struct thread *t);
/* MARKER. The same for a long bracket, with a proof that the detector works. */
void thread_audit(struct thread *t);
/* MARKER. The lane for a marker that interrupted another one; NULL: none. */
struct lane *thread_upper_lane(struct thread *t, u64 sp);
/* CTOR. */
int thread_start(void);

/* ---- detect.c */

/* CTOR. Arms rseq on the main thread before a blocking call. */
void detect_arm(void);
/* CTOR. What can be relied on here, after that call; may block shortly. */
enum wire_detector detect_prove(void);
/* THREAD. */
void detect_open(struct thread *t);
void detect_close(struct thread *t);
/* MARKER. The detector moved since the last look. */
static inline bool detect_moved(const struct thread *t)
{
	return *t->detector_word != t->detector_seen;
}
/* SAFE. The CPU that the thread is on, as the kernel has it in the rseq area; WIRE_CPUS: there is none. */
u32 detect_cpu(void);
/* MARKER. Makes it quiet again. */
void detect_rearm(struct thread *t);

/* ---- counters.c */

/* CTOR. Takes the plan of the segment, which is at that ref. 0 or -errno. */
int counters_plan(u32 ref);
/* THREAD. Opens the events for the calling thread. */
void counters_open(struct thread *t);
void counters_close(struct thread *t);
/* SAFE. The session is over: closes those of any thread, unless that is reading them. */
void counters_rest(struct thread *t);
/* THREAD. Frees what is left of a thread that is gone, or was wiped. */
void counters_drop(struct thread *t);
/* MARKER. The cells of the plan, of the calling thread. */
void counters_read(u64 *cells);

/* ---- name.c */

/* CTOR, of a later session. All names are forgotten. */
void name_forget(void);
/* SAFE. Ref of a name, entered if new; the ref of "[other]" if there is no room. */
u32 name_intern(const char *bytes);
/* SAFE. The same by a call site's cache word, for names that never change. */
u32 name_site(unsigned long *site, const char *bytes);
/* SAFE. */
u32 name_other(void);
/* MARKER. Whether two refs are of the same name. */
bool name_same(u32 a, u32 b);
/* MARKER. bytes for shared records, in units of refs; 0: none. */
u32 name_record(u32 bytes);

/* ---- node.c */

/* THREAD. Prepares a lane on memory of its slot. 0 or -errno. */
int lane_init(struct lane *l, u32 ref, u32 *hash);
/* MARKER. Lets markers in. */
static inline void lane_open(struct lane *l)
{
	barrier();
	l->gate = l->special ? GATE_SLOW : GATE_FAST;
}
/* MARKER. After a change of depth: what the fast path knows by heart. Forgets the frames above. */
void lane_sync(struct lane *l);
/* MARKER. The node of a region (or kind) below parent; the lane's "[other]" if none can be had. */
u32 lane_child(struct lane *l, u32 parent, u32 region);
/* MARKER. The same without making one; 0: none. */
u32 lane_find(const struct lane *l, u32 parent, u32 region);
/* MARKER. Puts the pending duration into its histogram. */
void lane_flush(struct lane *l);
/* MARKER. Charges a finished bracket to its node. */
void lane_charge(struct lane *l, struct wire_node *n, u32 ref, u64 wall, s64 off);
/* MARKER. Counts a diagnosis. */
void lane_diagnose(struct lane *l, enum wire_diagnosis kind, u32 name, u64 ticks);

/* LANE_CELLS bytes are what lane.cells points to. */
#define LANE_CELLS ((size_t)(WIRE_DEPTH + 1) * agent.cells * sizeof(u64))

static inline u64 *lane_cells(const struct lane *l, u32 frame)
{
	return l->cells + (size_t)frame * agent.cells;
}

static inline u64 *node_cells(struct wire_node *n)
{
	return (u64 *)(n + 1);
}

/* ---- region.c: entries of the marker table; SAFE */

void region_begin(struct spark_region *r);
void region_end(struct spark_region *r);
void region_site_begin(unsigned long *site, const char *name);
void region_site_end(unsigned long *site, const char *name);
void region_name_begin(const char *name);
void region_name_end(const char *name);
void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);
/* The same two, whatever their names lead to. */
void hook_enter(void *function, void *caller);
void hook_exit(void *function, void *caller);
/* MARKER, for the other entries: the lane to use, made busy; NULL: none. lane_leave() when done. */
struct lane *region_enter(struct thread **t);
/* The same for what lies at another stack pointer. */
struct lane *region_enter_at(struct thread **t, u64 sp);
void region_leave(struct lane *l);

/* ---- bracket.c: THREAD. Closes what is open when a thread ends. */
void bracket_abandon(struct thread *t);

/* ---- calibrate.c: THREAD. Measures the empty bracket and pair. */
void calibrate(struct thread *t);

/* ---- client.c, window.c: entries of the marker table; SAFE */

void client_units(const char *name, unsigned long n, const char *unit);
void client_metric(const char *name, double value);
void client_frame(const char *name);
void window_begin(const char *name);
void window_end(const char *name);
void window_part(const char *name, unsigned int part);

/* ---- snapshot.c: SAFE. Copies the listed files; ref of the first record, 0: none. */
u32 snapshot_take(void);
/* SAFE. Room for WIRE_PAGE bytes that nobody else uses; NULL: none. */
char *snapshot_room(void);
void snapshot_room_drop(char *room);

/* ---- marks.c: SAFE. What markers have added up: struct wire_marks */

/* A record in front of the list `next`: of all threads that have not ended at the time; as it was where there is no memory. */
u32 marks_take(u32 next, u64 now);
/* The thread of the slot has ended, and the slot is sparkctl's from now on. */
void marks_thread_ended(const struct wire_slot *slot);

/* ---- slots.c */

/* CTOR. Stores the table's address, or 0, in the marker slots of all loaded objects. */
void slots_set(unsigned long table);
/* SAFE. Those that slots_set() has set hold 0 again, without the loader. */
void slots_clear(void);

/* ---- seal.c */

/* SAFE. What the assembly of syscall() calls: seccomp and prctl, and results that are errors. */
long seal_syscall(long n, long a, long b, long c, long d, long e, long f);
long seal_errno(long ret);

#endif
