/* SPDX-License-Identifier: MIT */
/*
 * The live line. It is drawn from the left margin, and the cursor goes back there: what the command
 * itself writes to the terminal comes over it, never behind it.
 */
#include "cli/cmd/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output/format.h"
#include "cli/output/output.h"
#include "cli/term.h"
#include "cli/text.h"

enum { LIVE_REGIONS = 6, LIVE_NAME = 24, LIVE_LINE = 512 };

static const char live_clear[] = "\r\033[K";

void live_open(struct live *live)
{
	const char *term = getenv("TERM");

	live->on = isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

/* A terminal stops background jobs that write to it, if it is told to (stty tostop). */
static bool live_in_foreground(void)
{
	return tcgetpgrp(STDERR_FILENO) == getpgrp();
}

static void live_put(const char *text)
{
	size_t len = strlen(text);

	/* One write: it must not mix with the command's own. A line that could not be drawn is drawn next time. */
	if (write(STDERR_FILENO, text, len) != (ssize_t)len)
		return;
}

/* Adds a piece if there is room for all of it. */
static void live_add(char *line, size_t width, const char *gap, const char *piece)
{
	size_t at = strlen(line);

	if (text_width(line) + text_width(gap) + text_width(piece) < width && at + strlen(gap) + strlen(piece) < LIVE_LINE)
		sprintf(line + at, "%s%s", gap, piece);
}

static void live_region(char *line, size_t width, const struct hottest_region *region, double share)
{
	char name[4 * WIRE_NAME_MAX + 1], cut[4 * LIVE_NAME + 8], percent[FORMAT_SIZE], piece[sizeof(cut) + FORMAT_SIZE];

	text_escape(name, sizeof(name), region->name, region->len);
	text_fit(cut, sizeof(cut), name, LIVE_NAME);
	format_percent(percent, share);
	snprintf(piece, sizeof(piece), "%s %s", cut, percent);
	live_add(line, width, "  ", piece);
}

size_t live_width(const struct live *live)
{
	return live->on && live_in_foreground() ? term_width(STDERR_FILENO) : 0;
}

void live_draw(struct live *live, const char *line)
{
	char text[LIVE_LINE + 32];

	snprintf(text, sizeof(text), "%s%s\r", live_clear, line);
	live_put(text);
	live->drawn = true;
}

void live_look(struct live *live, const struct profile *profile, const struct session_facts *facts)
{
	struct hottest_region hot[LIVE_REGIONS];
	size_t n = hottest_update(&live->hottest, profile, hot, LIVE_REGIONS), i, width = live_width(live);
	double passed = (double)(facts->duration_ns - MIN(facts->duration_ns, live->last_ns));
	char line[LIVE_LINE] = "", elapsed[FORMAT_SIZE], text[LIVE_LINE + 32];

	live->last_ns = facts->duration_ns;
	if (!width || passed <= 0)
		return;
	format_ns(elapsed, (double)facts->duration_ns, output_utf8());
	live_add(line, width, "", elapsed);
	if (facts->nprocesses > 1) {
		snprintf(text, sizeof(text), "%zu processes", facts->nprocesses);
		live_add(line, width, "  ", text);
	}
	for (i = 0; i < n; i++)
		live_region(line, width, &hot[i], clock_map_duration(facts->clock_map, hot[i].ticks) / passed * 100);
	live_draw(live, line);
}

void live_close(struct live *live)
{
	if (live->drawn && live_in_foreground())
		live_put(live_clear);
	live->drawn = false;
	hottest_fini(&live->hottest);
}
