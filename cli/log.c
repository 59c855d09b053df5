/* SPDX-License-Identifier: MIT */
/* Messages on standard error; see log.h. One thread only. */
#include "cli/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/text.h"

static int current_level;
static char *captured;
static size_t captured_size;
static bool hushed;

void log_set_level(int level)
{
	current_level = level;
}

bool log_hush(bool hush)
{
	bool before = hushed;

	hushed = hush;
	return before;
}

int log_level(void)
{
	return current_level;
}

static void log_line(const char *prefix, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/* Longer text is cut: 4096 bytes are what a pipe takes in one piece. */
static void log_line(const char *prefix, const char *format, va_list args)
{
	static const char more[] = "\xe2\x80\xa6";
	char text[4096], line[4096];
	size_t at, room, whole;
	int saved = errno, len;
	ssize_t done;

	len = vsnprintf(text, sizeof(text), format, args);
	if (len < 0)
		len = 0;
	if ((size_t)len >= sizeof(text))
		len = sizeof(text) - 1;
	at = (size_t)snprintf(line, sizeof(line), "sparkctl: %s", prefix);
	room = sizeof(line) - at - sizeof(more);
	whole = text_escape(line + at, room, text, (size_t)len);
	at += strlen(line + at);
	if (whole >= room || (size_t)len == sizeof(text) - 1) {
		memcpy(line + at, more, sizeof(more) - 1);
		at += sizeof(more) - 1;
	}
	line[at++] = '\n';
	do
		done = write(STDERR_FILENO, line, at);
	while (done < 0 && errno == EINTR);
	errno = saved;
}

void log_capture(char *text, size_t size)
{
	captured = text;
	captured_size = size;
}

int error(const char *format, ...)
{
	va_list args;

	if (hushed)
		return -1;
	va_start(args, format);
	if (captured)
		vsnprintf(captured, captured_size, format, args);
	else
		log_line("", format, args);
	va_end(args);
	return -1;
}

void warning(const char *format, ...)
{
	va_list args;

	if (hushed || current_level < LOG_LEVEL_NORMAL)
		return;
	va_start(args, format);
	log_line("warning: ", format, args);
	va_end(args);
}

void verbose(int level, const char *format, ...)
{
	va_list args;

	if (current_level < level)
		return;
	va_start(args, format);
	log_line("", format, args);
	va_end(args);
}
