/* SPDX-License-Identifier: MIT */
/* Calls of the system, one by one: of some hundreds that there are, those that were made. */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/report_build.h"

#define CALLS "syscalls."
#define CALLS_ERRORS ".errors"

/* The call's name in a total's, and its length; NULL: it is of no call. */
static const char *calls_name(const char *name, size_t *len, bool *errors)
{
	size_t tail = strlen(CALLS_ERRORS);

	if (strncmp(name, CALLS, strlen(CALLS)) != 0)
		return NULL;
	name += strlen(CALLS);
	*len = strlen(name);
	*errors = *len > tail && !strcmp(name + *len - tail, CALLS_ERRORS);
	*len -= *errors ? tail : 0;
	return name;
}

static const struct total_fact *calls_find(const struct session_facts *facts, const char *name, size_t len, bool errors)
{
	const char *other;
	size_t n;
	bool is;

	for (size_t i = 0; i < facts->ntotals; i++) {
		other = calls_name(facts->totals[i].name, &n, &is);
		if (other && is == errors && n == len && !strncmp(other, name, len))
			return &facts->totals[i];
	}
	return NULL;
}

bool report_call_unmade(const struct session_facts *facts, const struct total_fact *total)
{
	const struct total_fact *calls = total;
	const char *name;
	size_t len;
	bool errors;

	name = calls_name(total->name, &len, &errors);
	if (!name)
		return false;
	if (errors)
		calls = calls_find(facts, name, len, false);
	if (!calls)
		return true;
	/* Why none can be had stands at one that is called syscalls.* then. */
	return cell_has_value(&calls->cell) ? calls->cell.value == 0 : errors || calls->cell.state == CELL_NOT_COUNTED;
}

static int calls_order(const void *a, const void *b)
{
	const struct report_calls *x = a, *y = b;

	if (x->calls.value != y->calls.value)
		return x->calls.value < y->calls.value ? 1 : -1;
	return strcmp(x->name, y->name);
}

int report_add_calls(struct report *report)
{
	const struct session_facts *facts = report->facts;
	struct cell all = cell_counted(0);

	if (!report->options.all_calls)
		return 0;
	report->calls = calloc(facts->ntotals + 1, sizeof(*report->calls));
	if (!report->calls)
		return -1;
	for (size_t i = 0; i < facts->ntotals; i++) {
		const struct total_fact *total = &facts->totals[i], *failed;
		const char *name;
		size_t len;
		bool errors;

		name = calls_name(total->name, &len, &errors);
		if (!name || errors || !cell_has_value(&total->cell) || total->cell.value == 0)
			continue;
		failed = calls_find(facts, name, len, true);
		all = cell_add(all, total->cell);
		report->calls[report->ncalls++] = (struct report_calls){
			.name = name, .calls = total->cell,
			.errors = failed ? failed->cell : cell_absent(CELL_UNAVAILABLE, NULL),
		};
	}
	for (size_t i = 0; i < report->ncalls; i++)
		report->calls[i].share = cell_divide(report->calls[i].calls, all, 100);
	qsort(report->calls, report->ncalls, sizeof(*report->calls), calls_order);
	return 0;
}
