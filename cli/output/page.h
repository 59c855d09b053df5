/* SPDX-License-Identifier: MIT */
/*
 * The data of the HTML page: one JSON document within it, in which every text that may come twice is a
 * number of one table, and long lists of numbers are packed. page.js reads it.
 */
#ifndef CLI_OUTPUT_PAGE_H
#define CLI_OUTPUT_PAGE_H

#include "cli/output/output.h"

/* The files page.html, page.css and page.js, a line each, NULL at the end: made when it is built. */
extern const char *const page_html[], *const page_css[], *const page_js[];

struct page {
	FILE *file;
	const struct report *report;
	struct samples strings;      /* its strings alone: the table */
};

/* A string of JSON that ends no script: bytes of a stranger, escaped as they are in a table. */
void page_text(struct page *page, const char *bytes, size_t length);
/* The same of a text; null for NULL. */
void page_word(struct page *page, const char *text);
/* The number of a text in the table, escaped in the same way; -1 for NULL. */
void page_number(struct page *page, const char *text);

/* A column of numbers: seven bits a byte, least first, the eighth set where more follow; in base64. */
struct page_pack {
	FILE *file;
	u32 bits, n;                 /* bytes that wait for a third one */
};

void page_pack_begin(struct page_pack *pack, FILE *file, const char *key);
void page_pack_add(struct page_pack *pack, u64 number);
/* Negative ones, too: 0, -1, 1, -2 are 0, 1, 2, 3. */
void page_pack_signed(struct page_pack *pack, s64 number);
void page_pack_end(struct page_pack *pack);

/* page_rows.c: the columns, rows, windows and totals of the report. */
void page_rows(struct page *page);
/* ["2.43 s",2430000000], and if it is not simply counted its state and the number of its reason. */
void page_cell(struct page *page, const char *text, const struct cell *cell, const char *unit);
/* page_block.c: what devices did; null where nobody asked. 0, or -1 when memory is short. */
int page_block(struct page *page);
/* page_windows.c: the first single windows. */
void page_timeline(struct page *page);
/* page_samples.c: call trees of samples of one kind: "cpu", or "off" a CPU. 0, or -1 when memory is short. */
int page_samples(struct page *page, const char *kind, const struct samples *samples);

#endif
