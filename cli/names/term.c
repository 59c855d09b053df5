/* SPDX-License-Identifier: MIT */
/*
 * What stands between the slashes of pmu/event=0x3c,umask=1/: terms that the PMU's format files
 * place in the words of perf_event_attr, names of its own events, and the terms that all PMUs have.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/names/internal.h"

#define TERMS_MOST 64

struct term {
	char *name;
	char *value;                 /* NULL: none */
};

struct terms {
	char *text;
	struct term term[TERMS_MOST];
	size_t n;
};

/* What they are applied to. */
struct term_target {
	struct names_context *context;
	const struct names_pmu *pmu; /* NULL: none */
	struct event *event;
	const struct terms *all;     /* as the user gave them */
};

bool number_parse(const char *text, u64 *value)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = hex ? text + 2 : text;
	char *end;

	if (!*digits || digits[strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789")])
		return false;
	errno = 0;
	*value = strtoull(digits, &end, hex ? 16 : 10);
	return !errno && !*end;
}

/* The end of a term: the next comma outside quotes. */
static char *term_end(char *text)
{
	bool quoted = false;

	for (; *text && (quoted || *text != ','); text++)
		quoted ^= *text == '\'';
	return text;
}

/* The text without the quotes around it. */
static char *term_unquote(char *text)
{
	size_t len = strlen(text);

	if (len < 2 || text[0] != '\'' || text[len - 1] != '\'')
		return text;
	text[len - 1] = '\0';
	return text + 1;
}

static int terms_split(struct terms *terms, const char *text)
{
	char *at, *end;
	bool last;

	*terms = (struct terms){ .text = strdup(text) };
	if (!terms->text)
		return error("out of memory");
	for (at = terms->text; *at; at = last ? end : end + 1) {
		struct term *term = &terms->term[terms->n];

		if (terms->n++ == TERMS_MOST) {
			free(terms->text);
			return error("more than %d terms in '%s'", TERMS_MOST, text);
		}
		end = term_end(at);
		last = !*end;
		*end = '\0';
		term->name = at;
		term->value = strchr(at, '=');
		if (term->value) {
			*term->value++ = '\0';
			term->value = term_unquote(term->value);
		}
	}
	return 0;
}

static __u64 *term_word(struct event *event, unsigned int word)
{
	switch (word) {
	case 0:
		return &event->attr.config;
	case 1:
		return &event->attr.config1;
	case 2:
		return &event->attr.config2;
	default:
		return &event->config3;
	}
}

/* Places the low bits of the value where bits has ones, from the lowest on. */
static int term_place(const struct term_target *target, const struct names_format *format, u64 value)
{
	__u64 *word = term_word(target->event, format->word);
	u64 bits;
	int width = __builtin_popcountll(format->bits);

	if (width < 64 && value >> width)
		return error("%s of %s takes at most %#llx, not %#llx", format->name, target->pmu->name,
			(1ULL << width) - 1, (unsigned long long)value);
	*word &= ~format->bits;
	for (bits = format->bits; bits; bits &= bits - 1, value >>= 1)
		if (value & 1)
			*word |= bits & -bits;
	return 0;
}

static int term_suggest(void *data, const struct names_format *format)
{
	suggestion_offer(data, format->name);
	return 0;
}

static int term_suggest_alias(void *data, const struct names_alias *alias)
{
	suggestion_offer(data, alias->name);
	return 0;
}

static int term_unknown(const struct term_target *target, const struct term *term)
{
	struct suggestion near;
	char text[400];

	if (!target->pmu)
		return error("the term '%s' needs a PMU before the slash", term->name);
	suggestion_init(&near, term->name);
	names_each_format(target->context, target->pmu, term_suggest, &near);
	if (!term->value)
		names_each_alias(target->context, target->pmu, term_suggest_alias, &near);
	return error("%s has no %s '%s'%s", target->pmu->name, term->value ? "term" : "term or event", term->name,
		suggestion_text(&near, text, sizeof(text)));
}

/* A term that a format file explains. 1, 0 or -1. */
static int term_apply_format(const struct term_target *target, const struct term *term)
{
	struct names_format format;
	u64 value = 1;
	int known;

	known = target->pmu ? pmu_format_read(target->context, target->pmu, term->name, &format) : 0;
	if (known <= 0)
		return known;
	if (term->value && !number_parse(term->value, &value))
		return error("%s of %s takes a number, decimal or after 0x, not '%s'", term->name, target->pmu->name,
			term->value);
	if (!term->value && (format.bits & (format.bits - 1)))
		return error("%s of %s needs a value: %s=NUMBER", term->name, target->pmu->name, term->name);
	return term_place(target, &format, value) ? -1 : 1;
}

static int term_apply_period(struct event *event, const struct term *term, u64 value)
{
	event->attr.freq = !strcmp(term->name, "freq");
	event->attr.sample_period = value;
	return 1;
}

/* Terms that all PMUs have. 1, 0 or -1. */
static int term_apply_common(const struct term_target *target, const struct term *term)
{
	static const char *const words[] = { "config", "config1", "config2", "config3" };
	static const char *const samples[] = {
		"branch_type", "call-graph", "stack-size", "time", "max-stack", "max-events", "overwrite",
		"no-overwrite", "inherit", "no-inherit", "percore", "aux-output", "aux-sample-size", "metric-id",
		"driver-config",
	};
	u64 value;
	size_t i;

	if (!strcmp(term->name, "name"))
		return term->value && *term->value ? (event_set(&target->event->name, "%s", term->value) ? -1 : 1) :
						     error("name= needs a name");
	for (i = 0; i < ARRAY_SIZE(samples); i++)
		if (!strcmp(term->name, samples[i]))
			return error("the term '%s' of perf has no meaning here", term->name);
	for (i = 0; i < ARRAY_SIZE(words) && strcmp(term->name, words[i]) != 0; i++)
		;
	if (i == ARRAY_SIZE(words) && strcmp(term->name, "period") != 0 && strcmp(term->name, "freq") != 0)
		return 0;
	if (!term->value || !number_parse(term->value, &value))
		return error("%s= takes a number, decimal or after 0x%s%s", term->name, term->value ? ", not " : "",
			term->value ? term->value : "");
	if (i == ARRAY_SIZE(words))
		return term_apply_period(target->event, term, value);
	*term_word(target->event, (unsigned int)i) = value;
	return 1;
}

static int terms_apply_all(const struct term_target *target, const struct terms *terms, bool from_alias);

/* The terms that a name of the PMU's own stands for. 1, 0 or -1. */
static int term_apply_alias(const struct term_target *target, const struct term *term)
{
	struct pmu_alias alias;
	struct terms terms;
	int result;

	if (!target->pmu || term->value ||
	    !pmu_alias_read(target->context, target->pmu, term->name, &alias))
		return 0;
	if (terms_split(&terms, alias.terms))
		return -1;
	result = terms_apply_all(target, &terms, true);
	free(terms.text);
	if (result)
		return -1;
	target->event->scale *= alias.scale;
	return alias.unit[0] && event_set(&target->event->unit, "%s", alias.unit) ? -1 : 1;
}

/* Some events leave a value to the user: "domain=?". */
static int term_check_open(const struct term_target *target, const struct term *term)
{
	size_t i;

	for (i = 0; i < target->all->n; i++)
		if (!strcmp(target->all->term[i].name, term->name))
			return 1;
	return error("this event of %s needs %s=NUMBER as well", target->pmu->name, term->name);
}

static int term_apply(const struct term_target *target, const struct term *term, bool from_alias)
{
	int known;

	if (!*term->name)
		return error("a term is missing%s%s", target->pmu ? " after " : "",
			target->pmu ? target->pmu->name : "");
	if (from_alias && term->value && !strcmp(term->value, "?"))
		return term_check_open(target, term);
	known = term_apply_common(target, term);
	if (!known && !from_alias)
		known = term_apply_alias(target, term);
	if (!known)
		known = term_apply_format(target, term);
	if (!known && target->pmu && !term->value)
		known = generic_encode(target->context, target->pmu, target->event, term->name);
	return known ? known : term_unknown(target, term);
}

/* What the user says after an event's name prevails: names first. */
static int terms_apply_all(const struct term_target *target, const struct terms *terms, bool from_alias)
{
	size_t i;

	for (i = 0; i < terms->n; i++)
		if (!terms->term[i].value && term_apply(target, &terms->term[i], from_alias) < 0)
			return -1;
	for (i = 0; i < terms->n; i++)
		if (terms->term[i].value && term_apply(target, &terms->term[i], from_alias) < 0)
			return -1;
	return 0;
}

int terms_apply(struct names_context *context, const struct names_pmu *pmu, struct event *event,
	const char *text)
{
	struct terms terms;
	struct term_target target = { context, pmu, event, &terms };
	int result;

	if (terms_split(&terms, text))
		return -1;
	result = terms_apply_all(&target, &terms, false);
	free(terms.text);
	return result;
}

static int pmu_suggest(void *data, const struct names_pmu *pmu)
{
	suggestion_offer(data, pmu->name);
	return 0;
}

/* PMUs of other machines: a list of events may be used on several. */
static int terms_add_absent(struct names_context *context, struct event_list *list, const char *pmu)
{
	static const char *const known[] = {
		"cpu", "cpu_core", "cpu_atom", "arm*_cortex_*", "armv[789]*", "arm_spe*", "arm_cmn*", "arm_dsu*",
		"amd_*", "ibs_*", "uncore_*", "power", "cstate_*", "msr", "intel_*", "hv_*", "nest_*", "kprobe",
		"uprobe", "cs_etm", "i915", "apple_*", "software", "tracepoint", "breakpoint",
	};
	struct suggestion near;
	struct event *event;
	char text[400];
	size_t i;

	suggestion_init(&near, pmu);
	names_each_pmu(context, pmu_suggest, &near);
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (fnmatch(known[i], pmu, 0))
			continue;
		event = event_add(list, PERF_TYPE_RAW, 0);
		suggestion_text(&near, text, sizeof(text));
		if (!event || event_set(&event->pmu, "%s", pmu) ||
			event_set(&event->obstacle, "this machine has no PMU %s%s", pmu, text))
			return -1;
		return 1;
	}
	return error("there is no PMU '%s'%s", pmu, suggestion_text(&near, text, sizeof(text)));
}

int terms_add(struct names_context *context, struct event_list *list, const char *name,
	const char *terms)
{
	const struct names_pmu *pmu;
	size_t from = list->n, at = 0;
	struct event *event;

	while ((pmu = pmu_match(context, name, &at))) {
		event = pmu_event_add(pmu, list);
		if (!event || terms_apply(context, pmu, event, terms))
			return -1;
	}
	return list->n > from ? (int)(list->n - from) : terms_add_absent(context, list, name);
}

int alias_add(struct names_context *context, struct event_list *list, const char *word)
{
	size_t i, n, from = list->n;
	const struct names_pmu *pmus = pmu_table(context, &n);
	struct pmu_alias alias;
	struct event *event;

	for (i = 0; i < n; i++) {
		if (!pmu_alias_read(context, &pmus[i], word, &alias))
			continue;
		event = pmu_event_add(&pmus[i], list);
		if (!event || terms_apply(context, &pmus[i], event, word))
			return -1;
	}
	return (int)(list->n - from);
}
