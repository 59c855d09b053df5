/* SPDX-License-Identifier: MIT */
/* See pass.h. */
#include "cli/analyze/pass.h"

const char *const pass_words[PASSES + 1] = {
	[PASS_TIMING] = "timing", [PASS_COUNTING] = "counting", [PASS_PROFILE] = "profile",
};

u32 pass_rank(enum run_pass pass, bool timed)
{
	static const u32 ranks[2][PASSES] = {
		{ [PASS_COUNTING] = 0, [PASS_TIMING] = 1, [PASS_PROFILE] = 2 },
		{ [PASS_TIMING] = 0, [PASS_COUNTING] = 1, [PASS_PROFILE] = 2 },
	};

	return ranks[timed][pass];
}
