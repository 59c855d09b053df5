/* SPDX-License-Identifier: MIT */
/*
 * Records of sampling rings (perf_event_open(2), "MMAP layout"), taken apart with a check of every
 * length: they come from the kernel, but their order and sizes follow what the target does.
 */
#ifndef CLI_SESSION_RECORD_H
#define CLI_SESSION_RECORD_H

#include <linux/perf_event.h>

#include "common/base.h"

/* What each sample has, besides the stack: its own and what follows other records (sample_id_all). */
#define RECORD_SAMPLE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define RECORD_STACKS (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

struct record {
	u32 type;                    /* PERF_RECORD_* */
	u16 misc;
	u32 pid, tid;
	u32 cpu;
	u64 time_ns;                 /* CLOCK_MONOTONIC_RAW */
	union {
		struct {
			u64 ip, period;
			const u64 *chain; /* with the context marks PERF_CONTEXT_* */
			u64 nchain;
			const u8 *raw;       /* fields of a tracepoint */
			u32 raw_size;
			u64 abi;             /* of the registers; 0: none, a kernel thread or too late */
			const u64 *regs;
			const u8 *stack;
			u64 stack_size;      /* bytes that were copied */
		} sample;
		struct {
			u64 start, length, offset;
			u32 major, minor;
			u64 inode;
			u8 build_id[20];
			/*
			 * 0: none. Otherwise major, minor and inode are none, or, where the event did not ask for build ids,
			 * this is none: Linux leaves the mark in the record when it is written to the next event.
			 */
			u32 build_id_size;
			u32 prot;
			const char *name;
		} map;
		struct {
			u32 parent_pid, parent_tid;
		} task;                  /* PERF_RECORD_FORK, PERF_RECORD_EXIT */
		struct {
			const char *name;
		} comm;
		/* PERF_RECORD_SWITCH: all is in misc. */
		u64 lost;                /* PERF_RECORD_LOST, PERF_RECORD_LOST_SAMPLES */
	};
};

/*
 * bytes: a whole record, aligned to 8. stacks: which of RECORD_STACKS samples have; nregs: registers
 * that were asked for. False: it is none of the records above, or cut short. What the record points
 * to lies in bytes.
 */
bool record_parse(const u8 *bytes, u64 stacks, u32 nregs, struct record *record);

#endif
