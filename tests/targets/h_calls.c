/* SPDX-License-Identifier: MIT */
/*
 * h_calls MODE: leaves calls into libtcalls.so in every way there is, and claims how many calls there were. Without
 * Spark it does the same.
 *
 *	jump cancel backtrace threads storm leap errno fork wait spin
 *	stay FILE	a child of its own goes on until its slots lead to the functions again, and says so in FILE
 */
#include "target.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>
#include <sys/wait.h>

extern uint64_t calls_counts[4];
long calls_nothing(long x);
void calls_back(void (*function)(void *), void *argument);
long calls_recurse(long depth, long (*function)(long));
int calls_errno(int set);

static int failures;

static void expect(bool good, const char *what)
{
	if (!good && failures++ < 10)
		dprintf(2, "h_calls: %s\n", what);
}

static void claim(void)
{
	static const char *const names[] = { "calls_nothing", "calls_back", "calls_recurse", "calls_errno" };

	for (int i = 0; i < 4; i++)
		target_value(names[i], (int64_t)calls_counts[i]);
}

/* ---- longjmp */

static jmp_buf out;

static void jumps(void *unused)
{
	(void)unused;
	longjmp(out, 1);
}

static void jumps_far(void *unused)
{
	(void)unused;
	calls_back(jumps, NULL);
}

static void mode_jump(void)
{
	volatile int jumped = 0;

	for (volatile int i = 0; i < 1000; i++) {
		if (setjmp(out) == 0)
			calls_back(jumps_far, NULL);
		else
			jumped++;
		calls_nothing(i);
	}
	expect(jumped == 1000, "a jump got lost");
}

/* ---- threads that end inside a call */

static int cleaned;

static void clean(void *unused)
{
	(void)unused;
	__atomic_add_fetch(&cleaned, 1, __ATOMIC_RELAXED);
}

static void waits(void *unused)
{
	(void)unused;
	pthread_cleanup_push(clean, NULL);
	for (;;)
		usleep(1000);
	pthread_cleanup_pop(0);
}

static void leaves(void *unused)
{
	(void)unused;
	pthread_cleanup_push(clean, NULL);
	pthread_exit((void *)5);
	pthread_cleanup_pop(0);
}

static void *cancelled(void *unused)
{
	(void)unused;
	calls_back(waits, NULL);
	return NULL;
}

static void *left(void *unused)
{
	(void)unused;
	calls_back(leaves, NULL);
	return NULL;
}

static void mode_cancel(void)
{
	pthread_t t[8];
	void *value;

	for (int i = 0; i < 8; i++)
		if (pthread_create(&t[i], NULL, i % 2 ? cancelled : left, NULL))
			target_die("pthread_create");
	usleep(20000);
	for (int i = 0; i < 8; i++) {
		if (i % 2)
			pthread_cancel(t[i]);
		pthread_join(t[i], &value);
		expect(value == (i % 2 ? PTHREAD_CANCELED : (void *)5), "a thread ended otherwise");
	}
	expect(cleaned == 8, "a cleanup handler did not run");
}

/* ---- backtrace */

static bool seen_main;

static void looks_back(void *unused)
{
	(void)unused;
	void *frames[64];
	Dl_info info;

	for (int i = backtrace(frames, 64); i-- > 0;)
		if (dladdr(frames[i], &info) && info.dli_sname && !strcmp(info.dli_sname, "main"))
			seen_main = true;
}

static void mode_backtrace(void)
{
	calls_back(looks_back, NULL);
	expect(seen_main, "backtrace() did not reach main");
}

static void sleeps(void *unused)
{
	(void)unused;
	for (;;)
		usleep(1000);
}

static void mode_wait(void)
{
	calls_back(sleeps, NULL);
}

/* A second of work, four calls deep. */
static void spins(void *unused)
{
	(void)unused;
	int64_t end = target_clock(CLOCK_MONOTONIC) + 1000000000;

	while (target_clock(CLOCK_MONOTONIC) < end)
		;
}

static void goes_on(void *next)
{
	calls_back(next ? goes_on : spins, NULL);
}

static void mode_spin(void)
{
	calls_back(goes_on, &failures);
}

/* ---- threads */

static long comes_back(long depth)
{
	return 1 + calls_recurse(depth, comes_back);
}

static void *recurses(void *unused)
{
	for (int k = 0; k < 20; k++)
		expect(calls_recurse(50, comes_back) == 101, "a recursion returned something else");
	return unused;
}

static void threads_start(pthread_t *t, int n, void *(*run)(void *))
{
	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, run, NULL))
			target_die("pthread_create");
}

static void threads_end(pthread_t *t, int n)
{
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

static void mode_threads(void)
{
	pthread_t threads[64];

	threads_start(threads, 64, recurses);
	threads_end(threads, 64);
}

/* ---- signals */

static volatile long signals;
static bool leaping;
static sigjmp_buf leap;

static void handler(int number)
{
	int error = errno;

	(void)number;
	signals = signals + 1;
	calls_nothing(signals);
	errno = error;
	if (leaping)
		siglongjmp(leap, 1);
}

static void storm(int flags, long rounds)
{
	struct itimerval timer = { { 0, 150 }, { 0, 150 } }, none = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags | SA_RESTART };
	static char stack[1 << 16];
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };

	calls_nothing(0); /* the thread's first, which may take as long as some ticks of the timer */
	sigaltstack(&other, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (volatile long i = 0; i < rounds || signals < 100; i = i + 1) {
		if (leaping)
			sigsetjmp(leap, 1);
		errno = 7;
		expect(calls_recurse(3, comes_back) == 7, "a call was changed by a signal");
		expect(errno == 7, "errno was changed");
	}
	setitimer(ITIMER_REAL, &none, NULL);
}

static void mode_storm(void)
{
	storm(0, 200000);
	storm(SA_ONSTACK, 200000);
}

static void mode_leap(void)
{
	leaping = true;
	storm(0, 200000);
}

static void mode_errno(void)
{
	for (int e = 1; e < 1000; e++) {
		errno = e;
		expect(calls_errno(e + 1) == e, "the function saw another errno");
		expect(errno == e + 1, "the caller saw another errno");
	}
}

/* ---- fork */

static void mode_fork(void)
{
	for (int i = 0; i < 20; i++) {
		int status = 0;
		pid_t pid = fork();

		if (pid == 0) {
			calls_nothing(1);
			_exit(calls_nothing(i) == i + 1 ? 0 : 1);
		}
		waitpid(pid, &status, 0);
		expect(pid > 0 && status == 0, "a child failed");
		calls_nothing(i);
	}
}

/* ---- slots that are given back */

static int slots_led_astray(void)
{
	int n = 0;
	const ElfW(Sym) *symbols = NULL;
	const char *strings = "";
	const ElfW(Rela) *rela[2] = { NULL, NULL };
	size_t bytes[2] = { 0, 0 };
	Dl_info info;

	for (const ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			symbols = (const ElfW(Sym) *)d->d_un.d_ptr;
		if (d->d_tag == DT_STRTAB)
			strings = (const char *)d->d_un.d_ptr;
		if (d->d_tag == DT_JMPREL || d->d_tag == DT_RELA)
			rela[d->d_tag == DT_RELA] = (const ElfW(Rela) *)d->d_un.d_ptr;
		if (d->d_tag == DT_PLTRELSZ || d->d_tag == DT_RELASZ)
			bytes[d->d_tag == DT_RELASZ] = d->d_un.d_val;
	}
	dladdr((void *)slots_led_astray, &info);
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; rela[k] && i < bytes[k] / sizeof(ElfW(Rela)); i++) {
			void *value = *(void *volatile *)((char *)info.dli_fbase + rela[k][i].r_offset);
			const char *name = strings + symbols[ELF64_R_SYM(rela[k][i].r_info)].st_name;
			Dl_info at;

			/* The markers' table is there for good. */
			if (strncmp(name, "spark_", 6) && dladdr(value, &at) && at.dli_fname && strstr(at.dli_fname, "libsparkagent"))
				n++;
		}
	return n;
}

static volatile bool stop;

static void *goes_on_calling(void *unused)
{
	for (long k = 0; !stop; k++)
		expect(calls_nothing(k) == k + 1, "a call went wrong");
	return unused;
}

static void mode_stay(const char *file)
{
	pthread_t threads[4];
	int before, after, waited = 0, fd;
	long calls;

	calls_nothing(0);
	before = slots_led_astray();
	if (fork() != 0)
		return;
	setsid();
	threads_start(threads, 4, goes_on_calling);
	while ((after = slots_led_astray()) > 0 && waited++ < 2000)
		usleep(5000);
	calls = (long)calls_counts[0];
	usleep(10000);
	stop = true;
	threads_end(threads, 4);
	fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	dprintf(fd, "before %d after %d failures %d going_on %d\n", before, after, failures, (long)calls_counts[0] > calls);
	_exit(0);
}

static const struct { const char *name; void (*run)(void); } modes[] = {
	{ "jump", mode_jump }, { "cancel", mode_cancel }, { "backtrace", mode_backtrace },
	{ "threads", mode_threads }, { "storm", mode_storm }, { "leap", mode_leap }, { "errno", mode_errno },
	{ "fork", mode_fork }, { "wait", mode_wait }, { "spin", mode_spin },
};

int main(int argc, char **argv)
{
	target_open();
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(modes[i].name, argv[1]))
			modes[i].run();
	if (argc > 2 && !strcmp(argv[1], "stay"))
		mode_stay(argv[2]);
	claim();
	printf("%s: %d failures\n", argc > 1 ? argv[1] : "", failures);
	return failures != 0;
}
