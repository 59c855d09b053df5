/* SPDX-License-Identifier: MIT */
/* cli/symbols/disasm: known instructions, and any bytes: each is in one instruction, and it ends. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "cli/symbols/disasm.h"
#include "suite.h"

static struct disasm_instruction *list;
static size_t n;
static const char *why;

static void teardown(void)
{
	free(list);
	list = NULL;
}

static int take(u16 machine, const void *bytes, size_t size)
{
	free(list);
	return disasm(machine, bytes, size, 0x1000, &list, &n, &why);
}

START_TEST(test_known)
{
	static const u8 x86[] = { 0x48, 0x89, 0xc3, 0x06, 0xc3 }, arm64[] = { 0xe0, 0x03, 0x01, 0xaa, 0xff, 0xff, 0xff, 0xff, 0xc0 };

	ck_assert_int_eq(take(EM_X86_64, x86, sizeof(x86)), 0);
	ck_assert_uint_eq(n, 3);
	ck_assert_str_eq(list[0].text, "movq   %rax, %rbx");
	ck_assert_uint_eq(list[0].size, 3);
	ck_assert_str_eq(list[1].text, "(bad)");
	ck_assert_uint_eq(list[1].size, 1);
	ck_assert_str_eq(list[2].text, "retq");
	ck_assert_uint_eq(list[2].address, 0x1004);
	ck_assert_int_eq(take(EM_AARCH64, arm64, sizeof(arm64)), 0);
	ck_assert_uint_eq(n, 3);
	ck_assert_str_eq(list[0].text, "mov    x0, x1");
	ck_assert_uint_eq(list[1].size, 4);
	ck_assert_str_eq(list[1].text, "(bad)");
	ck_assert_uint_eq(list[2].size, 1);
}
END_TEST

START_TEST(test_none)
{
	ck_assert_int_eq(take(EM_X86_64, "", 0), 0);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(take(EM_S390, "\x07\x07", 2), -1);
	ck_assert_str_eq(why, "capstone does not know this machine's instructions");
	ck_assert_ptr_null(list);
}
END_TEST

START_TEST(test_any_bytes)
{
	static const u16 machines[] = { EM_X86_64, EM_386, EM_AARCH64 };
	u32 random = 12345, round, i;
	u8 bytes[4096];
	u64 at;

	for (round = 0; round < 60; round++) {
		for (i = 0; i < sizeof(bytes); i++) {
			random = random * 1664525u + 1013904223u;
			bytes[i] = round % 3 ? (u8)(random >> 24) : (u8)(round * 4 + i % 3);
		}
		ck_assert_int_eq(take(machines[round % 3], bytes, sizeof(bytes) - round), 0);
		for (at = 0x1000, i = 0; i < n; at += list[i++].size) {
			ck_assert_uint_eq(list[i].address, at);
			ck_assert_uint_gt(list[i].size, 0);
			ck_assert(memchr(list[i].text, '\0', sizeof(list[i].text)));
		}
		ck_assert_uint_eq(at, 0x1000 + sizeof(bytes) - round);
	}
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("disasm");
	bool built = take(EM_X86_64, "", 0) == 0;

	tcase_add_checked_fixture(tests, NULL, teardown);
	if (built) {
		tcase_add_test(tests, test_known);
		tcase_add_test(tests, test_none);
		tcase_add_test(tests, test_any_bytes);
	}
	return suite_run(built ? "disasm" : "disasm # SKIP capstone: not built or not installed", tests);
}
