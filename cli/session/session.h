/* SPDX-License-Identifier: MIT */
/*
 * One run of a command under measurement, from arming to the facts of its report.
 *
 * sparkctl starts the command with the agent preloaded, answers the hello of every process image in
 * its tree, keeps the segments, reads what the dead left in them, and counts the whole tree from
 * outside. Single-threaded; one poll loop.
 */
#ifndef CLI_SESSION_SESSION_H
#define CLI_SESSION_SESSION_H

#include <limits.h>
#include <regex.h>
#include <signal.h>

#include "cli/analyze/profile.h"
#include "cli/analyze/report.h"
#include "cli/analyze/trace.h"
#include "cli/names/names.h"
#include "common/wire_calls.h"

/* Looks at a run while it goes on. */
struct session_watcher {
	/*
	 * Called once the command has started, with what is known so far; both are valid during the
	 * call only. Returns in how many ns to call again; 0: not again.
	 */
	u64 (*look)(void *context, const struct profile *profile, const struct session_facts *facts);
	void *context;
};

/* What is to be sampled, of all threads of the tree. */
enum session_stacks { SESSION_STACKS_BEST, SESSION_STACKS_NONE, SESSION_STACKS_FP, SESSION_STACKS_DWARF };

#define SESSION_FREQUENCY_MAX UINT64_MAX /* what the kernel allows */

struct session_sampling {
	u64 frequency;               /* samples a second of CPU time, of each thread */
	u64 period;                  /* 0: by the frequency; else so many events or ns between two samples */
	enum session_stacks stacks;
	u32 stack_bytes;             /* to be copied of each stack, with SESSION_STACKS_DWARF */
	bool debuginfod;             /* servers may be asked for debug information */
};

/* Which of the functions compiled with -finstrument-functions are regions. */
struct session_functions {
	bool off;                    /* none */
	u32 depth;                   /* those within less than so many regions; 0: all */
	char *const *patterns;       /* of their names, for call_pattern_matches(), "-" in front of one leaves out */
	size_t npatterns;            /* 0: all */
};

struct cache_options;
struct cgroup_asked;
struct inside;
struct storage_asked;

/* Windows of the whole tree, opened from outside. */
struct session_windows {
	const char *whole;           /* name of one from the start to the end; NULL: none */
	int control, ack;            /* descriptors of a channel whose lines open and close others; -1: none */
	const regex_t *phase;        /* lines of the command's output that begin phases; NULL: none */
};

struct session_options {
	char **argv;                 /* the command, terminated by NULL; NULL: session_attach() */
	enum profile_group group;
	u32 threads_most;            /* of PROFILE_BY_THREAD; see struct profile */
	bool probe_all;              /* state all capabilities, not only those that the run needs */
	bool objects;                /* state the files that were executed, with their build ids */
	const char *note;            /* NULL: none */
	const struct session_watcher *watcher; /* NULL: none */
	const struct event_list *events; /* to count for the whole tree; NULL: the usual ones */
	const struct event_list *marked; /* of session_attach(): those of events that regions are to have, too */
	u32 sources;                 /* bracketed sources to read: mask of enum source_id */
	const struct session_sampling *sampling; /* NULL: no samples */
	const struct storage_asked *storage; /* NULL: nobody asks what storage the run has */
	const struct cache_options *cache; /* the page cache as the command is to find it; NULL: as it is */
	bool off_cpu;                /* watch for where threads are when they are not on a CPU */
	bool block_io;               /* watch what devices do */
	const struct wire_calls *calls; /* calls between objects to be bracketed; NULL: none */
	const struct session_functions *functions; /* NULL: all are regions */
	bool raw_names;              /* functions are not demangled */
	const struct probe_list *probes; /* functions to be regions by uprobes; NULL: none */
	bool trace;                  /* keep when each region began and ended */
	u32 markers;                 /* of other tools that are to be regions: mask of session_markers() */
	bool unarmed;                /* no event is opened for the tree: totals are those of wait4(2) */
	bool outside;                /* nothing is loaded into the target, and nothing known but totals */
	bool inject;                 /* of session_attach(): the agent is loaded all the same */
	bool scaled;                 /* more events than counters may take turns */
	bool no_mux;                 /* if one of the events cannot be counted at markers, do not start */
	struct count *count;         /* to be counted while the command runs, instead of its tree; NULL: none */
	struct steer *steer;         /* when that is done, and looked at, or regions are measured; NULL: all the time */
	const struct cgroup_asked *cgroup; /* the command runs in a control group of its own; NULL: in ours */
	const struct inside *inside; /* regions that alone are measured; NULL: all */
	const struct session_windows *windows; /* that are opened from outside; NULL: none */
	const struct session_watcher *reporter; /* looks when the channel says so; NULL: none */
	bool no_inherit;
	bool follow;
	bool cpu_clock;
	u64 timeout_ns;              /* 0: none */
	u64 duration_ns;             /* of session_attach(): how long; 0: until they have ended */
	const volatile sig_atomic_t *ended; /* by which signal somebody wanted an end before the start; NULL: none is kept */
};

/* Markers of another tool, a row of common/markers.def, which says more. */
struct session_marker {
	const char *name;
	const char *environment;     /* "": its functions are interposed */
	const char *symbols;         /* with commas between */
	const char *meaning;
};

const struct session_marker *session_markers(size_t *n);
/* The library that makes regions of them, beside the agent. False: it is not there. */
bool session_markers_library(const char *agent, char *path, size_t size);

/* The program that a command means, before its start. */
struct session_program {
	char path[PATH_MAX];         /* without symbolic links; of a script: what runs it, behind env(1) as well */
	char obstacle[512];          /* why the agent cannot enter it, with its name; "": none is known */
	bool script;
};

/* False: there is no such command. */
bool session_look(struct session_program *program, const char *command);

struct count;
struct session;
struct steer;

/* How a run ended. */
enum session_end {
	SESSION_FAILED,              /* sparkctl could not do its work; it said why */
	SESSION_NOT_FOUND,           /* the command does not exist */
	SESSION_NOT_EXECUTABLE,
	SESSION_ENDED,               /* the command ran, see the facts */
	SESSION_TIMEOUT,
	SESSION_INTERRUPTED,         /* by a second Ctrl-C: the command still runs; by options.ended: it has not begun */
};

/* Whether some total of every run is called so, measured or made by the report. */
bool session_has_total(const char *name);
/* Whether each event can have a total of its own. 0, or -1 after a message. */
int session_check_events(const struct event_list *events);

/* Runs it. What it needs of options must outlive it. Free it in any case. */
enum session_end session_run(struct session **session, const struct session_options *options);

/*
 * Adds what another run of the command has counted of events that this one has not. It must outlive
 * this one's facts. 0, or -1 after a message.
 */
int session_add_pass(struct session *session, struct session *other, const struct pass_notes *note);

/* Valid until session_free(). */
const struct session_facts *session_facts(const struct session *session);
const struct profile *session_profile(const struct session *session);
/* The signal by which somebody wanted an end, even where the command then ended by itself; 0: none. */
int session_interrupted(const struct session *session);
/* NULL: none. To be read once. */
struct trace *session_trace(const struct session *session);
void session_free(struct session *session);

#endif
