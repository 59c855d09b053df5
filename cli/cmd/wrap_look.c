/* SPDX-License-Identifier: MIT */
/* What --wrap means for a program, before it starts; see wrap.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/wrap.h"
#include "cli/log.h"
#include "cli/session/session.h"
#include "cli/symbols/call_words.h"
#include "cli/text.h"

#define NEAR_MOST 3
#define WORDS_NS (5 * NSEC_PER_SEC)
#define VARIADIC_WORDS (2 * WIRE_CALL_WORDS)

struct look {
	struct wrap *wrap;
	struct closure closure;
	const char *program;         /* the file's name */
	bool *wrapped;               /* calls that will be */
	bool *matched;               /* entries that mean a call */
	const struct closure_call **refused; /* of each entry, one that it means and that cannot be bracketed */
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *library_path(const struct look *look, size_t i)
{
	return look->closure.objects[look->closure.calls[i].library].path;
}

/* ---- what is meant */

static int rule_apply(struct look *look, const struct wrap_rule *rule, size_t i)
{
	const struct closure_call *call = &look->closure.calls[i];
	const char *why = rule->except ? NULL : wrap_refusal(call);

	if (why && !wrap_is_glob(rule->symbol))
		return error("option --wrap: %s of %s can't be bracketed: %s", call->symbol, base_name(library_path(look, i)), why);
	if (why) {
		look->refused[rule->entry] = call;
		return 0;
	}
	look->matched[rule->entry] = true;
	look->wrapped[i] = !rule->except;
	return 0;
}

/* The first call of a name, or of a greater one: they are in order. */
static size_t calls_from(const struct closure *closure, const char *symbol)
{
	size_t from = 0, to = closure->ncalls, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (strcmp(closure->calls[middle].symbol, symbol) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static int rules_apply(struct look *look, bool except)
{
	const struct closure *closure = &look->closure;
	int status = 0;

	for (size_t k = 0; k < look->wrap->n; k++) {
		const struct wrap_rule *rule = &look->wrap->rules[k];
		bool glob = wrap_is_glob(rule->symbol);
		size_t i = glob ? 0 : calls_from(closure, rule->symbol);

		for (; !status && rule->except == except && i < closure->ncalls; i++) {
			if (wrap_rule_matches(rule, closure->calls[i].symbol, library_path(look, i)))
				status = rule_apply(look, rule, i);
			else if (!glob && strcmp(closure->calls[i].symbol, rule->symbol) != 0)
				break;
		}
	}
	return status;
}

/* ---- warnings */

struct near {
	const char *name[NEAR_MOST];
	unsigned int far[NEAR_MOST];
	size_t n;
};

/* Keeps the nearest names, each once. */
static void near_add(struct near *near, const char *name, unsigned int far)
{
	size_t at = near->n, i;

	for (i = 0; i < near->n; i++)
		if (!strcmp(near->name[i], name))
			return;
	while (at > 0 && near->far[at - 1] > far)
		at--;
	if (at == NEAR_MOST)
		return;
	near->n = MIN(near->n + 1, (size_t)NEAR_MOST);
	for (i = near->n - 1; i > at; i--) {
		near->name[i] = near->name[i - 1];
		near->far[i] = near->far[i - 1];
	}
	near->name[at] = name;
	near->far[at] = far;
}

/* A name without what stands for any: what is typed wrong is mostly between. */
static void pattern_plain(const char *pattern, char *plain, size_t size)
{
	size_t n = 0;

	for (; *pattern && n + 1 < size; pattern++)
		if (*pattern != '*' && *pattern != '?')
			plain[n++] = *pattern;
	plain[n] = '\0';
}

/* Compares with the first bytes of a name. A third of it may be wrong; a part of a name is near as well. */
static void near_try(struct near *near, const char *plain, const char *name, size_t length)
{
	size_t most = strlen(plain) < 4 ? 1 : MAX(strlen(plain) / 3, (size_t)2);
	char compared[256];

	if (!*plain || length >= sizeof(compared))
		return;
	snprintf(compared, sizeof(compared), "%.*s", (int)length, name);
	if (text_distance(compared, plain) <= most || (strlen(plain) > 3 && strstr(compared, plain)))
		near_add(near, name, text_distance(compared, plain));
}

static void near_symbols(const struct look *look, const struct wrap_rule *rule, struct near *near)
{
	char plain[256];

	pattern_plain(rule->symbol, plain, sizeof(plain));
	for (size_t i = 0; i < look->closure.ncalls; i++)
		if (!wrap_refusal(&look->closure.calls[i]))
			near_try(near, plain, look->closure.calls[i].symbol, strlen(look->closure.calls[i].symbol));
}

static void near_libraries(const struct look *look, const struct wrap_rule *rule, struct near *near)
{
	char plain[256];

	pattern_plain(rule->library, plain, sizeof(plain));
	for (size_t i = 0; i < look->closure.n; i++) {
		const char *name = base_name(look->closure.objects[i].path), *end = strstr(name, ".so");

		near_try(near, plain, name, strlen(name));
		near_try(near, plain, name, end ? (size_t)(end - name) : strlen(name));
	}
}

static bool library_is_known(const struct look *look, const struct wrap_rule *rule)
{
	for (size_t i = 0; i < look->closure.n; i++)
		if (!rule->library || call_library_matches(rule->library, look->closure.objects[i].path))
			return true;
	return false;
}

/* "; did you mean A, B or C?" */
static const char *near_text(const struct near *near, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < near->n && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", !i ? "; did you mean " : i + 1 < near->n ? ", " : " or ",
			near->name[i]);
	if (near->n && used < size)
		snprintf(text + used, size - used, "?");
	return text;
}

static void entry_warn(const struct look *look, size_t entry, const struct wrap_rule *rule)
{
	const struct closure_call *refused = look->refused[entry];
	struct near near = { .n = 0 };
	char text[1024];

	if (refused) {
		warning("--wrap '%s' means what can't be bracketed, such as %s: %s", look->wrap->entries[entry],
			refused->symbol, wrap_refusal(refused));
		return;
	}
	if (look->wrap->runs)
		return;
	if (!library_is_known(look, rule)) {
		near_libraries(look, rule, &near);
		warning("--wrap '%s': %s starts with no such library%s", look->wrap->entries[entry], look->program,
			near_text(&near, text, sizeof(text)));
		return;
	}
	if (look->wrap->entries[entry][rule->except] != '@')
		near_symbols(look, rule, &near);
	warning("--wrap '%s' matches no call between %s and its libraries%s", look->wrap->entries[entry], look->program,
		near_text(&near, text, sizeof(text)));
}

static void entries_warn(const struct look *look)
{
	size_t last = SIZE_MAX;

	for (size_t k = 0; k < look->wrap->n; k++) {
		size_t entry = look->wrap->rules[k].entry;

		if (entry != last && !look->matched[entry])
			entry_warn(look, entry, &look->wrap->rules[k]);
		last = entry;
	}
}

/* ---- words of arguments */

/* Whether some entry names the function itself. */
static bool call_is_named(const struct look *look, size_t i)
{
	for (size_t k = 0; k < look->wrap->n; k++) {
		const struct wrap_rule *rule = &look->wrap->rules[k];

		if (!rule->except && look->wrap->entries[rule->entry][0] != '@' && !wrap_is_glob(rule->symbol) &&
		    wrap_rule_matches(rule, look->closure.calls[i].symbol, library_path(look, i)))
			return true;
	}
	return false;
}

/* A rule for a function that takes so many words of arguments on the stack. */
static int words_apply(struct look *look, size_t i, u32 words)
{
	const char *symbol = look->closure.calls[i].symbol, *library = base_name(library_path(look, i));
	struct wrap_rule rule = { .library = (char *)library, .symbol = (char *)symbol, .words = ALIGN_UP(words, 2u) };

	if (words == CALL_WORDS_UNKNOWN || words <= WIRE_CALL_WORDS)
		return 0;
	rule.except = words > WIRE_CALL_WORDS_MOST;
	if (rule.except && call_is_named(look, i))
		return error("option --wrap: %s of %s can't be bracketed: it takes %u words of arguments on the stack", symbol,
			library, words);
	if (rule.except) {
		warning("%s of %s is not bracketed: it takes %u words of arguments on the stack", symbol, library, words);
		rule.words = WIRE_CALL_WORDS;
	} else {
		verbose(1, "--wrap: %s of %s takes %u words of arguments on the stack", symbol, library, words);
	}
	return wrap_add(look->wrap, &rule);
}

static int address_compare(const void *left, const void *right)
{
	u64 a = *(const u64 *)left, b = *(const u64 *)right;

	return a < b ? -1 : a > b;
}

static bool call_counts(const struct look *look, size_t i, size_t library)
{
	const struct closure_call *call = &look->closure.calls[i];

	/* Of a function that the loader chooses, the address is that of who chooses. */
	return look->wrapped[i] && call->library == library && !call->function->chosen;
}

/* All that is to be bracketed of one library. */
static int library_words(struct look *look, size_t library, u64 until)
{
	const struct closure *closure = &look->closure;
	u64 *addresses = calloc(closure->ncalls + 1, sizeof(*addresses)), *found;
	u32 *words = calloc(closure->ncalls + 1, sizeof(*words));
	const char *last = "";
	size_t n = 0, i;
	int status = addresses && words ? 0 : error("out of memory");

	for (i = 0; !status && i < closure->ncalls; i++)
		if (call_counts(look, i, library))
			addresses[n++] = closure->calls[i].function->address;
	if (!status && n) {
		qsort(addresses, n, sizeof(*addresses), address_compare);
		call_words_find(&(struct call_words){ closure->objects[library].path, addresses, n, words, VARIADIC_WORDS }, until);
	}
	for (i = 0; !status && n && i < closure->ncalls; i++) {
		if (!call_counts(look, i, library) || !strcmp(closure->calls[i].symbol, last))
			continue;
		last = closure->calls[i].symbol;
		found = bsearch(&closure->calls[i].function->address, addresses, n, sizeof(*addresses), address_compare);
		if (found)
			status = words_apply(look, i, words[found - addresses]);
	}
	free(addresses);
	free(words);
	return status;
}

static int all_words(struct look *look)
{
	u64 until = clock_ns(CLOCK_MONOTONIC) + WORDS_NS;
	int status = 0;

	for (size_t i = 0; !status && i < look->closure.n; i++)
		status = library_words(look, i, until);
	return status;
}

static int look_all(struct look *look)
{
	int status;

	look->wrapped = calloc(look->closure.ncalls + 1, sizeof(*look->wrapped));
	look->matched = calloc(look->wrap->nentries, sizeof(*look->matched));
	look->refused = calloc(look->wrap->nentries, sizeof(*look->refused));
	if (!look->wrapped || !look->matched || !look->refused)
		return error("out of memory");
	status = rules_apply(look, false);
	status = status ? status : rules_apply(look, true);
	if (status)
		return status;
	for (size_t i = 0; i < look->closure.nmissing; i++)
		verbose(1, "%s: the library %s is not found", look->program, look->closure.missing[i]);
	entries_warn(look);
	return all_words(look);
}

int wrap_look(struct wrap *wrap, const char *command)
{
	struct session_program program;
	struct look look = { .wrap = wrap };
	int status;

	/* What is not found, or not to be executed, is told when it is started. */
	if (!wrap->n || !session_look(&program, command))
		return 0;
	if (program.obstacle[0]) {
		warning("--wrap: no call is bracketed in it: %s", program.obstacle);
		return 0;
	}
	status = closure_open(&look.closure, program.path);
	if (status) {
		verbose(1, "--wrap: %s can't be looked at before its start: %s", program.path, strerror(-status));
		return 0;
	}
	look.program = base_name(program.path);
	status = look_all(&look);
	free(look.wrapped);
	free(look.matched);
	free(look.refused);
	closure_close(&look.closure);
	return status;
}
