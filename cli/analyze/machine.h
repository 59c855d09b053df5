/* SPDX-License-Identifier: MIT */
/*
 * What of a machine distorts times beside the program: how it is set, and what it did while runs were made. Two looks
 * at it are compared. Nothing here is measured in the program, so it explains figures and changes none.
 */
#ifndef CLI_ANALYZE_MACHINE_H
#define CLI_ANALYZE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base.h"

enum machine_switch { MACHINE_UNKNOWN, MACHINE_OFF, MACHINE_ON };

struct machine_look {
	u32 cpus;                    /* 0: not known, as all else of /proc/stat */
	u64 busy, steal, all;        /* clock ticks of all CPUs; all: with what they were idle */
	u64 own_ns;                  /* CPU time of sparkctl and of what it, or its children, have waited for */
	u64 tick_ns;
	double load;                 /* of the last minute; negative: not known */
	bool heeds_heat;             /* it tells of that: */
	u64 throttled;               /* how often its cores were slowed for heat */
	char governor[64];           /* "powersave", "powersave, performance"; "": not known */
	enum machine_switch turbo, smt, aslr;
};

enum { MACHINE_NOTES = 6, MACHINE_NOTE = 200 };

struct machine {
	struct machine_look begin;
	double steal, others;        /* parts of the CPUs' time meanwhile; negative: not known, or too short to tell */
	bool heeds_heat;             /* throttled is known */
	u64 throttled;
	char notes[MACHINE_NOTES][MACHINE_NOTE];
	size_t nnotes;
};

/* Of a look before the first run and one behind the last. */
void machine_judge(struct machine *machine, const struct machine_look *begin, const struct machine_look *end);
/* "2 CPUs, governor powersave, turbo on, ASLR on, load 0.31": what is known of it; "" if nothing is. */
void machine_text(const struct machine *machine, char *text, size_t size);

#endif
