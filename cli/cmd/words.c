/* SPDX-License-Identifier: MIT */
/* See words.h. */
#define _GNU_SOURCE
#include "cli/cmd/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/text.h"

#define BLANKS " \t\n"

void words_free(char **words)
{
	for (char **word = words; word && *word; word++)
		free(*word);
	free(words);
}

/* One word up to a blank: into out, which has room for all of the text. NULL: a quote does not end. */
static const char *word_take(const char *at, char *out)
{
	while (*at && !strchr(BLANKS, *at)) {
		char quote = *at == '\'' || *at == '"' ? *at++ : 0;

		if (!quote && *at == '\\' && at[1]) {
			*out++ = at[1];
			at += 2;
			continue;
		}
		if (!quote) {
			*out++ = *at++;
			continue;
		}
		while (*at && *at != quote) {
			if (quote == '"' && *at == '\\' && at[1] && strchr("\"\\$`", at[1]))
				at++;
			*out++ = *at++;
		}
		if (!*at)
			return NULL;
		at++;
	}
	*out = 0;
	return at;
}

char **words_split(const char *who, const char *text)
{
	/* No more than one for each two characters. */
	char **words = calloc(strlen(text) / 2 + 2, sizeof(*words)), *word = malloc(strlen(text) + 1);
	size_t n = 0;

	if (!words || !word)
		goto memory;
	for (text += strspn(text, BLANKS); *text; text += strspn(text, BLANKS)) {
		text = word_take(text, word);
		if (!text) {
			error("%s: a quote is not closed", who);
			goto failed;
		}
		words[n] = strdup(word);
		if (!words[n++])
			goto memory;
	}
	free(word);
	if (n)
		return words;
	error("%s: there is no command in it", who);
	words_free(words);
	return NULL;
memory:
	error("out of memory");
failed:
	free(word);
	words_free(words);
	return NULL;
}

char **words_copy(char *const *words)
{
	size_t n = 0;
	char **copy;

	while (words[n])
		n++;
	copy = calloc(n + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < n; i++) {
		copy[i] = strdup(words[i]);
		if (!copy[i]) {
			words_free(copy);
			return NULL;
		}
	}
	return copy;
}

char *words_join(char *const *words, int quoted)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	for (size_t i = 0; words[i]; i++) {
		if (i)
			fputc(' ', file);
		if (quoted)
			text_quote(file, words[i]);
		else
			fputs(words[i], file);
	}
	if (fclose(file) == 0)
		return text;
	free(text);
	return NULL;
}

char *words_replace(const char *text, const char *name, const char *value)
{
	size_t len = strlen(name), size;
	char *out = NULL;
	FILE *file = open_memstream(&out, &size);

	if (!file)
		return NULL;
	while (*text) {
		if (*text == '{' && !strncmp(text + 1, name, len) && text[1 + len] == '}') {
			fputs(value, file);
			text += len + 2;
		} else {
			fputc(*text++, file);
		}
	}
	if (fclose(file) == 0)
		return out;
	free(out);
	return NULL;
}
