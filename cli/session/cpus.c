/* SPDX-License-Identifier: MIT */
/* Lists of CPUs as the kernel writes them. */
#define _GNU_SOURCE
#include "cli/session/cpus.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

int cpus_parse(const char *list, cpu_set_t *set)
{
	char *at = (char *)(uintptr_t)list;

	CPU_ZERO(set);
	while (*at >= '0' && *at <= '9') {
		unsigned long first = strtoul(at, &at, 10), last = first;

		if (*at == '-' && at[1] >= '0' && at[1] <= '9')
			last = strtoul(at + 1, &at, 10);
		if (last < first || last >= CPU_SETSIZE)
			return -ERANGE;
		for (; first <= last; first++)
			CPU_SET(first, set);
		if (*at == ',' && at[1])
			at++;
		else
			return *at && *at != '\n' ? -EINVAL : 0;
	}
	return -EINVAL;
}
