/* SPDX-License-Identifier: MIT */
/* The listing "sets" of the command list: names for many functions, as run --wrap takes them. */
#include <stdio.h>
#include <string.h>

#include "cli/cmd/list.h"
#include "cli/cmd/wrap.h"
#include "cli/log.h"
#include "cli/text.h"

enum { LIST_SET_NAME = 8 };

static void list_set_calls(const struct wrap_set *set, size_t width)
{
	size_t n, used = 0;
	const struct wrap_set_call *calls = wrap_set_calls(&n);
	char text[16384];

	for (size_t i = 0; i < n && used < sizeof(text); i++)
		if (!strcmp(calls[i].set, set->name))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? " " : "", calls[i].symbol);
	fputs("  ", stdout);
	text_wrap(stdout, text, 2, width);
}

int list_print_sets(const struct list_options *options, size_t width)
{
	size_t n;
	const struct wrap_set *sets = wrap_sets(&n);
	char name[16];
	int shown = 0;

	for (size_t i = 0; i < n; i++) {
		if (!list_wants(options, sets[i].name))
			continue;
		if (!shown++)
			puts("set     functions");
		snprintf(name, sizeof(name), "@%s", sets[i].name);
		text_pad(stdout, name, LIST_SET_NAME);
		text_wrap(stdout, sets[i].meaning, LIST_SET_NAME, width);
		list_set_calls(&sets[i], width);
	}
	return shown;
}

int list_json_sets(const struct list_options *options, json_t *root)
{
	size_t n, ncalls;
	const struct wrap_set *sets = wrap_sets(&n);
	const struct wrap_set_call *calls = wrap_set_calls(&ncalls);
	json_t *all = json_array(), *one, *symbols;

	for (size_t i = 0; i < n; i++) {
		if (!list_wants(options, sets[i].name))
			continue;
		symbols = json_array();
		for (size_t k = 0; k < ncalls; k++)
			if (!strcmp(calls[k].set, sets[i].name))
				json_array_append_new(symbols, json_string(calls[k].symbol));
		one = json_pack("{ss ss so}", "set", sets[i].name, "meaning", sets[i].meaning, "symbols", symbols);
		if (!one || json_array_append_new(all, one))
			return error("out of memory");
	}
	n = json_array_size(all);
	json_object_set_new(root, "sets", all);
	return (int)n;
}
