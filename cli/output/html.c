/* SPDX-License-Identifier: MIT */
/*
 * The format html: one page that needs no other file and no network. It is page.html with the style,
 * the data and the script in their places; all that it shows is in the data, and escaped there.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/output/formats.h"
#include "cli/output/lines.h"
#include "cli/output/page.h"
#include "cli/text.h"

/* ---- facts ----------------------------------------------------------------------------------------- */

/* Its words, with apostrophes where one is not plain; to be freed. */
static char *html_command(const struct session_facts *facts)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	for (size_t i = 0; facts->argv && facts->argv[i]; i++) {
		bool plain = facts->argv[i][0] && !strpbrk(facts->argv[i], " \t\n'\"\\$`&|;<>()*?[]{}~#");

		fprintf(file, "%s%s%s%s", i ? " " : "", plain ? "" : "'", facts->argv[i], plain ? "" : "'");
	}
	if (!facts->argv && facts->target)
		fputs(facts->target, file);
	fclose(file);
	return text;
}

static void html_fact(struct page *page, const char *label, const char *text)
{
	if (!text || !*text)
		return;
	fputs(",\n[", page->file);
	page_word(page, label);
	fputc(',', page->file);
	page_word(page, text);
	fputc(']', page->file);
}

static void html_facts(struct page *page, const char *command)
{
	const struct session_facts *facts = page->report->facts;
	const struct provenance *provenance = facts->provenance;
	time_t seconds = provenance ? (time_t)(provenance->started_ns / NSEC_PER_SEC) : 0;
	char time[64] = "";
	struct tm tm;

	if (provenance && provenance->started_ns && gmtime_r(&seconds, &tm))
		strftime(time, sizeof(time), "%Y-%m-%d %H:%M:%S UTC", &tm);
	fputs(",\n\"facts\":[[\"command\",", page->file);
	page_word(page, command ? command : "");
	fputc(']', page->file);
	html_fact(page, "started", time);
	html_fact(page, "machine", facts->host);
	html_fact(page, "kernel", facts->kernel);
	html_fact(page, "CPU", facts->cpu);
	html_fact(page, "clock", facts->clock);
	html_fact(page, "sparkctl", provenance ? provenance->version : NULL);
	fputs("]", page->file);
}

/* What a table says in lines, in the same words; labels take their first 18 columns. */
static int html_lines(struct page *page, const char *key, void (*const print[])(const struct lines *))
{
	const struct output_options options = { .utf8 = true, .verbose = 0 };
	struct lines lines = { .report = page->report, .options = &options };
	char *text = NULL;
	size_t size;

	lines.file = open_memstream(&text, &size);
	if (!lines.file)
		return -1;
	for (; *print; print++)
		(*print)(&lines);
	fclose(lines.file);
	fprintf(page->file, ",\n\"%s\":[", key);
	for (char *line = text, *end; line && (end = strchr(line, '\n')); line = end + 1) {
		fputs(line == text ? "" : ",\n", page->file);
		*end = '\0';
		page_word(page, line);
	}
	fputs("]", page->file);
	free(text);
	return 0;
}

static int html_said(struct page *page)
{
	static void (*const head[])(const struct lines *) = { lines_header, NULL };
	static void (*const totals_only[])(const struct lines *) = { lines_missing, lines_total_notes, lines_notes, NULL };
	static void (*const all[])(const struct lines *) = { lines_storage, lines_group, lines_origin, lines_missing, lines_notes,
							     lines_markers, NULL };
	static void (*const samples[])(const struct lines *) = { lines_samples, NULL };
	static void (*const devices[])(const struct lines *) = { lines_block, NULL };
	static void (*const none[])(const struct lines *) = { NULL };

	return html_lines(page, "head", head) ||
	       html_lines(page, "said", page->report->options.totals_only ? totals_only : all) ||
	       html_lines(page, "sampled", page->report->stacks ? samples : none) || html_lines(page, "devices", devices);
}

/* ---- the document ---------------------------------------------------------------------------------- */

static void html_strings(struct page *page)
{
	fputs(",\n\"strings\":[", page->file);
	for (u32 i = 0; i < page->strings.nstrings; i++) {
		fputs(i ? ",\n" : "\n", page->file);
		page_text(page, page->strings.strings[i].bytes, page->strings.strings[i].length);
	}
	fputs("]", page->file);
}

static int html_off(struct page *page, const struct samples *samples)
{
	struct samples off = samples_off_view(samples);

	if (samples_taken(samples))
		fputc(',', page->file);
	return page_samples(page, "off", &off);
}

static int html_data(struct page *page)
{
	const struct session_facts *facts = page->report->facts;
	char *command = html_command(facts);
	int err;

	fputs("{\"schema\":\"spark-page/1\"", page->file);
	html_facts(page, command);
	free(command);
	fprintf(page->file, ",\n\"processes\":%zu,\"group\":\"%s\",\"duration\":%" PRIu64, facts->nprocesses,
		profile_group_words[page->report->group], facts->duration_ns);
	err = html_said(page);
	page_rows(page);
	page_timeline(page);
	err = page_block(page) || err ? -1 : 0;
	fputs(",\n\"samples\":[", page->file);
	if (!err && facts->samples && samples_taken(facts->samples))
		err = page_samples(page, "cpu", facts->samples);
	if (!err && facts->samples && facts->samples->off)
		err = html_off(page, facts->samples);
	fputs("]", page->file);
	html_strings(page);
	fputs("}\n", page->file);
	return err;
}

static void html_part(FILE *file, const char *const *text)
{
	for (; *text; text++)
		fprintf(file, "%s\n", *text);
}

/* Lines that say so stand for the other parts. */
int html_write(FILE *file, const struct report *report, const struct output_options *options)
{
	struct page page = { .file = file, .report = report };
	int err = 0;

	(void)options;
	samples_init(&page.strings);
	for (const char *const *line = page_html; *line && !err; line++)
		if (!strcmp(*line, "@style@"))
			html_part(file, page_css);
		else if (!strcmp(*line, "@script@"))
			html_part(file, page_js);
		else if (!strcmp(*line, "@data@"))
			err = html_data(&page);
		else
			fprintf(file, "%s\n", *line);
	err = err || page.strings.no_memory ? -1 : 0;
	samples_fini(&page.strings);
	return err;
}
