/* SPDX-License-Identifier: MIT */
/* What devices did, in the HTML page: the table, and how long requests took. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/output/block_rows.h"
#include "cli/output/format.h"
#include "cli/output/page.h"

enum { BARS = 2, SUBS = WIRE_HIST_SUB / BARS }; /* bars for each power of two */

static void page_block_cells(struct page *page, const struct block_row *row, u32 ncolumns)
{
	for (u32 c = 0; c < ncolumns; c++) {
		char text[FORMAT_SIZE];
		const char *unit;
		struct cell cell;

		fputc(c ? ',' : '[', page->file);
		if (!block_row_cell(row, c, &cell, &unit)) {
			fputs("null", page->file);
			continue;
		}
		block_cell_text(text, c, &cell, unit, true);
		page_cell(page, text, &cell, unit);
	}
	fputc(']', page->file);
}

static u64 bar_count(const struct hist *hist, u32 bar)
{
	const u64 *octave = hist->octave[bar / BARS];
	u64 sum = 0;

	for (u32 k = 0; octave && k < SUBS; k++)
		sum += octave[bar % BARS * SUBS + k];
	return sum;
}

/* From the first one that has any to the last: [[at least, less than, requests], ...]. */
static void page_block_bars(struct page *page, const struct hist *hist)
{
	u32 first = 0, end = HIST_BUCKETS / SUBS;

	while (first < end && !bar_count(hist, first))
		first++;
	while (end > first && !bar_count(hist, end - 1))
		end--;
	fputc('[', page->file);
	for (u32 bar = first; bar < end; bar++)
		fprintf(page->file, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", bar > first ? "," : "", hist_lower(bar * SUBS),
			hist_lower((bar + 1) * SUBS), bar_count(hist, bar));
	fputc(']', page->file);
}

int page_block(struct page *page)
{
	const struct block *block = page->report->facts->block;
	struct block_row *rows = NULL;
	u32 ncolumns = block ? block_columns_there(block) : 0, n = 0;
	char name[BLOCK_NAME * 4 + 32];

	fputs(",\n\"block\":", page->file);
	if (!block) {
		fputs("null", page->file);
		return 0;
	}
	rows = block_rows(block, &n);
	if (!rows)
		return -1;
	fputs("{\"columns\":[", page->file);
	for (u32 c = 0; c < ncolumns; c++)
		fprintf(page->file, "%s\"%s\"", c ? "," : "", block_columns[c].title);
	fputs("],\"rows\":[", page->file);
	for (u32 i = 0; i < n; i++) {
		block_row_name(name, sizeof(name), &rows[i]);
		fputs(i ? ",\n[" : "\n[", page->file);
		page_word(page, name);
		fprintf(page->file, ",%d,", rows[i].direction < BLOCK_DIRECTIONS);
		page_block_cells(page, &rows[i], ncolumns);
		fputc(',', page->file);
		if (rows[i].latency)
			page_block_bars(page, &rows[i].latency->hist);
		else
			fputs("[]", page->file);
		fputc(']', page->file);
	}
	fputs("]}", page->file);
	free(rows);
	return 0;
}
