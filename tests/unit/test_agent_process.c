/* SPDX-License-Identifier: MIT */
/* agent/agent and agent/seal: forked children, a sealed process, the calls that are interposed. */
#include "agent_harness.h"
#include "suite.h"

#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BEGIN(name) region_name_begin(name)
#define END(name) region_name_end(name)
#define AT_ONCE 16u

static void bracket(const char *name)
{
	BEGIN(name);
	END(name);
}

/* One thread enters a forked child; see test_child_entering for what others meet meanwhile. */
static void enter(void)
{
	bracket("enter");
}

/* ---- fork */

static void child_counts(void *unused)
{
	(void)unused;
	if (thread_self->lane.w || thread_self->lane.gate || harness_slots())
		_exit(1);
	END("open in the parent");
	bracket("child");
	bracket("child");
	if (harness_region("child").calls != 2 || harness_slots() != 1)
		_exit(2);
	if (harness_diagnosed(WIRE_DIAG_UNMATCHED, "open in the parent") != 1)
		_exit(3);
	if (!(harness_process()->flags & WIRE_PROCESS_FORKED) ||
	    harness_process()->ppid != (u32)getppid())
		_exit(4);
}

/* In the middle of a bracket: the child begins anew, the parent goes on. */
START_TEST(test_fork)
{
	BEGIN("open in the parent");
	for (u32 i = 0; i < 20; i++)
		ck_assert_int_eq(harness_fork(child_counts, NULL), 0);
	bracket("parent's");
	END("open in the parent");
	ck_assert_uint_eq(harness_slots(), 1);
	ck_assert_uint_eq(harness_region("open in the parent").calls, 1);
	ck_assert_uint_eq(harness_region("open in the parent;parent's").calls, 1);
	ck_assert_uint_eq(harness_named("child").nodes, 0);
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_UNMATCHED, NULL), 0);
}
END_TEST

static bool stop;
static u32 failures;

static void busy_or_forking(u32 index)
{
	if (index == 0) {
		for (u32 i = 0; i < 20; i++)
			if (harness_fork(child_counts, NULL))
				fetch_add(&failures, 1);
		store_release(&stop, true);
		return;
	}
	while (!load_acquire(&stop))
		bracket("busy");
}

/* One thread forks while others mark. */
START_TEST(test_fork_of_threads)
{
	enter();
	harness_threads(4, busy_or_forking);
	ck_assert_uint_eq(failures, 0);
	ck_assert_uint_eq(harness_region("busy").calls, harness_region("busy").hist);
	ck_assert_uint_gt(harness_region("busy").calls, 0);
}
END_TEST

static void child_thread_exit(void *unused)
{
	pthread_exit(unused);
}

/*
 * The child's one thread ends without a marker of its own: the parent's slot is none of its
 * business.
 */
START_TEST(test_fork_thread_exit)
{
	bracket("parent's");
	for (u32 i = 0; i < PTHREAD_DESTRUCTOR_ITERATIONS + 1; i++)
		ck_assert_int_eq(harness_fork(child_thread_exit, NULL), 0);
	ck_assert_uint_eq(harness_slots(), 1);
}
END_TEST

static void no_forks(void *unused)
{
	(void)unused;
	bracket("never");
	_exit(harness_slots() || harness_process() ? 1 : 0);
}

START_TEST(test_no_forks)
{
	enter();
	agent.flags |= WIRE_NO_FORKS;
	ck_assert_int_eq(harness_fork(no_forks, NULL), 0);
	bracket("still here");
	ck_assert_uint_eq(harness_region("still here").calls, 1);
}
END_TEST

/* A marker while another thread enters the forked child cannot be kept; it is counted. */
START_TEST(test_child_entering)
{
	u64 lost = harness_loss(WIRE_LOSS_EARLY);

	ck_assert_uint_eq(life->state, PROCESS_NEW);
	life->state = PROCESS_STARTING;
	BEGIN("early");
	END("early");
	ck_assert_uint_eq(harness_slots(), 0);
	ck_assert_uint_eq(harness_loss(WIRE_LOSS_EARLY) - lost, 2);
}
END_TEST

static void one_bracket(u32 index)
{
	(void)index;
	bracket("first");
}

/* Sixteen first markers of a process at once: each is counted somewhere. */
START_TEST(test_first_markers)
{
	u64 lost = harness_loss(WIRE_LOSS_EARLY), begun;

	harness_threads(AT_ONCE, one_bracket);
	begun = harness_region("first").calls + harness_diagnosed(WIRE_DIAG_UNMATCHED, "first");
	ck_assert_uint_le(harness_region("first").calls, AT_ONCE);
	ck_assert_uint_ge(2 * begun + harness_loss(WIRE_LOSS_EARLY) - lost, 2 * AT_ONCE);
}
END_TEST

/* ---- sealed */

static void *sealed_thread(void *unused)
{
	bracket("short");
	harness_thread_ends();
	return unused;
}

/* From here on every system call but these two ends the process. */
static void forbid_system_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(code), code };

	if (syscall_raw(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0) ||
	    syscall_raw(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program, 0, 0, 0))
		_exit(77);
}

/* Every kind of marker, more regions than the table holds, long brackets, and a full chunk. */
static void sealed_markers(void *unused)
{
	unsigned long site = 0;
	volatile u32 work = 0;
	char name[16];

	(void)unused;
	agent.sealed = true;
	forbid_system_calls();
	BEGIN("sealed");
	for (u32 i = 0; i < 1000; i++) {
		sprintf(name, "s-%u", i);
		bracket(name);
	}
	region_site_begin(&site, "site");
	while (work < 3000000)
		work = work + 1;
	region_site_end(&site, "site");
	client_metric("m", 1);
	client_units("sealed", 1, "B");
	client_frame("frame");
	client_frame("frame");
	window_begin("w");
	window_end("w");
	window_end("w");
	END("nothing");
	END("sealed");
	for (u32 i = 0; i < 2 * WIRE_CHUNK / WIRE_PAGE; i++)
		segment_alloc(WIRE_PAGE);
	bracket("after");
	_exit(thread_self->lane.w ? (int)thread_self->lane.w->depth : 76);
}

/* The thread was live before. */
static void sealed_after(void *arg)
{
	enter();
	sealed_markers(arg);
}

/* The first marker of a thread, and of the process, comes after the sealing. */
START_TEST(test_sealed)
{
	int status;

	enter();
	harness_fresh_chunk();
	status = harness_fork(_i ? sealed_markers : sealed_after, NULL);
	ck_assert_msg(!WIFSIGNALED(status), "killed by signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status) == 77)
		return;
	/* "frame" is a child of nothing that ended: it stays open. */
	ck_assert_int_le(WEXITSTATUS(status), 1);
}
END_TEST

START_TEST(test_sealed_threads)
{
	pthread_t thread;

	enter();
	harness_fresh_chunk();
	agent.sealed = true;
	for (u32 i = 0; i < 200; i++) {
		if (pthread_create(&thread, NULL, sealed_thread, NULL) == 0)
			pthread_join(thread, NULL);
	}
	ck_assert_uint_eq(harness_region("short").calls, 200);
	ck_assert_uint_eq(harness_slots(), 2);
}
END_TEST

static void try_to_seal(u32 index)
{
	for (u32 i = 0; index && i < 1000; i++)
		bracket("shared");
	for (u32 i = 0; !index && i < 200; i++)
		ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0), -1);
}

/* Sandboxes that fail while others mark: nothing stays sealed, nothing is lost. */
START_TEST(test_sealing_fails)
{
	enter();
	harness_threads(4, try_to_seal);
	ck_assert(!agent.sealed);
	ck_assert_uint_eq(harness_process()->flags & WIRE_PROCESS_SEALED, 0);
	ck_assert_uint_eq(harness_region("shared").calls, 3000);
}
END_TEST

/* The interposed calls are what the C library's are. */
START_TEST(test_interposed)
{
	char name[16] = "";

	ck_assert_int_eq((int)syscall(SYS_getpid), getpid());
	errno = 0;
	ck_assert_int_eq((int)syscall(SYS_close, -1), -1);
	ck_assert_int_eq(errno, EBADF);
	ck_assert_int_eq(prctl(PR_SET_NAME, "interposed"), 0);
	ck_assert_int_eq((int)syscall(SYS_prctl, PR_GET_NAME, name, 0, 0, 0), 0);
	ck_assert_str_eq(name, "interposed");
	errno = 0;
	ck_assert_int_eq((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL), -1);
	ck_assert_int_eq(errno, EFAULT);
	ck_assert(!agent.sealed);
}
END_TEST

int main(int argc, char **argv)
{
	TCase *t = tcase_create("process");

	(void)argc;
	harness_start(argv, 0, 0);
	tcase_add_checked_fixture(t, harness_setup, NULL);
	tcase_set_timeout(t, 30);
	tcase_add_test(t, test_fork);
	tcase_add_test(t, test_fork_of_threads);
#ifndef __SANITIZE_THREAD__ /* its runtime waits for ever for a thread that fork did not copy */
	tcase_add_test(t, test_fork_thread_exit);
#endif
	tcase_add_test(t, test_no_forks);
	tcase_add_test(t, test_child_entering);
	tcase_add_test(t, test_first_markers);
	if (!HARNESS_SANITIZED)
		tcase_add_loop_test(t, test_sealed, 0, 2);
	tcase_add_test(t, test_sealed_threads);
	tcase_add_test(t, test_sealing_fails);
	tcase_add_test(t, test_interposed);
	return suite_run("agent process", t);
}
