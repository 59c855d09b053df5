/* SPDX-License-Identifier: MIT */
/* What the C library of a process has for us, by address. */
#ifndef CLI_INJECT_PLACES_H
#define CLI_INJECT_PLACES_H

#include "cli/inject/arch.h"
#include "cli/inject/image.h"

struct space_map;

struct places {
	struct image image;          /* of the program that they are of */
	struct arch_gadgets gadgets;
	u64 errno_location, open, why, find;
	u64 segment;                 /* inode of a segment of some session that is mapped; 0: none */
	u32 segment_major, segment_minor;
	u64 stack_start, stack_end;  /* of the first thread */
	bool library;                /* a C library is there */
	bool loader;                 /* a loader is, which brings one */
	bool other;                  /* and it is another one than glibc */
};

/* 0, or -errno: the mappings cannot be read. What was not found is 0. The image is left as it is. */
int places_find(struct places *places, pid_t pid);
/* It is a mapping of a segment, which is noted. */
bool places_segment(struct places *places, const struct space_map *map);

#endif
