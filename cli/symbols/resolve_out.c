/* SPDX-License-Identifier: MIT */
/* What a child tells its parent: written to a file in memory, and read with suspicion. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/symbols/resolve_build.h"

#define OUT_MOST (512ull << 20)

void resolve_out_init(struct resolve_out *out, int fd)
{
	out->fd = fd;
	out->used = 0;
	out->room = OUT_MOST;
}

void resolve_out_flush(struct resolve_out *out)
{
	size_t done = 0;
	ssize_t put;

	while (done < out->used) {
		put = write(out->fd, out->buffer + done, out->used - done);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0) {
			out->room = 0;
			break;
		}
		done += (size_t)put;
	}
	out->used = 0;
}

static void out_bytes(struct resolve_out *out, const void *bytes, size_t size)
{
	size_t part;

	for (; size; size -= part) {
		if (out->used == sizeof(out->buffer))
			resolve_out_flush(out);
		part = MIN(size, sizeof(out->buffer) - out->used);
		memcpy(out->buffer + out->used, bytes, part);
		out->used += part;
		bytes = (const u8 *)bytes + part;
	}
}

/* Bytes that are told of a name. */
static size_t text_length(const char *text)
{
	return text ? strnlen(text, RESOLVE_NAME_MOST - 1) : 0;
}

static void out_text(struct resolve_out *out, const char *text)
{
	if (!text)
		return;
	out_bytes(out, text, text_length(text));
	out_bytes(out, "", 1);
}

void resolve_out_names(struct resolve_out *out, size_t address, enum resolve_reason reason,
	const struct resolve_line *lines, size_t n)
{
	struct resolve_row row = { ROW_NAMES, (u32)address, reason, (u32)MIN(n, RESOLVE_CHAIN_MOST) };
	u64 size = sizeof(row);
	u32 i;

	for (i = 0; i < row.nlines; i++)
		size += sizeof(struct resolve_row_line) + text_length(lines[i].function) +
			text_length(lines[i].file) + 2;
	if (size > out->room)
		return;
	out->room -= size;
	out_bytes(out, &row, sizeof(row));
	for (i = 0; i < row.nlines; i++) {
		struct resolve_row_line line = { .line = lines[i].line };

		line.function = lines[i].function ? (u32)text_length(lines[i].function) + 1 : 0;
		line.file = lines[i].file ? (u32)text_length(lines[i].file) + 1 : 0;
		out_bytes(out, &line, sizeof(line));
		out_text(out, lines[i].function);
		out_text(out, lines[i].file);
	}
}

void resolve_out_text(struct resolve_out *out, enum resolve_row_kind kind, const char *format, ...)
{
	struct resolve_row row = { .kind = kind };
	char text[RESOLVE_NAME_MOST];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	row.nlines = (u32)strlen(text) + 1;
	out_bytes(out, &row, sizeof(row));
	out_text(out, text);
}

/* A text of that many bytes; false where it is not whole and terminated. */
static bool rows_text(const u8 **at, const u8 *end, u32 size, const char **text)
{
	*text = NULL;
	if (!size)
		return true;
	if (size > RESOLVE_NAME_MOST || size > (size_t)(end - *at) || (*at)[size - 1])
		return false;
	*text = (const char *)*at;
	*at += size;
	return true;
}

static void object_told(struct object *object, u32 kind, const char *text)
{
	char **to = kind == ROW_NOTE ? &object->note :
		kind == ROW_DEBUG_FILE ? &object->debug_file : &object->debug_tried;
	char *copy = strdup(text);

	if (copy) {
		free(*to);
		*to = copy;
	}
}

static bool rows_lines(const u8 **at, const u8 *end, struct resolve_line *lines, u32 n)
{
	struct resolve_row_line line;

	for (; n; n--, lines++) {
		if ((size_t)(end - *at) < sizeof(line))
			return false;
		memcpy(&line, *at, sizeof(line));
		*at += sizeof(line);
		lines->line = line.line;
		if (!rows_text(at, end, line.function, &lines->function) ||
		    !rows_text(at, end, line.file, &lines->file))
			return false;
	}
	return true;
}

void resolve_rows(const u8 *bytes, size_t size, const struct resolve_request *request, bool *seen, resolve_found *found,
	void *data)
{
	struct resolve_line lines[RESOLVE_CHAIN_MOST];
	const u8 *at = bytes, *end = bytes + size;
	struct resolve_row row;
	const char *text;

	while ((size_t)(end - at) >= sizeof(row)) {
		memcpy(&row, at, sizeof(row));
		at += sizeof(row);
		if (row.kind == ROW_NAMES) {
			if (row.address >= request->n || seen[row.address] || row.nlines > RESOLVE_CHAIN_MOST ||
			    row.reason > RESOLVE_OUT_OF_TIME || !rows_lines(&at, end, lines, row.nlines))
				return;
			if (row.reason == RESOLVE_NAMED && (!row.nlines || !lines[row.nlines - 1].function))
				return;
			seen[row.address] = true;
			found(data, request, row.address, (enum resolve_reason)row.reason, lines, row.nlines);
		} else if (row.kind < ROW_NOTE || row.kind > ROW_DEBUG_TRIED ||
		    !rows_text(&at, end, row.nlines, &text) || !text) {
			return;
		} else {
			object_told(request->object, row.kind, text);
		}
	}
}
