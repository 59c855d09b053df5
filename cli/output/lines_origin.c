/* SPDX-License-Identifier: MIT */
/* The lines on where the figures come from: when they were recorded, what was said of them, from which files. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/output/lines.h"
#include "cli/text.h"

/* A stranger's text, printable; to be freed. */
static char *origin_escaped(const char *text)
{
	size_t size = 4 * strlen(text) + 1;
	char *escaped = malloc(size);

	if (escaped)
		text_escape(escaped, size, text, strlen(text));
	return escaped;
}

static void origin_time(char *text, size_t size, u64 time_ns)
{
	time_t seconds = (time_t)(time_ns / NSEC_PER_SEC);
	struct tm tm;

	text[0] = '\0';
	if (gmtime_r(&seconds, &tm))
		strftime(text, size, "%Y-%m-%d %H:%M:%S UTC", &tm);
}

static void origin_objects(const struct lines *lines, const struct provenance *provenance)
{
	size_t i;

	lines_print(lines, STYLE_PLAIN, "environment", "digest %s", provenance->environment ? provenance->environment : "?");
	for (i = 0; i < provenance->nobjects; i++) {
		char *path = provenance->objects[i].path ? origin_escaped(provenance->objects[i].path) : NULL;
		char *id = provenance->objects[i].build_id ? origin_escaped(provenance->objects[i].build_id) : NULL;

		lines_print(lines, STYLE_PLAIN, i ? "" : "executed", "%s  build id %s", path ? path : "?",
			    id ? id : "not known");
		free(path);
		free(id);
	}
}

void lines_origin(const struct lines *lines)
{
	const struct session_facts *facts = lines->report->facts;
	const struct provenance *provenance = facts->provenance;
	char time[64], *text;
	size_t i;

	if (facts->unfinished && provenance && !provenance->recorded)
		lines_print(lines, STYLE_PLAIN, "unfinished", "the run goes on: the figures are those of now");
	else if (facts->unfinished)
		lines_print(lines, STYLE_BAD, "unfinished",
			    "sparkctl ended before the run did: the figures are those of its last look");
	if (!provenance)
		return;
	origin_time(time, sizeof(time), provenance->started_ns);
	text = origin_escaped(provenance->version ? provenance->version : "?");
	if (provenance->recorded)
		lines_print(lines, STYLE_PLAIN, "recorded", "%s by sparkctl %s", time, text ? text : "?");
	free(text);
	for (i = 0; i < provenance->nnotes; i++) {
		text = origin_escaped(provenance->notes[i].text ? provenance->notes[i].text : "");
		lines_print(lines, STYLE_PLAIN, "remark", "%s", text ? text : "");
		free(text);
	}
	if (lines->options->verbose > 0 && provenance->nobjects)
		origin_objects(lines, provenance);
}
