/* SPDX-License-Identifier: MIT */
/* See machine.h. Files that machines do not have are no failure: few virtual ones have most of them. */
#include "cli/session/machine.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/caps/caps.h"

#define CPUS_LOOKED 4096             /* numbers, whether there is such a CPU or not */
#define CPUS_GAP 64                  /* missing numbers in a row behind which there are no more */
#define STAT_SIZE 65536              /* one line of each CPU; what follows is not needed */

static bool read_line(const struct caps_context *caps, const char *path, char *text, size_t size)
{
	if (facts_read(caps, path, text, size) <= 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return true;
}

static enum machine_switch read_switch(const struct caps_context *caps, const char *path, bool inverse)
{
	char text[16];

	if (!read_line(caps, path, text, sizeof(text)) || !text[0])
		return MACHINE_UNKNOWN;
	return (strcmp(text, "0") != 0) != inverse ? MACHINE_ON : MACHINE_OFF;
}

/* "cpu  1812374 503965 690991 279485 4218 0 4941 4164": user nice system idle iowait irq softirq steal, see proc(5). */
static void look_stat(struct machine_look *look, const struct caps_context *caps)
{
	char *text = malloc(STAT_SIZE);
	u64 t[8] = { 0 };

	if (text && facts_read(caps, "/proc/stat", text, STAT_SIZE) > 0 &&
	    sscanf(text, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64, &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) >= 7) {
		look->busy = t[0] + t[1] + t[2] + t[5] + t[6];
		look->steal = t[7];
		look->all = look->busy + t[3] + t[4] + t[7];
		for (const char *line = text; (line = strstr(line, "\ncpu")); line++)
			look->cpus++;
	}
	free(text);
}

/* Each governor once. */
static void governor_add(struct machine_look *look, const char *governor)
{
	size_t len = strlen(look->governor);

	if (strstr(look->governor, governor) || len + strlen(governor) + 3 > sizeof(look->governor))
		return;
	snprintf(look->governor + len, sizeof(look->governor) - len, "%s%s", len ? ", " : "", governor);
}

/* Threads of a core show the same: the first one's is taken. "0,4", "2-3"; older kernels have the other name alone. */
static bool core_first(const struct caps_context *caps, u32 cpu)
{
	static const char *const names[] = { "core_cpus_list", "thread_siblings_list" };
	char path[128], text[32];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%" PRIu32 "/topology/%s", cpu, names[i]);
		if (read_line(caps, path, text, sizeof(text)) && text[0])
			return strtoul(text, NULL, 10) == cpu;
	}
	return true;
}

static void look_cpus(struct machine_look *look, const struct caps_context *caps)
{
	for (u32 cpu = 0, gap = 0; cpu < CPUS_LOOKED && gap < CPUS_GAP; cpu++, gap++) {
		char path[128], text[32];

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%" PRIu32, cpu);
		if (facts_exists(caps, path))
			gap = 0;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%" PRIu32 "/cpufreq/scaling_governor", cpu);
		if (read_line(caps, path, text, sizeof(text)) && text[0])
			governor_add(look, text);
		if (!core_first(caps, cpu))
			continue;
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%" PRIu32 "/thermal_throttle/core_throttle_count", cpu);
		if (read_line(caps, path, text, sizeof(text))) {
			look->heeds_heat = true;
			look->throttled += strtoull(text, NULL, 10);
		}
	}
}

static u64 usage_ns(int who)
{
	struct rusage u;

	if (getrusage(who, &u))
		return 0;
	return (u64)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NSEC_PER_SEC +
	       (u64)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

void machine_look(struct machine_look *look, const char *root)
{
	const struct caps_context caps = { .root = root };
	long hz = sysconf(_SC_CLK_TCK);
	char text[64];

	*look = (struct machine_look){ .load = -1, .tick_ns = hz > 0 ? NSEC_PER_SEC / (u64)hz : 0 };
	look_stat(look, &caps);
	look_cpus(look, &caps);
	if (read_line(&caps, "/proc/loadavg", text, sizeof(text)))
		look->load = strtod(text, NULL);
	/* Of intel_pstate, which says it the other way round, or of other drivers. */
	look->turbo = read_switch(&caps, "/sys/devices/system/cpu/intel_pstate/no_turbo", true);
	if (look->turbo == MACHINE_UNKNOWN)
		look->turbo = read_switch(&caps, "/sys/devices/system/cpu/cpufreq/boost", false);
	look->smt = read_switch(&caps, "/sys/devices/system/cpu/smt/active", false);
	look->aslr = read_switch(&caps, "/proc/sys/kernel/randomize_va_space", false);
	look->own_ns = usage_ns(RUSAGE_SELF) + usage_ns(RUSAGE_CHILDREN);
}
