/* SPDX-License-Identifier: MIT */
/*
 * What runs were made under, and whether that lets them be compared. A row says whether another text refuses the
 * comparison: figures of a cold page cache and a warm one, or of two kinds of processors, are of two things.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/diff_build.h"
#include "cli/analyze/report_build.h"
#include "cli/text.h"
#include "common/source_table.h"

static const struct {
	const char *name;
	bool refuses;
	const char *empty;           /* what is said for "" */
} fields[DIFF_FIELDS] = {
	[DIFF_CPU] = { "CPU", true, "not known" },
	[DIFF_CACHE] = { "page cache", true, "as it happened to be" },
	[DIFF_HOST] = { "host", false, "not known" },
	[DIFF_KERNEL] = { "kernel", false, "not known" },
	[DIFF_ENVIRONMENT] = { "environment", false, "not known" },
	[DIFF_COMMAND] = { "arguments", false, "none" },
	[DIFF_LIBRARIES] = { "libraries", false, "none" },
	[DIFF_SAMPLES] = { "samples", false, "none" },
	[DIFF_WAITS] = { "waits", false, "not looked at" },
	[DIFF_SOURCES] = { "read at markers", false, "the time alone" },
	[DIFF_PORTION] = { "measured", false, "the whole run" },
	[DIFF_CLOCK] = { "clock", false, "not known" },
	[DIFF_VERSION] = { "sparkctl", false, "not known" },
	[DIFF_LIMITS] = { "limits", false, "none" },
};

void diff_note(struct diff *diff, const char *format, ...)
{
	char (*notes)[DIFF_NOTE];
	va_list list;

	if (diff->nnotes >= DIFF_NOTES_MOST)
		return;
	notes = report_grow(diff->notes, diff->nnotes, sizeof(*notes));
	if (!notes)
		return;
	diff->notes = notes;
	va_start(list, format);
	vsnprintf(notes[diff->nnotes++], DIFF_NOTE, format, list);
	va_end(list);
}

/* ---- reading --------------------------------------------------------------------------------------- */

static void command_text(FILE *f, const struct session_facts *facts)
{
	/* The program itself is what is compared. */
	for (size_t i = 1; facts->argv && facts->argv[0] && facts->argv[i]; i++)
		fprintf(f, "%s%s", i > 1 ? " " : "", facts->argv[i]);
	if (facts->target)
		fputs(facts->target, f);
}

bool diff_is_image(const struct session_facts *facts, const char *path)
{
	for (size_t i = 0; i < facts->nprocesses; i++)
		if (facts->processes[i].image && !strcmp(facts->processes[i].image, path))
			return true;
	return false;
}

static int line_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void diff_lines_write(FILE *f, char **lines, size_t n)
{
	if (n)
		qsort(lines, n, sizeof(*lines), line_order);
	for (size_t i = 0; i < n; i++)
		if (!i || strcmp(lines[i - 1], lines[i]) != 0)
			fprintf(f, "%s\n", lines[i]);
	for (size_t i = 0; i < n; i++)
		free(lines[i]);
	free(lines);
}

/* "path\tbuild-id", printable, a line each, sorted, but for the programs. */
static void libraries_text(FILE *f, const struct session_facts *facts)
{
	const struct provenance *p = facts->provenance;
	char **all = p && p->nobjects ? calloc(p->nobjects, sizeof(*all)) : NULL;
	size_t n = 0;

	for (size_t i = 0; all && i < p->nobjects; i++) {
		const struct object_fact *o = &p->objects[i];
		char *path = o->path && !diff_is_image(facts, o->path) ? diff_printable(o->path) : NULL;

		if (path && asprintf(&all[n], "%s\t%s", path, o->build_id ? o->build_id : "") >= 0)
			n++;
		free(path);
	}
	diff_lines_write(f, all, n);
}

static void samples_text(FILE *f, const struct session_facts *facts)
{
	const struct samples *s = facts->samples;

	if (s && samples_taken(s))
		fprintf(f, "%s at %llu Hz, stacks %s", s->event ? s->event : "clock", (unsigned long long)s->frequency,
			s->stacks ? s->stacks : "none");
}

static void sources_text(FILE *f, const struct profile *profile)
{
	const char *gap = "";

	for (u32 i = 0; i < SOURCE_COUNT; i++)
		if (profile->sources & 1u << i) {
			fprintf(f, "%s%s", gap, source_table[i].name);
			gap = ", ";
		}
	for (u32 i = 0; i < profile->nevents; i++)
		if (profile->events[i].place != PROFILE_NONE && !profile->events[i].pass) {
			fprintf(f, "%s%s", gap, profile->events[i].name);
			gap = ", ";
		}
}

static void portion_text(FILE *f, const struct session_facts *facts)
{
	if (facts->partial)
		fputs("a part of the run", f);
	for (size_t i = 0; i < facts->ninside; i++)
		fprintf(f, "%s in %s", i || facts->partial ? "," : "only", facts->inside[i]);
}

/* Those of the run's own control group. */
static void limits_text(FILE *f, const struct session_facts *facts)
{
	/* Those of I/O end with the device. */
	static const char *const names[] = {
		"cgroup.memory_max", "cgroup.memory_high", "cgroup.cpu_max", "cgroup.rbps_max.", "cgroup.wbps_max.",
		"cgroup.riops_max.", "cgroup.wiops_max.",
	};
	const char *gap = "";

	for (size_t i = 0; i < facts->ntotals; i++)
		for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
			const struct total_fact *total = &facts->totals[i];
			size_t len = strlen(names[k]);

			/* memory_maxes is no limit. */
			if (strncmp(total->name, names[k], names[k][len - 1] == '.' ? len : len + 1) != 0 || !cell_has_value(&total->cell))
				continue;
			fprintf(f, "%s%s %.12g", gap, total->name + strlen("cgroup."), total->cell.value);
			gap = ", ";
		}
}

static void field_text(FILE *f, enum diff_field field, const struct profile *profile, const struct session_facts *facts)
{
	const struct provenance *p = facts->provenance;
	const char *text = field == DIFF_CPU ? facts->cpu : field == DIFF_HOST ? facts->host :
			   field == DIFF_KERNEL ? facts->kernel : field == DIFF_CLOCK ? facts->clock :
			   field == DIFF_ENVIRONMENT && p ? p->environment : field == DIFF_VERSION && p ? p->version :
			   field == DIFF_CACHE && facts->cache ? cache_regime_words[facts->cache->regime] : NULL;

	if (text)
		fputs(text, f);
	if (field == DIFF_COMMAND)
		command_text(f, facts);
	if (field == DIFF_LIBRARIES)
		libraries_text(f, facts);
	if (field == DIFF_SAMPLES)
		samples_text(f, facts);
	if (field == DIFF_WAITS && facts->samples && facts->samples->off)
		fputs("looked at", f);
	if (field == DIFF_SOURCES)
		sources_text(f, profile);
	if (field == DIFF_LIMITS)
		limits_text(f, facts);
	if (field == DIFF_PORTION)
		portion_text(f, facts);
}

int diff_regime_read(struct diff_run *run, const struct profile *profile, const struct session_facts *facts)
{
	*run = (struct diff_run){ .duration_ns = facts->duration_ns, .unfinished = facts->unfinished || facts->timeout,
				  .failed = !facts->alive && (facts->status || facts->signal),
				  .started_ns = facts->provenance ? facts->provenance->started_ns : 0 };
	for (u32 i = 0; i < DIFF_FIELDS; i++) {
		size_t size;
		FILE *f = open_memstream(&run->field[i], &size);

		if (f)
			field_text(f, i, profile, facts);
		if (!f || fclose(f)) {
			while (i--) {
				free(run->field[i]);
				run->field[i] = NULL;
			}
			return -1;
		}
	}
	return 0;
}

/* ---- judging --------------------------------------------------------------------------------------- */

/* Made printable, and short. */
static const char *field_shown(enum diff_field field, const char *text, char out[64])
{
	char escaped[256];

	text_escape(escaped, sizeof(escaped), text, strlen(text));
	text_fit(out, 64, *text ? escaped : fields[field].empty, 40);
	return out;
}

static size_t line_len(const char *text)
{
	return strcspn(text, "\n");
}

static int lines_order(const char *a, const char *b)
{
	size_t n = line_len(a), m = line_len(b);
	int order = memcmp(a, b, MIN(n, m));

	return order ? order : n < m ? -1 : n > m;
}

/* The name of the first library that only one of both sorted lists has in this build. */
static void library_other(const char *a, const char *b, char out[64])
{
	const char *line, *name;
	char copy[256];

	while (*a && *b && !lines_order(a, b)) {
		a += line_len(a) + 1;
		b += line_len(b) + 1;
	}
	line = !*a || (*b && lines_order(b, a) < 0) ? b : a;
	for (name = line; strcspn(name, "/\t") < strcspn(name, "\t"); name += strcspn(name, "/") + 1)
		;
	snprintf(copy, sizeof(copy), "%.*s", (int)strcspn(name, "\t\n"), name);
	text_fit(out, 64, copy, 40);
}

static void field_note(struct diff *diff, enum diff_field field, const struct diff_run *a, const struct diff_run *b,
		       const char *label)
{
	char x[64], y[64];

	if (field == DIFF_LIBRARIES) {
		library_other(a->field[field], b->field[field], x);
		diff_note(diff, "libraries of A and %s differ, of which the first is %s", label, x);
	} else if (field == DIFF_ENVIRONMENT) {
		diff_note(diff, "the environment of %s is another one than that of A", label);
	} else {
		diff_note(diff, "%s: %s in A, %s in %s", fields[field].name, field_shown(field, a->field[field], x),
			  field_shown(field, b->field[field], y), label);
	}
}

/* The first run of a side that has another text than the first one of all; NULL: none. */
static const struct diff_run *side_other(const struct diff *diff, const struct diff_side *side, enum diff_field field)
{
	for (u32 i = 0; i < side->nruns; i++)
		if (strcmp(side->runs[i].field[field], diff->sides[0].runs[0].field[field]) != 0)
			return &side->runs[i];
	return NULL;
}

static void refuse(struct diff *diff, struct diff_side *side, enum diff_field field, const struct diff_run *other)
{
	char x[64], y[64];

	if (!side->refused[0])
		snprintf(side->refused, sizeof(side->refused), "%s: %s and %s", fields[field].name,
			 field_shown(field, diff->sides[0].runs[0].field[field], x),
			 field_shown(field, other->field[field], y));
}

void diff_regime_judge(struct diff *diff)
{
	for (enum diff_field field = 0; field < DIFF_FIELDS; field++) {
		const struct diff_run *within = side_other(diff, &diff->sides[0], field);

		if (within && !fields[field].refuses)
			field_note(diff, field, &diff->sides[0].runs[0], within, "another run of A");
		for (u32 i = 1; i < diff->nsides; i++) {
			struct diff_side *side = &diff->sides[i];
			const struct diff_run *other = side_other(diff, side, field);

			if (fields[field].refuses && (within || other))
				refuse(diff, side, field, within ? within : other);
			else if (other)
				field_note(diff, field, &diff->sides[0].runs[0], other, side->label);
		}
	}
}
