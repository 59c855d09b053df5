/* SPDX-License-Identifier: MIT */
/*
 * The probe "event-naming": generic names are the kernel's own and always there; the names of a
 * machine's PMUs and of their events come from sysfs; those of CPU vendors' manuals from libpfm4, if
 * sparkctl was built for it and it loads (cli/names); functions to be probed are found by libelf.
 */
#include <stdio.h>

#include "cli/names/names.h"

struct naming_count {
	struct names_context names;
	size_t pmus, events;
};

static int naming_count_event(void *data, const struct names_alias *alias)
{
	struct naming_count *count = data;

	(void)alias;
	count->events++;
	return 0;
}

/* Most PMUs of software name no event. */
static int naming_count_pmu(void *data, const struct names_pmu *pmu)
{
	struct naming_count *count = data;

	count->pmus++;
	names_each_alias(&count->names, pmu, naming_count_event, count);
	return 0;
}

struct outcome naming_probe(struct caps_context *context)
{
	struct naming_count count = { .pmus = 0 };
	struct outcome why;

	names_init(&count.names, context);
	names_each_pmu(&count.names, naming_count_pmu, &count);
	names_fini(&count.names);
	if (count.names.folder_error || (!count.pmus && count.names.type_error)) {
		why = count.names.folder_error ? advice_sysfs(context, count.names.folder_error, NAMES_PMUS) :
			advice_errno(count.names.type_error, "the PMUs in " NAMES_PMUS);
		return outcome_partly(why.remedy, "generic names alone: %.200s", why.because);
	}
	if (!count.pmus)
		return outcome_partly("", "generic names alone: no PMU in " NAMES_PMUS);
	return outcome_yes("generic names; %zu PMUs with %zu named events in sysfs; %s; %s", count.pmus, count.events,
		names_have_pfm() ? "vendors' names by libpfm4" : "without libpfm4, so no vendors' names",
		names_have_functions() ? "functions by libelf" : "without libelf, so no functions by name, nor build ids");
}
