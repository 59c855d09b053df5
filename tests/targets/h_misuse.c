/* SPDX-License-Identifier: MIT */
/*
 * h_misuse MODE [ARGS...]: markers used as they should not be, among others that are used well.
 *
 *	unmatched	an end of x without a begin, then 1,000 pairs of y
 *	thread		10 regions begun on one thread, ended on another, by name and by handle
 *	jump		1,000 regions left by longjmp within one function
 *	deepjump	1,000 regions left by longjmp from deeper functions, inside another
 *	overlap MS	begins A, B; ends A, B; MS of sleep in each part
 *	unended		an inner region that is never ended, in 1,000 outer ones
 *	open HOW	leaves regions open: thread, exit, _exit, fork, exec (of /bin/true)
 *	deep DEPTH	DEPTH of region r, and 10 pairs of leaf at the bottom
 *	keys		64 threads whose key destructors use markers in all rounds
 *	null		null for names
 */
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "target.h"

static struct spark_region moved = SPARK_REGION("moved-handle");
static jmp_buf back;

static void steady(int n)
{
	int i;

	for (i = 0; i < n; i++) {
		spark_region_begin("steady");
		spark_region_end("steady");
	}
}

static void mode_unmatched(void)
{
	int i;

	spark_region_end("x");
	for (i = 0; i < 1000; i++) {
		spark_region_begin("y");
		spark_region_end("y");
	}
	target_region("y", 1000);
}

static void *end_elsewhere(void *arg)
{
	(void)arg;
	target_value("ended", syscall(SYS_gettid));
	spark_region_end("moved-name");
	spark_end(&moved);
	steady(1000);
	return NULL;
}

static void mode_thread(void)
{
	pthread_t id;
	int i;

	target_value("begun", syscall(SYS_gettid));
	for (i = 0; i < 10; i++) {
		spark_region_begin("moved-name");
		spark_begin(&moved);
		pthread_create(&id, NULL, end_elsewhere, NULL);
		pthread_join(id, NULL);
	}
	steady(1000);
}

static void mode_jump(void)
{
	volatile int i;

	for (i = 0; i < 1000; i++) {
		if (!setjmp(back)) {
			spark_region_begin("j");
			longjmp(back, 1);
		}
		spark_region_begin("k");
		spark_region_end("k");
	}
	steady(1000);
}

static void jump_deep(int depth);

/* It never returns, which gcc takes for an endless recursion if it sees it. */
static void (*volatile jump_deeper)(int depth) = jump_deep;

static __attribute__((noinline)) void jump_deep(int depth)
{
	char room[512];

	__asm__ volatile("" : : "r"(room) : "memory");
	spark_region_begin("j");
	if (depth > 1)
		jump_deeper(depth - 1);
	else
		longjmp(back, 1);
	__asm__ volatile("" : : "r"(room) : "memory");
}

static void mode_deepjump(void)
{
	volatile int i;

	for (i = 0; i < 1000; i++) {
		spark_region_begin("outer");
		if (!setjmp(back))
			jump_deep(3);
		spark_region_end("outer");
	}
	steady(1000);
	target_region("outer", 1000);
	target_region("outer;j", 1000);
	target_region("outer;j;j", 1000);
	target_region("outer;j;j;j", 1000);
	target_region("steady", 1000);
}

static void mode_overlap(int64_t ms)
{
	int64_t t[4];

	t[0] = target_clock(CLOCK_MONOTONIC);
	spark_region_begin("A");
	target_sleep(ms * 1000000);
	t[1] = target_clock(CLOCK_MONOTONIC);
	spark_region_begin("B");
	target_sleep(2 * ms * 1000000);
	spark_region_end("A");
	t[2] = target_clock(CLOCK_MONOTONIC);
	target_sleep(ms * 1000000);
	spark_region_end("B");
	t[3] = target_clock(CLOCK_MONOTONIC);
	steady(1000);
	target_value("A", t[2] - t[0]);
	target_value("B", t[3] - t[1]);
	target_region("A", 1);
	target_region("A;B", 1);
	target_region("steady", 1000);
}

static void mode_unended(void)
{
	int i;

	for (i = 0; i < 1000; i++) {
		spark_region_begin("outer");
		spark_region_begin("inner");
		spark_region_begin("kept");
		spark_region_end("kept");
		spark_region_end("outer");
	}
	steady(1000);
	target_region("steady", 1000);
}

static void *leave_open(void *arg)
{
	(void)arg;
	steady(10);
	spark_region_begin("left");
	steady(10);
	return NULL;
}

static void mode_open(const char *how)
{
	char name[] = "/bin/true", *program[] = { name, NULL };
	pthread_t id;
	pid_t pid;

	if (strcmp(how, "thread") == 0) {
		pthread_create(&id, NULL, leave_open, NULL);
		pthread_join(id, NULL);
		return;
	}
	leave_open(NULL);
	if (strcmp(how, "exec") == 0)
		execv(program[0], program);
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "fork") == 0) {
		pid = fork();
		if (pid == 0) {
			leave_open(NULL);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		spark_region_end("left");
	}
}

static void descend(int64_t depth)
{
	int i;

	spark_region_begin("r");
	if (depth > 1)
		descend(depth - 1);
	for (i = 0; depth == 1 && i < 10; i++) {
		spark_region_begin("leaf");
		spark_region_end("leaf");
	}
	spark_region_end("r");
}

static pthread_key_t keys[2];

static void late(void *arg)
{
	unsigned char *rounds = arg;

	spark_region_begin("late");
	spark_region_end("late");
	if (++rounds[1] < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(keys[rounds[0]], arg);
}

static void *use_keys(void *arg)
{
	unsigned char (*rounds)[2] = arg;

	pthread_setspecific(keys[0], rounds[0]);
	pthread_setspecific(keys[1], rounds[1]);
	spark_region_begin("thread");
	spark_region_end("thread");
	return NULL;
}

static void mode_keys(void)
{
	static unsigned char rounds[64][2][2];
	pthread_t ids[64];
	int i, total = 0;

	pthread_key_create(&keys[0], late);
	pthread_key_create(&keys[1], late);
	for (i = 0; i < 64; i++) {
		rounds[i][1][0] = 1;
		pthread_create(&ids[i], NULL, use_keys, rounds[i]);
	}
	for (i = 0; i < 64; i++) {
		pthread_join(ids[i], NULL);
		total += rounds[i][0][1] + rounds[i][1][1];
	}
	target_region("late", (uint64_t)total);
	target_region("thread", 64);
}

static void mode_null(void)
{
	static struct spark_region nameless = SPARK_REGION(NULL);
	const char *volatile none = NULL;

	spark_region_begin(none);
	spark_region_end(none);
	spark_begin(&nameless);
	spark_end(&nameless);
	spark_metric(none, 1);
	spark_frame(none);
	spark_region_units(none, 1, none);
	spark_window_begin(none);
	spark_window_end(none);
	steady(1000);
	target_region("steady", 1000);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	target_open();
	if (strcmp(mode, "unmatched") == 0)
		mode_unmatched();
	else if (strcmp(mode, "thread") == 0)
		mode_thread();
	else if (strcmp(mode, "jump") == 0)
		mode_jump();
	else if (strcmp(mode, "deepjump") == 0)
		mode_deepjump();
	else if (strcmp(mode, "overlap") == 0)
		mode_overlap(target_arg(argc, argv, 2, 20));
	else if (strcmp(mode, "unended") == 0)
		mode_unended();
	else if (strcmp(mode, "open") == 0 && argc > 2)
		mode_open(argv[2]);
	else if (strcmp(mode, "deep") == 0)
		descend(target_arg(argc, argv, 2, 300));
	else if (strcmp(mode, "keys") == 0)
		mode_keys();
	else if (strcmp(mode, "null") == 0)
		mode_null();
	else
		return 2;
	printf("fine\n");
	return 0;
}
