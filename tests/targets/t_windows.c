/* SPDX-License-Identifier: MIT */
/*
 * t_windows CTL ACK FILE WORD...
 *
 * A program without markers that opens and closes its windows from outside, by the fifos of --window-file, and waits
 * for each answer. Each WORD is a window of its name, of known content: "sleep" and "spin", 200 ms; "pinned", two
 * threads that spin on one CPU, 200 ms of CPU time each, and live until the window has ended; "cold", a file of
 * 64 MiB that is not in memory is read; "none", nothing. Claims what a window has blocked for, "cold-blocked", by
 * clocks and the scheduler's own figures.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>

#include "target.h"

enum { FILE_SIZE = 64 << 20, PIECE = 1 << 20, STEP = 200000000 };

static int ctl, ack;
static pthread_barrier_t start, done, leave;

static void say(const char *word, const char *name)
{
	char answer[4];

	dprintf(ctl, "%s %s\n", word, name);
	for (size_t got = 0; got < sizeof(answer);) {
		ssize_t n = read(ack, answer + got, sizeof(answer) - got);

		if (n <= 0)
			target_die("no answer");
		got += (size_t)n;
	}
}

static void *pinned_thread(void *unused)
{
	pthread_barrier_wait(&start);
	target_spin(STEP);
	pthread_barrier_wait(&done);
	pthread_barrier_wait(&leave);
	return unused;
}

static void pinned(void)
{
	pthread_t thread[2];
	cpu_set_t one, all;

	if (sched_getaffinity(0, sizeof(all), &all))
		target_die("sched_getaffinity");
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	sched_setaffinity(0, sizeof(one), &one);
	pthread_barrier_init(&start, NULL, 3);
	pthread_barrier_init(&done, NULL, 3);
	pthread_barrier_init(&leave, NULL, 3);
	for (int i = 0; i < 2; i++)
		if ((errno = pthread_create(&thread[i], NULL, pinned_thread, NULL)))
			target_die("pthread_create");
	say("begin", "pinned");
	pthread_barrier_wait(&start);
	pthread_barrier_wait(&done);
	say("end", "pinned");
	pthread_barrier_wait(&leave);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	sched_setaffinity(0, sizeof(all), &all);
}

/* Time that the thread has waited for a CPU; 0 where nobody counts it. */
static int64_t run_wait(void)
{
	char text[128] = "";
	long long runtime, wait = 0;
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && (read(fd, text, sizeof(text) - 1) < 0 || sscanf(text, "%lld %lld", &runtime, &wait) != 2))
		wait = 0;
	if (fd >= 0)
		close(fd);
	return wait;
}

static int64_t not_blocked(void)
{
	return target_clock(CLOCK_THREAD_CPUTIME_ID) + run_wait();
}

static void cold(const char *path)
{
	static char piece[PIECE];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int64_t begin, blocked;

	memset(piece, 7, sizeof(piece));
	for (int i = 0; i < FILE_SIZE / PIECE; i++)
		if (fd < 0 || write(fd, piece, sizeof(piece)) != PIECE)
			target_die(path);
	if (fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) || lseek(fd, 0, SEEK_SET))
		target_die(path);
	say("begin", "cold");
	begin = target_clock(CLOCK_MONOTONIC);
	blocked = -not_blocked();
	for (int i = 0; i < FILE_SIZE / PIECE; i++)
		if (read(fd, piece, sizeof(piece)) != PIECE)
			target_die(path);
	blocked += not_blocked();
	blocked = target_clock(CLOCK_MONOTONIC) - begin - blocked;
	say("end", "cold");
	target_value("cold-blocked", blocked);
	close(fd);
	unlink(path);
}

static void plain(const char *word)
{
	say("begin", word);
	if (!strcmp(word, "sleep"))
		target_sleep(STEP);
	else if (!strcmp(word, "spin"))
		target_spin(STEP);
	say("end", word);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	ctl = open(argv[1], O_RDWR | O_CLOEXEC);
	ack = open(argv[2], O_RDWR | O_CLOEXEC);
	if (ctl < 0 || ack < 0)
		target_die("fifos");
	for (int i = 4; i < argc; i++)
		if (!strcmp(argv[i], "pinned"))
			pinned();
		else if (!strcmp(argv[i], "cold"))
			cold(argv[3]);
		else
			plain(argv[i]);
	return 0;
}
