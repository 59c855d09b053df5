/* SPDX-License-Identifier: MIT */
/*
 * t_drift FILE PAGES PERCENT RUNS: touches so many fresh pages, and sleeps 5 us for each; in its n-th run, which
 * FILE counts, n / RUNS of PERCENT more of both. A machine that slows down, as far as its faults tell.
 */
#include "target.h"

#include <sys/mman.h>

int main(int argc, char **argv)
{
	unsigned long n = 0, pages;
	struct timespec time = { 0 };
	volatile char *memory;
	FILE *file;

	if (argc < 5)
		return 2;
	file = fopen(argv[1], "r");
	if (file && fscanf(file, "%lu", &n) != 1)
		n = 0;
	if (file)
		fclose(file);
	file = fopen(argv[1], "w");
	if (!file)
		target_die(argv[1]);
	fprintf(file, "%lu\n", n + 1);
	fclose(file);
	pages = strtoul(argv[2], NULL, 10);
	pages += pages * strtoul(argv[3], NULL, 10) * n / strtoul(argv[4], NULL, 10) / 100;
	memory = mmap(NULL, (pages + 1) * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		target_die("mmap");
	/* A huge page would be one fault. */
	madvise((void *)memory, (pages + 1) * 4096, MADV_NOHUGEPAGE);
	for (unsigned long i = 0; i < pages; i++)
		memory[i * 4096] = 1;
	time.tv_sec = (time_t)(pages * 5000 / 1000000000);
	time.tv_nsec = (long)(pages * 5000 % 1000000000);
	nanosleep(&time, NULL);
	return 0;
}
