/* SPDX-License-Identifier: MIT */
/* The rule for safe places, and the signal frame that brings a held thread back. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/inject/inject.h"
#include "cli/inject/safe.h"
#include "suite.h"

static struct live_stack last; /* that was judged */

/* What is said of a stack of these frames, each "function object". */
static const char *judged(const char *const *frames, const char *why)
{
	static char text[8][2][80];

	last = (struct live_stack){ .why = why };
	for (; frames[last.n]; last.n++) {
		sscanf(frames[last.n], "%79s %79s", text[last.n][0], text[last.n][1]);
		last.frames[last.n] = (struct live_frame){
			.function = strcmp(text[last.n][0], "?") ? text[last.n][0] : NULL,
			.path = text[last.n][1],
		};
	}
	return safe_stack(&last, false);
}

#define JUDGED(...) judged((const char *const[]){ __VA_ARGS__, NULL }, NULL)

START_TEST(safe_places)
{
	ck_assert_ptr_null(JUDGED("nanosleep /lib/libc.so.6", "main /bin/app", "? /lib/libc.so.6", "_start /bin/app"));
	ck_assert_ptr_null(JUDGED("? /bin/app", "clone3 /lib/libc.so.6"));
	ck_assert_ptr_null(JUDGED("clock_gettime [vdso]", "? /bin/app"));
	ck_assert_ptr_null(JUDGED("freeze /bin/app"));
}
END_TEST

START_TEST(unsafe_places)
{
	ck_assert_ptr_nonnull(JUDGED("? /lib/libc.so.6", "malloc /lib/libc.so.6", "main /bin/app"));
	ck_assert_ptr_nonnull(JUDGED("free /lib/libjemalloc.so.2", "main /bin/app"));
	ck_assert_ptr_nonnull(JUDGED("_Znwm /lib/libtcmalloc.so.4", "main /bin/app"));
	ck_assert_ptr_nonnull(JUDGED("? /lib64/ld-linux-x86-64.so.2", "main /bin/app"));
	ck_assert_ptr_nonnull(JUDGED("? /lib/libz.so.1", "dlopen /lib/libc.so.6", "main /bin/app"));
	ck_assert_ptr_nonnull(JUDGED("? /bin/app", "exit /lib/libc.so.6", "main /bin/app"));
	ck_assert_ptr_nonnull(JUDGED("fork /lib/libc.so.6", "main /bin/app"));
	ck_assert_ptr_nonnull(JUDGED("pthread_create /lib/libc.so.6", "main /bin/app"));
	/* Where memalign() jumps to, in a library without a symbol table. */
	ck_assert_ptr_nonnull(JUDGED("? /lib/libc.so.6", "main /bin/app"));
	ck_assert_ptr_null(safe_stack(&last, true));
	/* A thread that begins or ends. */
	ck_assert_ptr_nonnull(JUDGED("? /lib/libc.so.6", "clone3 /lib/libc.so.6"));
}
END_TEST

START_TEST(unknown_places)
{
	struct live_stack stack = { .n = 0 };

	ck_assert_ptr_nonnull(safe_stack(&stack, false));
	ck_assert_ptr_nonnull(judged((const char *const[]){ "main /bin/app", NULL }, "no call frame information"));
	stack.n = 2;
	stack.frames[0] = (struct live_frame){ "handler", "/bin/app", false };
	stack.frames[1] = (struct live_frame){ "main", "/bin/app", true };
	ck_assert_ptr_nonnull(safe_stack(&stack, false));
}
END_TEST

START_TEST(nobody)
{
	static const u8 token[16];
	struct inject inject = { .pid = 999999999, .agent = "/nowhere", .token = token };

	ck_assert_int_eq(inject_look(&inject), arch_available() ? INJECT_GONE : INJECT_REFUSED);
	ck_assert_str_ne(inject.why, "");
	inject.pid = getpid();
	ck_assert_int_ne(inject_look(&inject), INJECT_DONE);
	ck_assert_str_ne(inject.why, "");
}
END_TEST

/* Without room there is no frame, and none is half written. */
START_TEST(frame_room)
{
	static struct arch_state state;
	static u8 frame[ARCH_FRAME];
	const struct arch_gadgets gadgets = { 0x1000, 0x2000 };

	ck_assert_uint_eq(arch_frame(&state, &gadgets, 0x7000, frame, 64), 0);
	ck_assert_uint_eq(frame[0], 0);
}
END_TEST

START_TEST(instructions)
{
	static const u8 code[] = { 0x90, 0x0f, 0x05, 0xc3, 0x90, 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05, 0x90 };
	struct arch_gadgets gadgets = { 0, 0 };

	if (!arch_available())
		return;
	ck_assert(!arch_find(&gadgets, code, 5, 0x1000));
	ck_assert_uint_eq(gadgets.system_call, 0x1001);
	ck_assert(arch_find(&gadgets, code, sizeof(code), 0x1000));
	ck_assert_uint_eq(gadgets.back, 0x1005);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("inject");

	tcase_add_test(tests, safe_places);
	tcase_add_test(tests, unsafe_places);
	tcase_add_test(tests, unknown_places);
	tcase_add_test(tests, nobody);
	tcase_add_test(tests, frame_room);
	tcase_add_test(tests, instructions);
	return suite_run("inject", tests);
}
