/* SPDX-License-Identifier: MIT */
/* Functions of a running process that were compiled with -finstrument-functions, by name. */
#ifndef CLI_SYMBOLS_INSTRUMENTED_H
#define CLI_SYMBOLS_INSTRUMENTED_H

#include "common/base.h"

/* The function's name as in the file, and as it was written. */
typedef bool instrumented_chosen(void *data, const char *name, const char *readable);

/*
 * The addresses, in the process, of all functions that are chosen, ascending, in objects that call the compiler's
 * hook: at most `most` of them. To be freed. *objects: how many such objects there are. NULL: no memory, or no process.
 */
u64 *instrumented_functions(u32 pid, size_t most, instrumented_chosen *chosen, void *data, size_t *n, size_t *objects);

#endif
