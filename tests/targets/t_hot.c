/* SPDX-License-Identifier: MIT */
/*
 * t_hot works SECONDS: spends that much CPU time in each of five regions:
 *
 *	shares		three functions with 7, 2 and 1 tenths of the work
 *	recursion	a function that calls itself 30 deep, and works at the bottom
 *	inlined		a leaf that is always inlined, in a function that is always inlined
 *	tail		a function that is jumped to at the end of another one
 *	signal		a handler that works, of a signal that interrupts work
 *
 * t_hot duty MICROSECONDS SECONDS THREADS [fork]: each thread, and a forked child's, has two regions in turn,
 * "a" that calls spin_a() alone for 7 tenths of the time, and "b" that calls spin_b().
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "target.h"

#define DEPTH 30
#define THREADS_MOST 64

#ifdef __clang__
#define FUNCTION __attribute__((noinline))
#else
#define FUNCTION __attribute__((noinline, noclone, no_icf))
#endif

static volatile uint64_t sink;

static int64_t cpu(void)
{
	return target_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* Some ns each, in every function the same: not a call, so that it is none of the functions that are told of. */
#define WORK(n) \
	for (int64_t work_ = (n); work_ > 0; work_--) \
		__asm__ volatile("" : : : "memory")

static FUNCTION void burn_most(int64_t n)
{
	WORK(7 * n);
}

static FUNCTION void burn_some(int64_t n)
{
	WORK(2 * n);
}

static FUNCTION void burn_few(int64_t n)
{
	WORK(n);
}

/*
 * A round is much shorter than the time between two samples. Rounds of one length would still fall into step with them
 * where that time is a multiple of theirs.
 */
static void shares(void)
{
	static uint32_t random = 1;
	int64_t n;

	random = random * 1664525 + 1013904223;
	n = 1500 + (random >> 20);
	burn_most(n);
	burn_some(n);
	burn_few(n);
}

static FUNCTION int recurse(int depth)
{
	int below = 0;

	if (depth)
		below = recurse(depth - 1);
	else
		WORK(20000);
	sink += (uint64_t)below;
	return below + 1;
}

static void recursion(void)
{
	recurse(DEPTH);
}

static inline __attribute__((always_inline)) void hot_leaf(int64_t n)
{
	WORK(n); /* hot line */
}

static inline __attribute__((always_inline)) void hot_middle(int64_t n)
{
	sink++;
	hot_leaf(n);
}

static FUNCTION void hot_outer(int64_t n)
{
	hot_middle(n);
	sink++;
}

static void inlined(void)
{
	hot_outer(20000);
}

static FUNCTION void jumped_to(int64_t n)
{
	WORK(n);
	sink++;
}

static FUNCTION void jumps(int64_t n)
{
	sink++;
	jumped_to(n);
}

static void tail(void)
{
	jumps(20000);
}

static FUNCTION void handled(void)
{
	WORK(200000);
}

static void handler(int number)
{
	(void)number;
	handled();
}

static FUNCTION void interrupted(void)
{
	WORK(20000);
}

static void signals(void)
{
	static bool set;

	if (!set)
		sigaction(SIGALRM, &(struct sigaction){ .sa_handler = handler, .sa_flags = SA_RESTART }, NULL);
	set = true;
	interrupted();
	raise(SIGALRM);
	interrupted();
}

static const struct part {
	const char *name;
	void (*work)(void);
} parts[] = {
	{ "shares", shares }, { "recursion", recursion }, { "inlined", inlined }, { "tail", tail }, { "signal", signals },
};

static void works(double seconds)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		int64_t end = cpu() + (int64_t)(seconds * 1e9);

		spark_region_begin(parts[i].name);
		while (cpu() < end)
			parts[i].work();
		spark_region_end(parts[i].name);
	}
}

static FUNCTION void spin_a(int64_t n)
{
	WORK(n);
}

static FUNCTION void spin_b(int64_t n)
{
	WORK(n);
}

static int64_t duty_work;
static double duty_seconds;

static void *duty(void *unused)
{
	int64_t end = cpu() + (int64_t)(duty_seconds * 1e9);

	while (cpu() < end) {
		spark_region_begin("a");
		spin_a(duty_work * 7 / 10);
		spark_region_end("a");
		spark_region_begin("b");
		spin_b(duty_work * 3 / 10);
		spark_region_end("b");
	}
	return unused;
}

/* How much work is a microsecond. */
static double work_rate(void)
{
	int64_t before = cpu();

	burn_few(2000000);
	return 2000000.0 / ((double)(cpu() - before) / 1000);
}

static void duties(double microseconds, long threads)
{
	pthread_t thread[THREADS_MOST];

	duty_work = (int64_t)(microseconds * work_rate());
	for (long i = 1; i < threads && i < THREADS_MOST; i++)
		if (pthread_create(&thread[i], NULL, duty, NULL))
			target_die("pthread_create");
	duty(NULL);
	for (long i = 1; i < threads && i < THREADS_MOST; i++)
		pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
	pid_t child = -1;

	if (argc == 3 && !strcmp(argv[1], "works")) {
		works(atof(argv[2]));
		return 0;
	}
	if (argc < 5 || strcmp(argv[1], "duty") != 0)
		target_die("usage");
	duty_seconds = atof(argv[3]);
	if (argc > 5)
		child = fork();
	duties(atof(argv[2]), atol(argv[4]));
	if (child > 0)
		waitpid(child, NULL, 0);
	return 0;
}
