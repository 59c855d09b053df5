/* SPDX-License-Identifier: MIT */
/*
 * t_events N [fork]: makes N getpid calls, calls events_probed() N times, writes events_watched N
 * times and touches N fresh pages; with fork, a child does as much beside it. Not
 * position-independent, so that nm(1) tells the addresses. Claims its faults by getrusage.
 */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "target.h"

/* In .data: the loader clears what is in .bss, and its writes count. */
volatile uint64_t events_watched = 1;

int events_probed(int value);

__attribute__((noinline)) int events_probed(int value)
{
	__asm__ volatile("" : "+r"(value) : : "memory");
	return value + 1;
}

static void touch(int64_t pages)
{
	size_t size = 4096, i;
	char *at;

	if (!pages)
		return;
	at = mmap(NULL, pages * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || madvise(at, pages * size, MADV_NOHUGEPAGE) < 0)
		target_die("mmap");
	for (i = 0; i < (size_t)pages; i++)
		*(volatile char *)(at + i * size) = 1;
}

static void work(int64_t n)
{
	int64_t i;

	for (i = 0; i < n; i++) {
		syscall(SYS_getpid);
		events_probed((int)i);
		events_watched = i;
	}
	touch(n);
}

int main(int argc, char **argv)
{
	int64_t n = target_arg(argc, argv, 1, 100);
	pid_t child = argc > 2 ? fork() : -1;

	work(n);
	if (child == 0)
		_exit(0);
	if (child > 0)
		waitpid(child, NULL, 0);
	target_value("n", child > 0 ? 2 * n : n);
	return 0;
}
