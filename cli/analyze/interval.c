/* SPDX-License-Identifier: MIT */
/* Differences of counts; see interval.h. */
#include "cli/analyze/interval.h"

#include <stdlib.h>
#include <string.h>

static struct cell interval_cell(const struct total_fact *now, const struct total_raw *raw)
{
	struct cell c = cell_counted(raw->count);

	if (now->cell.state == CELL_UNAVAILABLE || now->cell.state == CELL_LOST)
		return now->cell;
	if (!raw->enabled_ns)
		return cell_absent(CELL_NOT_COUNTED, "nothing ran while it was counted");
	if (!raw->running_ns)
		return cell_absent(CELL_NOT_COUNTED, "the event never ran");
	c.note = now->cell.note;
	if (raw->running_ns >= raw->enabled_ns)
		return c;
	c.state = raw->cores ? CELL_ESTIMATE : CELL_SCALED;
	c.value *= raw->cores ? 1 : (double)raw->enabled_ns / (double)raw->running_ns;
	if (!raw->cores)
		c.note = cell_of_user(&now->cell) ? CELL_NOTE_USER_SHARED : CELL_NOTE_SHARED;
	return c;
}

/* before: NULL, or what it was. */
static struct total_fact interval_total(const struct total_fact *now, const struct total_fact *before)
{
	static const struct total_raw none;
	const struct total_raw *was = before ? &before->raw : &none;
	struct total_fact total = *now;

	if (!now->raw.event) {
		total.cell = before ? cell_subtract(now->cell, before->cell) : now->cell;
		return total;
	}
	/* A place that failed since is no longer in the sum. */
	if (now->raw.count < was->count || now->raw.enabled_ns < was->enabled_ns || now->raw.running_ns < was->running_ns) {
		total.raw = (struct total_raw){ .event = true, .cores = now->raw.cores };
		total.cell = cell_absent(CELL_UNAVAILABLE, "some of its counters ended");
		return total;
	}
	total.raw.count -= was->count;
	total.raw.enabled_ns -= was->enabled_ns;
	total.raw.running_ns -= was->running_ns;
	total.cell = interval_cell(now, &total.raw);
	if (strcmp(now->source, "perf") != 0)
		total.cell = cell_absent(CELL_UNAVAILABLE, "it is only known at the end");
	return total;
}

/* What is an event, and the time; the kernel's accounting is only known at the end. */
static bool interval_has(const struct total_fact *total)
{
	return total->raw.event || !strcmp(total->name, "elapsed");
}

static size_t interval_all(const struct session_facts *facts)
{
	size_t n = facts->ntotals;

	for (size_t i = 0; i < facts->nparts; i++)
		n += facts->parts[i].ntotals;
	return n;
}

/* Adds those of a list to the interval, and to what is known for the next one. Returns how many. */
static size_t interval_list(struct interval *in, const struct total_fact *list, size_t n, struct total_fact *to, size_t *at)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++, (*at)++) {
		bool known = *at < in->nlast && !strcmp(in->last[*at].name, list[i].name);

		if (interval_has(&list[i]))
			to[kept++] = interval_total(&list[i], known ? &in->last[*at] : NULL);
		in->last[*at] = list[i];
	}
	return kept;
}

static bool interval_make_room(struct interval *in, const struct session_facts *facts)
{
	size_t n = interval_all(facts);
	struct total_fact *last = realloc(in->last, (n + 1) * sizeof(*last));

	free(in->totals);
	free(in->parts);
	in->last = last ? last : in->last;
	in->totals = calloc(n + 1, sizeof(*in->totals));
	in->parts = calloc(facts->nparts + 1, sizeof(*in->parts));
	return last && in->totals && in->parts;
}

const struct session_facts *interval_next(struct interval *in, const struct session_facts *facts)
{
	struct total_fact *to;
	size_t at = 0;

	if (!interval_make_room(in, facts))
		return NULL;
	to = in->totals;
	in->facts = *facts;
	in->facts.totals = to;
	in->facts.parts = in->parts;
	in->facts.ntotals = interval_list(in, facts->totals, facts->ntotals, to, &at);
	to += in->facts.ntotals;
	for (size_t i = 0; i < facts->nparts; i++) {
		in->parts[i] = facts->parts[i];
		in->parts[i].totals = to;
		in->parts[i].ntotals = interval_list(in, facts->parts[i].totals, facts->parts[i].ntotals, to, &at);
		to += in->parts[i].ntotals;
	}
	in->nlast = at;
	return &in->facts;
}

void interval_free(struct interval *in)
{
	free(in->last);
	free(in->totals);
	free(in->parts);
	*in = (struct interval){ .last = NULL };
}
