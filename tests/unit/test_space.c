/* SPDX-License-Identifier: MIT */
/* Address spaces over time, on files of this system and records that are made up. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cli/symbols/resolve.h"
#include "cli/symbols/space.h"
#include "tests/unit/suite.h"

#define PID 4000000u                 /* nobody has it: below pid_max of 64-bit systems, where it is never reached */

static struct spaces *spaces;

static void setup(void)
{
	spaces = spaces_new();
	ck_assert_ptr_nonnull(spaces);
}

static void teardown(void)
{
	spaces_free(spaces);
}

static int put(u32 pid, u64 time_ns, u64 start, u64 length, const char *name)
{
	struct space_map map = { .pid = pid, .time_ns = time_ns, .start = start, .length = length,
		.protection = PROT_READ | PROT_EXEC,
				 .name = name };

	return spaces_map(spaces, &map);
}

/* The path of what lies there; NULL: nothing. */
static const char *at(u32 pid, u64 time_ns, u64 address)
{
	struct space_place place;

	return spaces_find(spaces, pid, time_ns, address, &place) ? object_path(place.object) : NULL;
}

static void name_found(void *data, const struct resolve_request *request, size_t address, enum resolve_reason reason,
	const struct resolve_line *lines, size_t n)
{
	(void)request;
	(void)address;
	snprintf(data, 256, "%s", n && lines[n - 1].function ? lines[n - 1].function : resolve_reason_text(reason));
}

static const char *name_at(u32 pid, u64 address)
{
	static char name[256];
	struct space_place place;
	struct resolve_request request = { .addresses = &place.address, .n = 1 };
	struct resolve_options options = { .no_debug = true };

	if (!spaces_find(spaces, pid, UINT64_MAX, address, &place))
		return "nothing";
	request.object = place.object;
	ck_assert_int_eq(resolve_objects(&request, 1, &options, name_found, name), 0);
	return name;
}

START_TEST(own_process)
{
	ck_assert_int_eq(spaces_snapshot(spaces, (u32)getpid(), 1), 0);
	ck_assert_str_eq(name_at((u32)getpid(), (u64)(uintptr_t)resolve_objects + 1), "resolve_objects");
	ck_assert_str_eq(name_at((u32)getpid(), (u64)(uintptr_t)strfry + 1), "strfry");
	ck_assert_ptr_null(at((u32)getpid(), 2, 64));
	ck_assert_int_eq(spaces_snapshot(spaces, PID * 2, 1), -ENOENT);
}
END_TEST

START_TEST(vdso)
{
	u64 start = getauxval(AT_SYSINFO_EHDR);
	struct space_place place;
	size_t size;

	ck_assert_int_eq(spaces_snapshot(spaces, (u32)getpid(), 1), 0);
	if (!start)
		return;
	ck_assert(spaces_find(spaces, (u32)getpid(), 1, start + 0x40, &place));
	ck_assert_int_eq(object_kind(place.object), OBJECT_VDSO);
	ck_assert_str_eq(object_path(place.object), "[vdso]");
	ck_assert_uint_eq(place.address, 0x40);
	ck_assert_ptr_nonnull(object_build_id(place.object));
	ck_assert_ptr_eq(object_image(place.object, &size), (void *)(uintptr_t)start);
}
END_TEST

START_TEST(newest_mapping)
{
	put(PID, 10, 0x1000, 0x3000, "/first");
	put(PID, 20, 0x2000, 0x1000, "/second");
	put(PID, 30, 0x0, 0x8000, "/third");
	put(PID, 25, 0x2000, 0x1000, "/between");
	ck_assert_ptr_null(at(PID, 5, 0x1000));
	ck_assert_str_eq(at(PID, 15, 0x2800), "/first");
	ck_assert_str_eq(at(PID, 20, 0x2800), "/second");
	ck_assert_str_eq(at(PID, 22, 0x1fff), "/first");
	ck_assert_str_eq(at(PID, 22, 0x3000), "/first");
	ck_assert_str_eq(at(PID, 26, 0x2fff), "/between");
	ck_assert_str_eq(at(PID, 30, 0x2800), "/third");
	ck_assert_str_eq(at(PID, 30, 0x7fff), "/third");
	ck_assert_ptr_null(at(PID, 29, 0x7fff));
	ck_assert_ptr_null(at(PID, 40, 0x8000));
	ck_assert_str_eq(at(PID, 15, 0x2800), "/first");
}
END_TEST

START_TEST(lives)
{
	put(PID, 10, 0x1000, 0x1000, "/parent");
	ck_assert_int_eq(spaces_fork(spaces, PID + 1, PID, 20), 0);
	put(PID, 30, 0x1000, 0x1000, "/later");
	put(PID + 1, 31, 0x5000, 0x1000, "/child");
	ck_assert_str_eq(at(PID + 1, 40, 0x1000), "/parent");
	ck_assert_str_eq(at(PID, 40, 0x1000), "/later");
	ck_assert_ptr_null(at(PID, 40, 0x5000));
	ck_assert_int_eq(spaces_exec(spaces, PID + 1, 50), 0);
	put(PID + 1, 51, 0x1000, 0x1000, "/image");
	ck_assert_str_eq(at(PID + 1, 60, 0x1000), "/image");
	ck_assert_ptr_null(at(PID + 1, 60, 0x5000));
	ck_assert_str_eq(at(PID + 1, 45, 0x5000), "/child");
	/* The pid comes again. */
	ck_assert_int_eq(spaces_exit(spaces, PID + 1, 70), 0);
	ck_assert_int_eq(spaces_fork(spaces, PID + 1, PID, 80), 0);
	ck_assert_str_eq(at(PID + 1, 90, 0x1000), "/later");
	ck_assert_str_eq(at(PID + 1, 65, 0x1000), "/image");
}
END_TEST

/* What has ended is given up some time later, unless only its first thread has. */
START_TEST(ended)
{
	const u64 later = 100 * NSEC_PER_SEC;

	put(PID + 1, 10, 0x1000, 0x1000, "/gone");
	put(PID + 2, 10, 0x1000, 0x1000, "/leader");
	ck_assert_int_eq(spaces_exit(spaces, PID + 1, 20), 0);
	ck_assert_int_eq(spaces_exit(spaces, PID + 2, 20), 0);
	ck_assert_str_eq(at(PID + 1, 15, 0x1000), "/gone");
	ck_assert_str_eq(at(PID + 2, 25, 0x1000), "/leader");
	put(PID, later, 0x1000, 0x1000, "/other");
	ck_assert_ptr_null(at(PID + 1, 15, 0x1000));
	ck_assert_str_eq(at(PID + 2, later, 0x1000), "/leader");
}
END_TEST

START_TEST(out_of_order)
{
	put(PID, 10, 0x1000, 0x1000, "/parent");
	/* What a child maps, before its birth; what an image maps, before the exec. */
	put(PID + 1, 21, 0x5000, 0x1000, "/child");
	ck_assert_int_eq(spaces_fork(spaces, PID + 1, PID, 20), 0);
	put(PID + 1, 31, 0x5000, 0x1000, "/image");
	ck_assert_int_eq(spaces_exec(spaces, PID + 1, 30), 0);
	ck_assert_str_eq(at(PID + 1, 25, 0x1000), "/parent");
	ck_assert_str_eq(at(PID + 1, 25, 0x5000), "/child");
	ck_assert_str_eq(at(PID + 1, 35, 0x5000), "/image");
	ck_assert_ptr_null(at(PID + 1, 35, 0x1000));
}
END_TEST

START_TEST(odd_records)
{
	struct space_map data = { .pid = PID, .time_ns = 1, .start = 0x1000, .length = 0x1000, .protection = PROT_READ,
		.name = "/x" };

	ck_assert_int_eq(put(PID, 1, 0x1000, 0, "/x"), -EINVAL);
	ck_assert_int_eq(put(PID, 1, UINT64_MAX, 2, "/x"), -EINVAL);
	ck_assert_int_eq(put(~0u, 1, 0x1000, 0x1000, "[kernel.kallsyms]_text"), -EINVAL);
	ck_assert_int_eq(spaces_map(spaces, &data), 0);
	ck_assert_ptr_null(at(PID, 2, 0x1000));
	ck_assert_int_eq(put(PID, 1, 0x3000, 0x1000, NULL), 0);
	ck_assert_str_eq(at(PID, 2, 0x3000), "[jit]");
	ck_assert_int_eq(put(PID, 1, 0x4000, 0x1000, "/memfd:code (deleted)"), 0);
	ck_assert_str_eq(at(PID, 2, 0x4000), "[jit]");
	ck_assert_int_eq(put(PID, 1, 0x5000, 0x1000, "/gone/file (deleted)"), 0);
	ck_assert_str_eq(at(PID, 2, 0x5000), "/gone/file");
	ck_assert_str_eq(name_at(PID, 0x5000), "deleted");
	ck_assert_str_eq(name_at(PID, 0x4000), "no map of JIT code");
}
END_TEST

/* A program that maps without end costs neither memory nor time without end. */
START_TEST(many_mappings)
{
	u64 i, refused = 0;

	for (i = 0; i < 200000; i++)
		refused += put(PID, i, (i * 7919 % 100000) * 0x2000, 0x3000, "//anon") == -ENOMEM;
	ck_assert_uint_gt(refused, 0);
	for (i = 0; i < 1000000; i++)
		at(PID, UINT64_MAX, i * 0x800);
	for (i = 0; i < 100000; i++)
		put(PID + 1, i, 0x1000, 0x1000, i & 1 ? "/a" : "/b");
	ck_assert_str_eq(at(PID + 1, UINT64_MAX, 0x1000), "/a");
	for (i = 0; i < 100000; i++) {
		spaces_fork(spaces, PID + 10, PID, i * NSEC_PER_MSEC);
		spaces_exit(spaces, PID + 10, i * NSEC_PER_MSEC + 1);
	}
}
END_TEST

START_TEST(kernel)
{
	struct space_place place;

	spaces_kernel(spaces, 0xffffffff81000010ull, &place);
	ck_assert_str_eq(object_path(place.object), "[kernel]");
	ck_assert_int_eq(object_kind(place.object), OBJECT_KERNEL);
	ck_assert(!place.address || place.address == 0xffffffff81000010ull);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("space");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, own_process);
	tcase_add_test(tests, vdso);
	tcase_add_test(tests, newest_mapping);
	tcase_add_test(tests, lives);
	tcase_add_test(tests, ended);
	tcase_add_test(tests, out_of_order);
	tcase_add_test(tests, odd_records);
	tcase_add_test(tests, many_mappings);
	tcase_add_test(tests, kernel);
	return suite_run("space", tests);
}
