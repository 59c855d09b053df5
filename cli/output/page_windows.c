/* SPDX-License-Identifier: MIT */
/* The windows of the HTML page one by one, on the time line of the run, with the regions that ran in them. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/output/lines.h"
#include "cli/output/page.h"

enum { PAGE_WINDOWS = 1000, PAGE_REGIONS = 8 };

/* Its name, first and last, how often it ran, and the share of its own time in percent. */
static void page_regions(struct page *page, const struct window_fact *fact)
{
	const struct samples *paths = page->report->facts->window_paths;

	fputs(",[", page->file);
	for (u32 i = 0; i < fact->nregions && i < PAGE_REGIONS; i++) {
		const struct window_region *region = &fact->regions[i];
		const struct samples_string *name = &paths->strings[paths->regions[region->path].name];

		fputs(i ? ",[" : "[", page->file);
		page_number(page, name->bytes);
		fprintf(page->file, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.1f]", region->first_ns, region->last_ns, region->calls,
			region->self_ns, window_region_share(fact, region->self_ns));
	}
	fputc(']', page->file);
}

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
		page_regions(page, fact);
		fputs("]", page->file);
		free(text);
	}
	fprintf(page->file, "],\n\"untimed\":%zu", report->neach - i);
}
