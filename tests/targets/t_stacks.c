/* SPDX-License-Identifier: MIT */
/*
 * t_stacks MODE: works in stacks of known form until it is killed, at most 20 s. Claims return addresses: of the call
 * in main that everything is below, and of the recursion's own.
 *
 *	deep	main, outer, middle, qsort, its callback, a recursion 60 deep
 *	libc	copies, lengths, allocations and short waits in the C library
 *	vdso	the vDSO's clock
 *	signal	handlers that interrupt a recursion anywhere
 *	altstack	the same on a stack of their own
 *	big	a recursion with frames of 4 KiB
 */
#include "target.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>

#define DEPTH 60
#define BIG_DEPTH 12
#define FUNCTION __attribute__((noinline, noclone))

#ifdef __clang__
#undef FUNCTION
#define FUNCTION __attribute__((noinline))
#endif

static volatile uint64_t sink;
static void *main_return, *recursion_return;
static int64_t end_ns;

static bool over(void)
{
	return target_clock(CLOCK_MONOTONIC) > end_ns;
}

/* Registers that are saved, and moves of the stack pointer between calls. */
static FUNCTION uint64_t leaf(uint64_t a, uint64_t b)
{
	uint64_t c = a ^ b, d = a + b, e = a * 3, f = b * 5;

	for (uint64_t i = 0; i < 20; i++) {
		c = c * 31 + d;
		d ^= e >> 3;
		e += f ^ c;
		f = f * 7 + i;
	}
	return c ^ d ^ e ^ f;
}

static FUNCTION void spin(int rounds)
{
	for (int i = 0; i < rounds; i++)
		sink += leaf(sink, (uint64_t)i);
}

static FUNCTION uint64_t recurse(int depth, int rounds)
{
	uint64_t more;

	if (depth == 1) {
		recursion_return = __builtin_return_address(0);
		spin(rounds);
		return sink;
	}
	more = recurse(depth - 1, rounds);
	return more * 2 + sink;
}

static FUNCTION uint64_t big(int depth, int rounds)
{
	volatile char buffer[4096];

	buffer[depth] = (char)depth;
	if (depth == 1) {
		recursion_return = __builtin_return_address(0);
		spin(rounds);
	} else {
		buffer[0] = (char)big(depth - 1, rounds);
	}
	return (uint64_t)buffer[depth] + 1;
}

static int compare(const void *a, const void *b)
{
	sink += recurse(DEPTH, 200);
	return *(const int *)a - *(const int *)b;
}

static FUNCTION void deep(void)
{
	int list[] = { 5, 3, 8, 1, 9, 2, 7, 4 };

	qsort(list, 8, sizeof(list[0]), compare);
	sink += (uint64_t)list[0];
}

static FUNCTION void libc(void)
{
	static char from[1 << 16], to[1 << 16];
	struct timespec moment = { .tv_nsec = 1000 };
	char *volatile text = from;

	memset(from, 'x', sizeof(from) - 1);
	for (int i = 0; i < 50; i++) {
		char *volatile made = malloc(100 + (size_t)i);

		memcpy(to, text, sizeof(to));
		sink += strlen(text) + strtoul("12345", NULL, 10);
		free(made);
	}
	nanosleep(&moment, NULL);
}

static FUNCTION void vdso(void)
{
	for (int i = 0; i < 1000; i++)
		sink += (uint64_t)target_clock(CLOCK_MONOTONIC);
}

/* Half of the time there is no handler, however fast the machine is. */
static void handler(int signal)
{
	struct itimerval next = { .it_interval.tv_sec = 0 };
	int64_t start_ns = target_clock(CLOCK_MONOTONIC), took_us;

	sink += recurse(5, 20000) + (uint64_t)signal;
	took_us = (target_clock(CLOCK_MONOTONIC) - start_ns) / 1000;
	next.it_value.tv_usec = took_us < 900000 ? took_us + 1000 : 900000;
	setitimer(ITIMER_REAL, &next, NULL);
}

static void handle(bool own_stack)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = own_stack ? SA_ONSTACK : 0 };
	struct itimerval first = { .it_value.tv_usec = 1000 };
	stack_t stack = { .ss_size = 1 << 18 };

	if (own_stack) {
		stack.ss_sp = malloc(stack.ss_size);
		if (!stack.ss_sp || sigaltstack(&stack, NULL))
			target_die("sigaltstack");
	}
	if (sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &first, NULL))
		target_die("setitimer");
}

static FUNCTION uint64_t middle(const char *mode)
{
	if (!strcmp(mode, "deep"))
		deep();
	else if (!strcmp(mode, "libc"))
		libc();
	else if (!strcmp(mode, "vdso"))
		vdso();
	else if (!strcmp(mode, "big"))
		sink += big(BIG_DEPTH, 2000);
	else
		sink += recurse(DEPTH, 2000);
	return sink;
}

static FUNCTION uint64_t outer(const char *mode, bool claims)
{
	main_return = __builtin_return_address(0);
	if (claims) {
		middle(mode);
		target_value("main", (int64_t)(uintptr_t)main_return);
		target_value("recursion", (int64_t)(uintptr_t)recursion_return);
	}
	while (!claims && !over())
		sink += middle(mode);
	return sink + 1;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "deep";
	/* One call, so that there is one return address. */
	for (volatile int round = 0; round < 2; round++) {
		end_ns = target_clock(CLOCK_MONOTONIC) + 20 * INT64_C(1000000000);
		if (round && (!strcmp(mode, "signal") || !strcmp(mode, "altstack")))
			handle(!strcmp(mode, "altstack"));
		sink += outer(mode, round == 0);
	}
	return 0;
}
