/* SPDX-License-Identifier: MIT */
/*
 * Which program a process is: it may become another one by execve(2) at any time, and what was found in its memory
 * before is not there then.
 */
#ifndef CLI_INJECT_IMAGE_H
#define CLI_INJECT_IMAGE_H

#include <sys/types.h>

#include "common/base.h"

#define IMAGE_WORDS 8u

struct image {
	u64 words[IMAGE_WORDS];
};

/* Zeros: it cannot be told. */
void image_take(struct image *image, pid_t pid);
/* It is still the one that this was taken of. */
bool image_is(const struct image *image, pid_t pid);
/* The words that the text of /proc/PID/stat has of it. */
void image_parse(struct image *image, char *text);

#endif
