/* SPDX-License-Identifier: MIT */
/* Rules for buckets; see buckets.h. */
#include "cli/analyze/buckets.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct buckets_rule {
	regex_t regex;
	u32 name;
};

static const char buckets_blanks[] = " \t\r";

/* A part of the line without blanks around it, as a string of its own. */
static char *buckets_cut(const char *begin, const char *end)
{
	while (begin < end && strchr(buckets_blanks, *begin))
		begin++;
	while (end > begin && strchr(buckets_blanks, end[-1]))
		end--;
	return strndup(begin, (size_t)(end - begin));
}

static int buckets_wrong(struct buckets_error *mistake, const char *why)
{
	snprintf(mistake->why, sizeof(mistake->why), "%s", why);
	return -1;
}

/* The last arrow of a line, since a pattern may have one, too; *length: its bytes. */
static const char *buckets_arrow(const char *line, const char *end, size_t *length)
{
	const char *at;

	for (at = end; at-- > line;) {
		*length = end - at >= 2 && !memcmp(at, "->", 2) ? 2 : end - at >= 3 && !memcmp(at, "→", 3) ? 3 : 0;
		if (*length)
			return at;
	}
	return NULL;
}

/* Takes the name. Its number; BUCKETS_NONE when memory is short. */
static u32 buckets_name(struct buckets *buckets, char *name)
{
	char **names;
	u32 i;

	for (i = 0; i < buckets->nnames; i++)
		if (!strcmp(buckets->names[i], name))
			break;
	names = i < buckets->nnames ? NULL : realloc(buckets->names, ((size_t)i + 1) * sizeof(*names));
	if (!names) {
		free(name);
		return i < buckets->nnames ? i : BUCKETS_NONE;
	}
	buckets->names = names;
	names[buckets->nnames++] = name;
	return i;
}

static int buckets_rule(struct buckets *buckets, const char *pattern, char *name, struct buckets_error *mistake)
{
	struct buckets_rule *rules = realloc(buckets->rules, (buckets->nrules + 1) * sizeof(*rules)), *rule;
	int code;

	if (!rules) {
		free(name);
		return buckets_wrong(mistake, "out of memory");
	}
	buckets->rules = rules;
	rule = &rules[buckets->nrules];
	rule->name = buckets_name(buckets, name);
	if (rule->name == BUCKETS_NONE)
		return buckets_wrong(mistake, "out of memory");
	code = regcomp(&rule->regex, pattern, REG_EXTENDED | REG_NOSUB);
	if (code) {
		regerror(code, &rule->regex, mistake->why, sizeof(mistake->why));
		return -1;
	}
	buckets->nrules++;
	return 0;
}

static int buckets_line(struct buckets *buckets, const char *line, const char *end, struct buckets_error *mistake)
{
	size_t length;
	const char *arrow;
	char *pattern, *name;
	int ret;

	while (line < end && strchr(buckets_blanks, *line))
		line++;
	if (line == end || *line == '#')
		return 0;
	arrow = buckets_arrow(line, end, &length);
	if (!arrow)
		return buckets_wrong(mistake, "there is no -> in it");
	pattern = buckets_cut(line, arrow);
	name = buckets_cut(arrow + length, end);
	if (pattern && name && *pattern && *name) {
		ret = buckets_rule(buckets, pattern, name, mistake);
	} else {
		ret = buckets_wrong(mistake, !pattern || !name ? "out of memory" :
				    *pattern ? "there is no bucket behind the ->" : "there is no pattern in front of the ->");
		free(name);
	}
	free(pattern);
	return ret;
}

int buckets_parse(struct buckets *buckets, const char *text, struct buckets_error *mistake)
{
	const char *end;

	*buckets = (struct buckets){ .rules = NULL };
	for (mistake->line = 1; *text; mistake->line++) {
		end = text + strcspn(text, "\n");
		if (buckets_line(buckets, text, end, mistake) != 0)
			return -1;
		text = *end ? end + 1 : end;
	}
	return 0;
}

void buckets_free(struct buckets *buckets)
{
	size_t i;

	for (i = 0; i < buckets->nrules; i++)
		regfree(&buckets->rules[i].regex);
	for (i = 0; i < buckets->nnames; i++)
		free(buckets->names[i]);
	free(buckets->rules);
	free(buckets->names);
	*buckets = (struct buckets){ .rules = NULL };
}

u32 buckets_find(const struct buckets *buckets, const char *function, const char *object)
{
	size_t i;

	for (i = 0; i < buckets->nrules; i++)
		if ((function && !regexec(&buckets->rules[i].regex, function, 0, NULL, 0)) ||
		    (object && !regexec(&buckets->rules[i].regex, object, 0, NULL, 0)))
			return buckets->rules[i].name;
	return BUCKETS_NONE;
}
