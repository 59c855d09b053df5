/* SPDX-License-Identifier: MIT */
/*
 * t_syscalls [THREADS] [TIMES]: threads that are all there at once and make TIMES x getppid, read, and rmdir of what
 * is not there. Besides, nothing but futex depends on who runs when: no memory is allocated, no stack used again.
 */
#include <pthread.h>

#include "target.h"

static pthread_barrier_t start;
static int64_t times;
static int zero;

static void *work(void *arg)
{
	char byte;

	pthread_barrier_wait(&start);
	for (int64_t i = 0; i < times; i++)
		if (getppid() < 0 || read(zero, &byte, 1) != 1 || !rmdir("/none/of/it"))
			target_die("a system call");
	pthread_barrier_wait(&start);
	return arg;
}

int main(int argc, char **argv)
{
	int64_t n = target_arg(argc, argv, 1, 16);
	pthread_t id[256];

	times = target_arg(argc, argv, 2, 100);
	if (n < 1 || n > 256)
		return 2;
	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	pthread_barrier_init(&start, NULL, (unsigned int)n);
	for (int64_t i = 0; i < n; i++)
		if (pthread_create(&id[i], NULL, work, NULL))
			target_die("pthread_create");
	for (int64_t i = 0; i < n; i++)
		pthread_join(id[i], NULL);
	return 0;
}
