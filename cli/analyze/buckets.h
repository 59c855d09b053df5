/* SPDX-License-Identifier: MIT */
/*
 * Rules that sort functions into buckets: one a line, "regular expression -> bucket", extended as in
 * regex(7), of a function's name or its object's path; the first that matches decides. Empty lines and
 * those that begin with # say nothing. The arrow may be "->" or its Unicode character.
 */
#ifndef CLI_ANALYZE_BUCKETS_H
#define CLI_ANALYZE_BUCKETS_H

#include <stddef.h>

#include "common/base.h"

#define BUCKETS_NONE (~0u)

struct buckets {
	struct buckets_rule *rules;
	size_t nrules;
	char **names;                /* each once, in the order of the rules */
	u32 nnames;
};

struct buckets_error {
	size_t line;                 /* from 1 */
	char why[160];
};

/* Of all of a text. 0, or -1 with the error filled in; free them in any case. */
int buckets_parse(struct buckets *buckets, const char *text, struct buckets_error *mistake);
void buckets_free(struct buckets *buckets);

/* The bucket for a function of an object; BUCKETS_NONE. Either may be NULL. */
u32 buckets_find(const struct buckets *buckets, const char *function, const char *object);

#endif
