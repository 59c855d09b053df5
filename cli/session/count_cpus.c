/* SPDX-License-Identifier: MIT */
/* Whole CPUs, whoever runs on them; see count.h. */
#define _GNU_SOURCE
#include "cli/session/count_internal.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/log.h"

#define CPUS_ONLINE "/sys/devices/system/cpu/online"

static void cpus_online(const struct count *count, cpu_set_t *set)
{
	char text[1024];

	if (facts_read(&count->caps, CPUS_ONLINE, text, sizeof(text)) > 0 && !cpus_parse(text, set))
		return;
	CPU_ZERO(set);
	for (long i = 0; i < sysconf(_SC_NPROCESSORS_ONLN) && i < CPU_SETSIZE; i++)
		CPU_SET((size_t)i, set);
}

int count_cpu_set(struct count *count, cpu_set_t *set)
{
	const char *list = count->options->cpus;
	cpu_set_t online;

	cpus_online(count, &online);
	*set = online;
	if (!list)
		return 0;
	if (cpus_parse(list, set)) {
		error("'%s' is no list of CPUs, such as 0-3,8", list);
		return -EINVAL;
	}
	for (size_t i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, set) && !CPU_ISSET(i, &online)) {
			error("there is no CPU %zu that is online", i);
			return -EINVAL;
		}
	return 0;
}

int count_cpus(struct count *count)
{
	cpu_set_t set;
	int err = count_cpu_set(count, &set);

	if (err)
		return err;
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET((size_t)i, &set))
			continue;
		if (count_add_place(count, -1, i, 0))
			return -EPERM;
	}
	if (count->options->cpus)
		snprintf(count->target, sizeof(count->target), "CPU%s %.200s", count->nplaces == 1 ? "" : "s",
			 count->options->cpus);
	else
		snprintf(count->target, sizeof(count->target), "all %zu CPUs", count->nplaces);
	return 0;
}
