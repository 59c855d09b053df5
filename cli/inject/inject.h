/* SPDX-License-Identifier: MIT */
/*
 * Loading the agent into a process that runs. One thread is held at a place where nothing is half done, made to call
 * dlopen(3) and the agent's entry on a stack of its own, and let go where it was; the others run on. Whatever happens
 * to sparkctl meanwhile, the thread finds its way back by itself.
 *
 * ptrace(2) is used here alone. Not more than one injection at a time; the calling thread gets SIGCHLD of it.
 */
#ifndef CLI_INJECT_INJECT_H
#define CLI_INJECT_INJECT_H

#include <sys/types.h>

#include "common/base.h"

enum inject_end {
	INJECT_DONE,                 /* the agent has woken up, and said hello */
	INJECT_REFUSED,              /* by a rule; nothing was done to the process */
	INJECT_BUSY,                 /* another sparkctl measures it */
	INJECT_FAILED,               /* something was tried; the process goes on as before */
	INJECT_GONE,                 /* it has ended, or become another program */
};

struct inject {
	pid_t pid;
	const char *agent;           /* path of libsparkagent.so */
	const u8 *token;             /* that the agent says hello with */
	/*
	 * The agent will say hello on this socket, whose peer is the process: it is the callee's, to be read without
	 * waiting and closed. Later calls: the agent may have spoken, fd is -1.
	 */
	void (*serve)(void *context, int fd);
	/* No thread is held: what takes a moment can be done. Called each millisecond or so. */
	void (*meanwhile)(void *context);
	void *context;
	/* Filled. */
	char why[400];               /* the end of a sentence that begins with the process; "" when it is done */
	u64 held_ns;                 /* the thread was kept from its own work, in all */
	u64 held_most_ns;            /* at a stretch */
	u32 tries;                   /* stops, the last one included */
};

enum inject_end inject_run(struct inject *inject);

/* Whether a rule, or its state, speaks against it; why is filled then. Nothing is done to the process. */
enum inject_end inject_look(struct inject *inject);

/* Of a process that nobody injects into: whose the agent in it is. False: there is none. */
bool inject_whose(pid_t pid, char *text, size_t size);

#endif
