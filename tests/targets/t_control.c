/* SPDX-License-Identifier: MIT */
/*
 * t_control CTL ACK SCRIPT...: a program that steers its own measuring. Words of the script:
 *
 *	enable, disable, report, ping, stop	said to CTL; the answer on ACK is waited for
 *	work=N		N calls of region "work", each with a call of "inner" and one getpid(2)
 *	faults=N	a call of region "touch" that touches N new pages
 *	spin=MS		a call of region "spin" that spins; rest=MS the same in no region
 *	sleep=MS	a call of region "sleep"
 *	begin=NAME, end=NAME
 *	deep=N		a call of region "deep", N deep in itself, each spinning 1 ms
 *	churn=N		N threads one after the other and four at a time, each with 100 calls of "work"
 *	threads=N	N threads at a time, each with 10 calls of "work" inside "job" and 10 outside
 *	window=MS	a window that lasts so long
 *	units=N		N units of "work"
 *	fork=N		a child that does work=N
 *	kill		SIGKILL to itself
 */
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "target.h"

static int ctl = -1, ack = -1;

static void say(const char *word)
{
	char answer[5] = { 0 };
	size_t got = 0;

	dprintf(ctl, "%s\n", word);
	while (ack >= 0 && got < 4) {
		ssize_t n = read(ack, answer + got, 4 - got);

		if (n <= 0)
			target_die("no answer");
		got += (size_t)n;
	}
	if (ack >= 0 && strcmp(answer, "ack\n") != 0)
		target_die("another answer");
}

static void work(int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		spark_region_begin("work");
		spark_region_begin("inner");
		syscall(SYS_getpid);
		spark_region_end("inner");
		spark_region_end("work");
	}
}

static void touch(int64_t pages)
{
	long size = sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, (size_t)(pages * size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		target_die("mmap");
	madvise(map, (size_t)(pages * size), MADV_NOHUGEPAGE);
	spark_region_begin("touch");
	for (int64_t i = 0; i < pages; i++)
		((volatile char *)map)[i * size] = 1;
	spark_region_end("touch");
	munmap(map, (size_t)(pages * size));
}

static void deep(int64_t n)
{
	spark_region_begin("deep");
	target_spin(1000000);
	if (n > 1)
		deep(n - 1);
	spark_region_end("deep");
}

static void *churning(void *arg)
{
	work(100);
	return arg;
}

static void *jobber(void *arg)
{
	spark_region_begin("job");
	work(10);
	spark_region_end("job");
	work(10);
	return arg;
}

static void threads(int64_t n, int64_t most, void *(*run)(void *))
{
	pthread_t thread[64];
	int64_t begun = 0, joined = 0;

	most = most > 64 ? 64 : most;
	while (joined < n)
		if (begun < n && begun - joined < most) {
			if (pthread_create(&thread[begun++ % most], NULL, run, NULL))
				target_die("pthread_create");
		} else {
			pthread_join(thread[joined++ % most], NULL);
		}
}

static void region(const char *name, void (*what)(int64_t), int64_t arg)
{
	spark_region_begin(name);
	what(arg);
	spark_region_end(name);
}

static void child(int64_t n)
{
	pid_t pid = fork();

	if (pid == 0) {
		work(n);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* A word without a number. */
static void plain(const char *word)
{
	if (!strcmp(word, "kill"))
		raise(SIGKILL);
	say(word);
}

static void act(char *word)
{
	char *arg = strchr(word, '=');
	int64_t n;

	if (!arg) {
		plain(word);
		return;
	}
	*arg++ = '\0';
	n = strtoll(arg, NULL, 10);
	if (!strcmp(word, "begin"))
		spark_region_begin(arg);
	else if (!strcmp(word, "end"))
		spark_region_end(arg);
	else if (!strcmp(word, "work"))
		work(n);
	else if (!strcmp(word, "faults"))
		touch(n);
	else if (!strcmp(word, "spin"))
		region("spin", target_spin, n * 1000000);
	else if (!strcmp(word, "rest"))
		target_spin(n * 1000000);
	else if (!strcmp(word, "sleep"))
		region("sleep", target_sleep, n * 1000000);
	else if (!strcmp(word, "deep"))
		deep(n);
	else if (!strcmp(word, "churn"))
		threads(n, 4, churning);
	else if (!strcmp(word, "threads"))
		threads(n, n, jobber);
	else if (!strcmp(word, "units"))
		spark_region_units("work", (unsigned long)n, "B");
	else if (!strcmp(word, "fork"))
		child(n);
	else if (!strcmp(word, "window")) {
		spark_window_begin("window");
		target_sleep(n * 1000000);
		spark_window_end("window");
	}
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "-") != 0)
		ctl = open(argv[1], O_WRONLY | O_CLOEXEC);
	if (argc > 2 && strcmp(argv[2], "-") != 0)
		ack = open(argv[2], O_RDONLY | O_CLOEXEC);
	for (int i = 3; i < argc; i++)
		act(argv[i]);
	return 0;
}
