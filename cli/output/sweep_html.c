/* SPDX-License-Identifier: MIT */
/* Runs under different limits of memory as a page without a script: the table, with the wall times as bars. */
#include "cli/output/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "cli/output/format.h"
#include "cli/output/page.h"
#include "cli/text.h"

static void html_text(FILE *file, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '&':
			fputs("&amp;", file);
			break;
		case '<':
			fputs("&lt;", file);
			break;
		default:
			fputc(*text, file);
		}
}

static void html_command(FILE *file, const struct sweep *sweep)
{
	char text[1024];

	for (size_t i = 0; sweep->argv[i]; i++) {
		text_escape(text, sizeof(text), sweep->argv[i], strlen(sweep->argv[i]));
		fputs(i ? " " : "", file);
		html_text(file, text);
	}
}

static void html_row(FILE *file, const struct sweep *sweep, const struct sweep_row *row, double longest)
{
	double share = longest > 0 ? 100 * row->cells[SWEEP_WALL].value / longest : 0;
	char text[FORMAT_SIZE];

	sweep_size(text, sizeof(text), row->limit);
	fprintf(file, "<tr><td class=\"name\">%s</td>", text);
	for (size_t i = 0; i <= SWEEP_PEAK; i++) {
		sweep_cell_text(text, row, i, true);
		fputs("<td>", file);
		html_text(file, text);
		fputs("</td>", file);
	}
	sweep_ended(text, sizeof(text), row);
	fprintf(file, "<td class=\"text\">%s</td><td class=\"time\"><div><i%s style=\"left:0;width:%.1f%%\"></i></div></td>"
		"<td class=\"text\">%s</td></tr>\n", text, sweep_killed(row) ? " class=\"outer\"" : "", share,
		row == sweep->knee ? "knee" : "");
}

int sweep_html(FILE *file, const struct sweep *sweep)
{
	static const char *const heads[] = { "memory.max", "wall", "majflt", "refaults", "pressure", "peak", "ended", "wall", "" };
	double longest = 0;

	for (size_t i = 0; i < sweep->nrows; i++)
		longest = MAX(longest, sweep->rows[i].cells[SWEEP_WALL].value);
	fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
	      "<title>Spark</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n", file);
	for (const char *const *line = page_css; *line; line++)
		fprintf(file, "%s\n", *line);
	fputs("</style>\n</head>\n<body>\n<header>\n<h1><span class=\"brand\">spark</span> <code>", file);
	html_command(file, sweep);
	fputs("</code></h1>\n</header>\n<main>\n<section>\n<h2>Limits of memory</h2>\n"
	      "<div class=\"scroll\"><table>\n<thead><tr>", file);
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		fprintf(file, "<th scope=\"col\"%s>%s</th>", i > SWEEP_PEAK + 1 ? " class=\"text\"" : "", heads[i]);
	fputs("</tr></thead>\n<tbody>\n", file);
	for (size_t i = 0; i < sweep->nrows; i++)
		html_row(file, sweep, &sweep->rows[i], longest);
	fprintf(file, "</tbody>\n</table></div>\n<p>%s%s</p>\n</section>\n</main>\n</body>\n</html>\n", sweep->knee ?
		"At sizes below the knee pages were taken and read again, or memory ran out." : "No knee: ", sweep->knee ? "" : sweep->why);
	return 0;
}
