/* SPDX-License-Identifier: MIT */
/* Reading and writing of numbers in the target. */
#include "safe.h"

#include <errno.h>
#include <string.h>

#include "banned.h"

const char *safe_parse_number(const char *text, u32 *value)
{
	u32 v = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		v = v * 10 + (u32)(*text - '0');
	*value = v;
	return text;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int safe_parse_hex(const char *text, u8 *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		int high = hex_digit(text[2 * i]);
		int low = high < 0 ? -1 : hex_digit(text[2 * i + 1]);

		if (low < 0)
			return -EINVAL;
		bytes[i] = (u8)(high << 4 | low);
	}
	return 0;
}

static char *put_text(char *at, const char *text)
{
	size_t length = strlen(text);

	memcpy(at, text, length + 1);
	return at + length;
}

static char *put_number(char *at, u32 v)
{
	char digits[10];
	u32 n = 0;

	do {
		digits[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	while (n)
		*at++ = digits[--n];
	*at = 0;
	return at;
}

void safe_format_fd_path(char *path, u32 pid, u32 fd)
{
	path = put_text(path, "/proc/");
	path = put_number(path, pid);
	path = put_text(path, "/fd/");
	put_number(path, fd);
}
