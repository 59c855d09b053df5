/* SPDX-License-Identifier: MIT */
/* Records of probes: from the rings of all CPUs in the order of time, taken apart with a check of every length. */
#ifndef CLI_SESSION_PROBE_RING_H
#define CLI_SESSION_PROBE_RING_H

#include "cli/session/ring.h"

/* What samples have, and, by sample_id_all, of it TID, TIME and ID at the end of other records. */
#define PROBE_SAMPLE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_REGS_USER)

struct probe_record {
	u32 type;                    /* PERF_RECORD_SAMPLE, _FORK, _EXIT, _COMM (of an exec) or _LOST */
	u32 pid, tid;
	u32 parent_pid, parent_tid;  /* PERF_RECORD_FORK */
	u64 time_ns;
	u64 id;                      /* of the event */
	u64 abi, sp;                 /* of a sample; abi 0: sp is not known */
	u64 lost;                    /* records */
};

/* bytes: a whole record, aligned to 8. False: it is none of these, or cut short. */
bool probe_record_parse(const u8 *bytes, struct probe_record *record);

/*
 * Gives the records up to a time to take(), the oldest of all rings first, and their room back to the
 * kernel. Those of one thread come as they happened, if the time is not later than the call: each was
 * written before the next one's time was read.
 */
void probe_rings_read(const struct ring *rings, u32 n, u64 until_ns,
		      void (*take)(void *context, const struct probe_record *record), void *context);

#endif
