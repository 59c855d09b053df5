/* SPDX-License-Identifier: MIT */
/*
 * Capabilities: what this machine allows this user, found out by trying it. A capability is one
 * row here and one probe; doctor, list and reports show the rows. This folder is the only place
 * that turns an errno into advice.
 *
 * Probes run in sparkctl, before or without a session; they leave nothing behind (one forks a
 * child and reaps it) and take together a few milliseconds.
 */
#ifndef SPARK_CLI_CAPS_CAPS_H
#define SPARK_CLI_CAPS_CAPS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum caps_available { CAPS_NO, CAPS_PARTLY, CAPS_YES };

/* Both texts are one line; because is never empty. The remedy is a command, a setting or empty. */
struct outcome {
	enum caps_available available;
	char because[256];
	char remedy[192];
};

enum { CAPS_PARANOID_ABSENT = INT_MAX };

/* What the probes share: facts about this process and machine, read once. */
struct caps_context {
	const char *root;		/* put before /proc, /sys and /run; "" but in tests */
	char agent[PATH_MAX];		/* the agent's file, "" if none was found */
	uid_t uid;			/* effective */
	bool may_perf;			/* CAP_PERFMON or CAP_SYS_ADMIN is effective */
	bool seccomp;			/* a filter is on this process */
	bool container;
	bool virtual_machine;
	int paranoid;			/* perf_event_paranoid or CAPS_PARANOID_ABSENT */
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
 * Probes all and gives them as JSON, [{name, available, because, remedy or null}]; what is there
 * in part is available. The caller owns it; NULL without memory.
 */
struct json_t *caps_json(struct caps_context *context);

/* Below: for the probes. */

struct outcome outcome_yes(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct outcome outcome_partly(const char *remedy, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
struct outcome outcome_no(const char *remedy, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Why perf_event_open failed with err (positive), and what helps; kernel_side: it was asked for. */
struct outcome advice_perf(const struct caps_context *context, int err, bool kernel_side);
/* The same for probes of programs, which have a gate of their own. */
struct outcome advice_uprobe(const struct caps_context *context, int err);
/* Why the ids of tracepoints could not be read from tracefs. */
struct outcome advice_tracefs(int err);
/* The same for a call that has no gates of its own. */
struct outcome advice_errno(int err, const char *what);
/* "EPERM", or "errno 517". Static storage for the latter. */
const char *advice_errno_name(int err);

/* Reads a small file below the root as text. Returns its length or -errno. */
long facts_read(const struct caps_context *context, const char *path, char *text, size_t size);
/* Whether a blank-separated word stands in a line "KEY: words" of text. */
bool facts_has_word(const char *text, const char *key, const char *word);

struct outcome preload_probe(struct caps_context *context);
struct outcome counting_probe(struct caps_context *context);
struct outcome hardware_probe(struct caps_context *context);
struct outcome switch_probe(struct caps_context *context);
struct outcome clock_probe(struct caps_context *context);

#endif
