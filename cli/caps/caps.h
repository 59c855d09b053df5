/* SPDX-License-Identifier: MIT */
/*
 * Capabilities: what this machine allows this user, found out by trying it. A capability is one
 * row here and one probe; doctor, list and reports show the rows. This folder is the only place
 * that turns an errno into advice.
 *
 * Probes run in sparkctl, before or without a session, and leave nothing behind. One after the
 * other they take a fifth of a second, most of it the kernel's wait when a tracepoint is closed;
 * caps_probe() runs them side by side.
 */
#ifndef SPARK_CLI_CAPS_CAPS_H
#define SPARK_CLI_CAPS_CAPS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum caps_available { CAPS_NO, CAPS_PARTLY, CAPS_YES };
/* "no", "part", "yes" */
const char *caps_available_name(enum caps_available available);

/* Both texts are one line; because is never empty. The remedy is a command, a setting or empty. */
struct outcome {
	enum caps_available available;
	char because[256];
	char remedy[192];
	/* Of self-monitoring: what a read of a counter costs, by read(2) and without; 0: not known. */
	double call_ns, user_ns;
};

enum { CAPS_PARANOID_ABSENT = INT_MAX };
/* At least as many as there are rows. */
enum { CAPS_MOST = 32 };

/* What the probes share: facts about this process and machine, read once. */
struct caps_context {
	const char *root;		/* put before /proc, /sys and /run; "" but in tests */
	char agent[PATH_MAX];		/* the agent's file, "" if none was found */
	uid_t uid;			/* effective */
	bool may_perf;			/* CAP_PERFMON or CAP_SYS_ADMIN is effective */
	bool may_admin;			/* CAP_SYS_ADMIN is */
	bool seccomp;			/* a filter is on this process */
	bool container;
	bool virtual_machine;
	int paranoid;			/* perf_event_paranoid or CAPS_PARANOID_ABSENT */
	char cpuinfo[4096];		/* how /proc/cpuinfo begins: the first CPU */
	int cpuinfo_error;		/* 0, or an errno: it can't be read */
};

struct json_t;

struct capability {
	const char *name;
	const char *meaning;		/* one line: what it is good for */
	struct outcome (*probe)(struct caps_context *);
};

void caps_init(struct caps_context *context, const char *root);

/* All rows, in the order of the report. */
const struct capability *caps_table(size_t *n);
/*
 * Probes the rows that are wanted, at the same time, into the places of their rows: CAPS_MOST of
 * each. It forks, and waits for its children alone; some may yet be about to end: caps_reap().
 */
void caps_probe(struct caps_context *context, const bool *wanted, struct outcome *outcomes);
/* Takes the ended children of caps_probe() away, or waits for all of them. */
void caps_reap(bool wait);
void caps_probe_all(struct caps_context *context, struct outcome *outcomes);
/* The row of that name, or NULL. */
const struct capability *caps_find(const char *name);

/*
 * Finds the agent's file: beside a sparkctl that runs from its build tree, else where it is
 * installed relative to sparkctl, else where it was configured to be. Returns whether one exists.
 */
bool caps_find_agent(char *path, size_t size);

/* Whether programs of this user can load the agent's file. */
struct outcome preload_check(const struct caps_context *context);

/*
 * Whether the CPU's time stamp counter can serve as the clock of regions: it never stops, never
 * changes its rate, user space may read it, and the kernel trusts it too. Writes the reason for
 * either answer.
 */
bool caps_clock_tsc_usable(const struct caps_context *context, char *why, size_t size);
/* What that counter is called: "tsc", "cntvct". */
const char *caps_counter_name(void);

/*
 * Probes all and gives them as JSON, each as an object with its name and the members below. The
 * caller owns it; NULL without memory.
 */
struct json_t *caps_json(struct caps_context *context);
/*
 * Adds an outcome to an object: available (what is there in part is), state ("yes", "part", "no"),
 * because, and remedy or null; read_ns and user_read_ns where they are known. Returns 0, or -1
 * without memory.
 */
int caps_json_outcome(struct json_t *object, const struct outcome *outcome);

/* Below: for the probes. */

struct outcome outcome_yes(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct outcome outcome_partly(const char *remedy, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
struct outcome outcome_no(const char *remedy, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Why perf_event_open failed with err (positive), and what helps; kernel_side: it was asked for. */
struct outcome advice_perf(const struct caps_context *context, int err, bool kernel_side);
/* What an event asks of perf_event_paranoid. */
enum advice_scope {
	ADVICE_USER,		/* the user side of this thread */
	ADVICE_KERNEL,		/* the kernel side, too */
	ADVICE_CPU,		/* whoever runs on a CPU */
	ADVICE_TRACE,		/* the fields of tracepoints */
};
struct outcome advice_perf_scope(const struct caps_context *context, int err,
	enum advice_scope scope);
/* For events that need the privilege itself, whatever perf_event_paranoid says. */
struct outcome advice_perf_privilege(const struct caps_context *context, int err);
/* Whether that errno of perf_event_open says that there is no such counter; all ways are alike. */
bool advice_means_absent(int err);
/* No counters of a CPU, by such an errno. */
struct outcome advice_no_pmu(const struct caps_context *context, int err);
/* Why the ring of an event can't be mapped. */
struct outcome advice_ring(const struct caps_context *context, int err);
/* For another system call: filters are told apart from the rest. */
struct outcome advice_call(const struct caps_context *context, int err, const char *call);
/* For what has no gates of its own. */
struct outcome advice_errno(int err, const char *what);
/* tracefs at mount (NULL: not found) doesn't tell about the tracepoint, "sched/sched_switch". */
struct outcome advice_tracefs(const struct caps_context *context, int err, const char *mount,
	const char *name);
/* What opens tracefs at mount to this user. */
void advice_remount(const char *mount, char *remedy, size_t size);
/* /proc/pressure/NAME can't be read. */
struct outcome advice_pressure(const struct caps_context *context, int err, const char *name);
/* A directory of sysfs can't be read. */
struct outcome advice_sysfs(const struct caps_context *context, int err, const char *path);
/* mkdir() of a control group in group failed. */
struct outcome advice_cgroup(const struct caps_context *context, int err, const char *group);
/* ptrace() of an unrelated process of one's own was refused; yama: ptrace_scope or -1. */
struct outcome advice_ptrace(const struct caps_context *context, int err, int yama);
/* "EPERM", or "errno 517". Static storage for the latter. */
const char *advice_errno_name(int err);

/*
 * Under a limit of file sizes the kernel ends a process that writes more, by SIGXFSZ. Lets it fail
 * with EFBIG instead; *before is for sigaction() afterwards.
 */
struct sigaction;
void caps_outlive_limit(struct sigaction *before);

/* Reads a small file below the root as text. Returns its length or -errno. */
long facts_read(const struct caps_context *context, const char *path, char *text, size_t size);
bool facts_exists(const struct caps_context *context, const char *path);
/* Whether the kernel looks for CPUs that hang, which takes a counter of each. */
bool facts_watchdog(const struct caps_context *context);
/*
 * Where a file system of that type is mounted first, by the mounts of this process. Returns 0, or
 * -errno: ENOENT, nowhere. The path is without the root.
 */
long facts_mount(const struct caps_context *context, const char *type, char *path, size_t size);
/*
 * Where tracefs is mounted, on its own or below debugfs, by this process's list of mounts; below
 * the root. Returns 0, or -errno if that is not known: ENOENT, it is not mounted.
 */
int tracing_find(const struct caps_context *context, char *path, size_t size);
/*
 * The text of a tracepoint's file "format" ("sched/sched_switch"), which tells where its fields are. False, with the
 * reason: it is not to be read.
 */
bool tracing_format(const struct caps_context *context, const char *name, char *text, size_t size, struct outcome *why);
/*
 * The same of the tracepoint sched_waking. False, with the reason: it is not to be read, or its
 * numbers of threads are not those that are known here.
 */
bool wakers_format(const struct caps_context *context, char *text, size_t size, struct outcome *why);
/* Whether the running kernel was built with an option, by its configuration in /boot. */
enum facts_built { FACTS_UNKNOWN, FACTS_NOT_BUILT, FACTS_BUILT };
enum facts_built facts_config(const struct caps_context *context, const char *option);
/* Whether a blank-separated word stands in a line "KEY: words" of text. */
bool facts_has_word(const char *text, const char *key, const char *word);

struct outcome block_probe(struct caps_context *context);
struct outcome cgroup_probe(struct caps_context *context);
struct outcome clock_probe(struct caps_context *context);
struct outcome counting_probe(struct caps_context *context);
struct outcome delay_probe(struct caps_context *context);
struct outcome hardware_probe(struct caps_context *context);
struct outcome inject_probe(struct caps_context *context);
struct outcome naming_probe(struct caps_context *context);
struct outcome numa_probe(struct caps_context *context);
struct outcome offcpu_probe(struct caps_context *context);
struct outcome pagecache_probe(struct caps_context *context);
struct outcome precise_probe(struct caps_context *context);
struct outcome preload_probe(struct caps_context *context);
struct outcome pressure_probe(struct caps_context *context);
struct outcome raw_probe(struct caps_context *context);
struct outcome sampling_probe(struct caps_context *context);
struct outcome scaled_probe(struct caps_context *context);
struct outcome selfmon_probe(struct caps_context *context);
struct outcome stacks_probe(struct caps_context *context);
struct outcome switch_probe(struct caps_context *context);
struct outcome symbols_probe(struct caps_context *context);
struct outcome tracing_probe(struct caps_context *context);
struct outcome wakers_probe(struct caps_context *context);

#endif
