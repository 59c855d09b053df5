/* SPDX-License-Identifier: MIT */
/*
 * Events on what runs already: processes, threads, CPUs, control groups. Each event is opened at each
 * place, a task or a CPU, and its counts are added up. With a command the session starts it while these
 * are counted; without one count_wait() waits for the end.
 */
#ifndef CLI_SESSION_COUNT_H
#define CLI_SESSION_COUNT_H

#include "cli/analyze/report.h"
#include "cli/names/names.h"
#include "cli/opt.h"

enum count_kind { COUNT_PROCESSES, COUNT_THREADS, COUNT_CPUS, COUNT_CGROUPS };

struct count_options {
	enum count_kind kind;
	const char *ids;             /* of processes or threads: "12,34" */
	const char *cpus;            /* list; NULL: all */
	const struct opt_list *cgroups;
	const char *cgroup_root;     /* of the hierarchy; NULL: where it is mounted */
	const struct event_list *events; /* they must outlive it */
	size_t nstandard;            /* of them that nobody asked for, in front */
	bool no_inherit;             /* of processes and threads: without what they start */
	bool apart;                  /* each thread by itself, too */
	bool later;                  /* of processes: count_open() opens nothing, that is for count_arm() */
	bool dispensable;            /* there is more to measure, also where the kernel refuses all events */
};

struct count;
struct steer;

/*
 * Opens the events, disabled. Returns 0; -EINVAL after a message about what was asked for, or -EPERM after one
 * about what cannot be counted. Free it in any case.
 */
int count_open(struct count **count, const struct count_options *options);
/* What else is done for each thread; they return 0 or -errno, of which -EMFILE leaves the thread out. */
struct count_also {
	int (*before)(void *context, pid_t tid);
	int (*after)(void *context, pid_t tid);
	void *context;
};

/*
 * Opens them, thread by thread as far as descriptors go, with what else is to be done. 0, or -EPERM after a message.
 */
int count_arm(struct count *count, const struct count_also *also);

/* A thread that began, as the kernel told. */
struct count_birth {
	u32 tid, parent;             /* the thread that made it */
	u64 time_ns;                 /* of session_now() */
};

/* Looks for threads that are there and were not when the others were listed; how many there are. */
size_t count_find_late(struct count *count);
/*
 * Of these, those that have not inherited the events are armed; of some it may not be known, which the facts tell.
 * births: those of all threads since before count_arm() that others had made; known: they are all that there were.
 * How many were armed.
 */
size_t count_arm_late(struct count *count, const struct count_birth *births, size_t n, bool known);
/* The kernel refused all events, which is allowed if they are dispensable. */
bool count_bare(const struct count *count);
/* The facts tell of what is not counted. */
void count_settle(struct count *count);
void count_enable(struct count *count, bool on);
/* Reads them; counted_ns: for how long they were enabled, elapsed_ns: since the start. */
void count_read(struct count *count, u64 counted_ns, u64 elapsed_ns);
/* As read last. Valid until count_free(). */
const struct session_facts *count_facts(const struct count *count);
/*
 * Counts until all processes or threads have ended, a signal, the time (0: none), or the end by the control
 * channel. 0, or -1 after a message.
 */
int count_wait(struct count *count, struct steer *steer, u64 timeout_ns);
/* The i-th of the processes or threads that were asked for; 0: there are no more. */
u32 count_watched(const struct count *count, size_t i);
/* The i-th thread that is counted, or to be; 0: there are no more. */
pid_t count_task(const struct count *count, size_t i);
void count_free(struct count *count);

#endif
