/* SPDX-License-Identifier: MIT */
/* Intervals, and lines in the formats of perf; see stat_lines.h. */
#include "cli/cmd/stat_lines.h"

#include <errno.h>
#include <string.h>

#include "cli/log.h"

/* Where events were asked for, perf's formats have those and no others. */
static bool lines_wanted(const void *context, const char *name)
{
	const struct stat_lines *lines = context;

	for (size_t i = lines->nstandard; i < lines->events->n; i++)
		if (!strcmp(lines->events->event[i].name, name))
			return true;
	return false;
}

void stat_lines_init(struct stat_lines *lines, FILE *file, const struct stat_scope *scope,
		     const struct print_options *print, const struct event_list *events, const struct launch_asked *asked)
{
	*lines = (struct stat_lines){ .file = file, .print = print, .events = events, .nstandard = asked->nstandard };
	lines->style.form = scope->json ? COUNTS_JSON : scope->separator ? COUNTS_CSV : COUNTS_TABLE;
	lines->style.separator = scope->separator && !strcmp(scope->separator, "\\t") ? "\t" : scope->separator;
	lines->style.utf8 = output_utf8();
	lines->style.context = lines;
	if (lines->style.form != COUNTS_TABLE && asked->events.n)
		lines->style.wanted = lines_wanted;
	profile_init(&lines->profile, PROFILE_BY_PROCESS);
	/* One write for each interval. */
	if (file == stderr)
		setvbuf(file, NULL, _IOFBF, 1 << 16);
}

static int lines_write(struct stat_lines *lines, const struct session_facts *facts, u64 interval_ns)
{
	const struct report_options options = { .metrics = lines->print->metrics, .totals_only = true,
						.all_calls = lines->print->all_calls,
						.definitions = &lines->print->definitions };
	struct report *report = facts ? report_build(&lines->profile, facts, &options) : NULL;

	if (!report)
		return facts ? -1 : error("out of memory");
	counts_write(lines->file, &lines->style, report, interval_ns);
	report_free(report);
	if (!fflush(lines->file) && !ferror(lines->file))
		return 0;
	/* A reader that is gone is no error, but the end. */
	lines->closed = true;
	return errno == EPIPE ? 0 : error("cannot write the report: %s", strerror(errno));
}

bool stat_lines_edge(void *context, u64 elapsed_ns, const struct session_facts *facts)
{
	struct stat_lines *lines = context;

	if (!lines->closed && lines_write(lines, interval_next(&lines->interval, facts), elapsed_ns))
		lines->failed = true;
	return !lines->closed && !lines->failed;
}

int stat_lines_whole(struct stat_lines *lines, const struct session_facts *facts)
{
	return lines_write(lines, facts, 0);
}

void stat_lines_free(struct stat_lines *lines)
{
	interval_free(&lines->interval);
	profile_fini(&lines->profile);
}
