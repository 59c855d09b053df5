/* SPDX-License-Identifier: MIT */
/* What a word that is no event may have been meant to be. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/log.h"
#include "cli/names/internal.h"
#include "cli/text.h"

void suggestion_init(struct suggestion *suggestion, const char *word)
{
	memset(suggestion, 0, sizeof(*suggestion));
	suggestion->word = word;
}

/* Case, and _ for -, are no difference: such slips are the most frequent. */
static void suggestion_fold(char out[64], const char *word)
{
	size_t i;

	for (i = 0; i < 60 && word[i]; i++)
		out[i] = word[i] == '_' ? '-' : (char)tolower((unsigned char)word[i]);
	out[i] = '\0';
}

void suggestion_offer(struct suggestion *suggestion, const char *candidate)
{
	char word[64], other[64];
	unsigned int far, i, n = ARRAY_SIZE(suggestion->near);
	size_t len = strlen(suggestion->word), most = len < 4 ? 1 : MAX(len / 4, 2);

	if (strlen(candidate) >= sizeof(suggestion->near[0].text) || len >= 60)
		return;
	suggestion_fold(word, suggestion->word);
	suggestion_fold(other, candidate);
	far = text_distance(other, word);
	/* A name that goes on is near too: many have a suffix. */
	if (far > most && len >= 4 && !strncmp(word, other, len))
		far = (unsigned int)most;
	if (far > most)
		return;
	for (i = 0; i < n; i++)
		if (!strcmp(suggestion->near[i].text, candidate))
			return;
	for (i = 0; i < n && suggestion->near[i].text[0] && suggestion->near[i].far <= far; i++)
		;
	if (i == n)
		return;
	memmove(&suggestion->near[i + 1], &suggestion->near[i], (n - 1 - i) * sizeof(suggestion->near[0]));
	snprintf(suggestion->near[i].text, sizeof(suggestion->near[i].text), "%s", candidate);
	suggestion->near[i].far = far;
}

const char *suggestion_text(const struct suggestion *suggestion, char *text, size_t size)
{
	size_t i, n = 0, at = 0;

	while (n < ARRAY_SIZE(suggestion->near) && suggestion->near[n].text[0])
		n++;
	text[0] = '\0';
	for (i = 0; i < n && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%s%s",
			i == 0 ? "; did you mean " : i == n - 1 ? " or " : ", ",
			suggestion->near[i].text, i == n - 1 ? "?" : "");
	return text;
}

static int suggest_generic(void *data, const char *name, const char *other)
{
	suggestion_offer(data, name);
	if (other)
		suggestion_offer(data, other);
	return 0;
}

static int suggest_alias(void *data, const struct names_alias *alias)
{
	suggestion_offer(data, alias->name);
	return 0;
}

static int suggest_pfm(void *data, const char *name, const char *meaning)
{
	const char *own = strstr(name, "::");

	(void)meaning;
	suggestion_offer(data, own ? own + 2 : name);
	return 0;
}

int names_unknown(struct names_context *context, const char *word)
{
	static const u32 types[] = { PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE, PERF_TYPE_HW_CACHE };
	const struct names_pmu *pmus;
	struct suggestion near;
	char text[400];
	size_t i, n;

	suggestion_init(&near, word);
	for (i = 0; i < ARRAY_SIZE(types); i++)
		names_each_generic(types[i], suggest_generic, &near);
	pmus = pmu_table(context, &n);
	for (i = 0; i < n; i++)
		names_each_alias(context, &pmus[i], suggest_alias, &near);
	names_each_pfm(context, suggest_pfm, &near);
	return error("there is no event '%s'%s%s", word, suggestion_text(&near, text, sizeof(text)),
		names_have_pfm() ? "" :
				   "; names of CPU vendors' manuals need a sparkctl built with libpfm4");
}
