/* SPDX-License-Identifier: MIT */
/*
 * Samples from words. A stack is written outermost frame first, "a.out!main:10 a.out!work:20<step:30 libc.so!?":
 * the object, the function and its line in x.c, behind < a function that is inlined there, ? for no name.
 */
#ifndef TESTS_UNIT_STACK_H
#define TESTS_UNIT_STACK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/samples.h"

/* The functions of a frame, "work:20<step:30", named in samples innermost first. */
static inline void stack_names(struct samples *samples, u32 frame, char *text)
{
	struct samples_line lines[8];
	u32 n = ARRAY_SIZE(lines);
	char *name, *colon, *save;

	for (name = strtok_r(text, "<", &save); name; name = strtok_r(NULL, "<", &save)) {
		colon = strchr(name, ':');
		if (!n)
			abort();
		lines[--n] = (struct samples_line){ .file = SAMPLES_NONE };
		if (colon) {
			*colon = '\0';
			lines[n].file = samples_string(samples, "/src/x.c", 8);
			lines[n].line = (u32)atoi(colon + 1);
		}
		lines[n].function = samples_string(samples, name, strlen(name));
	}
	samples_name(samples, frame, lines + n, (u32)ARRAY_SIZE(lines) - n);
}

static inline u32 stack_frame(struct samples *samples, char *text)
{
	char *bang = strchr(text, '!'), *at;
	u32 object, frame;
	u64 address = 0;

	if (!bang)
		abort();
	*bang = '\0';
	object = samples_object(samples, text, text[0] == '[' ? NULL : "00c0ffee",
				!strcmp(text, "[kernel]") ? SAMPLES_KERNEL : !strcmp(text, "[jit]") ? SAMPLES_JIT : SAMPLES_FILE);
	for (at = bang + 1; *at; at++)
		address = (address * 31 + (u8)*at) % 0xfffff;
	frame = samples_frame(samples, object, 0x1000 + address);
	if (!strcmp(bang + 1, "?"))
		samples->frames[frame].unresolved = SAMPLES_STRIPPED;
	else if (!samples->frames[frame].nlines)
		stack_names(samples, frame, bang + 1);
	return frame;
}

/* region: names with ; between, "" for none, NULL for one that is not known. */
static inline void stack_add(struct samples *samples, u32 process, const char *region, const char *stack, u32 count)
{
	struct samples_row row = { .process = process, .pid = 1000 + process, .tid = 1000 + process,
				   .chain = SAMPLES_NONE, .region = SAMPLES_NONE };
	char *text = strdup(stack), *path = strdup(region ? region : ""), *part, *save;

	for (part = strtok_r(text, " ", &save); part; part = strtok_r(NULL, " ", &save))
		row.chain = samples_chain(samples, row.chain, stack_frame(samples, part));
	for (part = strtok_r(path, ";", &save); part; part = strtok_r(NULL, ";", &save))
		row.region = samples_region(samples, row.region, part, strlen(part));
	row.flags = region ? 0 : SAMPLES_UNATTRIBUTED;
	while (count--)
		if (samples_add(samples, &row, 1000000, 1000000ULL * samples->nevents, process % 2) != 0)
			abort();
	free(text);
	free(path);
}

#endif
