/* SPDX-License-Identifier: MIT */
/* What the files that count targets share; see count.h. */
#ifndef CLI_SESSION_COUNT_INTERNAL_H
#define CLI_SESSION_COUNT_INTERNAL_H

#include <sys/resource.h>

#include "cli/session/cgroup.h"
#include "cli/session/count.h"
#include "cli/session/internal.h"

#define COUNT_NOTE 512
#define COUNT_IDS 160              /* bytes of a list of threads */

/* Where an event is counted. */
struct count_place {
	pid_t task;                  /* a thread, or the descriptor of a control group; -1: whoever runs */
	int cpu;                     /* -1: any */
	u32 part;
	bool gone;                   /* the thread had ended */
	bool refused;                /* an event could not be opened here that could elsewhere */
	u64 from_ns, until_ns;       /* when its events were opened: what it starts later inherits them */
};

/* A thread that is not counted, or may not be. */
struct count_left {
	pid_t task;
	bool unknown;                /* it began while events of its parent were opened; else for want of descriptors */
};

struct count_event {
	const struct event *event;
	int *fd;                     /* at each place, or -1; NULL: it is not to be had at all */
	size_t room;
	bool absent;                 /* the machine has it nowhere */
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
	pid_t *late;                 /* threads that came meanwhile and have not been judged */
	size_t nlate, late_room;
	struct count_left *left;
	size_t nleft, left_room;
	const struct count_also *also; /* NULL: nothing */
	pid_t headless;              /* a process whose main thread has ended; 0: none */
	char target[256], uncounted[1024];
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
/* Calls it for each thread of the processes that is there now, until it returns other than 0. */
int count_tasks_each(struct count *count, int (*each)(struct count *count, pid_t pid, pid_t tid));
/* They have all ended, or do so within some ms. */
bool count_tasks_gone(const struct count *count);
/* All processes or threads that are counted have ended. */
bool count_tasks_over(struct count *count);
int count_cpus(struct count *count);
int count_cgroups(struct count *count);
/* Says that the kernel knows no events of these groups. -EPERM. */
int count_refuse_cgroup(struct count *count);

/* The CPUs that were asked for, or all. 0 or -EINVAL after a message. */
int count_cpu_set(struct count *count, cpu_set_t *set);

/* ---- count_rights.c */

/* Whether the kernel lets only root and CAP_PERFMON count the process, and by which rule: "runs as user 0, ...". */
bool count_refused_by(u32 pid, char *rule, size_t size);

/* ---- count_open.c */

/* Opens the events at all places, or as far as descriptors go where that is wanted. 0, or -EPERM after a message. */
int count_open_all(struct count *count);
/* At that place. 0, or -EMFILE: at none of them. */
int count_open_place(struct count *count, size_t at);

/* It can be counted there. */
bool count_belongs(const struct event *event, const struct count_place *place);

/* ---- count_late.c */

/* known: these are all that there were. */
struct count_births {
	const struct count_birth *list;
	size_t n;
	bool known;
};

enum count_late { COUNT_ARMED, COUNT_WITHOUT, COUNT_UNKNOWN };

/* Whether a thread that has no place of its own has the events of who made it. */
enum count_late count_judge(const struct count *count, const struct count_births *births, pid_t tid);

/* 0, or -1 after a message. */
int count_leave(struct count *count, pid_t task, bool unknown);
/* How many were left so, and in text their numbers, as far as there is room. */
size_t count_tell_left(const struct count *count, bool unknown, char *text, size_t size);

/* ---- count_read.c */

#define COUNT_SLACK_NS 1000000ull    /* from one place to the next */

void count_reason(struct count *count, struct count_event *e);
/*
 * The times of a control group's event that was enabled for counted_ns. Linux 6.18 charges the first one that a CPU
 * enables, and others if the group is not running there, with all the time since the group's last one, or since boot.
 * An event that needs no counter of the hardware is never shared, whatever its times say. Whether they are right now.
 */
bool count_mend_times(const struct event *event, u64 counted_ns, struct perf_value *v);

#endif
