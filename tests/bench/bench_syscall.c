/* SPDX-License-Identifier: MIT */
/*
 * A program that does nothing but short system calls: value call, ns for each of getppid, a read of one byte and a
 * write of one, the minimum of some rounds.
 */
#include "bench.h"

#define ROUNDS 300 /* short: some are not disturbed */
#define TIMES 1000

int main(void)
{
	int from = open("/dev/zero", O_RDONLY), to = open("/dev/null", O_WRONLY);
	double least = 1e18;
	char byte = 0;

	if (from < 0 || to < 0)
		bench_die("/dev");
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = bench_ns();
		double ns;

		for (int i = 0; i < TIMES; i++)
			if (getppid() < 0 || read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
				bench_die("a system call");
		ns = (double)(bench_ns() - begin) / (3 * TIMES);
		least = ns < least ? ns : least;
	}
	bench_value("call", least);
	return 0;
}
