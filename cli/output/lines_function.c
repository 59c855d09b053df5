/* SPDX-License-Identifier: MIT */
/* Long names made short. Those of C++ templates have hundreds of characters, most of them in brackets. */
#include <stdlib.h>
#include <string.h>

#include "cli/output/lines.h"
#include "cli/text.h"

enum { FUNCTION_MOST = 4096 };

static const char function_ellipsis[] = "…";

/* The end of s of at most so many columns. */
static const char *lines_tail(const char *s, size_t columns)
{
	size_t len = strlen(s);
	const char *tail = s + len - MIN(len, 8 * columns);
	unsigned int code;

	while ((*tail & 0xc0) == 0x80)
		tail++;
	while (text_width(tail) > columns)
		tail += text_decode(tail, strlen(tail), &code);
	return tail;
}

char *lines_name_middle(const char *text, size_t columns)
{
	size_t len = strlen(text), room = 4 * columns + 8;
	char *whole = malloc(4 * len + 1), *cut = malloc(room + 4 * len + 1);

	if (whole && cut) {
		text_escape(whole, 4 * len + 1, text, len);
		if (text_width(whole) <= columns) {
			strcpy(cut, whole);
		} else {
			text_fit(cut, room, whole, (columns + 1) / 2);
			strcat(cut, lines_tail(whole, columns / 2));
		}
	}
	free(whole);
	if (!whole) {
		free(cut);
		return NULL;
	}
	return cut;
}

/* What is there at s and is no bracket although it looks like one, in bytes; before: bytes of the name before it. */
static size_t function_literal(const char *s, size_t before)
{
	static const char anonymous[] = "(anonymous namespace)", operator_[] = "operator";
	size_t word = sizeof(operator_) - 1;

	if (!strncmp(s, "->", 2))
		return 2;
	if (!strncmp(s, anonymous, sizeof(anonymous) - 1))
		return sizeof(anonymous) - 1;
	if (before < word || strncmp(s - word, operator_, word) != 0)
		return 0;
	return !strncmp(s, "()", 2) ? 2 : strspn(s, "<>=-");
}

/* Behind the bracket that closes the one at s; NULL: none does. */
static const char *function_close(const char *s, const char *name)
{
	size_t depth = 0, literal;

	for (; *s; s += literal ? literal : 1) {
		literal = function_literal(s, (size_t)(s - name));
		if (literal)
			continue;
		depth += *s == '(' || *s == '<';
		if (*s != ')' && *s != '>')
			continue;
		if (!depth || !--depth)
			return depth ? NULL : s + 1;
	}
	return NULL;
}

/* The name with an ellipsis for what is in brackets of these kinds, to be freed; NULL when memory is short. */
static char *function_collapse(const char *name, const char *kinds)
{
	char *out = malloc(sizeof(function_ellipsis) * strlen(name) + 1);
	const char *s, *end;
	size_t at = 0, n;

	for (s = name; out && *s; s += n) {
		n = function_literal(s, (size_t)(s - name));
		end = !n && strchr(kinds, *s) ? function_close(s, name) : NULL;
		if (end && end - s > 2) {
			at += (size_t)sprintf(out + at, "%c%s%c", *s, function_ellipsis, end[-1]);
			n = (size_t)(end - s);
			continue;
		}
		n = n ? n : 1;
		memcpy(out + at, s, n);
		at += n;
	}
	if (out)
		out[at] = '\0';
	return out;
}

char *lines_function(const char *text, size_t columns)
{
	static const char *const kinds[] = { "", "(", "(<" };
	char *name = NULL, *whole = NULL;
	size_t i;

	/* Longer ones are nobody's names, and each bracket in them would be searched to the end. */
	if (strlen(text) > FUNCTION_MOST)
		return lines_name_middle(text, columns);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		free(name);
		free(whole);
		name = function_collapse(text, kinds[i]);
		whole = name ? lines_name_middle(name, 4 * strlen(name) + 1) : NULL;
		if (!whole || text_width(whole) <= columns)
			break;
	}
	free(whole);
	whole = name ? lines_name_middle(name, columns) : NULL;
	free(name);
	return whole;
}

char *lines_function_plain(const char *name)
{
	char *out = malloc(strlen(name) + 1);
	const char *s, *end;
	size_t at = 0, n;

	if (strlen(name) > FUNCTION_MOST) {
		free(out);
		return strdup(name);
	}
	for (s = name; out && *s; s += n) {
		n = function_literal(s, (size_t)(s - name));
		end = !n && (*s == '(' || *s == '<') ? function_close(s, name) : NULL;
		/* Behind the arguments nothing names it. */
		if (end && *s == '(')
			break;
		if (end) {
			n = (size_t)(end - s);
			continue;
		}
		n = n ? n : 1;
		memcpy(out + at, s, n);
		at += n;
	}
	if (out)
		out[at] = '\0';
	return out;
}
