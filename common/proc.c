/* SPDX-License-Identifier: MIT */
/* Parsing of /proc/PID/io and /proc/PID/schedstat; see proc.h. */
#include "proc.h"

#include <errno.h>
#include <string.h>

#include "source_table.h"

/* A piece of text that is not read beyond its end. */
struct span {
	const char *at, *end;
};

static void span_skip(struct span *s, char c)
{
	while (s->at < s->end && *s->at == c)
		s->at++;
}

/* The word that stands here, if it is a number. */
static u64 span_number(struct span *s)
{
	bool sound = false;
	u64 value = 0;

	span_skip(s, ' ');
	for (; s->at < s->end && *s->at != ' ' && *s->at != '\n'; s->at++) {
		if (*s->at < '0' || *s->at > '9' || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (u64)(*s->at - '0'), &value) || wire_absent(value)) {
			sound = false;
			break;
		}
		sound = true;
	}
	while (s->at < s->end && *s->at != ' ' && *s->at != '\n')
		s->at++;
	return sound ? value : WIRE_ABSENT(WIRE_ABSENT_FIELD);
}

static void span_next_line(struct span *s)
{
	while (s->at < s->end && *s->at != '\n')
		s->at++;
	span_skip(s, '\n');
}

/* The line begins with the name and a colon, which are skipped. */
static bool span_field(struct span *s, const char *name)
{
	size_t length = strlen(name);

	if ((size_t)(s->end - s->at) <= length || memcmp(s->at, name, length) || s->at[length] != ':')
		return false;
	s->at += length + 1;
	return true;
}

void proc_fill_absent(u64 *cells, u32 n, enum wire_absent_reason reason)
{
	for (u32 i = 0; i < n; i++)
		cells[i] = WIRE_ABSENT(reason);
}

void proc_parse_io(const char *text, size_t size, u64 *cells)
{
	struct span s = { text, text + size };

	proc_fill_absent(cells, PROCIO_CELLS, WIRE_ABSENT_FIELD);
	for (; s.at < s.end; span_next_line(&s))
		for (u32 i = 0; i < PROCIO_CELLS; i++)
			if (span_field(&s, source_table[SOURCE_procio].cells[i].name)) {
				cells[i] = span_number(&s);
				break;
			}
}

void proc_parse_schedstat(const char *text, size_t size, u64 *cells)
{
	struct span s = { text, text + size };
	bool counts = false;

	for (u32 i = 0; i < SCHED_CELLS; i++) {
		cells[i] = span_number(&s);
		counts = counts || cells[i];
	}
	if (!counts)
		proc_fill_absent(cells, SCHED_CELLS, WIRE_ABSENT_OFF);
}

enum wire_absent_reason proc_absent(int error)
{
	switch (error) {
	case ENOENT:
	case ESRCH:
		return WIRE_ABSENT_NO_FILE;
	case EACCES:
	case EPERM:
		return WIRE_ABSENT_DENIED;
	case EMFILE:
	case ENFILE:
	case ENOMEM:
		return WIRE_ABSENT_LIMIT;
	default:
		return WIRE_ABSENT_UNREADABLE;
	}
}
