/* SPDX-License-Identifier: MIT */
/* See profiled.h. */
#include "cli/cmd/profiled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/output/lines.h"

enum { NEAR_MOST = 3, NEAR_COLUMNS = 60 };

/* Ways in which a word names a function, the strictest first. */
enum profiled_way { WAY_EXACT, WAY_PRINTED, WAY_PLAIN, WAY_LAST, WAY_PART, PROFILED_WAYS };

static size_t ellipsis(const char *s)
{
	return !strncmp(s, "…", 3) || !strncmp(s, "...", 3) ? 3 : 0;
}

static bool is_printed(const char *word, const char *name)
{
	const char *behind = NULL, *from = NULL;

	while (*name) {
		if (ellipsis(word)) {
			behind = word += ellipsis(word);
			from = name;
		} else if (*word == *name) {
			word++;
			name++;
		} else if (behind) {
			word = behind;
			name = ++from;
		} else {
			return false;
		}
	}
	while (ellipsis(word))
		word += ellipsis(word);
	return !*word;
}

/* Of "void area::box::fill" what stands last. */
static const char *last_part(const char *plain)
{
	const char *at;

	while ((at = strstr(plain, "::")))
		plain = at + 2;
	at = strrchr(plain, ' ');
	return at && strncmp(plain, "operator", 8) != 0 ? at + 1 : plain;
}

static bool is_plain(const char *word, const char *name, bool last)
{
	char *plain = lines_function_plain(name);
	bool is = plain && !strcmp(last ? last_part(plain) : plain, word);

	free(plain);
	return is;
}

static bool profiled_is(enum profiled_way way, const char *word, const char *name)
{
	switch (way) {
	case WAY_EXACT:
		return !strcmp(name, word);
	case WAY_PRINTED:
		return is_printed(word, name);
	case WAY_PLAIN:
	case WAY_LAST:
		return is_plain(word, name, way == WAY_LAST);
	default:
		return *word && strstr(name, word);
	}
}

/* Those that the word names in one way. */
struct profiled_found {
	const char *first;
	u32 n;
	char text[NEAR_MOST * (4 * NEAR_COLUMNS + 8)]; /* "'insert', 'insert_all'" */
};

static void found_add(struct profiled_found *found, const char *name)
{
	size_t len = strlen(found->text);
	char *shown = lines_function(name, NEAR_COLUMNS);

	if (!found->n++)
		found->first = name;
	if (found->n <= NEAR_MOST)
		snprintf(found->text + len, sizeof(found->text) - len, "%s'%s'", len ? ", " : "", shown ? shown : "");
	free(shown);
}

static void profiled_find(const struct samples *samples, enum profiled_way way, const char *word,
			  struct profiled_found *found)
{
	bool *seen = calloc((size_t)samples->nstrings + 1, sizeof(*seen));
	u32 i;

	*found = (struct profiled_found){ .n = 0 };
	for (i = 0; seen && i < samples->nlines; i++) {
		u32 name = samples->lines[i].function;

		if (name == SAMPLES_NONE || seen[name])
			continue;
		seen[name] = true;
		if (profiled_is(way, word, samples->strings[name].bytes))
			found_add(found, samples->strings[name].bytes);
	}
	free(seen);
}

int profiled_check(const struct recording *recording, const char *path, const char **word)
{
	const struct samples *samples = recording->facts.samples;
	struct profiled_found found = { .n = 0 };
	enum profiled_way way;

	if (!samples || !samples_taken(samples))
		return error("%s has no samples: it was not recorded with run --profile", path);
	if (!*word)
		return 0;
	for (way = WAY_EXACT; way < PROFILED_WAYS; way++) {
		profiled_find(samples, way, *word, &found);
		if (found.n)
			break;
	}
	if (!found.n)
		return error("%s has no samples in a function '%s'; see sparkctl report --profile", path, *word);
	if (way == WAY_PART)
		return error("%s has no samples in a function '%s'; near it: %s", path, *word, found.text);
	if (found.n > 1)
		return error("%s has samples in %u functions '%s': %s%s", path, found.n, *word, found.text,
			     found.n > NEAR_MOST ? ", ..." : "");
	*word = found.first;
	return 0;
}
