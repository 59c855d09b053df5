/* SPDX-License-Identifier: MIT */
/*
 * t_uprobe WHAT N: does N times what is probed, all of it in functions without markers.
 *
 *	nested   outer calls a static function twice, which sleeps 0.1 ms
 *	recurse  16 deep; deeper  100 deep
 *	threads  8 of them
 *	fork     children, each N calls and one by the parent's call of fork
 *	longjmp  leaves two functions each second time
 *	tail     a function that ends by a jump to another
 *	marked   the same work in a region
 *	exec     this program itself, nested
 *	exit     from within
 */
#include <pthread.h>
#include <setjmp.h>
#include <sys/wait.h>

#include "target.h"

#if defined(__clang__)
#define OUT_OF_LINE __attribute__((noinline))
#define TAIL_CALLS
#else
#define OUT_OF_LINE __attribute__((noinline, noclone))
#define TAIL_CALLS __attribute__((optimize("O2")))
#endif
#define THREADS 8
#define CHILDREN 4

void probed_outer(int64_t sleep_ns);

static volatile int64_t work;
static jmp_buf back;

static OUT_OF_LINE void probed_inner(int64_t sleep_ns)
{
	if (sleep_ns)
		target_sleep(sleep_ns);
	work++;
}

OUT_OF_LINE void probed_outer(int64_t sleep_ns)
{
	probed_inner(sleep_ns);
	probed_inner(sleep_ns);
	work++;
}

static OUT_OF_LINE void probed_recursive(int64_t depth)
{
	if (depth > 1)
		probed_recursive(depth - 1);
	work++;
}

static OUT_OF_LINE void probed_jumper(int64_t i)
{
	work++;
	if (i % 2)
		longjmp(back, 1);
	work++;
}

static OUT_OF_LINE void probed_left(int64_t i)
{
	probed_jumper(i);
	work++;
}

static OUT_OF_LINE void probed_around(volatile int64_t n)
{
	for (volatile int64_t i = 0; i < n; i++)
		if (!setjmp(back))
			probed_left(i);
}

static OUT_OF_LINE int64_t probed_last(int64_t i)
{
	work++;
	return work + i;
}

static OUT_OF_LINE TAIL_CALLS int64_t probed_tail(int64_t i)
{
	work++;
	return probed_last(i);
}

static OUT_OF_LINE pid_t probed_fork(void)
{
	pid_t child = fork();

	work++;
	return child;
}

static OUT_OF_LINE void probed_exit(void)
{
	work++;
	exit(7);
}

static inline __attribute__((always_inline)) int64_t probed_inlined(int64_t i)
{
	return work * i;
}

static void *thread_run(void *n)
{
	for (int64_t i = 0; i < (int64_t)(intptr_t)n; i++)
		probed_outer(0);
	return NULL;
}

static void run_threads(int64_t n)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread_run, (void *)(intptr_t)n))
			target_die("pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void run_children(int64_t n)
{
	for (int i = 0; i < CHILDREN; i++)
		if (probed_fork() == 0) {
			thread_run((void *)(intptr_t)n);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
}

static void run_marked(int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		spark_region_begin("marked");
		probed_outer(100000);
		spark_region_end("marked");
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int64_t n = target_arg(argc, argv, 2, 10);

	if (!strcmp(what, "nested"))
		for (int64_t i = 0; i < n; i++)
			probed_outer(0);
	else if (!strcmp(what, "recurse") || !strcmp(what, "deeper"))
		for (int64_t i = 0; i < n; i++)
			probed_recursive(what[0] == 'r' ? 16 : 100);
	else if (!strcmp(what, "threads"))
		run_threads(n);
	else if (!strcmp(what, "fork"))
		run_children(n);
	else if (!strcmp(what, "longjmp"))
		probed_around(n);
	else if (!strcmp(what, "tail"))
		for (int64_t i = 0; i < n; i++)
			work += probed_tail(i);
	else if (!strcmp(what, "marked"))
		run_marked(n);
	else if (!strcmp(what, "exec"))
		execl(argv[0], argv[0], "nested", argv[2], NULL);
	else if (!strcmp(what, "exit"))
		probed_exit();
	return probed_inlined(n) == 1;
}
