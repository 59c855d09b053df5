/* SPDX-License-Identifier: MIT */
/* The listing "symbols" of the command list: which functions a program and its libraries call in each other. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd/cmd.h"
#include "cli/cmd/list.h"
#include "cli/cmd/wrap.h"
#include "cli/log.h"
#include "cli/session/session.h"
#include "cli/term.h"
#include "cli/text.h"

struct symbols {
	struct session_program program;
	struct closure closure;
	char **patterns;             /* terminated by NULL */
};

/* A function with all that call it: calls that stand together. */
struct function {
	const struct closure_call *calls;
	size_t n;
	u8 kinds;                    /* of all of them */
	const char *refused;         /* NULL: it can be bracketed */
};

enum { COLUMN_SYMBOL, COLUMN_LIBRARY, COLUMN_SLOT, COLUMNS };

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *object_path(const struct symbols *symbols, size_t i)
{
	return symbols->closure.objects[i].path;
}

static const char *kinds_text(u8 kinds)
{
	return kinds == ELF_SLOT_PLT ? "plt" : kinds == ELF_SLOT_GOT ? "got" : "plt, got";
}

/* The function whose first call is the one at *at, which moves behind the last. False: there are no more. */
static bool function_next(const struct symbols *symbols, size_t *at, struct function *function)
{
	const struct closure *closure = &symbols->closure;
	const struct closure_call *first = &closure->calls[*at], *call;

	if (*at == closure->ncalls)
		return false;
	*function = (struct function){ .calls = first };
	for (; *at < closure->ncalls; ++*at) {
		call = &closure->calls[*at];
		if (strcmp(call->symbol, first->symbol) != 0 || call->library != first->library)
			break;
		function->n++;
		function->kinds |= call->kinds;
		function->refused = function->refused ? function->refused : wrap_refusal(call);
	}
	return true;
}

/* Patterns are as in --wrap: of the symbol, or "library:symbol". */
static bool pattern_matches(const char *pattern, const struct symbols *symbols, const struct function *function)
{
	const char *colon = strchr(pattern, ':');
	char library[256];

	if (!colon)
		return call_pattern_matches(pattern, function->calls->symbol);
	if ((size_t)snprintf(library, sizeof(library), "%.*s", (int)(colon - pattern), pattern) >= sizeof(library))
		return false;
	return call_pattern_matches(colon + 1, function->calls->symbol) &&
		call_library_matches(library, object_path(symbols, function->calls->library));
}

static bool set_has(const char *name, const char *symbol)
{
	size_t n;
	const struct wrap_set_call *calls = wrap_set_calls(&n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(calls[i].set, name) && call_pattern_matches(calls[i].symbol, symbol))
			return true;
	return false;
}

static bool function_wanted(const struct symbols *symbols, const struct function *function)
{
	char **pattern = symbols->patterns;

	for (; *pattern; pattern++)
		if (**pattern == '@' ? set_has(*pattern + 1, function->calls->symbol) :
				       pattern_matches(*pattern, symbols, function))
			return true;
	return pattern == symbols->patterns;
}

/* ---- a table */

static void callers_text(const struct symbols *symbols, const struct function *function, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < function->n && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
			base_name(object_path(symbols, function->calls[i].caller)));
}

static void columns_measure(const struct symbols *symbols, size_t *columns)
{
	struct function function;

	for (size_t at = 0; function_next(symbols, &at, &function);)
		if (function_wanted(symbols, &function)) {
			columns[COLUMN_SYMBOL] = MAX(columns[COLUMN_SYMBOL], text_width(function.calls->symbol) + 2);
			columns[COLUMN_LIBRARY] = MAX(columns[COLUMN_LIBRARY],
				text_width(base_name(object_path(symbols, function.calls->library))) + 2);
		}
	/* Names of C++ may be as long as they like. */
	columns[COLUMN_SYMBOL] = MIN(columns[COLUMN_SYMBOL], (size_t)40);
}

static void line_print(const char *const *cell, const size_t *columns, const char *last, size_t width)
{
	char escaped[4096];
	size_t indent = 0, i;

	for (i = 0; i < COLUMNS; i++) {
		text_escape(escaped, sizeof(escaped), cell[i], strlen(cell[i]));
		text_pad(stdout, escaped, columns[i]);
		if (text_width(escaped) + 2 > columns[i])
			fputs("  ", stdout);
		indent += columns[i];
	}
	text_escape(escaped, sizeof(escaped), last, strlen(last));
	text_wrap(stdout, escaped, indent, width);
}

static int symbols_print(const struct symbols *symbols)
{
	size_t columns[COLUMNS] = { sizeof("symbol ") + 1, sizeof("library ") + 1, sizeof("plt, got") + 1 };
	size_t width = term_width(STDOUT_FILENO);
	struct function function;
	char last[4096];
	int shown = 0;

	columns_measure(symbols, columns);
	for (size_t at = 0; function_next(symbols, &at, &function);) {
		const char *library = base_name(object_path(symbols, function.calls->library));

		if (!function_wanted(symbols, &function))
			continue;
		if (!shown++)
			line_print((const char *const[]) { "symbol", "library", "slot" }, columns, "called by", width);
		callers_text(symbols, &function, last, sizeof(last));
		if (function.refused)
			snprintf(last, sizeof(last), "can't be bracketed: %s", function.refused);
		line_print((const char *const[]) { function.calls->symbol, library, kinds_text(function.kinds) }, columns, last,
			width);
	}
	return shown;
}

/* ---- JSON */

static json_t *text_json(const char *text)
{
	char escaped[4096];

	/* Bytes of strangers: what is no UTF-8 stands as in a table. */
	text_escape(escaped, sizeof(escaped), text, strlen(text));
	return json_string(escaped);
}

static json_t *function_json(const struct symbols *symbols, const struct function *function)
{
	json_t *callers = json_array(), *slots = json_array();

	for (size_t i = 0; i < function->n; i++)
		json_array_append_new(callers, text_json(object_path(symbols, function->calls[i].caller)));
	if (function->kinds & ELF_SLOT_PLT)
		json_array_append_new(slots, json_string("plt"));
	if (function->kinds & ELF_SLOT_GOT)
		json_array_append_new(slots, json_string("got"));
	return json_pack("{so so so so ss?}", "symbol", text_json(function->calls->symbol), "library",
		text_json(object_path(symbols, function->calls->library)), "slots", slots, "callers", callers, "refused",
		function->refused);
}

static int symbols_json(const struct symbols *symbols)
{
	json_t *all = json_array(), *missing = json_array(), *root;
	struct function function;
	int n;

	for (size_t at = 0; function_next(symbols, &at, &function);)
		if (function_wanted(symbols, &function))
			json_array_append_new(all, function_json(symbols, &function));
	for (size_t i = 0; i < symbols->closure.nmissing; i++)
		json_array_append_new(missing, text_json(symbols->closure.missing[i]));
	n = (int)json_array_size(all);
	root = json_pack("{ss so so so}", "schema", "spark-list/1", "program", text_json(symbols->program.path), "missing", missing,
		"symbols", all);
	if (!root)
		return error("out of memory");
	if (n && !json_dumpf(root, stdout, JSON_INDENT(2)))
		putchar('\n');
	json_decref(root);
	return n;
}

/* ---- the program */

static int say_unfit(const struct symbols *symbols, const char *command, int status)
{
	const struct session_program *program = &symbols->program;

	if (program->obstacle[0] && status != -ENOEXEC)
		return error("%s", program->obstacle);
	switch (status) {
	case -ENOENT:
		return error("%s is statically linked: it calls no libraries", command);
	case -ENOEXEC:
		return error("%s is no program that can be looked into: not an ELF file of 64 bits, or a damaged one", command);
	default:
		return error("cannot read %s: %s", program->path, strerror(-status));
	}
}

static int patterns_check(char **patterns)
{
	size_t n;
	const struct wrap_set *sets = wrap_sets(&n);

	for (; *patterns; patterns++) {
		bool known = **patterns != '@';

		for (size_t i = 0; i < n; i++)
			known = known || !strcmp(*patterns + 1, sets[i].name);
		if (!known)
			return error("there is no set '%s'; see sparkctl list sets", *patterns);
	}
	return 0;
}

static int symbols_show(const struct list_options *options, const struct symbols *symbols, const char *command)
{
	int n;

	if (symbols->program.script)
		warning("%s is a script: these are of %s, which runs it", command, symbols->program.path);
	if (symbols->program.obstacle[0])
		warning("%s", symbols->program.obstacle);
	for (size_t i = 0; i < symbols->closure.nmissing; i++)
		warning("the library %s is not found", symbols->closure.missing[i]);
	n = options->json ? symbols_json(symbols) : symbols_print(symbols);
	if (n < 0)
		return STATUS_FAILURE;
	if (!n && *symbols->patterns)
		error("none of the functions that %s and its libraries call in each other matches '%s'%s",
			base_name(symbols->program.path), symbols->patterns[0], symbols->patterns[1] ? " or the others" : "");
	else if (!n)
		error("%s calls no functions of libraries", base_name(symbols->program.path));
	return n ? STATUS_OK : STATUS_USAGE;
}

int list_symbols(const struct list_options *options, const char *command, char **patterns)
{
	struct symbols symbols = { .patterns = patterns };
	int status;

	if (patterns_check(patterns))
		return STATUS_USAGE;
	if (!session_look(&symbols.program, command)) {
		error("there is no program '%s'", command);
		return STATUS_USAGE;
	}
	status = closure_open(&symbols.closure, symbols.program.path);
	if (status) {
		say_unfit(&symbols, command, status);
		return STATUS_USAGE;
	}
	status = symbols_show(options, &symbols, command);
	closure_close(&symbols.closure);
	return status;
}
