/* SPDX-License-Identifier: MIT */
/* The rules for processes, safe places and room on their stacks, and the signal frame that brings a held thread back. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/inject/image.h"
#include "cli/inject/inject.h"
#include "cli/inject/look.h"
#include "cli/inject/room.h"
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

static enum room_stack begun(bool sure, const char *const *frames)
{
	judged(frames, NULL);
	last.sure = sure;
	return room_stack(&last);
}

#define BEGUN(...) begun(true, (const char *const[]){ __VA_ARGS__, NULL })

/* Whose stack it is: by who called the outermost functions. */
START_TEST(stacks)
{
	ck_assert_int_eq(BEGUN("nanosleep /lib/libc.so.6", "main /bin/app", "? /lib/libc.so.6", "_start /bin/app"), ROOM_FIRST);
	ck_assert_int_eq(BEGUN("work /bin/app", "? /lib/libc.so.6", "clone3 /lib/libc.so.6"), ROOM_THREAD);
	ck_assert_int_eq(BEGUN("work /bin/app", "? /lib/libpthread.so.0", "clone /lib/libc-2.31.so"), ROOM_THREAD);
	/* makecontext(3), a library's own, a thread that nobody but the kernel knows. */
	ck_assert_int_eq(BEGUN("work /bin/app", "__start_context /lib/libc.so.6"), ROOM_OTHER);
	ck_assert_int_eq(BEGUN("work /bin/app", "entry /lib/libco.so.1"), ROOM_OTHER);
	ck_assert_int_eq(BEGUN("work /bin/app"), ROOM_OTHER);
	/* By frame pointers it would be main()'s. */
	ck_assert_int_eq(begun(false, (const char *const[]){ "work /bin/app", "? /lib/libc.so.6", "_start /bin/app", NULL }),
			 ROOM_OTHER);
}
END_TEST

/* A record as glibc has it, of a stack of 16 KiB with a guard of 4 KiB; its list is at the first word. */
START_TEST(bounds)
{
	enum { HEAD = 0x103000, BLOCK = 0x100000, SIZE = 0x4000, GUARD = 0x1000 };
	/* A function with its argument, and small numbers before addresses, look a little like that. */
	u64 record[] = { HEAD, 0, 1, 0x7f0000001000, 0, 0x555500001000, 0x7f0000002000, 0, BLOCK, SIZE, GUARD, GUARD, 0 };
	const size_t n = ARRAY_SIZE(record);

	ck_assert_uint_eq(room_lowest(record, n, HEAD, 0x102000), BLOCK + GUARD);
	ck_assert_uint_eq(room_lowest(record, n, HEAD, BLOCK - 8), 0);
	ck_assert_uint_eq(room_lowest(record, n, HEAD, HEAD + 8), 0);
	ck_assert_uint_eq(room_lowest(record, 10, HEAD, 0x102000), 0);
	ck_assert_uint_eq(room_lowest(record, 0, HEAD, 0x102000), 0);
	/* No guard, as of memory that the program gave. */
	record[10] = 0;
	ck_assert_uint_eq(room_lowest(record, n, HEAD, 0x102000), BLOCK);
	/* Two of them, or one that ends far above, or below. */
	record[5] = BLOCK - 0x1000;
	record[6] = SIZE + 0x1000;
	ck_assert_uint_eq(room_lowest(record, n, HEAD, 0x102000), 0);
	record[5] = 0;
	record[9] = 0x1000000;
	ck_assert_uint_eq(room_lowest(record, n, HEAD, 0x102000), 0);
	record[9] = 0x2000;
	ck_assert_uint_eq(room_lowest(record, n, HEAD, 0x102000), 0);
	record[9] = UINT64_MAX;
	ck_assert_uint_eq(room_lowest(record, n, HEAD, 0x102000), 0);
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

/* A process by the lines of its status file that matter. */
static const char *state_told(const char *state, const char *rest)
{
	static struct inject inject;
	char status[512];
	enum inject_end end;

	inject = (struct inject){ .pid = 999999999 };
	snprintf(status, sizeof(status), "Name:\tapp\nUmask:\t0022\nState:\t%s\nTracerPid:\t0\nUid:\t1000\t1000\t1000\t1000\n%s", state,
		 rest);
	end = look_status(&inject, status);
	ck_assert((end == INJECT_DONE) == !inject.why[0]);
	return inject.why;
}

#define TOLD(state, rest, words) ck_assert_ptr_nonnull(strstr(state_told(state, rest), words))

START_TEST(states)
{
	const char lives[] = "VmSize:\t5000 kB\nThreads:\t3\n";

	ck_assert_str_eq(state_told("S (sleeping)", lives), "");
	ck_assert_str_eq(state_told("R (running)", "VmSize:\t5000 kB\nThreads:\t1\nx86_Thread_features:\t\nx86_Thread_features_locked:\tshstk wrss \n"), "");
	TOLD("S (sleeping)", "VmSize:\t5000 kB\nThreads:\t1\nx86_Thread_features:\tshstk \nx86_Thread_features_locked:\t\n",
	     "has a shadow stack, which forbids the returns that loading takes");
	TOLD("Z (zombie)", "Threads:\t1\n", "has ended: it is a zombie");
	TOLD("Z (zombie)", "Threads:\t4\n", "goes on without its first thread");
	TOLD("S (sleeping)", "Threads:\t1\n", "is a thread of the kernel");
	TOLD("S (sleeping)", "VmSize:\t5000 kB\nKthread:\t1\n", "is a thread of the kernel");
}
END_TEST

/* Fields 26, 28, 45, 47, 48 and 50 of /proc/PID/stat, which are the numbers of themselves here. */
START_TEST(images)
{
	char text[512] = "7 (a) b (c) S";
	struct image image = { { 1, 2 } };
	size_t at = strlen(text);

	for (int n = 4; n <= 52; n++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, " %d", n);
	image_parse(&image, text);
	for (u32 i = 0; i < IMAGE_WORDS; i++)
		ck_assert_uint_eq(image.words[i], ((u64[]){ 1, 2, 26, 28, 45, 47, 48, 50 })[i]);
	image_take(&image, getpid());
	ck_assert(image_is(&image, getpid()));
	ck_assert(!image_is(&image, 1));
	image_take(&image, 999999999);
	ck_assert_uint_eq(image.words[0], 0);
}
END_TEST

/* Who may trace whom: both users, the rights of sparkctl's, and kernel.yama.ptrace_scope. */
static const char *rule_told(unsigned theirs, unsigned ours, const char *rights, const char *yama)
{
	static struct inject inject;
	char status[256], own[256];

	inject = (struct inject){ .pid = 999999999 };
	snprintf(status, sizeof(status), "Name:\tapp\nUid:\t%u\t%u\t%u\t%u\n", theirs, theirs, theirs, theirs);
	snprintf(own, sizeof(own), "Name:\tsparkctl\nUid:\t7\t%u\t%u\t%u\nCapEff:\t%s\n", ours, ours, ours, rights);
	ck_assert_int_eq(look_rule(&inject, EPERM, status, own, yama), INJECT_REFUSED);
	return inject.why;
}

#define NO_RIGHTS "0000000000000000"
#define RULE(theirs, ours, rights, yama, words) ck_assert_ptr_nonnull(strstr(rule_told(theirs, ours, rights, yama), words))

START_TEST(rules)
{
	const char all[] = "000001ffffffffff", root[] = "000001fffff7ffff";

	RULE(1000, 1000, NO_RIGHTS, "1\n", "may be traced by its ancestors and root alone: kernel.yama.ptrace_scope is 1");
	RULE(1000, 1000, NO_RIGHTS, "2\n", "may be traced by root alone: kernel.yama.ptrace_scope is 2");
	RULE(1000, 1000, NO_RIGHTS, "3\n", "may not be traced by anybody: kernel.yama.ptrace_scope is 3");
	RULE(1000, 0, all, "3\n", "may not be traced by anybody: kernel.yama.ptrace_scope is 3");
	/* It is not Yama's rule then. */
	RULE(1000, 1001, NO_RIGHTS, "1\n", "belongs to user 1000: only that user and root may trace it");
	RULE(1000, 0, root, "2\n", "belongs to user 1000, and root has no CAP_SYS_PTRACE here");
	RULE(1000, 0, all, "2\n", "may not be traced from here");
	RULE(1000, 1000, NO_RIGHTS, "0\n", "is not dumpable");
	RULE(1000, 1000, NO_RIGHTS, "", "is not dumpable");
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

#if defined(__aarch64__)
/* nop; mov x8, #172; svc #0; ret; nop; mov x8, #139; svc #0 */
static const u32 code[] = { 0xd503201f, 0xd2801588, 0xd4000001, 0xd65f03c0, 0xd503201f, 0xd2801168, 0xd4000001 };
#define CALL_AT 8u
#define BACK_AT 20u
#else
static const u8 code[] = { 0x90, 0x0f, 0x05, 0xc3, 0x90, 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05, 0x90 };
#define CALL_AT 1u
#define BACK_AT 5u
#endif

START_TEST(instructions)
{
	struct arch_gadgets gadgets = { 0, 0 };

	if (!arch_available())
		return;
	ck_assert(!arch_find(&gadgets, (const u8 *)code, BACK_AT, 0x1000));
	ck_assert_uint_eq(gadgets.system_call, 0x1000 + CALL_AT);
	ck_assert(arch_find(&gadgets, (const u8 *)code, sizeof(code), 0x1000));
	ck_assert_uint_eq(gadgets.back, 0x1000 + BACK_AT);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("inject");

	tcase_add_test(tests, safe_places);
	tcase_add_test(tests, unsafe_places);
	tcase_add_test(tests, unknown_places);
	tcase_add_test(tests, stacks);
	tcase_add_test(tests, bounds);
	tcase_add_test(tests, nobody);
	tcase_add_test(tests, states);
	tcase_add_test(tests, images);
	tcase_add_test(tests, rules);
	tcase_add_test(tests, frame_room);
	tcase_add_test(tests, instructions);
	return suite_run("inject", tests);
}
