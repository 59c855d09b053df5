/* SPDX-License-Identifier: MIT */
/* Samples of a program as the kernel gives them, with what is mapped in it: for tests of stacks. */
#ifndef TESTS_UNIT_SAMPLED_H
#define TESTS_UNIT_SAMPLED_H

#include <sys/types.h>

#include "cli/symbols/unwind.h"

#define SAMPLED_MAPS 256u
#define SAMPLED_CHAIN 128u

struct sampled_map {
	u64 start, end, offset;
	char path[256];
	const u8 *image;
	size_t size;
	struct cfi *cfi;
};

struct sampled_record {
	u64 ip;
	u64 abi;
	u64 regs[64];
	u64 callchain[SAMPLED_CHAIN];
	size_t ncallchain;
	u8 *stack;
	size_t size;
};

struct sampled {
	pid_t pid;
	u64 main, recursion;         /* claims of tests/targets/t_stacks.c */
	struct sampled_map maps[SAMPLED_MAPS];
	u32 nmaps;
	struct sampled_record *records;
	size_t nrecords;
	struct unwind_source source;
};

/*
 * Runs a program of the tests that works until it is killed and claims two addresses, and takes n samples of it with
 * stack bytes each. 0, or -errno of perf_event_open.
 */
int sampled_take(struct sampled *s, const char *program, const char *mode, u32 stack, size_t n);
void sampled_free(struct sampled *s);

/* A record as unwind.h wants it, with at most so many bytes of its stack. */
struct unwind_sample sampled_sample(const struct sampled_record *record, size_t stack);

#endif
