/* SPDX-License-Identifier: MIT */
/*
 * h_sandbox run perf|usual eperm|enosys|kill PROGRAM [ARGS...]: executes the program under a seccomp
 * filter: perf_event_open refused, or all but what a usual program needs at its start.
 *
 * h_sandbox enter prctl|syscall|libc|strict|strict-syscall [THREADS [LAPS]]: 100 pairs of "before"; then the
 * process enters a sandbox in which any system call but write and exit kills it; then 1,000 pairs of
 * "after" with others in it, 100 new names, and a long region beside a rival on the same CPU (not in
 * strict mode, which is a thread's own), LAPS of a loop. Threads that existed use their first marker inside. Ends
 * with status 7, by a system call that is allowed.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "target.h"

#define MOST 64
#define THREAD_PAIRS 100

static const int inside[] = { SYS_write, SYS_exit, SYS_exit_group, SYS_rt_sigreturn };

static const int usual[] = {
	SYS_read, SYS_write, SYS_close, SYS_fstat, SYS_newfstatat, SYS_lseek, SYS_mmap, SYS_mprotect, SYS_munmap,
	SYS_brk, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_pread64, SYS_openat,
	SYS_set_tid_address, SYS_set_robust_list, SYS_prlimit64, SYS_getrandom, SYS_futex, SYS_execve, SYS_exit,
	SYS_exit_group, SYS_getpid, SYS_ioctl,
#ifdef SYS_rseq
	SYS_rseq,
#endif
#ifdef SYS_access
	SYS_access, SYS_arch_prctl, SYS_readlink,
#else
	SYS_faccessat, SYS_readlinkat,
#endif
};

static struct sock_filter code[2 * MOST + 3];
static struct sock_fprog program = { 0, code };

static void emit(unsigned short op, unsigned char jt, unsigned char jf, unsigned int k)
{
	code[program.len++] = (struct sock_filter){ op, jt, jf, k };
}

/* These calls get one answer, all the others the other. */
static void build(const int *calls, size_t n, unsigned int answer, unsigned int otherwise)
{
	size_t i;

	emit(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
	for (i = 0; i < n; i++) {
		emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (unsigned int)calls[i]);
		emit(BPF_RET | BPF_K, 0, 0, answer);
	}
	emit(BPF_RET | BPF_K, 0, 0, otherwise);
}

static int run(int argc, char **argv)
{
	static const int perf[] = { SYS_perf_event_open };
	unsigned int no = SECCOMP_RET_KILL_PROCESS;

	if (argc < 5)
		return 2;
	if (strcmp(argv[3], "eperm") == 0)
		no = SECCOMP_RET_ERRNO | EPERM;
	else if (strcmp(argv[3], "enosys") == 0)
		no = SECCOMP_RET_ERRNO | ENOSYS;
	if (strcmp(argv[2], "perf") == 0)
		build(perf, 1, no, SECCOMP_RET_ALLOW);
	else
		build(usual, sizeof(usual) / sizeof(usual[0]), SECCOMP_RET_ALLOW, no);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		target_die("seccomp");
	execv(argv[4], argv + 4);
	target_die(argv[4]);
	return 99;
}

static volatile int running, entered, finished;
static int64_t laps;

static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *rival(void *arg)
{
	(void)arg;
	__atomic_fetch_add(&running, 1, __ATOMIC_SEQ_CST);
	for (;;)
		;
	return NULL;
}

static void *late_thread(void *arg)
{
	int i;

	(void)arg;
	__atomic_fetch_add(&running, 1, __ATOMIC_SEQ_CST);
	while (!entered)
		;
	for (i = 0; i < THREAD_PAIRS; i++) {
		spark_region_begin("thread");
		spark_region_end("thread");
	}
	__atomic_fetch_add(&finished, 1, __ATOMIC_SEQ_CST);
	for (;;)
		;
	return NULL;
}

static int enter(const char *how)
{
	int tsync = SECCOMP_FILTER_FLAG_TSYNC;

	if (strcmp(how, "prctl") == 0)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	if (strcmp(how, "syscall") == 0)
		return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, tsync, &program);
	if (strcmp(how, "libc") == 0)
		return (int)syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	if (strcmp(how, "strict") == 0)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
}

static void markers_inside(void)
{
	static struct spark_region handle = SPARK_REGION("handle");
	char name[] = "new-00";
	volatile int64_t i;

	for (i = 0; i < 1000; i++) {
		spark_region_begin("after");
		spark_begin(&handle);
		spark_end(&handle);
		name[4] = (char)('0' + i / 10 % 10);
		name[5] = (char)('0' + i % 10);
		spark_region_begin(name);
		spark_region_end(name);
		spark_region_end("after");
	}
	spark_region_begin("long");
	for (i = 0; i < laps; i++)
		;
	spark_region_end("long");
}

static void claim_inside(int64_t threads)
{
	char path[] = "after;new-00";
	int i;

	target_region("before", 100);
	target_region("after", 1000);
	target_region("after;handle", 1000);
	target_region("long", 1);
	for (i = 0; i < 100; i++) {
		path[10] = (char)('0' + i / 10);
		path[11] = (char)('0' + i % 10);
		target_region(path, 10);
	}
	if (threads)
		target_region("thread", (uint64_t)(threads * THREAD_PAIRS));
}

static int sandbox(int argc, char **argv)
{
	int64_t i, threads = target_arg(argc, argv, 3, 0);
	int strict = strncmp(argv[2], "strict", 6) == 0;
	pthread_t id;

	laps = target_arg(argc, argv, 4, 300000000);
	claim_inside(threads);
	for (i = 0; i < 100; i++) {
		spark_region_begin("before");
		spark_region_end("before");
	}
	for (i = 0; i < threads; i++)
		if (pthread_create(&id, NULL, late_thread, NULL))
			target_die("pthread_create");
	pin();
	if (!strict && pthread_create(&id, NULL, rival, NULL))
		target_die("pthread_create");
	/* The C library's start of a thread needs system calls. */
	while (running < threads + !strict)
		sched_yield();
	build(inside, sizeof(inside) / sizeof(inside[0]), SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || enter(argv[2]))
		target_die("seccomp");
	entered = 1;
	markers_inside();
	while (finished < threads)
		;
	if (write(1, "inside\n", 7) != 7)
		return 98;
	/* Strict mode allows a thread to end, not a process: there is no other thread. */
	syscall(strict ? SYS_exit : SYS_exit_group, 7);
	return 99;
}

int main(int argc, char **argv)
{
	target_open();
	if (argc > 2 && strcmp(argv[1], "run") == 0)
		return run(argc, argv);
	if (argc > 2 && strcmp(argv[1], "enter") == 0)
		return sandbox(argc, argv);
	return 2;
}
