/* SPDX-License-Identifier: MIT */
/*
 * h_signal plain|stack|jump|jumpstack MS: markers in the handler of a 1 kHz timer that
 * interrupts markers, for MS milliseconds of wall time; on the alternate signal stack; left by
 * siglongjmp. Then 1,000 pairs of "after". Claims how many pairs each name had; for the loop of a
 * mode that jumps, "loop-least" are the pairs known to be complete and "jumps" those in doubt.
 *
 * h_signal mask: the program's own fault handler and signal masks, around markers.
 * h_signal rethrow: a handler for SIGABRT that restores the default and raises it again.
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "target.h"

static volatile sig_atomic_t handled, jumps, may_jump;
static int jumping;
static sigjmp_buf back;

static void handle(int sig)
{
	char name[] = "handler-dynamic";
	int saved = errno;

	(void)sig;
	spark_region_begin("handler");
	spark_region_begin(name);
	spark_region_end(name);
	spark_region_end("handler");
	handled++;
	errno = saved;
	if (jumping && may_jump && handled % 2 == 0) {
		jumps++;
		siglongjmp(back, 1);
	}
}

static void start(int flags)
{
	struct itimerval each_ms = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction action = { .sa_flags = flags };
	static char stack[65536];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };

	if (flags & SA_ONSTACK)
		sigaltstack(&alternate, NULL);
	action.sa_handler = handle;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &each_ms, NULL);
}

static void stop(void)
{
	struct itimerval never = { { 0, 0 }, { 0, 0 } };

	may_jump = 0;
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
}

static void storm(const char *how, int64_t ms)
{
	static struct spark_region inner = SPARK_REGION("inner");
	int64_t end = target_clock(CLOCK_MONOTONIC) + ms * 1000000;
	volatile int64_t loops = 0, i;

	jumping = strncmp(how, "jump", 4) == 0;
	start(strstr(how, "stack") ? SA_ONSTACK : 0);
	sigsetjmp(back, 1);
	may_jump = 1;
	while (target_clock(CLOCK_MONOTONIC) < end) {
		for (i = 0; i < 1000; i++) {
			spark_region_begin("loop");
			spark_begin(&inner);
			spark_end(&inner);
			spark_region_end("loop");
			loops++;
		}
	}
	stop();
	for (i = 0; i < 1000; i++) {
		spark_region_begin("after");
		spark_region_end("after");
	}
	target_value("loop-least", loops);
	target_value("handled", handled);
	target_value("jumps", jumps);
}

static volatile sig_atomic_t faults;

static void on_fault(int sig)
{
	(void)sig;
	faults++;
	spark_region_begin("fault");
	spark_region_end("fault");
	siglongjmp(back, 1);
}

/* Whatever the program set stays: masks around markers, its fault handler, from first to last fault. */
static void mask(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGALRM, SIGPROF, SIGPIPE, SIGUSR1, SIGTRAP };
	volatile char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction action = { .sa_flags = SA_NODEFER }, seen;
	sigset_t before, after;
	volatile int i;
	size_t k;

	/* The kernel's mask is shorter than the type. */
	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	action.sa_handler = on_fault;
	sigaction(SIGSEGV, &action, NULL);
	sigprocmask(SIG_BLOCK, NULL, &before);
	for (i = 0; i < 100; i++) {
		if (sigsetjmp(back, 1) == 0) {
			spark_region_begin("faulting");
			*page = 1;
		}
		spark_region_end("faulting");
	}
	sigprocmask(SIG_BLOCK, NULL, &after);
	dprintf(1, "faults %d, mask kept %d\n", (int)faults, memcmp(&before, &after, sizeof(before)) == 0);
	for (k = 0; k < sizeof(signals) / sizeof(signals[0]); k++) {
		sigaction(signals[k], NULL, &seen);
		dprintf(1, "signal %d: %s\n", signals[k],
			seen.sa_handler == SIG_DFL ? "default" : seen.sa_handler == on_fault ? "ours" : "foreign");
	}
	target_region("faulting", 100);
	target_value("fault", faults);
}

static void on_abort(int sig)
{
	spark_region_begin("handler");
	spark_region_end("handler");
	signal(sig, SIG_DFL);
	raise(sig);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	target_open();
	if (strcmp(how, "mask") == 0) {
		mask();
	} else if (strcmp(how, "rethrow") == 0) {
		signal(SIGABRT, on_abort);
		abort();
	} else {
		storm(how, target_arg(argc, argv, 2, 1000));
	}
	return 0;
}
