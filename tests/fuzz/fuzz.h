/* SPDX-License-Identifier: MIT */
/*
 * The frame of the fuzzers: a loop over inputs that come from a seed, and what is done when one of
 * them crashes or hangs.
 *
 * A fuzzer is one file with a fuzz_target. Its inputs are sound ones, changed at random; the same
 * seed gives the same inputs. Each program is
 *
 *	fuzz_X [-n ROUNDS] [-s SEED] [-d DIRECTORY] [FILE...]
 *
 * and runs the FILEs instead, where there are any: inputs that were saved. With
 * -DFUZZ_LIBFUZZER -fsanitize=fuzzer it has libFuzzer's loop and guidance in place of its own.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdio.h>

#include "common/base.h"

struct fuzz {
	const char *name;
	size_t room;                 /* bytes of the longest input */
	u64 rounds;                  /* without -n */
	/* Makes what all inputs are made from. argv is the program's own. */
	void (*open)(char **argv);
	/* The next sound input; its size. */
	size_t (*make)(u8 *input);
	/* Changes an input of any bytes; its new size. */
	size_t (*mutate)(u8 *input, size_t size);
	/* Does what is tested, with an input that is just so long: a byte read beyond it is seen. */
	void (*run)(const u8 *input, size_t size);
};

extern const struct fuzz fuzz_target;

/* From the seed. */
u64 fuzz_random(void);
/* 0 .. n - 1, or 0. */
u64 fuzz_below(u64 n);
/* True once in n times. */
bool fuzz_once_in(u32 n);
/* A number at an edge, or any. */
u64 fuzz_odd(void);

/* A few changes of any kind to bytes: flipped, put in, taken out, doubled, cut off. The new size. */
size_t fuzz_mutate_bytes(u8 *bytes, size_t size, size_t room);
/* The same with pieces of text that a parser may trip over. */
size_t fuzz_mutate_text(u8 *bytes, size_t size, size_t room);

/* Says what does not hold and aborts: the input is saved. */
void fuzz_check(bool holds, const char *what);

/* Where output goes; emptied by each call. */
FILE *fuzz_sink(void);
/* What is there since then, flushed, terminated; NULL where it is more than there is room for. */
const char *fuzz_sink_text(size_t *len);

#endif
