/* SPDX-License-Identifier: MIT */
/* Reports of recordings; see recorded.h. */
#include "cli/cmd/recorded.h"

#include "cli/log.h"

/* What was not given is as the run had it. */
static struct print_options with_recorded(const struct print_options *given, const struct recording *recording)
{
	struct print_options o = *given;

	if (!o.metrics)
		o.metrics = recording->options.report.metrics;
	if (!o.regions)
		o.regions = recording->options.report.regions;
	if (!o.sort_by)
		o.sort_by = recording->options.report.sort_by;
	if (o.group < 0)
		o.group = (int)recording->options.group;
	return o;
}

/* Those of the recording, and of the option. 0, or the exit status after a message. */
static int recorded_define(struct print_options *o, const struct print_options *given, const struct recording *recording)
{
	o->definitions = (struct definitions){ .item = NULL };
	if (define_recorded(&o->definitions, recording->options.define, given->metrics != NULL))
		return STATUS_FAILURE;
	if (define_all(&o->definitions, &given->define, true, NULL))
		return STATUS_USAGE;
	for (size_t i = 0; i < recording->facts.ntotals; i++)
		if (definitions_find(&o->definitions, recording->facts.totals[i].name)) {
			error("--define: the name '%s' is taken by a total of the run", recording->facts.totals[i].name);
			return STATUS_USAGE;
		}
	return STATUS_OK;
}

int recorded_print(const struct print_options *given, const struct output *format, FILE *file,
		   const struct recording *recording, const struct session_facts *facts)
{
	struct print_options o = with_recorded(given, recording);
	int status = recorded_define(&o, given, recording);

	if (!status && print_report(&o, format, file, &recording->profile, facts))
		status = STATUS_FAILURE;
	definitions_free(&o.definitions);
	return status;
}
