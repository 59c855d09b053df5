/* SPDX-License-Identifier: MIT */
/* The rules that keep the agent out of a process. */
#ifndef CLI_INJECT_LOOK_H
#define CLI_INJECT_LOOK_H

#include "cli/inject/inject.h"
#include "cli/inject/places.h"

/* Says why, as the end of a sentence that begins with the process. */
enum inject_end inject_say(struct inject *inject, enum inject_end end, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A file of a process in /proc as text; its length, or -1. */
ssize_t look_read(pid_t pid, const char *name, char *text, size_t size);
/* What /proc calls a process. */
void look_name(pid_t pid, char *name, size_t size);
/* Who has the segment open that is mapped in the process: the sparkctl that reads it. 0: nobody who can be seen. */
pid_t look_owner(const struct places *places);
/* INJECT_DONE: nothing speaks against it; INJECT_FAILED: its C library is not there, or not yet. */
enum inject_end look_process(struct inject *inject, struct places *places);
/* The part of it that is told by /proc/PID/status, whose text this is. */
enum inject_end look_status(struct inject *inject, const char *status);
/* Why ptrace(2) was refused, by the rule behind it. */
enum inject_end look_refused(struct inject *inject, int err);
/* The same by texts: both status files, and kernel.yama.ptrace_scope, "" where there is none. */
enum inject_end look_rule(struct inject *inject, int err, const char *status, const char *own, const char *yama);

#endif
