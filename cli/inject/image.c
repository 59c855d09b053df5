/* SPDX-License-Identifier: MIT */
/*
 * See image.h. The kernel has no number for it: taken are the program's file and where the kernel put it, its stack, its
 * arguments and its environment. Without random addresses all may be the same after the same program has begun anew; its
 * libraries are at the same addresses then, too.
 */
#define _GNU_SOURCE
#include "cli/inject/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/inject/look.h"

enum { STAT_START_CODE = 26, STAT_START_STACK = 28, STAT_START_DATA = 45, STAT_START_BRK = 47, STAT_ARG_START, STAT_ENV_START = 50 };

static const u8 fields[] = { STAT_START_CODE, STAT_START_STACK, STAT_START_DATA, STAT_START_BRK, STAT_ARG_START, STAT_ENV_START };

void image_parse(struct image *image, char *text)
{
	char *at = strrchr(text, ')'), *rest, *word = at ? strtok_r(at + 1, " ", &rest) : NULL;

	/* The state is the third one. */
	for (u32 n = 3, k = 0; word && k < ARRAY_SIZE(fields); n++, word = strtok_r(NULL, " ", &rest))
		if (n == fields[k])
			image->words[2 + k++] = strtoull(word, NULL, 10);
}

void image_take(struct image *image, pid_t pid)
{
	char path[64], text[2048];
	struct stat st;

	memset(image, 0, sizeof(*image));
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (stat(path, &st) || look_read(pid, "stat", text, sizeof(text)) <= 0)
		return;
	image->words[0] = st.st_dev;
	image->words[1] = st.st_ino;
	image_parse(image, text);
}

bool image_is(const struct image *image, pid_t pid)
{
	struct image now;

	image_take(&now, pid);
	return memcmp(&now, image, sizeof(now)) == 0;
}
