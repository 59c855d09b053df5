/* SPDX-License-Identifier: MIT */
/*
 * Phases by lines: what the command writes to its standard output goes through a process of our own, the relay, that
 * passes it on as it comes and then looks for lines that begin a phase. It is no part of sparkctl's loop, so that
 * nothing waits for that, and goes on when sparkctl is killed. A regular file is the command's own, and only read behind
 * it.
 */
#ifndef CLI_SESSION_PHASES_H
#define CLI_SESSION_PHASES_H

#include <regex.h>

#include "cli/session/internal.h"

#define PHASE_NAME_MOST 1024       /* bytes, as of windows */

/* What the relay says to sparkctl; as long as its name. */
struct phase_message {
	u64 ns;                      /* session_now() when the line came; 0: all that was there has been looked at */
	u64 missed;                  /* lines of which could not be told before */
	u32 len;
	char name[PHASE_NAME_MOST];
};

/* Where the command's output comes from, and goes. */
struct relay {
	const regex_t *pattern;
	int from;                    /* what it wrote; of a file: that file */
	int to;                      /* -1: it is there already */
	int news;                    /* tells of changes of the file, or of the terminal's size; -1: nothing does */
	int control;                 /* to sparkctl */
	bool terminal;
	u64 at;                      /* in the file */
};

struct phases {
	int control;                 /* of the relay; -1: there is none */
	int own[2];                  /* ends for the command: standard output, standard error; -1: none */
	char name[PHASE_NAME_MOST];  /* of the one that is open */
	u32 len;                     /* 0: none is */
	u64 missed;
};

/* Starts the relay, before anything else that it should not have. 0, or -1 after a message. */
int phases_open(struct phases *phases, const regex_t *pattern);
/* The command has its ends. */
void phases_spawned(struct phases *phases);
void phases_close(struct phases *phases);
/* Opens and closes windows by what the relay has said. all: after it has looked at what the command has written. */
void phases_look(struct session *s, bool all);

struct window_fact;
struct usage;

/* What a phase is told to have used may have been used before its line came. */
void phase_late(struct window_fact *fact, struct usage *usage, struct cell *snapshot);

/* ---- phases_relay.c: the process; never returns */
void relay_run(struct relay *relay) __attribute__((noreturn));

#endif
