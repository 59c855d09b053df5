/* SPDX-License-Identifier: MIT */
/* Reading and writing of numbers without the C library's locale, stdio or heap. SAFE. */
#ifndef SPARK_AGENT_SAFE_H
#define SPARK_AGENT_SAFE_H

#include "common/base.h"

/* Reads decimal digits; stops at the first other character, which it returns. Overflow wraps. */
const char *safe_parse_number(const char *text, u32 *value);
/* Reads exactly 2 * size lower-case hexadecimal digits. 0 or -EINVAL. */
int safe_parse_hex(const char *text, u8 *bytes, size_t size);
/* "/proc/<pid>/fd/<fd>"; path has room for 64 bytes. */
void safe_format_fd_path(char *path, u32 pid, u32 fd);

#endif
