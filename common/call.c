/* SPDX-License-Identifier: MIT */
/* Which functions are meant by a pattern, and which must not be bracketed: the agent and sparkctl must agree. */
#include "wire_calls.h"

#include <string.h>

enum refusal { TWICE, STACK, LEAVES, CALLER, CONVENTION };

static const char *const reasons[] = {
	[TWICE] = "it returns twice",
	[STACK] = "it goes on with another stack",
	[LEAVES] = "it does not return",
	[CALLER] = "it looks at who calls it",
	[CONVENTION] = "it is called in a way of its own",
};

static const struct {
	const char *symbol;
	enum refusal why;
} refused[] = {
#define REFUSED(symbol, why) { symbol, why },
#include "call_refused.def"
#undef REFUSED
};

const char *call_refusal(const char *symbol)
{
	for (u32 i = 0; i < ARRAY_SIZE(refused); i++)
		if (!strcmp(refused[i].symbol, symbol))
			return reasons[refused[i].why];
	return NULL;
}

/* Goes back to the last "*" only: an earlier one could take no more than that. */
static bool pattern_matches(const char *pattern, const char *text, const char *end)
{
	const char *star = NULL, *from = NULL;

	while (text < end) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

bool call_pattern_matches(const char *pattern, const char *text)
{
	return pattern_matches(pattern, text, text + strlen(text));
}

/* At each ".so" or "." behind one: libz, libz.so, libz.so.1 of libz.so.1.2. */
bool call_library_matches(const char *pattern, const char *path)
{
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path, *end;

	for (end = strstr(file, ".so"); end; end = strchr(end + 1, '.'))
		if (pattern_matches(pattern, file, end))
			return true;
	return call_pattern_matches(pattern, file);
}
