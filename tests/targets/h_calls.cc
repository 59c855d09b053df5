/* SPDX-License-Identifier: MIT */
/*
 * h_calls MODE: leaves calls into libtcalls.so in every way there is, and claims how many calls there were. Without
 * Spark it does the same.
 *
 *	throw jump cancel backtrace threads storm leap errno fork wait spin
 *	stay FILE	a child of its own goes on until its slots lead to the functions again, and says so in FILE
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <sys/time.h>
#include <sys/wait.h>

extern "C" {
#include "target.h"
extern uint64_t calls_counts[4];
long calls_nothing(long x);
void calls_back(void (*function)(void *), void *argument);
long calls_recurse(long depth, long (*function)(long));
int calls_errno(int set);
}

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

/* ---- exceptions */

static void throws(void *)
{
	throw std::runtime_error("out");
}

static void passes(void *)
{
	calls_back(throws, nullptr);
}

static void throws_again(void *)
{
	try {
		calls_back(passes, nullptr);
	} catch (const std::exception &) {
		throw;
	}
}

static void mode_throw()
{
	int caught = 0;

	for (int i = 0; i < 1000; i++)
		try {
			calls_back(i % 2 ? throws : throws_again, nullptr);
		} catch (const std::exception &) {
			caught++;
			calls_nothing(i);
		}
	expect(caught == 1000, "an exception got lost");
}

/* ---- longjmp */

static jmp_buf out;

static void jumps(void *)
{
	longjmp(out, 1);
}

static void jumps_far(void *)
{
	calls_back(jumps, nullptr);
}

static void mode_jump()
{
	volatile int jumped = 0;

	for (volatile int i = 0; i < 1000; i++) {
		if (setjmp(out) == 0)
			calls_back(jumps_far, nullptr);
		else
			jumped++;
		calls_nothing(i);
	}
	expect(jumped == 1000, "a jump got lost");
}

/* ---- threads that end inside a call */

static int cleaned;

static void clean(void *)
{
	__atomic_add_fetch(&cleaned, 1, __ATOMIC_RELAXED);
}

static void waits(void *)
{
	pthread_cleanup_push(clean, nullptr);
	for (;;)
		usleep(1000);
	pthread_cleanup_pop(0);
}

static void leaves(void *)
{
	pthread_cleanup_push(clean, nullptr);
	pthread_exit((void *)5);
	pthread_cleanup_pop(0);
}

static void *cancelled(void *)
{
	calls_back(waits, nullptr);
	return nullptr;
}

static void *left(void *)
{
	calls_back(leaves, nullptr);
	return nullptr;
}

static void mode_cancel()
{
	pthread_t t[8];
	void *value;

	for (int i = 0; i < 8; i++)
		if (pthread_create(&t[i], nullptr, i % 2 ? cancelled : left, nullptr))
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

static void looks_back(void *)
{
	void *frames[64];
	Dl_info info;

	for (int i = backtrace(frames, 64); i-- > 0;)
		if (dladdr(frames[i], &info) && info.dli_sname && !strcmp(info.dli_sname, "main"))
			seen_main = true;
}

static void mode_backtrace()
{
	calls_back(looks_back, nullptr);
	expect(seen_main, "backtrace() did not reach main");
}

static void mode_wait()
{
	static volatile bool stop;

	calls_back([](void *) { while (!stop) usleep(1000); }, nullptr);
}

/* A second of work, four calls deep. */
static void spins(void *)
{
	int64_t end = target_clock(CLOCK_MONOTONIC) + 1000000000;

	while (target_clock(CLOCK_MONOTONIC) < end)
		;
}

static void mode_spin()
{
	calls_back([](void *) { calls_back([](void *) { calls_back(spins, nullptr); }, nullptr); }, nullptr);
}

/* ---- threads */

static long comes_back(long depth)
{
	return 1 + calls_recurse(depth, comes_back);
}

static void mode_threads()
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 64; i++)
		threads.emplace_back([] {
			for (int k = 0; k < 20; k++)
				expect(calls_recurse(50, comes_back) == 101, "a recursion returned something else");
		});
	for (auto &t : threads)
		t.join();
}

/* ---- signals */

static volatile long signals;
static bool leaping;
static sigjmp_buf leap;

static void handler(int)
{
	int error = errno;

	signals = signals + 1;
	calls_nothing(signals);
	errno = error;
	if (leaping)
		siglongjmp(leap, 1);
}

static void storm(int flags, long rounds)
{
	struct itimerval timer = { { 0, 150 }, { 0, 150 } }, none = {};
	struct sigaction action = {};
	static char stack[1 << 16];
	stack_t other = {};

	calls_nothing(0); /* the thread's first, which may take as long as some ticks of the timer */
	other.ss_sp = stack;
	other.ss_size = sizeof(stack);
	sigaltstack(&other, nullptr);
	action.sa_handler = handler;
	action.sa_flags = flags | SA_RESTART;
	sigaction(SIGALRM, &action, nullptr);
	setitimer(ITIMER_REAL, &timer, nullptr);
	for (volatile long i = 0; i < rounds || signals < 100; i = i + 1) {
		if (leaping)
			sigsetjmp(leap, 1);
		errno = 7;
		expect(calls_recurse(3, comes_back) == 7, "a call was changed by a signal");
		expect(errno == 7, "errno was changed");
	}
	setitimer(ITIMER_REAL, &none, nullptr);
}

static void mode_storm()
{
	storm(0, 200000);
	storm(SA_ONSTACK, 200000);
}

static void mode_leap()
{
	leaping = true;
	storm(0, 200000);
}

static void mode_errno()
{
	for (int e = 1; e < 1000; e++) {
		errno = e;
		expect(calls_errno(e + 1) == e, "the function saw another errno");
		expect(errno == e + 1, "the caller saw another errno");
	}
}

/* ---- fork */

static void mode_fork()
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

static int slots_led_astray()
{
	int n = 0;
	const ElfW(Rela) *rela[2] = {};
	size_t bytes[2] = {};
	Dl_info info;

	for (const ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_JMPREL || d->d_tag == DT_RELA)
			rela[d->d_tag == DT_RELA] = (const ElfW(Rela) *)d->d_un.d_ptr;
		if (d->d_tag == DT_PLTRELSZ || d->d_tag == DT_RELASZ)
			bytes[d->d_tag == DT_RELASZ] = d->d_un.d_val;
	}
	dladdr((void *)slots_led_astray, &info);
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; rela[k] && i < bytes[k] / sizeof(ElfW(Rela)); i++) {
			void *value = *(void *volatile *)((char *)info.dli_fbase + rela[k][i].r_offset);
			Dl_info at;

			if (ELF64_R_SYM(rela[k][i].r_info) && dladdr(value, &at) && at.dli_fname && strstr(at.dli_fname, "libsparkagent"))
				n++;
		}
	return n;
}

static void mode_stay(const char *file)
{
	static volatile bool stop;
	std::vector<std::thread> threads;
	int before, after, waited = 0;
	long calls;

	calls_nothing(0);
	before = slots_led_astray();
	if (fork() != 0)
		return;
	setsid();
	for (int i = 0; i < 4; i++)
		threads.emplace_back([] {
			for (long k = 0; !stop; k++)
				expect(calls_nothing(k) == k + 1, "a call went wrong");
		});
	while ((after = slots_led_astray()) > 0 && waited++ < 2000)
		usleep(5000);
	calls = (long)calls_counts[0];
	usleep(10000);
	stop = true;
	for (auto &t : threads)
		t.join();
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	dprintf(fd, "before %d after %d failures %d going_on %d\n", before, after, failures, (long)calls_counts[0] > calls);
	_exit(0);
}

static const struct { const char *name; void (*run)(); } modes[] = {
	{ "throw", mode_throw }, { "jump", mode_jump }, { "cancel", mode_cancel }, { "backtrace", mode_backtrace },
	{ "threads", mode_threads }, { "storm", mode_storm }, { "leap", mode_leap }, { "errno", mode_errno },
	{ "fork", mode_fork }, { "wait", mode_wait }, { "spin", mode_spin },
};

int main(int argc, char **argv)
{
	target_open();
	for (auto &mode : modes)
		if (argc > 1 && !strcmp(mode.name, argv[1]))
			mode.run();
	if (argc > 2 && !strcmp(argv[1], "stay"))
		mode_stay(argv[2]);
	claim();
	printf("%s: %d failures\n", argc > 1 ? argv[1] : "", failures);
	return failures != 0;
}
