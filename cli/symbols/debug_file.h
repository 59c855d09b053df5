/* SPDX-License-Identifier: MIT */
/* The file that has the debug info of another; see debug_file.c. */
#ifndef CLI_SYMBOLS_DEBUG_FILE_H
#define CLI_SYMBOLS_DEBUG_FILE_H

#include "cli/symbols/object_build.h"

struct debug_file {
	int fd;                      /* -1: not found */
	char path[4096];
	char tried[4096];            /* where it would be; "": nobody can tell */
	struct elf_file elf;         /* of it */
};

/*
 * Looks for a separate one: below /usr/lib/debug by build id, by .gnu_debuglink beside the file and there, and at the
 * servers of debuginfod when asked. Only one of the same build is taken.
 */
bool debug_file_find(struct object *object, bool debuginfod, u64 until_ns, struct debug_file *file);
void debug_file_close(struct debug_file *file);

/* debuginfod.c: the path of the debug info that a server has. False: none has it, or not until then. */
bool debuginfod_fetch(const char *build_id, u64 until_ns, char *path, size_t size);

#endif
