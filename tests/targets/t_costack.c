/* SPDX-License-Identifier: MIT */
/*
 * Stacks that are small and lie amid other data. main() runs a coroutine for ever, on the heap, or with "array" on an array
 * of its own stack. The second argument adds a thread: "thread" an ordinary one with a marker, "given" one on memory of
 * the program, "full" the same where no room is left. The bytes below each such stack are watched; when they change that is
 * said, with status 1. It ends at SIGTERM, and prints "ok".
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <spark/spark.h>

#define GUARD (16u << 10)
#define SMALL (16u << 10)
#define GIVEN (64u << 10)
#define LEFT 2048u                   /* of a stack that is full */
#define MARK 0xa5

struct amid {
	unsigned char *memory;       /* GUARD bytes, then the stack */
	size_t left;                 /* of the stack, when it waits; 0: whatever there is */
	int marked;
};

static volatile sig_atomic_t over;
static ucontext_t from, coroutine;
static struct amid first;
static int there;

static void on_term(int n)
{
	(void)n;
	over = 1;
}

/* The frame of a signal's handler is there, too. */
static void watch(const struct amid *a)
{
	for (size_t i = 0; i < GUARD; i++)
		if (a->memory[i] != MARK && !over) {
			fprintf(stderr, "t_costack: a byte has changed, %zu below the stack\n", (size_t)GUARD - i);
			_exit(1);
		}
}

static void nap(const struct amid *a)
{
	const struct timespec t = { 0, 200000 };

	if (a->marked)
		spark_region_begin("ordinary");
	nanosleep(&t, NULL);
	if (a->marked)
		spark_region_end("ordinary");
}

/* The thread is there before main(). */
static void say(const struct amid *a)
{
	if (a != &first)
		__atomic_store_n(&there, 1, __ATOMIC_RELEASE);
	else if (write(1, "ready\n", 6) != 6)
		_exit(2);
}

/* Goes down until so much is left, and stays there. */
static __attribute__((noinline)) int down(const struct amid *a)
{
	volatile char pad[512] = { 0 };
	const char *here = __builtin_frame_address(0);

	if (a->left && here > (char *)a->memory + GUARD + a->left + sizeof(pad))
		return down(a) + pad[0];
	say(a);
	while (!over) {
		watch(a);
		nap(a);
	}
	return pad[1];
}

static void prepare(struct amid *a, unsigned char *memory, size_t left)
{
	*a = (struct amid){ .memory = memory, .left = left };
	memset(memory, MARK, GUARD);
}

static void coroutine_main(void)
{
	down(&first);
	setcontext(&from);
}

/* Its first function seems to have been called from address 0: for whoever follows the stack that is the end. */
static void caller_none(void)
{
#if defined(__x86_64__)
	*(void **)coroutine.uc_mcontext.gregs[REG_RSP] = NULL;
#elif defined(__aarch64__)
	coroutine.uc_mcontext.regs[30] = 0;
#endif
}

static void *thread_main(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	down(arg);
	return NULL;
}

static int thread_start(pthread_t *thread, const char *kind)
{
	static unsigned char memory[GUARD + GIVEN] __attribute__((aligned(64)));
	static struct amid amid;
	pthread_attr_t attr;

	prepare(&amid, memory, !strcmp(kind, "full") ? LEFT : 0);
	amid.marked = !strcmp(kind, "thread");
	pthread_attr_init(&attr);
	if (!amid.marked)
		pthread_attr_setstack(&attr, memory + GUARD, GIVEN);
	return pthread_create(thread, &attr, thread_main, &amid);
}

int main(int argc, char **argv)
{
	unsigned char array[GUARD + SMALL] __attribute__((aligned(64)));
	unsigned char *heap = malloc(GUARD + SMALL);
	pthread_t thread;

	signal(SIGTERM, on_term);
	prepare(&first, argc > 1 && !strcmp(argv[1], "array") ? array : heap, LEFT);
	/* The loader looks functions up at their first call, which takes more of a stack than is left. */
	nap(&first);
	if (write(1, "", 0) || (argc > 2 && thread_start(&thread, argv[2])))
		return 2;
	while (argc > 2 && !__atomic_load_n(&there, __ATOMIC_ACQUIRE))
		usleep(1000);
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = first.memory + GUARD;
	coroutine.uc_stack.ss_size = SMALL;
	makecontext(&coroutine, coroutine_main, 0);
	caller_none();
	swapcontext(&from, &coroutine);
	if (argc > 2)
		pthread_join(thread, NULL);
	printf("ok\n");
	free(heap);
	return 0;
}
