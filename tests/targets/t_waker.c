/* SPDX-License-Identifier: MIT */
/*
 * t_waker WORK N: threads that end each other's waits, N times, 1 ms apart.
 *
 *	futex    thread "producer", in function push_post, and "consumer", in region "pop"
 *	pipe     the same by a pipe, in function push_byte
 *	starved  on one CPU: thread "napper", in region "nap", sleeps and computes N times, while 2 spin
 *	short    N threads, one after the other, that sleep for 20 us
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>

#include "target.h"

static sem_t semaphore;
static int pipes[2];
static int64_t n;
static bool by_pipe;
static volatile bool over;

static __attribute__((noinline)) void push_post(void)
{
	sem_post(&semaphore);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void push_byte(void)
{
	if (write(pipes[1], "", 1) != 1)
		target_die("write");
	__asm__ volatile("" ::: "memory");
}

static void *produce(void *arg)
{
	pthread_setname_np(pthread_self(), "producer");
	for (int64_t i = 0; i < n; i++) {
		target_sleep(1000000);
		if (by_pipe)
			push_byte();
		else
			push_post();
	}
	return arg;
}

static void *consume(void *arg)
{
	char byte;

	pthread_setname_np(pthread_self(), "consumer");
	spark_region_begin("pop");
	for (int64_t i = 0; i < n; i++)
		if (by_pipe ? read(pipes[0], &byte, 1) != 1 : sem_wait(&semaphore) != 0)
			target_die("wait");
	spark_region_end("pop");
	return arg;
}

static void *spin(void *arg)
{
	while (!over)
		;
	return arg;
}

static void *nap(void *arg)
{
	pthread_setname_np(pthread_self(), "napper");
	spark_region_begin("nap");
	for (int64_t i = 0; i < n; i++) {
		target_sleep(1000000);
		target_spin(2000000);
	}
	spark_region_end("nap");
	over = true;
	return arg;
}

static void *sleep_short(void *arg)
{
	spark_region_begin("short");
	target_sleep(20000);
	spark_region_end("short");
	return arg;
}

static void threads_run(void *(*const *work)(void *), size_t count)
{
	pthread_t threads[3];

	for (size_t i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, work[i], NULL))
			target_die("pthread_create");
	for (size_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void one_cpu(void)
{
	cpu_set_t allowed, first;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		target_die("sched_getaffinity");
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	CPU_ZERO(&first);
	CPU_SET(cpu, &first);
	if (sched_setaffinity(0, sizeof(first), &first))
		target_die("sched_setaffinity");
}

int main(int argc, char **argv)
{
	static void *(*const pair[])(void *) = { produce, consume };
	static void *(*const crowd[])(void *) = { spin, spin, nap };
	static void *(*const one[])(void *) = { sleep_short };
	const char *work = argc > 1 ? argv[1] : "";

	n = target_arg(argc, argv, 2, 100);
	by_pipe = !strcmp(work, "pipe");
	if (sem_init(&semaphore, 0, 0) || pipe(pipes))
		target_die("sem_init");
	if (!strcmp(work, "futex") || by_pipe) {
		threads_run(pair, 2);
	} else if (!strcmp(work, "starved")) {
		one_cpu();
		threads_run(crowd, 3);
	} else if (!strcmp(work, "short")) {
		for (int64_t i = 0; i < n; i++)
			threads_run(one, 1);
	} else {
		return 2;
	}
	return 0;
}
