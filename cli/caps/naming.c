/* SPDX-License-Identifier: MIT */
/*
 * The probe "event-naming": generic names are the kernel's own and always there; the names of a
 * machine's PMUs and of their events come from sysfs; those of CPU vendors' manuals from libpfm4, if
 * sparkctl was built for it and it loads (cli/names).
 */
#include "cli/caps/sysfs.h"

#include <errno.h>
#include <stdio.h>

#include "cli/names/names.h"

/* How many events sysfs names for a PMU; most PMUs of software name none. */
static size_t naming_count_events(const struct caps_context *context, const char *pmu)
{
	struct sysfs_names events;
	char path[PATH_MAX];
	size_t n;

	snprintf(path, sizeof(path), SYSFS_PMUS "/%s/events", pmu);
	if (sysfs_list(context, path, true, &events))
		return 0;
	n = events.n;
	sysfs_names_fini(&events);
	return n;
}

struct outcome naming_probe(struct caps_context *context)
{
	struct sysfs_names pmus;
	struct outcome why;
	size_t i, n = 0, usable = 0;
	long type = -ENOENT;
	int err = sysfs_list(context, SYSFS_PMUS, false, &pmus);

	if (err) {
		why = advice_sysfs(context, -err, SYSFS_PMUS);
		return outcome_partly(why.remedy, "generic names alone: %.200s", why.because);
	}
	for (i = 0; i < pmus.n; i++) {
		n += naming_count_events(context, pmus.list[i]);
		type = sysfs_read_type(context, pmus.list[i]);
		usable += type >= 0;
	}
	sysfs_names_fini(&pmus);
	if (!usable && type == -ENOENT)
		return outcome_partly("", "generic names alone: no PMU in " SYSFS_PMUS);
	if (!usable) {
		why = advice_errno((int)-type, "the PMUs in " SYSFS_PMUS);
		return outcome_partly(why.remedy, "generic names alone: %.200s", why.because);
	}
	return outcome_yes("generic names; %zu PMUs with %zu named events in sysfs; %s", usable, n,
		names_have_pfm() ? "vendors' names by libpfm4" : "without libpfm4, so no vendors' names");
}
