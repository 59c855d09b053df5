/* SPDX-License-Identifier: MIT */
/*
 * Many runs of commands, counted from outside. What session.h does for one run and its tree, this does for
 * hundreds at the least cost each: what can be asked or opened once is, one process is made for a run, and
 * who survives the command is not followed.
 */
#ifndef CLI_SESSION_REPEAT_H
#define CLI_SESSION_REPEAT_H

#include "cli/session/cache.h"
#include "cli/session/session.h"

struct repeat_options {
	const struct event_list *events; /* to count; NULL: the usual ones */
	bool no_inherit;
	bool show_output;            /* else it goes where nobody reads it, and there is no input */
	u64 timeout_ns;              /* of each run; 0: none */
	const struct storage_asked *storage; /* NULL: nobody asks */
	const struct cache_options *cache; /* the page cache that each run is to find; NULL: as it is */
};

/* A command, and what its file tells. */
struct repeat_program {
	char **argv;
	char *elf;                   /* the file to execute as it is; NULL: as execvp(3) does */
	bool guarded;                /* the kernel takes an unprivileged user's events off it */
	bool as_found;               /* nothing is done with the page cache for it */
};

struct repeat_run {
	enum session_end end;
	int status;                  /* as wait(2) has it, if it ended */
	u64 elapsed_ns;
	const struct total_fact *totals; /* valid until the next run */
	size_t ntotals;
	const struct cache_fact *cache; /* what it found; the same; NULL: nobody asked */
};

struct repeat;

/* 0, or -1 after a message. Close it in any case. Signals are taken from here on. */
int repeat_open(struct repeat **repeat, const struct repeat_options *options);
void repeat_close(struct repeat *repeat);

/* Looks at the file; argv must outlive it. 0, or -1 when memory is short. */
int repeat_look(struct repeat_program *program, char **argv);
void repeat_forget(struct repeat_program *program);

/* One run. A first Ctrl-C is the command's to deal with, at a second one the command is left alone. */
void repeat_run(struct repeat *repeat, const struct repeat_program *program, struct repeat_run *run);
/* The same, but nothing is counted and nobody is told of a failure: what stands between runs. */
void repeat_between(struct repeat *repeat, const struct repeat_program *program, struct repeat_run *run);
/* The signal by which somebody has asked for an end since repeat_open(), SIGINT for one; 0: nobody has. */
int repeat_interrupted(struct repeat *repeat);
/* What the runs stand on; valid until repeat_close(). NULL: nobody asked, or no memory. */
const struct storage_fact *repeat_storage(const struct repeat *repeat);
/* ns of the clock that runs are timed by. */
u64 repeat_now(void);

#endif
