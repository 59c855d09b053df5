/* SPDX-License-Identifier: MIT */
/*
 * How many words of arguments on the stack functions may take, by debug info: what does not fit into registers by the
 * System V ABI of x86-64 ("Parameter Passing") and the procedure call standard of arm64 (AAPCS64, "Parameter passing").
 */
#ifndef CLI_SYMBOLS_CALL_WORDS_H
#define CLI_SYMBOLS_CALL_WORDS_H

#include "common/base.h"

#define CALL_WORDS_UNKNOWN UINT32_MAX

/* Of a file; the addresses are the file's own and ascend. */
struct call_words {
	const char *path;
	const u64 *addresses;
	size_t n;
	u32 *words;                  /* of each; CALL_WORDS_UNKNOWN */
	u32 variadic;                /* to be added where more arguments may follow those that are declared */
};

/*
 * Fills the words; all are unknown where there is no debug info, in the file or where it is kept apart, or libdw is
 * missing. Never too few: where the ABI depends on what debug info does not tell, it is the greater number. At most
 * until a time of CLOCK_MONOTONIC.
 */
void call_words_find(const struct call_words *asked, u64 until_ns);

#endif
