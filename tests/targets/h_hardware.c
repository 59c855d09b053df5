/* SPDX-License-Identifier: MIT */
/*
 * h_hardware N: a region that executes N million instructions, give or take a hundred. Claims them.
 */
#include "target.h"

/* Two instructions each time round, whatever the compiler does. */
static void loop(uint64_t times)
{
#if defined(__x86_64__)
	__asm__ volatile("1: subq $1, %0\n\tjne 1b" : "+r"(times) : : "cc");
#elif defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(times) : : "cc");
#endif
}

int main(int argc, char **argv)
{
	uint64_t millions = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;

	spark_region_begin("loop");
	loop(millions * 500000);
	spark_region_end("loop");
	target_value("instructions", (int64_t)millions * 1000000);
	target_region("loop", 1);
	return 0;
}
