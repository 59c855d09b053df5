/* SPDX-License-Identifier: MIT */
/* Entries of --wrap and the rules made of them; see wrap.h. */
#include "cli/cmd/wrap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/text.h"

#define RULES_MOST 16384u
#define TEXTS_MOST (4u << 20)

static const struct wrap_set sets[] = {
#define SET(name, meaning) { name, meaning },
#define CALL(set, symbol)
#include "cli/cmd/wrap_sets.def"
#undef SET
#undef CALL
};

static const struct wrap_set_call set_calls[] = {
#define SET(name, meaning)
#define CALL(set, symbol) { set, symbol },
#include "cli/cmd/wrap_sets.def"
#undef SET
#undef CALL
};

const struct wrap_set *wrap_sets(size_t *n)
{
	*n = ARRAY_SIZE(sets);
	return sets;
}

const struct wrap_set_call *wrap_set_calls(size_t *n)
{
	*n = ARRAY_SIZE(set_calls);
	return set_calls;
}

bool wrap_is_glob(const char *pattern)
{
	return strpbrk(pattern, "*?") != NULL;
}

bool wrap_rule_matches(const struct wrap_rule *rule, const char *symbol, const char *path)
{
	return call_pattern_matches(rule->symbol, symbol) && (!rule->library || call_library_matches(rule->library, path));
}

const char *wrap_refusal(const struct closure_call *call)
{
	const char *why = call_refusal(call->symbol);

	return !why && call->variant ? "it keeps more registers than a call does" : why;
}

int wrap_add(struct wrap *wrap, const struct wrap_rule *rule)
{
	size_t room = wrap->room ? 2 * wrap->room : 64;
	struct wrap_rule *added;

	if (wrap->n == RULES_MOST)
		return error("option --wrap: more than %u functions", RULES_MOST);
	if (wrap->n == wrap->room) {
		added = realloc(wrap->rules, room * sizeof(*added));
		if (!added)
			return error("out of memory");
		wrap->rules = added;
		wrap->room = room;
	}
	added = &wrap->rules[wrap->n];
	*added = *rule;
	added->library = rule->library ? strdup(rule->library) : NULL;
	added->symbol = strdup(rule->symbol);
	if (added->symbol && (added->library || !rule->library)) {
		wrap->n++;
		return 0;
	}
	free(added->library);
	free(added->symbol);
	return error("out of memory");
}

static int set_unknown(const char *entry, const char *name)
{
	const char *near = NULL;
	unsigned int least = 3, far;

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		far = text_distance(sets[i].name, name);
		if (far < least) {
			least = far;
			near = sets[i].name;
		}
	}
	if (near)
		return error("option --wrap: there is no set '%s'; did you mean @%s?", entry, near);
	return error("option --wrap: there is no set '%s'; see sparkctl list sets", entry);
}

static int set_add(struct wrap *wrap, const char *entry, const char *name, struct wrap_rule *rule)
{
	bool known = false;
	int status = 0;

	for (size_t i = 0; !status && i < ARRAY_SIZE(set_calls); i++) {
		if (strcmp(set_calls[i].set, name) != 0)
			continue;
		known = true;
		rule->symbol = (char *)set_calls[i].symbol;
		status = wrap_add(wrap, rule);
	}
	return known ? status : set_unknown(entry, name);
}

/* Names of the assembler: no blanks, nothing that has a meaning here, or in names of versions. */
static bool symbol_is_sound(const char *symbol)
{
	return *symbol && !symbol[strcspn(symbol, " \t\n:@!,/\"'\\[]{}()<>;&|=")];
}

/* "-" in front, then "@set", "symbol" or "library:symbol". The text is taken apart. */
static int entry_take(struct wrap *wrap, const char *entry, char *text)
{
	struct wrap_rule rule = { .entry = wrap->nentries - 1, .words = WIRE_CALL_WORDS, .except = *text == '-' };
	char *symbol = text + rule.except, *colon = strchr(symbol, ':');
	const char *why;

	if (*symbol == '@')
		return set_add(wrap, entry, symbol + 1, &rule);
	if (colon) {
		*colon = '\0';
		rule.library = symbol;
		symbol = colon + 1;
		if (!*rule.library || strchr(rule.library, '/'))
			return error("option --wrap: '%s' needs the name of a library's file before the colon, such as libz or libz.so.1",
				entry);
	}
	if (strchr(symbol, '@') && *symbol != '@')
		return error("option --wrap: '%s' has a version; functions are meant by their names alone", entry);
	if (!symbol_is_sound(symbol))
		return error("option --wrap: '%s' is not a symbol, library:symbol, or a set such as @io", entry);
	why = rule.except || wrap_is_glob(symbol) ? NULL : call_refusal(symbol);
	if (why)
		return error("option --wrap: %s can't be bracketed: %s", symbol, why);
	rule.symbol = symbol;
	return wrap_add(wrap, &rule);
}

static int entry_add(struct wrap *wrap, const char *entry, size_t length)
{
	char **grown = realloc(wrap->entries, (wrap->nentries + 1) * sizeof(*grown));
	char *text;
	int status;

	if (!grown)
		return error("out of memory");
	wrap->entries = grown;
	grown[wrap->nentries] = strndup(entry, length);
	text = strndup(entry, length);
	if (!grown[wrap->nentries] || !text) {
		free(grown[wrap->nentries]);
		free(text);
		return error("out of memory");
	}
	wrap->nentries++;
	status = entry_take(wrap, grown[wrap->nentries - 1], text);
	free(text);
	return status;
}

static int list_take(struct wrap *wrap, const char *list)
{
	size_t length;
	int status;

	for (;; list += length + 1) {
		length = strcspn(list, ",");
		status = length ? entry_add(wrap, list, length) :
				  error("option --wrap takes names, patterns and sets separated by commas; one is missing");
		if (status || !list[length])
			return status;
	}
}

int wrap_parse(struct wrap *wrap)
{
	bool any = false;
	int status = 0;

	for (size_t i = 0; !status && i < wrap->lists.n; i++)
		status = list_take(wrap, wrap->lists.item[i]);
	for (size_t i = 0; i < wrap->n; i++)
		any = any || !wrap->rules[i].except;
	if (!status && wrap->n && !any)
		return error("option --wrap has exceptions alone: what is to be bracketed is missing");
	if (!status && wrap->dlsym && !wrap->n)
		return error("option --wrap-dlsym needs --wrap");
	return status;
}

/* ---- as the agent takes them */

static u32 text_put(struct wire_calls *calls, const char *text)
{
	u32 at = calls->size;

	if (!text)
		return 0;
	strcpy((char *)calls + at, text);
	calls->size += (u32)strlen(text) + 1;
	return at;
}

/* The last that matches decides: exceptions stand behind all others, wherever they were given. */
static void rules_put(const struct wrap *wrap, struct wire_calls *calls, bool except)
{
	for (size_t i = 0; i < wrap->n; i++) {
		const struct wrap_rule *rule = &wrap->rules[i];

		if (rule->except == except)
			calls->rule[calls->rules++] = (struct wire_call_rule){
				.library = text_put(calls, rule->library), .symbol = text_put(calls, rule->symbol),
				.flags = except ? WIRE_CALL_EXCEPT : 0, .words = (u16)rule->words,
			};
	}
}

int wrap_encode(struct wrap *wrap)
{
	size_t size = sizeof(struct wire_calls) + wrap->n * sizeof(struct wire_call_rule), texts = 0, i;

	if (!wrap->n)
		return 0;
	for (i = 0; i < wrap->n; i++)
		texts += strlen(wrap->rules[i].symbol) + (wrap->rules[i].library ? strlen(wrap->rules[i].library) : 0) + 2;
	if (texts > TEXTS_MOST)
		return error("option --wrap: the names are too long");
	wrap->calls = calloc(1, size + texts);
	if (!wrap->calls)
		return error("out of memory");
	wrap->calls->flags = wrap->dlsym ? WIRE_CALLS_DLSYM : 0;
	wrap->calls->size = (u32)size;
	rules_put(wrap, wrap->calls, false);
	rules_put(wrap, wrap->calls, true);
	return 0;
}

void wrap_free(struct wrap *wrap)
{
	while (wrap->n) {
		wrap->n--;
		free(wrap->rules[wrap->n].library);
		free(wrap->rules[wrap->n].symbol);
	}
	while (wrap->nentries)
		free(wrap->entries[--wrap->nentries]);
	free(wrap->entries);
	free(wrap->rules);
	free(wrap->calls);
	opt_list_free(&wrap->lists);
	*wrap = (struct wrap){ .n = 0 };
}
