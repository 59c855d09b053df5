/* SPDX-License-Identifier: MIT */
/*
 * common/perf_user on a kernel and a CPU that allow it: what is read from user space lies between two read(2) of the
 * same event, and counts known work.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/perf.h"
#include "common/perf_user.h"
#include "suite.h"

enum { ROUNDS = 1000, EVENTS_MOST = 40, MILLION = 1000000 };

struct event {
	int fd;
	const struct perf_event_mmap_page *page;
};

/* Instructions in user mode, by this thread. Returns 0 or -errno. */
static int event_open(struct event *event)
{
	struct perf_event_attr attr;
	int err;

	perf_attr_init(&attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	attr.config1 = PERF_USER_CONFIG1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	event->fd = perf_open(&attr, 0, -1, -1, 0);
	if (event->fd < 0)
		return event->fd;
	err = perf_page_map(event->fd, &event->page);
	if (err)
		close(event->fd);
	return err;
}

static void event_close(const struct event *event)
{
	perf_page_unmap(event->page);
	close(event->fd);
}

/* A million instructions. */
static void work(void)
{
	u64 times = MILLION / 2;

#if defined(__x86_64__)
	__asm__ volatile("1: subq $1, %0\n\tjne 1b" : "+r"(times) : : "cc");
#elif defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(times) : : "cc");
#endif
	(void)times;
}

/* Between two read(2): the count, and the times where the page can convert them. */
static void assert_between(const struct event *event)
{
	struct perf_value before, after;
	struct perf_user_times times;
	u64 count;

	ck_assert_int_eq(perf_read(event->fd, &before), 0);
	ck_assert(perf_user_read(event->page, &count));
	ck_assert(perf_user_read_times(event->page, true, &times));
	ck_assert_int_eq(perf_read(event->fd, &after), 0);
	ck_assert_uint_le(before.count, count);
	ck_assert_uint_le(count, after.count);
	ck_assert_uint_le(times.running, times.enabled);
	ck_assert_uint_le(times.running, after.running_ns + NSEC_PER_USEC);
	if (!event->page->cap_user_time)
		return;
	/* The kernel rounds the conversion of each update. */
	ck_assert_uint_le(before.enabled_ns, times.enabled + NSEC_PER_USEC);
	ck_assert_uint_le(times.enabled, after.enabled_ns + NSEC_PER_USEC);
	ck_assert_uint_le(before.running_ns, times.running + NSEC_PER_USEC);
}

START_TEST(test_between_calls)
{
	struct event event;

	ck_assert_int_eq(event_open(&event), 0);
	for (int i = 0; i < ROUNDS; i++)
		assert_between(&event);
	event_close(&event);
}
END_TEST

START_TEST(test_known_work)
{
	struct event event;
	u64 before, after;
	bool known;

	ck_assert_int_eq(event_open(&event), 0);
	for (int i = 0; i < 10; i++) {
		/* An assertion takes instructions, too. */
		known = perf_user_read(event.page, &before);
		work();
		known = known && perf_user_read(event.page, &after);
		ck_assert(known);
		ck_assert_uint_ge(after - before, MILLION);
		ck_assert_uint_le(after - before, MILLION + 100);
	}
	event_close(&event);
}
END_TEST

/* Off the CPU nothing is counted, neither instructions nor time. */
START_TEST(test_switches)
{
	struct timespec pause = { .tv_nsec = (long)(2 * NSEC_PER_MSEC) };
	struct perf_user_times before, after;
	struct event event;

	ck_assert_int_eq(event_open(&event), 0);
	for (int i = 0; i < 20; i++) {
		ck_assert(perf_user_read_times(event.page, true, &before));
		nanosleep(&pause, NULL);
		ck_assert(perf_user_read_times(event.page, true, &after));
		assert_between(&event);
		ck_assert_uint_ge(after.enabled, before.enabled);
		ck_assert_uint_lt(after.enabled - before.enabled, (u64)pause.tv_nsec);
	}
	event_close(&event);
}
END_TEST

/* More events than counters: each is on one now and then, and at times on none. */
START_TEST(test_shared_counters)
{
	struct event events[EVENTS_MOST];
	u32 on = 0, off = 0;
	int n = 0;

	while (n < EVENTS_MOST && event_open(&events[n]) == 0)
		n++;
	for (int i = 0; i < 100; i++) {
		work();
		for (int k = 0; k < n; k++) {
			assert_between(&events[k]);
			on += load_relaxed(&events[k].page->index) != 0;
			off += load_relaxed(&events[k].page->index) == 0;
		}
	}
	ck_assert_uint_gt(on, 0);
	ck_assert_uint_gt(off, 0);
	while (n)
		event_close(&events[--n]);
}
END_TEST

/* Why reads without system calls are not to be had here, or NULL. */
static const char *obstacle(void)
{
	static char text[128];
	struct event event;
	int err = event_open(&event);
	bool possible;

	if (err) {
		snprintf(text, sizeof(text), "instructions cannot be counted (%s)", strerror(-err));
		return text;
	}
	possible = perf_user_possible(event.page) && event.page->index;
	event_close(&event);
	return possible ? NULL : "the kernel does not allow reads without a system call";
}

int main(void)
{
	const char *why = obstacle();
	TCase *tests;

	if (why) {
		printf("self-monitoring: %s\n", why);
		return 77;
	}
	tests = tcase_create("perf_user_kernel");
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, test_between_calls);
	tcase_add_test(tests, test_known_work);
	tcase_add_test(tests, test_switches);
	tcase_add_test(tests, test_shared_counters);
	return suite_run("perf_user_kernel", tests);
}
