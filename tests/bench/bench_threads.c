/* SPDX-License-Identifier: MIT */
/* bench_threads N: so many threads that work a little each ms, to be attached to, until it is killed. Says "ready". */
#include "bench.h"

#include <pthread.h>

#define STACK (64 << 10)
#define WORK_NS 10000

static void *work(void *arg)
{
	for (;;) {
		uint64_t end = bench_ns() + WORK_NS;

		while (bench_ns() < end)
			;
		usleep(1000);
	}
	return arg;
}

int main(int argc, char **argv)
{
	int n = bench_arg(argc, argv, 1, 100);
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (int i = 1; i < n; i++)
		if ((errno = pthread_create(&thread, &attr, work, NULL)))
			bench_die("pthread_create");
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	work(NULL);
	return 0;
}
