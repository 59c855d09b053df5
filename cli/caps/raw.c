/* SPDX-License-Identifier: MIT */
/* The probe "counting-raw": an event by the CPU's own code counts. */
#include "cli/caps/try.h"

#include "cli/caps/arch.h"
#include "common/perf.h"

static int raw_try(bool kernel_side)
{
	struct perf_event_attr attr;

	perf_attr_init(&attr, PERF_TYPE_RAW, ARCH_RAW_EVENT);
	attr.exclude_kernel = !kernel_side;
	attr.exclude_hv = !kernel_side;
	return try_count(&attr, try_spin);
}

struct outcome raw_probe(struct caps_context *context)
{
	struct outcome why;
	int both, user;

	if (!ARCH_RAW_EVENT)
		return outcome_no("", "no raw code is known that every CPU of this kind counts");
	both = raw_try(true);
	if (both > 0)
		return outcome_yes("raw code 0x%x counts; user and kernel side", ARCH_RAW_EVENT);
	user = both ? raw_try(false) : 0;
	if (user > 0) {
		why = advice_perf(context, -both, true);
		return outcome_partly(why.remedy, "user side only: %.200s", why.because);
	}
	if (!user)
		return outcome_no("", "raw code 0x%x opens but counts nothing", ARCH_RAW_EVENT);
	return advice_means_absent(-user) ? advice_no_pmu(context, -user) :
					    advice_perf(context, -user, false);
}
