/* SPDX-License-Identifier: MIT */
/* Texts and numbers of the HTML page; see page.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/page.h"
#include "cli/text.h"

static void page_quote(FILE *file, const char *text)
{
	putc_unlocked('"', file);
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			fprintf(file, "\\%c", *text);
		else if (*text == '<') /* "</script>" and "<!--" mean something to who looks for the end of a script */
			fputs("\\u003c", file);
		else
			putc_unlocked(*text, file);
	putc_unlocked('"', file);
}

void page_text(struct page *page, const char *bytes, size_t length)
{
	size_t size = 4 * length + 1;
	char *text = malloc(size);

	page->strings.no_memory |= !text;
	if (text)
		text_escape(text, size, bytes, length);
	page_quote(page->file, text ? text : "");
	free(text);
}

void page_word(struct page *page, const char *text)
{
	if (text)
		page_text(page, text, strlen(text));
	else
		fputs("null", page->file);
}

void page_number(struct page *page, const char *text)
{
	if (text)
		fprintf(page->file, "%u", samples_string(&page->strings, text, strlen(text)));
	else
		fputs("-1", page->file);
}

/* ---- columns --------------------------------------------------------------------------------------- */

static void pack_byte(struct page_pack *pack, u32 byte)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	pack->bits = pack->bits << 8 | byte;
	if (++pack->n < 3)
		return;
	for (u32 shift = 24; shift; shift -= 6)
		putc_unlocked(digits[pack->bits >> (shift - 6) & 63], pack->file);
	pack->bits = pack->n = 0;
}

void page_pack_begin(struct page_pack *pack, FILE *file, const char *key)
{
	*pack = (struct page_pack){ .file = file };
	fprintf(file, ",\n\"%s\":\"", key);
}

void page_pack_add(struct page_pack *pack, u64 number)
{
	for (; number > 127; number >>= 7)
		pack_byte(pack, (u32)(number & 127) | 128);
	pack_byte(pack, (u32)number);
}

void page_pack_signed(struct page_pack *pack, s64 number)
{
	page_pack_add(pack, (u64)number << 1 ^ (number < 0 ? ~0ull : 0));
}

/* What is left of three bytes is filled up by zeros, which readers that know how many there are do not read. */
void page_pack_end(struct page_pack *pack)
{
	while (pack->n)
		pack_byte(pack, 0);
	putc_unlocked('"', pack->file);
}
