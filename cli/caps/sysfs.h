/* SPDX-License-Identifier: MIT */
/*
 * The PMUs that the kernel names in /sys/bus/event_source/devices, with the events and terms that
 * it names for each. Paths are below the context's root.
 */
#ifndef SPARK_CLI_CAPS_SYSFS_H
#define SPARK_CLI_CAPS_SYSFS_H

#include <linux/perf_event.h>

#include "cli/caps/caps.h"

#define SYSFS_PMUS "/sys/bus/event_source/devices"

/* Sorted; released by sysfs_names_fini. */
struct sysfs_names {
	char **list;
	size_t n;
};

/*
 * The names in a directory, without those that begin with a dot and, with events, those that
 * describe others ("x.unit"). Returns 0 or -errno; then there is nothing to release.
 */
int sysfs_list(const struct caps_context *context, const char *path, bool events,
	struct sysfs_names *names);
void sysfs_names_fini(struct sysfs_names *names);

/* The number of a PMU for perf_event_attr.type, or -errno. */
long sysfs_read_type(const struct caps_context *context, const char *pmu);

/*
 * Sets the bits that terms ("event=0x3c,umask=1,any") mean for a PMU, by its format files, in
 * config, config1 and config2. Returns 0 or -errno: EINVAL, a term is unknown or malformed.
 */
int sysfs_encode(const struct caps_context *context, const char *pmu, const char *terms,
	struct perf_event_attr *attr);

#endif
