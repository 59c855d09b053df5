/* SPDX-License-Identifier: MIT */
/* The listing "markers" of the command list: other tools' markers, as run --markers takes them. */
#include <stdio.h>
#include <string.h>

#include "cli/cmd/list.h"
#include "cli/log.h"
#include "cli/session/session.h"
#include "cli/text.h"

enum { LIST_MARKER_NAME = 12 };

int list_print_markers(const struct list_options *options, size_t width)
{
	size_t n;
	const struct session_marker *markers = session_markers(&n);
	int shown = 0;

	for (size_t i = 0; i < n; i++) {
		if (!list_wants(options, markers[i].name))
			continue;
		if (!shown++)
			puts("markers     of what");
		text_pad(stdout, markers[i].name, LIST_MARKER_NAME);
		text_wrap(stdout, markers[i].meaning, LIST_MARKER_NAME, width);
	}
	return shown;
}

static json_t *symbols_json(const char *symbols)
{
	json_t *all = json_array();
	size_t length;

	for (; *symbols; symbols += length + (symbols[length] != 0)) {
		symbols += *symbols == '@';
		length = strcspn(symbols, ",");
		json_array_append_new(all, json_stringn(symbols, length));
	}
	return all;
}

int list_json_markers(const struct list_options *options, json_t *root)
{
	size_t n;
	const struct session_marker *markers = session_markers(&n);
	json_t *all = json_array(), *one;

	for (size_t i = 0; i < n; i++) {
		if (!list_wants(options, markers[i].name))
			continue;
		one = json_pack("{ss ss ss? so}", "marker", markers[i].name, "meaning", markers[i].meaning, "environment",
			markers[i].environment[0] ? markers[i].environment : NULL, "symbols", symbols_json(markers[i].symbols));
		if (!one || json_array_append_new(all, one))
			return error("out of memory");
	}
	n = json_array_size(all);
	json_object_set_new(root, "markers", all);
	return (int)n;
}
