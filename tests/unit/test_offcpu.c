/* SPDX-License-Identifier: MIT */
/* cli/session/offcpu and what it knows of calls: fields of the tracepoint by name, classes of calls and of places. */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "cli/names/blocking.h"
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

int main(void)
{
	TCase *tests = tcase_create("offcpu");

	tcase_add_test(tests, test_format);
	tcase_add_test(tests, test_wake_format);
	tcase_add_test(tests, test_calls);
	tcase_add_test(tests, test_places);
	tcase_add_test(tests, test_first);
	return suite_run("offcpu", tests);
}
