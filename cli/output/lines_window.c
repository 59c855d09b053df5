/* SPDX-License-Identifier: MIT */
/* A sentence for each window: what stands out in it. */
#include <stdlib.h>
#include <string.h>

#include "cli/output/format.h"
#include "cli/output/lines.h"

enum { WINDOWS_TOLD = 8, REGIONS_TOLD = 4, DISK_COLUMNS = 64 };

static void window_disk_text(FILE *out, const struct window_fact *fact)
{
	char amount[FORMAT_SIZE], *disk = fact->disk ? lines_name(fact->disk, DISK_COLUMNS) : NULL;

	if (!disk)
		return;
	format_si(amount, (double)MAX(fact->disk_read, fact->disk_written), "B");
	fprintf(out, " (%s %s %s)", amount, fact->disk_read >= fact->disk_written ? "read from" : "written to", disk);
	free(disk);
}

char *window_sentence(const struct report_window *window, bool utf8)
{
	struct cell cell = { .value = 100 * window->share };
	char share[FORMAT_SIZE + 16], *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	format_share(share, &cell, 0, " %", utf8);
	if (window->waited_for)
		strcat(share, " of the time");
	switch (window->cause) {
	case WINDOW_USER:
		fprintf(out, "on a CPU in user mode %s", share);
		break;
	case WINDOW_KERNEL:
		fprintf(out, "on a CPU in the kernel %s", share);
		break;
	case WINDOW_QUEUE:
		fprintf(out, "runnable, but waiting for a CPU %s", share);
		break;
	case WINDOW_DISK:
		fprintf(out, "blocked on disk %s", share);
		window_disk_text(out, window->fact);
		break;
	case WINDOW_REST:
		fprintf(out, "blocked, but not on a disk, %s: locks, sleep, sockets, pipes, children", share);
		break;
	case WINDOW_BY_MEMORY:
		fprintf(out, "short of memory %s, by its pressure", share);
		break;
	default:
		fputs(window->fact->open ? "it was never ended" : "what stands out is not known", out);
	}
	if (window->waited_for)
		fputs(", while other threads waited", out);
	fclose(out);
	return text;
}

double window_region_share(const struct window_fact *fact, u64 ns)
{
	const struct cell *threads = &fact->cell[WINDOW_THREADS];
	double whole = cell_has_value(threads) ? threads->value : (double)(fact->to_ns - fact->from_ns);

	return whole > 0 ? MIN(100 * (double)ns / whole, 100) : 0;
}

char *window_regions_text(const struct lines *lines, const struct window_fact *fact)
{
	const struct samples *paths = lines->report->facts->window_paths;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (u32 i = 0; out && i < fact->nregions && i < REGIONS_TOLD; i++) {
		struct cell share = { .value = window_region_share(fact, fact->regions[i].self_ns) };
		const struct samples_string *bytes = &paths->strings[paths->regions[fact->regions[i].path].name];
		char number[FORMAT_SIZE], *name;

		/* No more than the first of them is worth a word if all are short. */
		if (i && share.value < 1)
			break;
		name = lines_name(bytes->bytes, lines_name_most(lines));
		format_share(number, &share, 0, " %", lines->options->utf8);
		fprintf(out, "%s%s %s", i ? ", " : "", name ? name : "?", number);
		free(name);
	}
	if (out)
		fclose(out);
	return text;
}

void lines_windows(const struct lines *lines)
{
	size_t i, n = MIN(lines->report->neach, (size_t)WINDOWS_TOLD);

	for (i = 0; i < n; i++) {
		const struct report_window *window = &lines->report->each[i];
		char *name = lines_name(window->fact->name, lines_name_most(lines));
		char *text = window_sentence(window, lines->options->utf8);

		lines_print(lines, STYLE_PLAIN, i ? "" : "windows", "%s: %s", name ? name : "?", text ? text : "");
		free(name);
		free(text);
	}
	if (lines->report->neach > n)
		lines_print(lines, STYLE_PLAIN, "", "and %zu more; sparkctl report --windows shows all of a recording",
			    lines->report->neach - n);
}
