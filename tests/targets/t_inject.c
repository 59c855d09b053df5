/* SPDX-License-Identifier: MIT */
/*
 * A program that is busy with all that loading something into it may disturb: N threads (8, or the first argument) that
 * allocate and check what they wrote, look up functions in libraries that they load, wait in poll(2) and nanosleep(2),
 * which must not end with EINTR, compute in floating point, and a timer's signals. All have markers. It runs until
 * SIGTERM, or for so many seconds (the second argument), with a third one beside threads that come and go, prints how much it has done and "ok"; what is wrong it says at
 * once, with status 1.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <spark/spark.h>

#define BLOCKS 64
#define BUSY 8
#define FREQUENT 100                 /* threads that wait only for a little; more of them would leave no CPU */

static volatile sig_atomic_t over;
static volatile unsigned long ticks, rounds, churned;

static void fail(const char *what)
{
	fprintf(stderr, "t_inject: %s\n", what);
	_exit(1);
}

static void on_tick(int n)
{
	(void)n;
	ticks++;
}

static void on_term(int n)
{
	(void)n;
	over = 1;
}

static void allocate(unsigned *seed)
{
	unsigned char *block[BLOCKS];
	size_t size[BLOCKS];

	spark_region_begin("allocate");
	for (int i = 0; i < BLOCKS; i++) {
		size[i] = 1 + (size_t)rand_r(seed) % 4096;
		block[i] = malloc(size[i]);
		memset(block[i], i, size[i]);
	}
	for (int i = 0; i < BLOCKS; i++) {
		for (size_t at = 0; at < size[i]; at += 64)
			if (block[i][at] != i)
				fail("memory has changed");
		free(block[i]);
	}
	spark_region_end("allocate");
}

static void compute(void)
{
	double x = 1;

	for (int i = 1; i < 20000; i++)
		x = x * 1.0000001 + 1.0 / i;
	static volatile double first;
	if (first == 0)
		first = x;
	if (x != first)
		fail("a sum has changed");
}

static void load(void)
{
	void *handle = dlopen("libm.so.6", RTLD_NOW);

	if (!handle || !dlsym(handle, "cbrt"))
		fail("a library is not there");
	dlclose(handle);
}

static void wait_a_little(int ms)
{
	struct timespec nap = { 0, ms * 1000000L };

	spark_region_begin("wait");
	if (nanosleep(&nap, NULL))
		fail("nanosleep was interrupted");
	if (poll(NULL, 0, ms) != 0)
		fail("poll was interrupted");
	spark_region_end("wait");
}

static void *worker(void *arg)
{
	unsigned seed = (unsigned)(size_t)arg;
	sigset_t mains;

	/* Also SIGTERM: on a busy machine the kernel gives that to any thread, and a handler interrupts poll(2). */
	sigemptyset(&mains);
	sigaddset(&mains, SIGALRM);
	sigaddset(&mains, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &mains, NULL);
	while (!over) {
		spark_region_begin("round");
		/* Many threads wait, but for a few. */
		switch ((size_t)arg < BUSY ? (size_t)arg % 4 : 2) {
		case 0: allocate(&seed); break;
		case 1: compute(); allocate(&seed); break;
		case 2: wait_a_little((size_t)arg < FREQUENT ? 3 : 30); break;
		default: load(); wait_a_little(3); break;
		}
		spark_region_end("round");
		__atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void *short_lived(void *arg)
{
	for (int i = 0; i < 20; i++) {
		spark_region_begin("churn");
		free(malloc(100));
		spark_region_end("churn");
	}
	return arg;
}

static void churn(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, short_lived, NULL))
			fail("no thread");
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	churned += 4 * 20;
}

int main(int argc, char **argv)
{
	const struct itimerval each = { { 0, 2000 }, { 0, 2000 } };
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 8;
	double limit = argc > 2 ? strtod(argv[2], NULL) : 3600;
	pthread_t *threads = calloc(n, sizeof(*threads));
	struct timespec start, now;

	signal(SIGALRM, on_tick);
	signal(SIGTERM, on_term);
	setitimer(ITIMER_REAL, &each, NULL);
	for (size_t i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, worker, (void *)i))
			fail("no thread");
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		usleep(argc > 3 ? 2000 : 10000);
		if (argc > 3)
			churn();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (!over && (double)(now.tv_sec - start.tv_sec) + 1e-9 * (double)(now.tv_nsec - start.tv_nsec) < limit);
	over = 1;
	for (size_t i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("rounds %lu ticks %lu churned %lu ok\n", rounds, ticks, churned);
	return 0;
}
