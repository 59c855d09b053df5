/* SPDX-License-Identifier: MIT */
/* See sampled.h. */
#include "cli/cmd/sampled.h"

#include <string.h>

#include "cli/log.h"
#include "cli/opt.h"

#define FREQUENCY_USUAL 999        /* not in step with what happens each millisecond */
#define STACK_USUAL 8192
#define STACK_MOST 65528           /* 16 bits, a multiple of 8 (perf_event_open(2), sample_stack_user) */

const char *const sampled_stacks[] = { "fp", "dwarf", "none", NULL };

static int frequency_parse(struct sampled *s)
{
	unsigned long hz;

	s->asked.frequency = FREQUENCY_USUAL;
	if (!s->frequency)
		return 0;
	if (!strcmp(s->frequency, "max")) {
		s->asked.frequency = SESSION_FREQUENCY_MAX;
		return 0;
	}
	if (opt_parse_uint(s->frequency, &hz) || !hz || hz > 1000000)
		return error("-F needs a number of samples a second from 1 to 1000000, or max, not '%s'", s->frequency);
	s->asked.frequency = hz;
	return 0;
}

static int stacks_parse(struct sampled *s)
{
	const char *size = s->stacks ? strchr(s->stacks, ',') : NULL;
	unsigned long bytes = STACK_USUAL;

	s->asked.stack_bytes = STACK_USUAL;
	s->asked.stacks = SESSION_STACKS_BEST;
	if (!s->stacks)
		return 0;
	if (!strcmp(s->stacks, "none"))
		s->asked.stacks = SESSION_STACKS_NONE;
	else if (!strcmp(s->stacks, "fp"))
		s->asked.stacks = SESSION_STACKS_FP;
	else if (!strncmp(s->stacks, "dwarf", size ? (size_t)(size - s->stacks) : sizeof("dwarf")) &&
		 (!size || size - s->stacks == 5))
		s->asked.stacks = SESSION_STACKS_DWARF;
	else
		return error("--call-graph is fp, dwarf, dwarf,BYTES or none, not '%s'", s->stacks);
	if (size && (opt_parse_uint(size + 1, &bytes) || bytes < 8 || bytes > STACK_MOST))
		return error("--call-graph dwarf copies from 8 to %d bytes of a stack, not '%s'", STACK_MOST, size + 1);
	s->asked.stack_bytes = (u32)ALIGN_UP(bytes, 8ul);
	return 0;
}

int sampled_parse(struct sampled *s)
{
	unsigned long period = 0;

	s->profile = s->profile || s->frequency || s->stacks || s->period;
	if (s->period && s->frequency)
		return error("-F and -c are two ways to say how often to sample: only one is possible"), STATUS_USAGE;
	if (s->period && (opt_parse_uint(s->period, &period) || !period))
		return error("-c needs a number of events between two samples, not '%s'", s->period), STATUS_USAGE;
	s->asked.period = period;
	s->asked.debuginfod = s->debuginfod;
	return frequency_parse(s) || stacks_parse(s) ? STATUS_USAGE : 0;
}
