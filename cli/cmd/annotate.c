/* SPDX-License-Identifier: MIT */
/* The command "annotate": the source and the instructions of one function, with the samples taken there. */
#include "cli/cmd/annotate.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/cmd.h"
#include "cli/cmd/profiled.h"
#include "cli/log.h"
#include "cli/output/lines.h"
#include "cli/pager.h"
#include "cli/store/store.h"
#include "cli/text.h"

struct annotate_options {
	enum color_mode color;
	int verbose;
};

#define OFFSET(member) offsetof(struct annotate_options, member)

static const struct opt options[] = {
	{ "color", 0, OPT_ENUM, OFFSET(color), NULL, color_words, "colours and bold type", "auto", false },
	{ "verbose", 'v', OPT_COUNT, OFFSET(verbose), NULL, NULL, "all instructions, not only those near samples", NULL,
	  false },
	{ .name = NULL },
};

static const struct command_example examples[] = {
	{ "sparkctl annotate out.spark insert", "lines and instructions of insert, with their samples" },
	{ .line = NULL },
};

int annotate_print(const struct annotate *annotate, const struct stacks_sum *self, const struct stacks_sum *total,
		   const char *place, int place_width, const char *text)
{
	size_t len = strlen(text), size = 4 * len + 1, columns = 20 + (size_t)place_width;
	char *printable = malloc(size), *cut = malloc(size + 8), shares[2][16] = { "", "" };
	const struct stacks_sum *sums[] = { self, total };
	size_t i;

	for (i = 0; self && i < ARRAY_SIZE(sums); i++)
		if (sums[i]->count)
			snprintf(shares[i], sizeof(shares[i]), "%.1f", lines_share(sums[i], &annotate->all));
	if (printable && cut) {
		text_escape(printable, size, text, len);
		text_fit(cut, size + 8, printable,
			 annotate->width ? MAX(annotate->width, columns + 8) - columns : text_width(printable) + 1);
		fprintf(annotate->file, "%s%7s  %7s  %*s%s%s%s\n", self ? "" : term_style(annotate->color, STYLE_ACCENT),
			self ? shares[0] : "self %", self ? shares[1] : "total %", place_width, place, *cut ? "  " : "", cut,
			self ? "" : term_style(annotate->color, STYLE_PLAIN));
	}
	i = printable && cut;
	free(printable);
	free(cut);
	return i ? 0 : -1;
}

void annotate_gap(const struct annotate *annotate, int place_width)
{
	fprintf(annotate->file, "%*s%s\n", 17 + place_width, "", annotate->utf8 ? "…" : "...");
}

void annotate_around(bool *show, const bool *hot, size_t n, size_t around)
{
	size_t i, k;

	for (i = 0; i < n; i++)
		for (k = i > around ? i - around : 0; hot[i] && k <= i + around && k < n; k++)
			show[k] = true;
}

/* "insert  41 samples in it, 37.6 %; 72 with those it calls, 66.1 %" */
static int annotate_head(struct annotate *annotate)
{
	static const struct stacks_scope whole = { .whole = true };
	struct stacks_entry *entries;
	struct stacks_sum self = { 0 }, total = { 0 };
	char text[160], *name = lines_function(annotate->function, annotate->width ? annotate->width : 1000);
	size_t i, n;
	int err = name ? stacks_flat(annotate->stacks, &whole, &entries, &n) : -1;

	for (i = 0; !err && i < n; i++) {
		const char *known = stacks_string(annotate->stacks, stacks_function(annotate->stacks, entries[i].function)->name);

		if (!known || strcmp(known, annotate->function) != 0)
			continue;
		self.count += entries[i].self.count;
		self.weight += entries[i].self.weight;
		total.count += entries[i].total.count;
		total.weight += entries[i].total.weight;
	}
	if (!err) {
		fprintf(annotate->file, "%s%s%s\n", term_style(annotate->color, STYLE_STRONG), name,
			term_style(annotate->color, STYLE_PLAIN));
		snprintf(text, sizeof(text), "%llu samples in it, %.1f %%; %llu with those it calls, %.1f %%",
			 (unsigned long long)self.count, lines_share(&self, &annotate->all), (unsigned long long)total.count,
			 lines_share(&total, &annotate->all));
		text_wrap(annotate->file, text, 0, annotate->width);
		free(entries);
	}
	free(name);
	return err;
}

static int annotate_all(struct annotate *annotate)
{
	static const struct stacks_scope whole = { .whole = true };
	int err;

	annotate->stacks = stacks_new(annotate->samples);
	if (!annotate->stacks)
		return -1;
	annotate->all = stacks_sum(annotate->stacks, &whole);
	err = annotate_head(annotate) || annotate_print_source(annotate) || annotate_print_code(annotate) ? -1 : 0;
	annotate_free_sources(annotate);
	stacks_free(annotate->stacks);
	return err;
}

static int annotate_file(const struct annotate_options *o, const char *path, const char *function)
{
	struct recording *recording = recording_read(path);
	struct annotate annotate = { .function = function, .file = stdout, .verbose = o->verbose > 0 };
	int err;

	if (!recording)
		return STATUS_FAILURE;
	err = profiled_check(recording, path, &annotate.function);
	if (!err) {
		pager_start();
		annotate.samples = recording->facts.samples;
		annotate.width = term_width(fileno(stdout));
		annotate.color = color_wanted(stdout, o->color);
		annotate.utf8 = output_utf8();
		err = annotate_all(&annotate) ? error("out of memory") : 0;
	}
	recording_free(recording);
	return err ? STATUS_FAILURE : STATUS_OK;
}

static int annotate_command(int argc, char **argv)
{
	struct annotate_options o = { .verbose = 0 };
	int status, first = command_parse(&command_annotate, &o, argc, argv, &status);

	if (first < 0)
		return status;
	if (argc - first < 2)
		return command_misused(&command_annotate, "needs a recording and a function", NULL);
	if (argc - first > 2)
		return command_misused(&command_annotate, "takes one function, not also", argv[first + 2]);
	log_set_level(o.verbose);
	setlocale(LC_CTYPE, "");
	return annotate_file(&o, argv[first], argv[first + 1]);
}

const struct command command_annotate = {
	.name = "annotate",
	.summary = "print a function's lines and instructions with the samples of a recording",
	.usage = "[OPTION...] FILE FUNCTION",
	.options = options,
	.examples = examples,
	.run = annotate_command,
};
