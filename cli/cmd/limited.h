/* SPDX-License-Identifier: MIT */
/* Options of the control group that a command is run in, and of its limits. */
#ifndef CLI_CMD_LIMITED_H
#define CLI_CMD_LIMITED_H

#include "cli/cmd/cmd.h"
#include "cli/session/cgroup_own.h"

#define SWEEP_MOST 64

struct limited {
	bool own;
	const char *root, *memory_max, *memory_high, *cpu_max, *sweep;
	struct opt_list io_max;
	struct cgroup_asked asked;
	u64 sizes[SWEEP_MOST];       /* of --memory-sweep */
	u32 nsizes;
};

/* Rows for a struct with a member of this name: limited. */
#define LIMITED_ROWS(type) \
	{ "own-cgroup", 0, OPT_FLAG, offsetof(type, limited.own), NULL, NULL, \
	  "run the command in a control group of its own, and report its figures", NULL, false }, \
	{ "cgroup-root", 0, OPT_STRING, offsetof(type, limited.root), "DIR", NULL, \
	  "make that group in this directory of version 2", "the group of sparkctl", false }, \
	{ "memory-max", 0, OPT_STRING, offsetof(type, limited.memory_max), "SIZE", NULL, \
	  "the group gets no more memory than this (K, M, G), page cache included: processes are killed beyond it", NULL, \
	  false }, \
	{ "memory-high", 0, OPT_STRING, offsetof(type, limited.memory_high), "SIZE", NULL, \
	  "the group is slowed down and gives memory back above this", NULL, false }, \
	{ "cpu-max", 0, OPT_STRING, offsetof(type, limited.cpu_max), "PERCENT", NULL, \
	  "the group gets no more CPU time than this, such as 50% of one CPU, or 150% of two", NULL, false }, \
	{ "io-max", 0, OPT_EACH, offsetof(type, limited.io_max), "LIMITS", NULL, \
	  "the group does no more I/O than this, such as /dev/sda:rbps=10M,wiops=100", NULL, false }, \
	{ "memory-sweep", 0, OPT_STRING, offsetof(type, limited.sweep), "SIZES", NULL, \
	  "run the command once with each of these as --memory-max, such as 32M,64M,128M, and compare the runs", NULL, false }

/* A number of bytes, with K, M, G or T for powers of 1024. 0 or -EINVAL, -ERANGE. */
int limited_size(const char *text, u64 *bytes);
/* For cpu.max: "50000 100000" of "50%". 0 or -EINVAL. */
int limited_percent(const char *text, char *value, size_t size);
/* For io.max, behind the device: "rbps=1048576 wiops=100" of "rbps=1M,wiops=100". 0 or -EINVAL. */
int limited_io(const char *text, char *value, size_t size);

/* 0, or the exit status after a message. */
int limited_parse(struct limited *limited, const struct command *command);
/* Whether memory is limited. */
bool limited_memory(const struct limited *limited);
/* For the session; NULL: there is no such group. */
const struct cgroup_asked *limited_group(const struct limited *limited);
void limited_free(struct limited *limited);

#endif
