/* SPDX-License-Identifier: MIT */
/* The probe "io-delay": whether the kernel accounts how long threads wait for block devices. Where it does not they read 0. */
#include "cli/caps/caps.h"

#include <errno.h>
#include <stdio.h>

#define SWITCH "/proc/sys/kernel/task_delayacct"

/* The switch is there since 5.14. False also if it is not known. */
static bool kernel_has_switch(const struct caps_context *context)
{
	unsigned int major, minor;
	char text[256];

	return facts_read(context, "/proc/version", text, sizeof(text)) > 0 &&
	       sscanf(text, "Linux version %u.%u", &major, &minor) == 2 && (major > 5 || (major == 5 && minor >= 14));
}

static struct outcome delay_absent(const struct caps_context *context)
{
	bool hidden = kernel_has_switch(context);

	switch (facts_config(context, "CONFIG_TASK_DELAY_ACCT")) {
	case FACTS_NOT_BUILT:
		return outcome_no("boot a kernel with CONFIG_TASK_DELAY_ACCT=y",
				  "this kernel was built without CONFIG_TASK_DELAY_ACCT");
	case FACTS_BUILT:
		if (hidden)
			return outcome_no("", "no " SWITCH ": /proc/sys is not to be seen here");
		return outcome_no("boot Linux 5.14 or newer", "no " SWITCH ": before Linux 5.14 nobody can tell whether it is on");
	default:
		if (hidden)
			return outcome_no("", "no " SWITCH ": not built in (CONFIG_TASK_DELAY_ACCT), or not to be seen here");
		return outcome_no("", "no " SWITCH ": not built in (CONFIG_TASK_DELAY_ACCT), or before Linux 5.14");
	}
}

struct outcome delay_probe(struct caps_context *context)
{
	char text[16];
	long got = facts_read(context, SWITCH, text, sizeof(text));

	if (got == -ENOENT)
		return delay_absent(context);
	if (got < 0)
		return advice_errno((int)-got, SWITCH);
	if (text[0] != '1')
		return outcome_no("sudo sysctl kernel.task_delayacct=1", "delay accounting is off (task_delayacct is 0)");
	return outcome_yes("delay accounting is on, for threads that have started since");
}
