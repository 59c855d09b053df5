/* SPDX-License-Identifier: MIT */
/* See jit_names.h. */
#include "cli/symbols/jit_names.h"

#include <stdlib.h>
#include <string.h>

#include "cli/text.h"

#define NAME_MOST 4095u

/* ---- addresses that a row covers */

/* The first address that is not below. */
static size_t names_from(const struct jit_names *names, u64 start)
{
	size_t low = 0, high = names->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (names->addresses[middle] < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void names_put(struct jit_names *names, u64 start, u64 size, const char *name, size_t length)
{
	size_t i;

	for (i = names_from(names, start); i < names->n && names->addresses[i] - start < size; i++) {
		struct jit_name *row = &names->names[i];

		free(row->function);
		free(row->file);
		*row = (struct jit_name){ .function = strndup(name, MIN(length, NAME_MOST)) };
	}
}

void jit_names_free(struct jit_names *names)
{
	size_t i;

	for (i = 0; i < names->n; i++) {
		free(names->names[i].function);
		free(names->names[i].file);
		names->names[i] = (struct jit_name){ .line = 0 };
	}
}

/* ---- perf maps */

/* Hexadecimal digits, with or without 0x, and the blank behind them. */
static bool map_number(const char **at, const char *end, u64 *value)
{
	const char *from;
	u64 digit;

	if (end - *at > 2 && (*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X'))
		*at += 2;
	from = *at;
	for (*value = 0; *at < end && *at - from < 16; ++*at) {
		if (**at >= '0' && **at <= '9')
			digit = (u64)(**at - '0');
		else if ((**at | 32) >= 'a' && (**at | 32) <= 'f')
			digit = (u64)((**at | 32) - 'a' + 10);
		else
			break;
		*value = *value << 4 | digit;
	}
	if (*at == from || *at == end || **at != ' ')
		return false;
	while (*at < end && **at == ' ')
		++*at;
	return true;
}

static void map_line(struct jit_names *names, const char *line, const char *end)
{
	u64 start, size;

	if (end > line && end[-1] == '\r')
		end--;
	if (map_number(&line, end, &start) && map_number(&line, end, &size) && size && line < end)
		names_put(names, start, size, line, (size_t)(end - line));
}

size_t jit_map_take(struct jit_names *names, const char *text, size_t size)
{
	const char *at = text, *end = text + size, *newline;

	while ((newline = memchr(at, '\n', (size_t)(end - at)))) {
		map_line(names, at, newline);
		at = newline + 1;
	}
	return (size_t)(at - text);
}

/* ---- jitdump files */

#define DUMP_MAGIC 0x4a695444u

enum { DUMP_LOAD = 0, DUMP_MOVE = 1, DUMP_DEBUG_INFO = 2 };

struct dump_header {
	u32 magic, version, size, machine;
	u32 unused, pid;
	u64 time, flags;
};

struct dump_record {
	u32 id, size;
	u64 time;
};

struct dump_load {
	u32 pid, tid;
	u64 unused, address, size, index;
};

struct dump_move {
	u32 pid, tid;
	u64 unused, from, to, size, index;
};

struct dump_entry {
	u64 address;
	u32 line, discriminator;
};

/* Lines of code that is loaded next. */
struct dump_lines {
	const u8 *entries;
	size_t size;
	u64 address, n;
};

static void dump_debug_info(struct dump_lines *lines, const u8 *bytes, size_t size)
{
	u64 head[2];

	if (size < sizeof(head))
		return;
	memcpy(head, bytes, sizeof(head));
	*lines = (struct dump_lines){ bytes + sizeof(head), size - sizeof(head), head[0], head[1] };
}

/* V8 writes memory that it has freed already: what follows such a name is not where it should be. */
static bool dump_file_good(const char *name, size_t length)
{
	unsigned int code;
	size_t n;

	for (; length; name += n, length -= n) {
		n = text_decode(name, length, &code);
		if (!n || code < ' ' || code == 0x7f)
			return false;
	}
	return true;
}

/* The line of an address: that of the last entry that is not behind it. */
static void dump_line(const struct dump_lines *lines, u64 address, struct jit_name *row)
{
	const char *file = NULL, *best_file = NULL, *name;
	const u8 *at = lines->entries;
	size_t size = lines->size, length;
	struct dump_entry entry;
	u64 left;

	for (left = lines->n; left && size > sizeof(entry); left--) {
		memcpy(&entry, at, sizeof(entry));
		name = (const char *)at + sizeof(entry);
		size -= sizeof(entry);
		length = strnlen(name, size);
		if (length == size)
			break;
		/* 0xff alone: the file of the entry before. */
		if (strcmp(name, "\xff") != 0) {
			if (!dump_file_good(name, length)) {
				row->line = 0;
				return;
			}
			file = name;
		}
		if (entry.address > address)
			break;
		best_file = file;
		row->line = entry.line;
		at = (const u8 *)name + length + 1;
		size -= length + 1;
	}
	row->file = best_file ? strndup(best_file, NAME_MOST) : NULL;
}

static void dump_load(struct jit_names *names, struct dump_lines *lines, const u8 *bytes, size_t size)
{
	struct dump_load load;
	size_t i;

	if (size <= sizeof(load))
		return;
	memcpy(&load, bytes, sizeof(load));
	bytes += sizeof(load);
	size -= sizeof(load);
	if (!memchr(bytes, 0, size))
		return;
	names_put(names, load.address, load.size, (const char *)bytes, strlen((const char *)bytes));
	if (lines->n && lines->address == load.address)
		for (i = names_from(names, load.address);
		     i < names->n && names->addresses[i] - load.address < load.size; i++)
			dump_line(lines, names->addresses[i], &names->names[i]);
	lines->n = 0;
}

/* Code that was moved keeps its name: those of where it was, for where it is. */
static void dump_move(struct jit_names *names, const u8 *bytes, size_t size)
{
	struct dump_move move;
	size_t from, i;

	if (size < sizeof(move))
		return;
	memcpy(&move, bytes, sizeof(move));
	from = names_from(names, move.from);
	if (from == names->n || names->addresses[from] - move.from >= move.size || !names->names[from].function)
		return;
	for (i = names_from(names, move.to); i < names->n && names->addresses[i] - move.to < move.size; i++) {
		char *name = i == from ? NULL : strdup(names->names[from].function);

		if (!name)
			continue;
		free(names->names[i].function);
		names->names[i].function = name;
	}
}

void jit_dump_take(struct jit_names *names, const u8 *bytes, size_t size)
{
	struct dump_header header;
	struct dump_record record;
	struct dump_lines lines = { .n = 0 };
	const u8 *body;
	size_t at;

	if (size < sizeof(header))
		return;
	memcpy(&header, bytes, sizeof(header));
	if (header.magic != DUMP_MAGIC || header.size < sizeof(header))
		return;
	for (at = header.size; at <= size && size - at >= sizeof(record); at += record.size) {
		memcpy(&record, bytes + at, sizeof(record));
		if (record.size < sizeof(record) || record.size > size - at)
			return;
		body = bytes + at + sizeof(record);
		if (record.id == DUMP_LOAD)
			dump_load(names, &lines, body, record.size - sizeof(record));
		else if (record.id == DUMP_MOVE)
			dump_move(names, body, record.size - sizeof(record));
		else if (record.id == DUMP_DEBUG_INFO)
			dump_debug_info(&lines, body, record.size - sizeof(record));
	}
}
