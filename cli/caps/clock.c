/* SPDX-License-Identifier: MIT */
/* The probe "clock": may regions read the CPU's own counter, or must they ask the vDSO? */
#include "cli/caps/caps.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "cli/caps/arch.h"

static void clock_read_source(const struct caps_context *context, char *name, size_t size)
{
	facts_read(context, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
		name, size);
	name[strcspn(name, "\n")] = '\0';
}

static bool clock_tsc_usable(const struct caps_context *context, char *why, size_t size)
{
	char source[64];
	int mode = PR_TSC_ENABLE;

	clock_read_source(context, source, sizeof(source));
	prctl(PR_GET_TSC, &mode);
	if (context->cpuinfo_error)
		snprintf(why, size, "/proc/cpuinfo can't be read (%s)",
			advice_errno_name(context->cpuinfo_error));
	else if (!facts_has_word(context->cpuinfo, "flags", "constant_tsc"))
		snprintf(why, size, "the TSC changes its rate (no constant_tsc)");
	else if (!facts_has_word(context->cpuinfo, "flags", "nonstop_tsc"))
		snprintf(why, size, "the TSC stops in deep sleep (no nonstop_tsc)");
	else if (mode != PR_TSC_ENABLE)
		snprintf(why, size, "reading the TSC is forbidden to this process (PR_SET_TSC)");
	else if (!source[0])
		snprintf(why, size, "the kernel's clock source can't be read");
	else if (strcmp(source, "tsc"))
		snprintf(why, size, "the kernel's clock source is %s, not tsc", source);
	else
		why[0] = '\0';
	if (why[0])
		return false;
	snprintf(why, size, "TSC: constant, nonstop, and the kernel's clock source");
	return true;
}

bool caps_clock_tsc_usable(const struct caps_context *context, char *why, size_t size)
{
	switch (ARCH_COUNTER) {
	case ARCH_COUNTER_TSC:
		return clock_tsc_usable(context, why, size);
	case ARCH_COUNTER_GENERIC_TIMER:
		snprintf(why, size, "CNTVCT, the generic timer: constant and readable by design");
		return true;
	default:
		snprintf(why, size, "no counter of this CPU is known to be readable and constant");
		return false;
	}
}

const char *caps_counter_name(void)
{
	return ARCH_COUNTER == ARCH_COUNTER_GENERIC_TIMER ? "cntvct" : "tsc";
}

struct outcome clock_probe(struct caps_context *context)
{
	char why[128], source[64];

	if (caps_clock_tsc_usable(context, why, sizeof(why)))
		return outcome_yes("%s", why);
	clock_read_source(context, source, sizeof(source));
	if (strcmp(source, "hpet") && strcmp(source, "acpi_pm"))
		return outcome_partly("", "vDSO clock, slower: %s", why);
	return outcome_partly("boot with clocksource=tsc if dmesg does not call the TSC unstable",
		"clock_gettime as a system call, much slower: %s", why);
}
