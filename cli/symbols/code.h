/* SPDX-License-Identifier: MIT */
/* The code of a file after the run, for those who look at its instructions. */
#ifndef CLI_SYMBOLS_CODE_H
#define CLI_SYMBOLS_CODE_H

#include "common/base.h"

struct code;

/* A file by its path, if its build id is still this one. NULL: *why has the reason. */
struct code *code_open(const char *path, const char *build_id, const char **why);
void code_close(struct code *code);

/* EM_ of elf(5). */
u16 code_machine(const struct code *code);

/* The function that covers an address, as the file has it. False: no symbol nor call frame information does. */
bool code_function(struct code *code, u64 address, u64 *start, u64 *size);

/* False: not all of it is in the file. */
bool code_read(struct code *code, u64 address, void *buffer, size_t size);

/* Called for each address whose line is known: that of the innermost function. */
typedef void code_line(void *data, size_t address, const char *file, u32 line);

/* Of ascending addresses. 0, or -ENOMEM. */
int code_lines(struct code *code, const u64 *addresses, size_t n, code_line *found, void *data);

#endif
