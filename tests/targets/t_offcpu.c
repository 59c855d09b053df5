/* SPDX-License-Identifier: MIT */
/*
 * t_offcpu WORK MS [FILE]: for MS ms, in regions whose time goes to one cause each:
 *
 *	sleep    region "sleeper", nanosleep, in function take_nap
 *	convoy   8 threads in region "convoy" that queue for one lock, held while its owner sleeps
 *	pingpong 2 threads in region "pingpong" that pass a byte to and fro by pipes
 *	disk     region "reader": reads FILE block by block past the page cache
 *	starved  region "spin" in 2 threads for each of the CPUs, that spin
 *	mixed    region "mixed": a third each of spinning, sleeping in "nap" and waiting for a lock in "wait"
 *	storm    pingpong, as fast as it goes, on each CPU
 *	brief    100 processes, one after the other, that end as soon as they are there
 */
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target.h"

#define LOCKERS 8
#define MOST 64

static int64_t end;
static int pipes[MOST][2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool more(void)
{
	return target_clock(CLOCK_MONOTONIC) < end;
}

static __attribute__((noinline)) void take_nap(int64_t ns)
{
	target_sleep(ns);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void take_lock(void)
{
	pthread_mutex_lock(&lock);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) char take_byte(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		target_die("read");
	return byte;
}

static void give_byte(int fd, char byte)
{
	if (write(fd, &byte, 1) != 1)
		target_die("write");
}

static void *convoy(void *arg)
{
	spark_region_begin("convoy");
	while (more()) {
		take_lock();
		target_sleep(1000000);
		pthread_mutex_unlock(&lock);
	}
	spark_region_end("convoy");
	return arg;
}

/* One that is odd answers the one before it, which says when it is over. */
static void *pingpong(void *arg)
{
	size_t me = (size_t)(intptr_t)arg, other = me ^ 1;

	spark_region_begin("pingpong");
	for (char go = 1; go;) {
		go = me & 1 ? take_byte(pipes[me][0]) : more();
		give_byte(pipes[other][1], go);
		if (!(me & 1))
			take_byte(pipes[me][0]);
	}
	spark_region_end("pingpong");
	return arg;
}

static void *spin(void *arg)
{
	spark_region_begin("spin");
	while (more())
		;
	spark_region_end("spin");
	return arg;
}

static void threads_run(void *(*work)(void *), int64_t n)
{
	pthread_t threads[MOST];

	for (int64_t i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i))
			target_die("pthread_create");
	for (int64_t i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void pairs_run(int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (pipe(pipes[i]))
			target_die("pipe");
	threads_run(pingpong, n);
}

static void reader(const char *path)
{
	const size_t block = 65536;
	int fd = open(path, O_RDONLY | O_DIRECT);
	void *buffer = NULL;
	off_t at = 0;

	if (fd < 0 || posix_memalign(&buffer, 4096, block))
		target_die(path);
	spark_region_begin("reader");
	while (more()) {
		ssize_t n = pread(fd, buffer, block, at);

		if (n < 0)
			target_die("pread");
		at = n < (ssize_t)block ? 0 : at + n;
	}
	spark_region_end("reader");
	free(buffer);
	close(fd);
}

static void *holder(void *arg)
{
	int64_t *ns = arg;

	take_lock();
	give_byte(pipes[0][1], 1);
	target_sleep(*ns);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void mixed(int64_t ns)
{
	pthread_t thread;

	if (pipe(pipes[0]))
		target_die("pipe");
	if (pthread_create(&thread, NULL, holder, &ns))
		target_die("pthread_create");
	take_byte(pipes[0][0]);
	spark_region_begin("mixed");
	spark_region_begin("wait");
	take_lock();
	spark_region_end("wait");
	pthread_mutex_unlock(&lock);
	spark_region_begin("nap");
	take_nap(ns);
	spark_region_end("nap");
	target_spin(ns);
	spark_region_end("mixed");
	pthread_join(thread, NULL);
}

static void brief(void)
{
	for (int i = 0; i < 100; i++) {
		pid_t pid = vfork();

		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			target_die("vfork");
	}
}

int main(int argc, char **argv)
{
	const char *work = argc > 1 ? argv[1] : "";
	int64_t ns = target_arg(argc, argv, 2, 100) * 1000000;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	end = target_clock(CLOCK_MONOTONIC) + ns;
	if (!strcmp(work, "sleep")) {
		spark_region_begin("sleeper");
		while (more())
			take_nap(20000000);
		spark_region_end("sleeper");
	} else if (!strcmp(work, "convoy")) {
		threads_run(convoy, LOCKERS);
	} else if (!strcmp(work, "pingpong")) {
		pairs_run(2);
	} else if (!strcmp(work, "storm")) {
		pairs_run(2 * (cpus < MOST / 2 ? cpus : MOST / 2));
	} else if (!strcmp(work, "disk") && argc > 3) {
		reader(argv[3]);
	} else if (!strcmp(work, "starved")) {
		threads_run(spin, 2 * (cpus < MOST / 2 ? cpus : MOST / 2));
	} else if (!strcmp(work, "brief")) {
		brief();
	} else if (!strcmp(work, "mixed")) {
		mixed(ns / 3);
	} else {
		return 2;
	}
	return 0;
}
