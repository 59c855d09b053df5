/* SPDX-License-Identifier: MIT */
/* agent/safe: numbers read and written without the C library. */
#include "agent/safe.h"
#include "suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *text;
	u32 value;
	const char *rest;
} numbers[] = {
	{ "", 0, "" }, { ",", 0, "," }, { "-1", 0, "-1" }, { "+1", 0, "+1" }, { " 1", 0, " 1" },
	{ "0", 0, "" }, { "7", 7, "" }, { "007", 7, "" }, { "10,x", 10, ",x" }, { "1 2", 1, " 2" },
	{ "12a", 12, "a" }, { "1/", 1, "/" }, { "1:", 1, ":" }, { "1\xb1", 1, "\xb1" },
	{ "2147483648", 2147483648u, "" }, { "4294967295", 4294967295u, "" },
	{ "4294967296", 0, "" }, { "4294967299z", 3, "z" }, { "42949672950000000000000000000000", 0, "" },
};

START_TEST(test_parse_number)
{
	u32 value = 99;

	/* The last row's value is whatever wraps to; its end is what matters. */
	ck_assert_str_eq(safe_parse_number(numbers[_i].text, &value), numbers[_i].rest);
	if (_i + 1 < (int)ARRAY_SIZE(numbers))
		ck_assert_uint_eq(value, numbers[_i].value);
}
END_TEST

static const struct {
	const char *text;
	u32 size;
	int ret;
	u8 bytes[4];
} hexes[] = {
	{ "", 0, 0, { 0xee } },
	{ "", 1, -EINVAL, { 0xee } },
	{ "0", 1, -EINVAL, { 0xee } },
	{ "00", 1, 0, { 0x00 } },
	{ "ff", 1, 0, { 0xff } },
	{ "09af", 2, 0, { 0x09, 0xaf } },
	{ "deadbeef", 4, 0, { 0xde, 0xad, 0xbe, 0xef } },
	{ "deadbee", 4, -EINVAL, { 0xde, 0xad, 0xbe } },
	{ "12,4", 2, -EINVAL, { 0x12 } },
	{ "12345", 2, 0, { 0x12, 0x34 } },
	{ "FF", 1, -EINVAL, { 0xee } },
	{ "0x", 1, -EINVAL, { 0xee } },
	{ "0g", 1, -EINVAL, { 0xee } },
	{ "/0", 1, -EINVAL, { 0xee } },
	{ ":0", 1, -EINVAL, { 0xee } },
	{ "`0", 1, -EINVAL, { 0xee } },
	{ "\xff\xff", 1, -EINVAL, { 0xee } },
};

/* The text lies in memory of exactly its size, for the sanitizer's sake. */
START_TEST(test_parse_hex)
{
	char *text = strdup(hexes[_i].text);
	u8 bytes[4] = { 0xee };

	ck_assert_int_eq(safe_parse_hex(text, bytes, hexes[_i].size), hexes[_i].ret);
	ck_assert_mem_eq(bytes, hexes[_i].bytes, sizeof(bytes));
	free(text);
}
END_TEST

static const struct {
	u32 pid;
	u32 fd;
	const char *path;
} paths[] = {
	{ 0, 0, "/proc/0/fd/0" },
	{ 1, 9, "/proc/1/fd/9" },
	{ 10, 100, "/proc/10/fd/100" },
	{ 4194304, 1048576, "/proc/4194304/fd/1048576" },
	{ 4294967295u, 4294967295u, "/proc/4294967295/fd/4294967295" },
};

START_TEST(test_format_fd_path)
{
	char path[64];

	memset(path, 'x', sizeof(path));
	safe_format_fd_path(path, paths[_i].pid, paths[_i].fd);
	ck_assert_str_eq(path, paths[_i].path);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("safe");

	tcase_add_loop_test(t, test_parse_number, 0, (int)ARRAY_SIZE(numbers));
	tcase_add_loop_test(t, test_parse_hex, 0, (int)ARRAY_SIZE(hexes));
	tcase_add_loop_test(t, test_format_fd_path, 0, (int)ARRAY_SIZE(paths));
	return suite_run("agent safe", t);
}
