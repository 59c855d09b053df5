/* SPDX-License-Identifier: MIT */
/* What a file of a group says; see group.h. */
#include "cli/cmd/group.h"

#include <stdlib.h>
#include <string.h>

#include "cli/log.h"

struct group_parser {
	struct group *group;
	unsigned int line;
};

static const char group_blanks[] = " \t\r";

static int group_wrong(const struct group_parser *p, const char *why, const char *word)
{
	return word ? error("%s:%u: '%.60s' %s", p->group->path, p->line, word, why) :
		      error("%s:%u: %s", p->group->path, p->line, why);
}

static struct group_way *group_way(struct group_parser *p)
{
	return &p->group->ways[p->group->nways - 1];
}

static int take_meaning(struct group_parser *p, char *text)
{
	if (p->group->meaning)
		return group_wrong(p, "a group has one meaning", NULL);
	if (strlen(text) > FORMULA_TEXT_MAX)
		return group_wrong(p, "the meaning is too long", NULL);
	p->group->meaning = text;
	return 0;
}

/* The length of an event of a list: commas inside of braces, slashes and quotes are its own. */
static size_t event_length(const char *text)
{
	bool braces = false, slashes = false, quotes = false;
	size_t n;

	for (n = 0; text[n] && (braces || slashes || quotes || text[n] != ','); n++) {
		quotes = quotes != (text[n] == '\'');
		slashes = slashes != (text[n] == '/' && !quotes);
		braces = text[n] == '{' || (braces && text[n] != '}');
	}
	return n;
}

static int take_events(struct group_parser *p, char *text)
{
	struct group_way *way = group_way(p);
	bool more = true;

	while (more) {
		char *end = text + event_length(text), *next = end + 1;

		more = *end == ',';
		text += strspn(text, group_blanks);
		while (end > text && strchr(group_blanks, end[-1]))
			end--;
		*end = '\0';
		if (!*text)
			return group_wrong(p, "an event is missing beside a comma", NULL);
		if (way->nevents == GROUP_EVENTS_MAX)
			return group_wrong(p, "there are too many events", NULL);
		way->events[way->nevents++] = text;
		text = next;
	}
	return 0;
}

static int take_metric(struct group_parser *p, char *text)
{
	struct group_way *way = group_way(p);
	struct formula_error mistake;
	struct formula formula;
	int err = formula_parse(&formula, text, &mistake);

	formula_free(&formula);
	if (err)
		return error("%s:%u: '%.80s%s': column %zu: %s", p->group->path, p->line, text,
			     strlen(text) > 80 ? "..." : "", mistake.column, mistake.why);
	if (way->nmetrics == GROUP_METRICS_MAX)
		return group_wrong(p, "there are too many metrics", NULL);
	way->metrics[way->nmetrics++] = (struct group_metric){ text, p->line };
	return 0;
}

/* A way has ended. */
static int check_way(struct group_parser *p)
{
	if (!group_way(p)->nevents)
		return group_wrong(p, "a line 'events' is missing before it", NULL);
	if (!group_way(p)->nmetrics)
		return group_wrong(p, "a line 'metric' is missing before it", NULL);
	return 0;
}

static int take_or(struct group_parser *p, char *text)
{
	if (*text)
		return group_wrong(p, "stands behind 'or', which has a line of its own", text);
	if (check_way(p))
		return -1;
	if (p->group->nways == GROUP_WAYS_MAX)
		return group_wrong(p, "there are too many ways", NULL);
	p->group->nways++;
	return 0;
}

static const struct {
	const char *word;
	int (*take)(struct group_parser *p, char *text);
} group_lines[] = {
	{ "meaning", take_meaning }, { "events", take_events }, { "metric", take_metric }, { "or", take_or },
};

static int take_line(struct group_parser *p, char *line)
{
	size_t len = strlen(line), word;

	while (len && strchr(group_blanks, line[len - 1]))
		line[--len] = '\0';
	line += strspn(line, group_blanks);
	if (!*line || *line == '#')
		return 0;
	word = strcspn(line, group_blanks);
	for (size_t i = 0; i < ARRAY_SIZE(group_lines); i++) {
		char *rest = line + word + strspn(line + word, group_blanks);

		if (strlen(group_lines[i].word) != word || strncmp(line, group_lines[i].word, word) != 0)
			continue;
		if (!*rest && group_lines[i].take != take_or)
			return group_wrong(p, "has nothing behind it", group_lines[i].word);
		return group_lines[i].take(p, rest);
	}
	line[word] = '\0';
	return group_wrong(p, "begins no line of a group: these are meaning, events, metric and or", line);
}

/* "/a/b/MEM.group": "MEM". */
static char *group_name(const char *path)
{
	const char *base = strrchr(path, '/');
	size_t len;

	base = base ? base + 1 : path;
	len = strlen(base);
	return strndup(base, len > 6 && !strcmp(base + len - 6, ".group") ? len - 6 : len);
}

int group_parse(struct group *group, const char *path, const char *text, size_t len)
{
	struct group_parser p = { .group = group };
	char *rest, *line;

	*group = (struct group){ .nways = 1 };
	group->path = strdup(path);
	group->name = group_name(path);
	group->text = malloc(len + 1);
	if (!group->path || !group->name || !group->text)
		return error("out of memory");
	memcpy(group->text, text, len);
	group->text[len] = '\0';
	rest = group->text;
	while ((line = strsep(&rest, "\n"))) {
		p.line++;
		if (strlen(line) < (size_t)((rest ? rest - 1 : group->text + len) - line))
			return group_wrong(&p, "a zero byte is no text", NULL);
		if (take_line(&p, line))
			return -1;
	}
	if (!group->meaning)
		return group_wrong(&p, "a line 'meaning' is missing", NULL);
	return check_way(&p);
}

void group_free(struct group *group)
{
	free(group->name);
	free(group->path);
	free(group->text);
	*group = (struct group){ .name = NULL };
}
