/* SPDX-License-Identifier: MIT */
/* Options of sampling, for the commands that measure a program. */
#ifndef CLI_CMD_SAMPLED_H
#define CLI_CMD_SAMPLED_H

#include "cli/cmd/cmd.h"
#include "cli/session/session.h"

struct sampled {
	bool profile;
	const char *frequency;       /* NULL: the usual one */
	const char *period;          /* NULL: by the frequency */
	const char *stacks;
	bool debuginfod;
	bool raw_names;
	struct session_sampling asked;
};

extern const char *const sampled_stacks[];

/* Rows for a struct with a member sampled. */
#define SAMPLED_ROWS(type) \
	{ "profile", 0, OPT_FLAG, offsetof(type, sampled.profile), NULL, NULL, \
	  "take samples of where the time goes, and show the hottest functions of each region", NULL, false }, \
	{ "freq", 'F', OPT_STRING, offsetof(type, sampled.frequency), "HZ", NULL, \
	  "with --profile, take so many samples in a second of CPU time; max: as many as the kernel allows", "999", false }, \
	{ "count", 'c', OPT_STRING, offsetof(type, sampled.period), "N", NULL, \
	  "with --profile, take a sample each N cycles, or ns where there are none, instead of so many a second", NULL, false }, \
	{ "call-graph", 0, OPT_STRING, offsetof(type, sampled.stacks), "MODE", sampled_stacks, \
	  "with --profile, find callers by frame pointers (fp), from a copy of the stack (dwarf, or dwarf,BYTES) or not (none)", \
	  "dwarf,8192 where unwinding works, else fp", false }, \
	{ "debuginfod", 0, OPT_FLAG, offsetof(type, sampled.debuginfod), NULL, NULL, \
	  "with --profile, ask the servers of DEBUGINFOD_URLS for debug information that is not here", NULL, false }, \
	{ "no-demangle", 0, OPT_FLAG, offsetof(type, sampled.raw_names), NULL, NULL, \
	  "keep names of C++ and Rust functions as they stand in the file", NULL, false }

/* Parses their values. 0, or STATUS_USAGE after a message. */
int sampled_parse(struct sampled *sampled);

#endif
