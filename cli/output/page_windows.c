/* SPDX-License-Identifier: MIT */
/* The windows of the HTML page one by one, on the time line of the run. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/output/lines.h"
#include "cli/output/page.h"

enum { PAGE_WINDOWS = 1000 };

void page_timeline(struct page *page)
{
	const struct report *report = page->report;
	size_t i;

	fputs(",\n\"timeline\":[", page->file);
	for (i = 0; i < report->neach && i < PAGE_WINDOWS; i++) {
		const struct window_fact *fact = report->each[i].fact;
		char *text = window_sentence(&report->each[i], true);

		fputs(i ? ",\n[" : "\n[", page->file);
		page_text(page, fact->name, fact->len);
		fprintf(page->file, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d,", fact->begin_ns, fact->end_ns, fact->from_ns,
			fact->to_ns, fact->open);
		page_word(page, text ? text : "");
		fputs("]", page->file);
		free(text);
	}
	fprintf(page->file, "],\n\"untimed\":%zu", report->neach - i);
}
