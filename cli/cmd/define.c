/* SPDX-License-Identifier: MIT */
/* See define.h. */
#include "cli/cmd/define.h"

#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/session/session.h"

/* What has the name already; NULL: nothing. */
static const char *define_taken(const char *name, bool builtin, const struct event_list *events)
{
	for (size_t i = 0; events && i < events->n; i++)
		if (!strcmp(events->event[i].name, name))
			return "an event";
	if (metric_find(name) || (!builtin && derived_find(name)))
		return "a metric";
	return session_has_total(name) ? "a total" : NULL;
}

static int define_mistake(const char *where, const char *text, const struct formula_error *mistake)
{
	return error("%s '%.80s%s': column %zu: %s", where, text, strlen(text) > 80 ? "..." : "", mistake->column,
		     mistake->why);
}

int define_one(struct definitions *definitions, const char *where, const char *text, bool builtin,
	       const struct event_list *events)
{
	const struct definition *other;
	struct formula_error mistake;
	struct formula formula;
	const char *taken;
	int err = 0;

	if (formula_parse(&formula, text, &mistake) != 0)
		err = define_mistake(where, text, &mistake);
	other = err ? NULL : definitions_find(definitions, formula.name);
	taken = err ? NULL : define_taken(formula.name, builtin, events);
	/* Groups may have metrics in common. */
	if (!taken && other && !(builtin && !strcmp(other->formula.text, formula.text)))
		taken = "another definition";
	if (taken)
		err = error("%s '%.80s': the name '%s' is taken by %s", where, text, formula.name, taken);
	if (!err && !other && definitions_add(definitions, &formula, false, &mistake) != 0)
		err = define_mistake(where, text, &mistake);
	formula_free(&formula);
	return err;
}

int define_all(struct definitions *definitions, const struct opt_list *texts, bool anew,
	       const struct event_list *events)
{
	struct definitions own = { .item = NULL };
	struct formula_error mistake;
	int err = 0;

	for (size_t i = 0; !err && i < texts->n; i++)
		err = define_one(&own, "--define", texts->item[i], false, events);
	for (size_t i = 0; !err && i < own.n; i++) {
		const char *name = own.item[i].formula.name;

		if (!anew && definitions_find(definitions, name))
			err = error("--define '%.80s': the name '%s' is taken by a group", texts->item[i], name);
		else if (definitions_add(definitions, &own.item[i].formula, false, &mistake) != 0)
			err = define_mistake("--define", texts->item[i], &mistake);
	}
	definitions_free(&own);
	return err;
}

int define_recorded(struct definitions *definitions, const char *lines, bool aside)
{
	struct formula_error mistake;
	struct formula formula;
	char *copy = lines ? strdup(lines) : NULL, *rest = copy, *line;
	int err = lines && !copy ? error("out of memory") : 0;

	while (!err && (line = strsep(&rest, "\n"))) {
		/* A line of a damaged file, or of a newer sparkctl, is no reason to show nothing. */
		if (formula_parse(&formula, line, &mistake) || definitions_add(definitions, &formula, aside, &mistake))
			warning("the recording's metric '%s' is left out: column %zu: %s", line, mistake.column, mistake.why);
		formula_free(&formula);
	}
	free(copy);
	return err;
}

char *define_lines(const struct definitions *definitions)
{
	size_t len = 0;
	char *lines;

	for (size_t i = 0; i < definitions->n; i++)
		len += strlen(definitions->item[i].formula.text) + 1;
	lines = len ? calloc(1, len) : NULL;
	for (size_t i = 0; lines && i < definitions->n; i++) {
		strcat(lines, i ? "\n" : "");
		strcat(lines, definitions->item[i].formula.text);
	}
	return lines;
}

u32 define_sources(const struct definitions *definitions)
{
	u32 sources = 0;

	for (size_t i = 0; i < definitions->n; i++)
		for (size_t k = 0; k < definitions->item[i].formula.ninputs; k++)
			sources |= metric_select(definitions->item[i].formula.inputs[k]).sources;
	return sources;
}
