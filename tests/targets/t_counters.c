/* SPDX-License-Identifier: MIT */
/*
 * t_counters N [loop | move | threads | fork | close | reuse]: regions that do one thing N times each, and
 * nothing else: "calls" getpid(2), "touch" fresh pages, "watch" writes of counters_watched, "probed"
 * calls of counters_probed(), "loop" 2,000 instructions, "sleep" three sleeps in all.
 *
 * loop: that alone, after the calls. move: two threads at once, each with a region "moved" that goes to
 * another CPU ten times and does a tenth of the loop on each. threads: four threads at once do the calls. fork: a child does them, too. close: after the first
 * region all descriptors above 2 are closed. reuse: then a pipe with a word in it stands in their
 * place, and the word must be there in the end. Not position-independent, so that nm(1) tells the
 * addresses.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "target.h"

#define THREADS 4

/* In .data: the loader clears what is in .bss, and its writes count. */
volatile uint64_t counters_watched = 1;

static int64_t n;

int counters_probed(int value);

__attribute__((noinline)) int counters_probed(int value)
{
	__asm__ volatile("" : "+r"(value) : : "memory");
	return value + 1;
}

static void calls(void)
{
	spark_region_begin("calls");
	for (int64_t i = 0; i < n; i++)
		syscall(SYS_getpid);
	spark_region_end("calls");
}

static void touch(void)
{
	size_t size = 4096;
	char *at = mmap(NULL, (size_t)n * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || madvise(at, (size_t)n * size, MADV_NOHUGEPAGE) < 0)
		target_die("mmap");
	spark_region_begin("touch");
	for (int64_t i = 0; i < n; i++)
		*(volatile char *)(at + (size_t)i * size) = 1;
	spark_region_end("touch");
}

static void memory(void)
{
	spark_region_begin("watch");
	for (int64_t i = 0; i < n; i++)
		counters_watched = (uint64_t)i;
	spark_region_end("watch");
	spark_region_begin("probed");
	for (int64_t i = 0; i < n; i++)
		counters_probed((int)i);
	spark_region_end("probed");
}

/* Two instructions each time round, whatever the compiler does. */
static void spin(uint64_t times)
{
#if defined(__x86_64__)
	__asm__ volatile("1: subq $1, %0\n\tjne 1b" : "+r"(times) : : "cc");
#elif defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(times) : : "cc");
#endif
}

static void loop(void)
{
	spark_region_begin("loop");
	spin(1000 * (uint64_t)n);
	spark_region_end("loop");
}

static void *moved(void *arg)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), at = arg != NULL;
	cpu_set_t set;

	spark_region_begin("moved");
	for (int i = 0; i < 10; i++) {
		CPU_ZERO(&set);
		CPU_SET((size_t)((at + i) % cpus), &set);
		sched_setaffinity(0, sizeof(set), &set);
		spin(100 * (uint64_t)n);
	}
	spark_region_end("moved");
	return arg;
}

static void sleeps(void)
{
	struct timespec ms = { 0, 1000000 };

	spark_region_begin("sleep");
	for (int i = 0; i < 3; i++)
		nanosleep(&ms, NULL);
	spark_region_end("sleep");
}

static void *thread(void *arg)
{
	calls();
	return arg;
}

static void threads(void *(*work)(void *), int how_many)
{
	pthread_t t[THREADS];

	for (int i = 0; i < how_many; i++)
		if (pthread_create(&t[i], NULL, work, i ? &n : NULL))
			target_die("pthread_create");
	for (int i = 0; i < how_many; i++)
		pthread_join(t[i], NULL);
}

/* Puts a pipe's reading end in the place of every descriptor above it. */
static int reuse(void)
{
	int end[2];

	if (pipe(end) || write(end[1], "word", 4) != 4)
		target_die("pipe");
	for (int fd = 10; fd < 1024; fd++)
		if (fd != end[0] && fd != end[1] && dup2(end[0], fd) < 0)
			break;
	return end[0];
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";
	char word[8] = "";
	int pipe_end = -1;

	n = target_arg(argc, argv, 1, 1000);
	target_open();
	calls();
	if (!strcmp(what, "close")) {
		for (int fd = 3; fd < 1024; fd++)
			if (fd != target_fd)
				close(fd);
		calls();
	} else if (!strcmp(what, "reuse")) {
		pipe_end = reuse();
		calls();
		if (read(pipe_end, word, sizeof(word)) != 4 || strcmp(word, "word") != 0)
			target_die("somebody has read from the pipe");
	} else if (!strcmp(what, "loop")) {
		loop();
	} else if (!strcmp(what, "threads")) {
		threads(thread, THREADS);
	} else if (!strcmp(what, "move")) {
		threads(moved, 2);
	} else if (!strcmp(what, "fork")) {
		pid_t child = fork();

		if (child == 0) {
			calls();
			_exit(0);
		}
		waitpid(child, NULL, 0);
	} else {
		touch();
		memory();
		loop();
		sleeps();
	}
	target_value("n", n);
	return 0;
}
