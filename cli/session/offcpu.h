/* SPDX-License-Identifier: MIT */
/*
 * Where threads are when they are not on a CPU. The kernel's records of switches (PERF_RECORD_SWITCH), which lie in
 * the rings of samples, are paired for each thread: their times are exact, and a thread that could have run is told
 * from one that waits. The region is that of the switch, by the same log as of a sample.
 *
 * Why a thread waits is looked up in /proc while it does (offcpu_look.c), for some of all intervals; the others take
 * their shares at the end (offcpu_end.c). An interval of which a record was lost is not made up, but counted.
 */
#ifndef CLI_SESSION_OFFCPU_H
#define CLI_SESSION_OFFCPU_H

#include "cli/analyze/samples.h"
#include "cli/session/feed.h"

#define OFFCPU_LOOK_NS (10 * NSEC_PER_MSEC)
#define OFFCPU_BUCKETS 4096u
#define OFFCPU_STACK 8192u         /* bytes that are copied of a stack */

struct session;
struct record;
struct sampling;
struct sampling_record;

enum offcpu_state {
	OFFCPU_UNKNOWN,              /* a record was lost, or none has come yet */
	OFFCPU_RUNNING,
	OFFCPU_READY,                /* it could run */
	OFFCPU_BLOCKED
};

/* The wake-up that ends a thread's wait. */
struct offcpu_wake {
	u64 time_ns;                 /* 0: none */
	u32 by;                      /* enum samples_waker */
	u32 process, pid, tid, name, chain; /* as in struct samples_wake */
	u32 told;                    /* bits: by the event of the CPU, by that of the waker */
};

struct offcpu_thread {
	struct offcpu_thread *next;
	struct samples_thread sums;
	u64 born_ns;
	u64 since_ns;                /* of its newest record */
	u32 ring;                    /* where that was */
	enum offcpu_state state;
	bool left;                   /* its end was not seen: nobody needs to have ended its last wait */
	u32 region;                  /* when it was switched out */
	u32 flags;                   /* SAMPLES_UNATTRIBUTED */
	/* The newest look, if it has not been used: */
	u64 look_ns;                 /* it began; 0: none */
	u64 look_call_ns, look_end_ns; /* the call had been read; all had */
	u32 look_kind, look_chain, look_flags, look_call;
	u32 look_kind_call;          /* by the call alone; SAMPLES_OFF_UNSEEN: that does not tell */
	bool look_same;              /* the call was the same in the end */
	/* The stack that the kernel recorded at the switch: */
	u64 stack_ns;                /* 0: none */
	u32 stack_chain, stack_flags;
	bool stack_deep;             /* its state was that of waiting for a disk */
	char name[16];               /* what it calls itself; "": not known */
	struct offcpu_wake wake;     /* since it was switched in */
	u64 ready_ns;                /* waited for a CPU, by the records */
	u64 blocked_ns;              /* was blocked */
	/* By the kernel's sums for the thread, when they were read: */
	u64 delay_before_ns;         /* of what came before */
	u64 delay_ns, delay_ready_ns, delay_blocked;
	bool delay_known;
	u64 disk_before_ns, disk_ns; /* waited for block devices: before it was followed, and in all */
	u64 disk_read_ns;            /* when that was read last; 0: never */
	u64 disk_blocked_ns;         /* was blocked when it was read */
	u64 disk_spill_ns;           /* the image before was blocked after its last reading */
	bool older;                  /* it was there before */
	u64 ran_ns, met_ns;          /* of one that is polled: its time on a CPU, and when it was met last */
	/* One that was attached to, without a record since: state is by /proc, at that time. */
	bool fresh;
	u64 fresh_ns;
};

struct offcpu {
	struct offcpu_thread *buckets[OFFCPU_BUCKETS];
	struct offcpu_thread **threads; /* all that live */
	u32 nthreads, room, at;
	u64 *loss_ns;                /* of each ring, when records were lost there last */
	u64 next_ns;                 /* when to look again */
	bool polled;                 /* no switch is recorded: offcpu_poll.c */
	bool tracepoint;             /* stacks come with the state that the thread was left in ... */
	u32 state_at, state_size;    /* ... here among its fields */
	int keeper;                  /* of that tracepoint, counts nothing; -1: none */
	u64 refused;                 /* looks that /proc did not allow */
	/* Of threads that were attached to: */
	struct perf_event_attr attr; /* for stacks, and their events */
	struct feed feed;
	pid_t *armed;                /* whose switches are recorded */
	size_t narmed, armed_room;
	u32 fold_at;                 /* ended threads: when they are to become fewer */
	struct offcpu_wakes *wakes;  /* offcpu_wake.c; NULL: nothing tells who ends waits */
};

/* offcpu_open.c: with the rings of samples, whose event has records of switches; opens those for stacks. */
void offcpu_open(struct session *session);
/* What is less than was asked for, for the report. */
void offcpu_note(struct sampling *sampling, const char *text);
/* The number of a tracepoint and where its field prev_state is, by the text of its file "format". False: it lacks them. */
bool offcpu_format(const char *format, u64 *id, u32 *at, u32 *size);
void offcpu_free(struct offcpu *offcpu);
/* It has tracepoints open, which take long to close. */
bool offcpu_traces(const struct sampling *sampling);

/* Records, in the order of time. */
void offcpu_switch(struct session *session, const struct sampling_record *at, const struct record *record);
void offcpu_fork(struct session *session, const struct record *record);
void offcpu_exit(struct session *session, const struct record *record);
void offcpu_exec(struct session *session, const struct record *record);
void offcpu_lost(struct session *session, const struct sampling_record *at, const struct record *record);
/* A sample at a switch, from a ring of its own. */
void offcpu_stack(struct session *session, const struct record *record);

/* What a thread is called from now on. */
void offcpu_comm(struct session *session, const struct record *record);
struct offcpu_thread *offcpu_thread_find(const struct offcpu *offcpu, u32 tid);

/* offcpu_wake.c: who ends waits and when, by the tracepoint sched_waking; where it cannot be had, samples.off_no_waker. */
void offcpu_wake_open(struct session *session);
void offcpu_wake_close(struct offcpu *offcpu);
/* Where fields of a wake-up are, by the text of the tracepoint's file "format". */
struct offcpu_wake_fields {
	u64 id;
	u32 pid_at, pid_size;        /* who is woken */
	u32 flags_at, flags_size;
	u32 current_at, current_size; /* who ran */
};
bool offcpu_wake_format(const char *format, struct offcpu_wake_fields *fields);
/* All wake-ups since then have records. */
bool offcpu_wakes_complete(const struct offcpu *offcpu, u64 since_ns);
/* The thread has ended, and may yet wake others. */
void offcpu_wake_ended(struct offcpu *offcpu, const struct offcpu_thread *thread);
/* There is a thread of that number. */
void offcpu_wake_thread(struct sampling *sampling, u32 tid);
/* A record of a ring of wake-ups. */
void offcpu_wake(struct session *session, const struct sampling_record *at, const struct record *record);
/* The thread's wait that ends then: the end of its time blocked, after which it waited for a CPU. */
u64 offcpu_wake_take(struct sampling *sampling, struct offcpu_thread *thread, u64 until_ns);

/* offcpu_look.c: why threads wait that do. */
void offcpu_look(struct session *session, u64 now_ns);
/* Of one thread. */
void offcpu_thread_look(struct session *session, struct offcpu_thread *thread);

/* offcpu_delay.c: whether the kernel accounts waits for block devices; else samples.off_no_delay. */
void offcpu_delay_open(struct session *session);
/* What the kernel's sums say of the threads that live, or of the command that has ended and was not waited for. */
void offcpu_delays(struct session *session);
/* The thread is another image: what it waits from now on is of that. */
void offcpu_delay_become(struct offcpu_thread *thread);
/* The thread has ended: its waits for block devices. */
void offcpu_delay_end(const struct offcpu *offcpu, struct offcpu_thread *thread);

/* offcpu_poll.c: the same of all threads that live, where no switch is recorded. */
void offcpu_poll(struct session *session, u64 now_ns);

/* Sums of the kernel for a thread; false: gone, or it keeps none. */
bool offcpu_schedstat(u32 pid, u32 tid, u64 *cells);

/* offcpu_attach.c: of threads that run already */

/* Opens the ring for stacks of a CPU, as the next one. 0 or -errno. */
int offcpu_ring_attached(struct session *session, struct perf_event_attr *attr, u32 cpu);
/* A thread whose switches are recorded from now on. 0 or -errno. */
int offcpu_add(struct session *session, pid_t tid);
/*
 * Stacks at the switches of all of these, as far as descriptors go: once all else is open, since their times need no
 * stacks.
 */
void offcpu_add_stacks(struct session *session);
/* The session starts now: what they all are at. */
void offcpu_begin(struct session *session);
/* A fresh thread's first record, or its end: what it was until then. */
void offcpu_first(const struct sampling *sampling, struct offcpu_thread *thread, u64 now_ns, bool out);
/* The end, and a fresh thread had no record. */
void offcpu_unmoved(const struct offcpu *offcpu, struct offcpu_thread *thread, u64 end_ns);

/* offcpu_end.c: no more records come. */
void offcpu_end(struct session *session);

/* Finds or adds a thread; NULL: no memory. */
struct offcpu_thread *offcpu_thread_get(struct session *session, u32 pid, u32 tid, u64 time_ns);
/* It ended when it was seen last. */
void offcpu_thread_gone(struct sampling *sampling, struct offcpu_thread *thread);
/* The thread's life goes into the samples. */
void offcpu_thread_end(struct sampling *sampling, struct offcpu_thread *thread, u64 end_ns);
/* The same of one whose end was not seen, with what it was at then. */
void offcpu_thread_left(struct sampling *sampling, struct offcpu_thread *thread, u64 end_ns);

#endif
