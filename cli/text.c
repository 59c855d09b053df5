/* SPDX-License-Identifier: MIT */
/* Escaping, measuring and laying out text; see text.h. Reads no locale but C.UTF-8. */
#include "cli/text.h"

#include <locale.h>
#include <string.h>
#include <wchar.h>

static const char ellipsis[] = "\xe2\x80\xa6";

static size_t text_sequence(unsigned char first, unsigned int *code, unsigned int *least)
{
	if (first < 0x80) {
		*code = first, *least = 0;
		return 1;
	}
	if ((first & 0xe0) == 0xc0) {
		*code = first & 0x1f, *least = 0x80;
		return 2;
	}
	if ((first & 0xf0) == 0xe0) {
		*code = first & 0x0f, *least = 0x800;
		return 3;
	}
	if ((first & 0xf8) == 0xf0) {
		*code = first & 0x07, *least = 0x10000;
		return 4;
	}
	return 0;
}

size_t text_decode(const char *s, size_t len, unsigned int *code)
{
	unsigned int least, value;
	size_t n = text_sequence((unsigned char)s[0], &value, &least), i;

	if (!n || n > len)
		return 0;
	for (i = 1; i < n; i++) {
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | ((unsigned char)s[i] & 0x3f);
	}
	if (value < least || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*code = value;
	return n;
}

/* C0, DEL, C1; line and paragraph separator; what turns the direction of writing. */
static bool text_is_hazard(unsigned int code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
	       code == 0x061c || code == 0x200e || code == 0x200f ||
	       (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
	       code == 0xfeff;
}

/* The escape of one byte in buf; returns its length. */
static size_t text_escape_byte(char *buf, unsigned char byte)
{
	static const char digit[] = "0123456789ABCDEF";
	const char *simple = byte == '\n' ? "\\n" : byte == '\t' ? "\\t" : NULL;

	if (simple) {
		memcpy(buf, simple, 2);
		return 2;
	}
	buf[0] = '\\';
	buf[1] = 'x';
	buf[2] = digit[byte >> 4];
	buf[3] = digit[byte & 15];
	return 4;
}

struct text_sink {
	char *out;
	size_t size, len, whole;
};

static void text_put(struct text_sink *sink, const char *s, size_t n)
{
	/* After the first piece that does not fit, none is taken: what is kept is a prefix. */
	if (sink->whole == sink->len && sink->len + n < sink->size) {
		memcpy(sink->out + sink->len, s, n);
		sink->len += n;
	}
	sink->whole += n;
}

size_t text_escape(char *out, size_t size, const char *s, size_t len)
{
	struct text_sink sink = { .out = out, .size = size };
	char byte[4];
	size_t i, n;
	unsigned int code;

	for (i = 0; i < len; i += n) {
		n = text_decode(s + i, len - i, &code);
		if (n && code == '\\') {
			text_put(&sink, "\\\\", 2);
		} else if (n && !text_is_hazard(code)) {
			text_put(&sink, s + i, n);
		} else {
			/* The other bytes of a hazard begin no character, so they follow. */
			n = 1;
			text_put(&sink, byte, text_escape_byte(byte, (unsigned char)s[i]));
		}
	}
	out[sink.len] = '\0';
	return sink.whole;
}

/* The C library's tables of widths, from the one UTF-8 locale that needs no installing. */
static locale_t text_locale(void)
{
	static locale_t utf8;
	static bool tried;

	if (!tried)
		utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	tried = true;
	return utf8;
}

static size_t text_char_width(unsigned int code)
{
	locale_t utf8, before;
	int width;

	if (code < 0x7f)
		return code >= 0x20;
	utf8 = text_locale();
	if (!utf8)
		return 1;
	before = uselocale(utf8);
	width = wcwidth((wchar_t)code);
	uselocale(before);
	return width < 0 ? 1 : (size_t)width;
}

/* The character at s: its length in bytes and its columns. An invalid byte counts as one. */
static size_t text_step(const char *s, size_t *columns)
{
	unsigned int code;
	size_t n = text_decode(s, strlen(s), &code);

	*columns = n ? text_char_width(code) : 1;
	return n ? n : 1;
}

size_t text_width(const char *s)
{
	size_t sum = 0, columns;

	while (*s) {
		s += text_step(s, &columns);
		sum += columns;
	}
	return sum;
}

size_t text_fit(char *out, size_t size, const char *s, size_t columns)
{
	size_t len = 0, used = 0, n, wide, limit = columns;
	bool cut = text_width(s) > columns || strlen(s) >= size;

	out[0] = '\0';
	if (!columns || !size)
		return 0;
	if (cut)
		limit = columns - 1;
	for (; *s; s += n, len += n, used += wide) {
		n = text_step(s, &wide);
		if (used + wide > limit || len + n + (cut ? sizeof(ellipsis) : 1) > size)
			break;
		memcpy(out + len, s, n);
	}
	out[len] = '\0';
	if (cut && len + sizeof(ellipsis) <= size) {
		memcpy(out + len, ellipsis, sizeof(ellipsis));
		used++;
	}
	return used;
}


static size_t text_width_of(const char *s, size_t len)
{
	size_t sum = 0, columns, i;

	for (i = 0; i < len; sum += columns)
		i += text_step(s + i, &columns);
	return sum;
}

void text_wrap(FILE *file, const char *s, size_t indent, size_t width)
{
	size_t column = indent, len, wide;
	bool first = true;

	while (*(s += strspn(s, " "))) {
		len = strcspn(s, " ");
		wide = text_width_of(s, len);
		if (!first && width && column + 1 + wide > width) {
			fprintf(file, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			fputc(' ', file);
			column++;
		}
		fwrite(s, 1, len, file);
		column += wide;
		first = false;
		s += len;
	}
	fputc('\n', file);
}

void text_quote(FILE *file, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";

	if (*word && !word[strspn(word, plain)]) {
		fputs(word, file);
		return;
	}
	fputc('\'', file);
	for (; *word; word++)
		fputs(*word == '\'' ? "'\\''" : (char[]){ *word, 0 }, file);
	fputc('\'', file);
}

void text_pad(FILE *file, const char *s, size_t columns)
{
	size_t width = text_width(s);

	fputs(s, file);
	if (width < columns)
		fprintf(file, "%*s", (int)(columns - width), "");
}

unsigned int text_distance(const char *a, const char *b)
{
	unsigned int row[64], last, above, i, j, best;
	size_t n = strlen(b);

	if (n + 1 > sizeof(row) / sizeof(row[0]))
		return ~0u;
	for (j = 0; j <= n; j++)
		row[j] = j;
	for (i = 1; *a; a++, i++) {
		last = row[0];
		row[0] = i;
		for (j = 1; j <= n; j++) {
			above = row[j];
			best = last + (*a != b[j - 1]);
			best = best < above + 1 ? best : above + 1;
			row[j] = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
			last = above;
		}
	}
	return row[n];
}
