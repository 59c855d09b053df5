/* SPDX-License-Identifier: MIT */
/* What the files that count targets share; see count.h. */
#ifndef CLI_SESSION_COUNT_INTERNAL_H
#define CLI_SESSION_COUNT_INTERNAL_H

#include <sys/resource.h>

#include "cli/session/cgroup.h"
#include "cli/session/count.h"
#include "cli/session/internal.h"

#define COUNT_NOTE 512

/* Where an event is counted. */
struct count_place {
	pid_t task;                  /* a thread, or the descriptor of a control group; -1: whoever runs */
	int cpu;                     /* -1: any */
	u32 part;
	bool refused;                /* an event could not be opened here that could elsewhere */
};

struct count_event {
	const struct event *event;
	int *fd;                     /* at each place, or -1 */
	struct attempt attempt;      /* the least that was had */
	u32 opened;
	int err;                     /* why it could be opened nowhere */
	char note[COUNT_NOTE];
};

struct count_part {
	char *name;
	u32 id;                      /* tid */
	int fd;                      /* of a control group; -1 */
	struct total_fact *totals;
};

/* A process or thread that is waited for. */
struct count_watch {
	pid_t id;
	int pidfd;                   /* -1: looked for in /proc */
	bool ended;
};

struct count {
	const struct count_options *options;
	struct caps_context caps;
	struct totals judge;         /* what its functions know of hardware; counts nothing */
	struct count_event *event;
	size_t nevents;
	struct count_place *place;
	size_t nplaces, room;
	struct count_part *part;
	size_t nparts;
	struct count_watch *watch;
	size_t nwatched;
	unsigned long flags;         /* of perf_event_open(2) */
	size_t late;                 /* threads that began while others were opened */
	pid_t headless;              /* a process whose main thread has ended; 0: none */
	char target[256], uncounted[512];
	char host[80], kernel[200];
	struct total_fact *totals;
	struct part_fact *parts;
	struct session_facts facts;
};

/* ---- count.c */

/* 0, or -1 after a message. */
int count_add_place(struct count *count, pid_t task, int cpu, u32 part);
/* NULL after a message. */
struct count_part *count_add_part(struct count *count, u32 id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- count_tasks.c, count_cpus.c, count_cgroup.c: places. 0, -EINVAL or -EPERM after a message. */

int count_tasks(struct count *count);
/* Threads that came while events were opened. */
void count_tasks_late(struct count *count);
/* The soft limit of descriptors to the hard one; *before: what it was. */
void count_raise_limit(struct rlimit *before);
/* All processes or threads that are counted have ended. */
bool count_tasks_over(struct count *count);
int count_cpus(struct count *count);
int count_cgroups(struct count *count);
/* Says that the kernel knows no events of these groups. -EPERM. */
int count_refuse_cgroup(struct count *count);

/* The CPUs that were asked for, or all. 0 or -EINVAL after a message. */
int count_cpu_set(struct count *count, cpu_set_t *set);

/* ---- count_read.c */

void count_reason(struct count *count, struct count_event *e);

#endif
