/* SPDX-License-Identifier: MIT */
/* cli/session/offcpu and what it knows of calls: fields of the tracepoint by name, classes of calls and of places. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "cli/names/blocking.h"
#include "cli/session/internal.h"
#include "cli/session/offcpu.h"
#include "cli/session/sampling.h"
#include "suite.h"

static const char format[] =
	"name: sched_switch\nID: 318\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\n"
	"print fmt: \"prev_state=%s\", REC->prev_state\n";

START_TEST(test_format)
{
	u64 id = 0;
	u32 at = 0, size = 0;

	ck_assert(offcpu_format(format, &id, &at, &size));
	ck_assert_uint_eq(id, 318);
	ck_assert_uint_eq(at, 32);
	ck_assert_uint_eq(size, 8);
	ck_assert(!offcpu_format("", &id, &at, &size));
	ck_assert(!offcpu_format("ID: 1\n\tfield:long prev_stat;\toffset:32;\tsize:8;\n", &id, &at, &size));
	ck_assert(!offcpu_format("ID: x\n\tfield:long prev_state;\toffset:32;\tsize:8;\n", &id, &at, &size));
	ck_assert(!offcpu_format("ID: 1\n\tfield:long prev_state;\toffset:32;\tsize:80;\n", &id, &at, &size));
}
END_TEST

static const char waking[] =
	"name: sched_waking\nID: 375\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\n"
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:%s;\tsize:4;\tsigned:1;\n"
	"\n"
	"print fmt: \"pid=%%d\", REC->pid\n";

START_TEST(test_wake_format)
{
	struct offcpu_wake_fields fields;
	char text[1024];

	snprintf(text, sizeof(text), waking, "24");
	ck_assert(offcpu_wake_format(text, &fields));
	ck_assert_uint_eq(fields.id, 375);
	ck_assert_uint_eq(fields.pid_at, 24);
	ck_assert_uint_eq(fields.flags_at, 2);
	ck_assert_uint_eq(fields.current_at, 4);
	snprintf(text, sizeof(text), waking, "70000");
	ck_assert(!offcpu_wake_format(text, &fields));
	ck_assert(!offcpu_wake_format(format, &fields));
	ck_assert(!offcpu_wake_format("", &fields));
}
END_TEST

START_TEST(test_calls)
{
	ck_assert_str_eq(blocking_call(SYS_futex)->name, "futex");
	ck_assert_int_eq(blocking_call(SYS_futex)->class, BLOCKING_FUTEX);
	ck_assert_int_eq(blocking_call(SYS_clock_nanosleep)->class, BLOCKING_SLEEP);
	ck_assert_int_eq(blocking_call(SYS_accept4)->class, BLOCKING_IO);
	ck_assert_int_eq(blocking_call(SYS_fdatasync)->class, BLOCKING_DISK);
	ck_assert_int_eq(blocking_call(SYS_read)->class, BLOCKING_BY_FILE);
	ck_assert_uint_eq(blocking_call(SYS_sendfile)->argument, 1);
	ck_assert_ptr_null(blocking_call(-1));
	ck_assert_ptr_null(blocking_call(1 << 20));
}
END_TEST

START_TEST(test_places)
{
	ck_assert_int_eq(blocking_by_place("futex_wait_queue"), BLOCKING_FUTEX);
	ck_assert_int_eq(blocking_by_place("anon_pipe_read"), BLOCKING_IO);
	ck_assert_int_eq(blocking_by_place("hrtimer_nanosleep"), BLOCKING_SLEEP);
	ck_assert_int_eq(blocking_by_place("folio_wait_bit_common"), BLOCKING_DISK);
	ck_assert_int_eq(blocking_by_place("0"), BLOCKING_OTHER);
	ck_assert_int_eq(blocking_by_place(""), BLOCKING_OTHER);
}
END_TEST

/* One that a session met at 150, which began at 100, with its first record at this time. */
static struct offcpu_thread first(enum offcpu_state met, u64 now_ns, bool out)
{
	static struct offcpu off;
	const struct sampling sampling = { .off = &off };
	struct offcpu_thread t = { .fresh = true, .since_ns = 100, .fresh_ns = 150, .state = met };

	offcpu_first(&sampling, &t, now_ns, out);
	ck_assert(!t.fresh);
	return t;
}

START_TEST(test_first)
{
	struct offcpu_thread t = first(OFFCPU_BLOCKED, 300, false);

	ck_assert_int_eq(t.state, OFFCPU_BLOCKED);
	ck_assert_uint_eq(t.since_ns, 100);
	ck_assert_int_eq(first(OFFCPU_BLOCKED, 120, false).state, OFFCPU_UNKNOWN);
	ck_assert_int_eq(first(OFFCPU_RUNNING, 300, true).state, OFFCPU_RUNNING);
	/* It may have been woken just before it was met. */
	t = first(OFFCPU_RUNNING, 300, false);
	ck_assert_int_eq(t.state, OFFCPU_READY);
	ck_assert_uint_eq(t.since_ns, 150);
	ck_assert_uint_eq(t.sums.unknown_ns, 50);
}
END_TEST

/* An image that begins 100 ms behind the last reading, in which the one before was blocked; and what it has by the end. */
static struct samples_thread become(struct offcpu *o, u64 before_ms, u64 blocked_ms, u64 disk_ms)
{
	struct offcpu_thread t = {
		.blocked_ns = 5 * NSEC_PER_SEC + before_ms * NSEC_PER_MSEC, .disk_blocked_ns = 5 * NSEC_PER_SEC,
		.disk_ns = 70 * NSEC_PER_MSEC, .disk_read_ns = 1,
	};

	offcpu_delay_become(&t);
	ck_assert_uint_eq(t.disk_read_ns, 0);
	t.blocked_ns = blocked_ms * NSEC_PER_MSEC;
	t.disk_ns += disk_ms * NSEC_PER_MSEC;
	t.disk_read_ns = 2;
	offcpu_delay_end(o, &t);
	return t.sums;
}

START_TEST(test_delay)
{
	struct offcpu o = { .polled = false };
	struct samples_thread sums = become(&o, 0, 50, 40);

	ck_assert_uint_eq(sums.disk_ns, 40 * NSEC_PER_MSEC);
	ck_assert_int_eq(sums.disk_known, SAMPLES_DELAY_WHOLE);
	ck_assert_int_eq(become(&o, 0, 50, 61).disk_known, SAMPLES_DELAY_EXCESS);
	ck_assert_int_eq(become(&o, 5, 0, 15).disk_known, SAMPLES_DELAY_WHOLE);
	/* What may be of the image before is not told, and not taken for too much. */
	sums = become(&o, 80, 20, 90);
	ck_assert_uint_eq(sums.disk_ns, 10 * NSEC_PER_MSEC);
	ck_assert_int_eq(sums.disk_known, SAMPLES_DELAY_LEAST);
	ck_assert_int_eq(become(&o, 80, 20, 130).disk_known, SAMPLES_DELAY_EXCESS);
}
END_TEST

START_TEST(test_begun)
{
	struct process child = { .facts = { .pid = 7, .start_ns = 1000, .end_ns = 1100 } };
	struct process image = { .older = &child, .facts = { .pid = 7, .start_ns = 1100 }, .alive = true };
	struct processes *all = calloc(1, sizeof(*all));

	ck_assert_ptr_nonnull(all);
	all->by_pid[7] = &image;
	ck_assert_ptr_eq(process_begun(all, 7, 1010, 200), &child);
	ck_assert_ptr_eq(process_begun(all, 7, 1090, 200), &image);
	ck_assert_ptr_eq(process_begun(all, 7, 900, 200), &child);
	ck_assert_ptr_null(process_begun(all, 7, 1301, 200));
	ck_assert_ptr_null(process_begun(all, 7, 700, 200));
	free(all);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("offcpu");

	tcase_add_test(tests, test_format);
	tcase_add_test(tests, test_wake_format);
	tcase_add_test(tests, test_calls);
	tcase_add_test(tests, test_places);
	tcase_add_test(tests, test_first);
	tcase_add_test(tests, test_delay);
	tcase_add_test(tests, test_begun);
	return suite_run("offcpu", tests);
}
