/* SPDX-License-Identifier: MIT */
/* The command "diff": recordings against others, with what of it is more than noise; gates for CI. */
#include <locale.h>
#include <pthread.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/cmd.h"
#include "cli/cmd/define.h"
#include "cli/log.h"
#include "cli/output/diff_output.h"
#include "cli/pager.h"
#include "cli/store/store.h"
#include "cli/term.h"

#define SIDES_MOST 16                /* that were not made by --vs: each is compared with the first */

enum diff_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV, FORMAT_MARKDOWN };

static const char *const format_words[] = { "table", "json", "csv", "markdown", NULL };

struct diff_command_options {
	const char *metrics, *regions, *rate;
	struct opt_list define, renames, gates;
	struct definitions definitions;
	unsigned long top;
	int format;
	enum color_mode color;
	int quiet, verbose;
	bool vs, force, diagnostic;
};

#define OFFSET(member) offsetof(struct diff_command_options, member)

static const struct opt options[] = {
	{ "vs", 0, OPT_FLAG, OFFSET(vs), NULL, NULL,
	  "between files: those before it are runs of one side, those behind it of the next; without it each file is a side",
	  NULL, false },
	{ "metrics", 0, OPT_STRING, OFFSET(metrics), "METRICS", NULL,
	  "compare these metrics of regions and these totals: names or patterns, with commas between; see sparkctl list metrics",
	  "the usual ones", false },
	{ "regions", 0, OPT_STRING, OFFSET(regions), "GLOBS", NULL,
	  "compare only regions whose name or path (a;b) matches", "all", false },
	{ "define", 0, OPT_EACH, OFFSET(define), "FORMULA", NULL,
	  "add a metric of one's own, 'name = expression' of others; see spark-report(5)", NULL, false },
	{ "rename", 0, OPT_EACH, OFFSET(renames), "OLD=NEW", NULL,
	  "the region or function that is called OLD on the first side is NEW on the others; may be repeated", NULL, false },
	{ "fail-on", 0, OPT_EACH, OFFSET(gates), "GATE", NULL,
	  "exit with 1 if that got worse beyond noise: 'wall(parse)>+5%', 'elapsed>+2%', 'rate<-3%'; may be repeated", NULL,
	  false },
	{ "allow-diagnostic", 0, OPT_FLAG, OFFSET(diagnostic), NULL, NULL,
	  "let --fail-on name diagnostic metrics, too, where they were counted exactly", NULL, false },
	{ "force", 0, OPT_FLAG, OFFSET(force), NULL, NULL,
	  "compare what is not comparable, with a warning in each row", NULL, false },
	{ "fdr", 0, OPT_STRING, OFFSET(rate), "PERCENT", NULL,
	  "of the differences that are told, so many may be false on average", "5", false },
	{ "top", 0, OPT_UINT, OFFSET(top), "N", NULL, "rows in a table of regions or functions; 0 for all", "20", false },
	{ "format", 0, OPT_ENUM, OFFSET(format), NULL, format_words, "the form of what is printed", "table", false },
	{ "color", 0, OPT_ENUM, OFFSET(color), NULL, color_words, "colours and bold type", "auto", false },
	{ "quiet", 'q', OPT_COUNT, OFFSET(quiet), NULL, NULL, "leave out which files are compared", NULL, false },
	{ "verbose", 'v', OPT_COUNT, OFFSET(verbose), NULL, NULL, "more about what sparkctl does", NULL, false },
	{ .name = NULL },
};

static const struct command_example examples[] = {
	{ "sparkctl diff old.spark new.spark", "two runs: what has changed, not whether it is more than noise" },
	{ "sparkctl diff old.*.spark --vs new.*.spark", "some runs of each: what differs beyond noise" },
	{ "sparkctl diff --fail-on 'wall(parse)>+5%' old.*.spark --vs new.*.spark", "a gate for CI: exit status 1" },
	{ "sparkctl diff --format markdown old.*.spark --vs new.*.spark", "for a pull request" },
	{ .line = NULL },
};

/* ---- reading --------------------------------------------------------------------------------------- */

/* The first recording's own metrics, and those of the option. 0, or the exit status after a message. */
static int diff_define(struct diff_command_options *o, const struct recording *first)
{
	if (define_recorded(&o->definitions, first->options.define, o->metrics != NULL))
		return STATUS_FAILURE;
	return define_all(&o->definitions, &o->define, true, NULL) ? STATUS_USAGE : STATUS_OK;
}

static int diff_take(struct diff_command_options *o, struct diff *diff, u32 side, const char *path,
		     struct recording *recording)
{
	int status = STATUS_OK;

	if (!side && !diff->sides[0].nruns)
		status = diff_define(o, recording);
	if (!status && diff_add(diff, side, path, &recording->profile, &recording->facts))
		status = STATUS_FAILURE;
	return status;
}

/* A recording that is read, and one that is given up, while the one between them is looked at. */
struct ahead {
	const char *path;            /* NULL: none */
	struct recording *recording, *done;
	pthread_t thread;
	bool threaded;
};

static void *ahead_read(void *context)
{
	struct ahead *ahead = context;

	recording_free(ahead->done);
	ahead->done = NULL;
	ahead->recording = recording_read(ahead->path);
	return NULL;
}

static void ahead_begin(struct ahead *ahead, const char *path, struct recording *done)
{
	*ahead = (struct ahead){ .path = path, .done = done };
	ahead->threaded = path && !pthread_create(&ahead->thread, NULL, ahead_read, ahead);
}

/* NULL after a message. */
static struct recording *ahead_end(struct ahead *ahead)
{
	if (ahead->threaded)
		pthread_join(ahead->thread, NULL);
	else if (ahead->path)
		ahead_read(ahead);
	recording_free(ahead->done);
	ahead->done = NULL;
	return ahead->recording;
}

/* Sides begin behind NULLs; without one each file is a side. */
static u32 diff_sides(char *const *files, size_t n)
{
	u32 parts = 1;

	for (size_t i = 0; i < n; i++)
		parts += !files[i];
	return parts > 1 ? parts : (u32)n;
}

static int diff_read_all(struct diff_command_options *o, struct diff *diff, char *const *files, size_t n)
{
	bool each = diff->nsides == n;
	struct recording *done = NULL;
	struct ahead ahead;
	u32 side = 0;
	int status = STATUS_OK;

	ahead_begin(&ahead, files[0], NULL);
	for (size_t i = 0; i < n; i++) {
		struct recording *recording = ahead_end(&ahead);

		ahead_begin(&ahead, i + 1 < n && !status ? files[i + 1] : NULL, done);
		if (!status && files[i])
			status = recording ? diff_take(o, diff, side, files[i], recording) : STATUS_FAILURE;
		done = recording;
		side += !files[i] || each;
	}
	ahead_end(&ahead);
	recording_free(done);
	return status;
}

/* ---- options --------------------------------------------------------------------------------------- */

static int diff_rate(const struct diff_command_options *o, double *rate)
{
	if (!o->rate)
		return STATUS_OK;
	if (opt_number(o->rate, rate) && *rate > 0 && *rate < 100) {
		*rate /= 100;
		return STATUS_OK;
	}
	error("--fdr: '%s' is no percentage between 0 and 100", o->rate);
	return STATUS_USAGE;
}

static int diff_ask(struct diff_command_options *o, struct diff *diff)
{
	for (size_t i = 0; i < o->renames.n; i++)
		if (strchr(o->renames.item[i], '=') <= o->renames.item[i] || !strchr(o->renames.item[i], '=')[1]) {
			error("--rename '%s': it is the old name, =, and the new one", o->renames.item[i]);
			return STATUS_USAGE;
		}
	for (size_t i = 0; i < o->gates.n; i++) {
		const char *wrong = diff_gate_add(diff, o->gates.item[i]);

		if (wrong) {
			error("--fail-on '%s': %s", o->gates.item[i], wrong);
			return STATUS_USAGE;
		}
	}
	diff->metrics = o->metrics;
	diff->regions = o->regions;
	diff->renames = &o->renames;
	diff->definitions = &o->definitions;
	diff->force = o->force;
	return diff_rate(o, &diff->rate);
}

/* What only the recordings can tell. */
static int diff_check(const struct diff_command_options *o, const struct diff *diff)
{
	char text[DIFF_NOTE];
	const char *clash = diff_rename_clash(diff, text), *unknown = clash ? NULL : diff_unknown_metric(diff, text);

	if (clash)
		error("--rename: the first side has a region '%s' besides the one that is to be called that", clash);
	else if (unknown)
		error("no metric or total of these recordings is called '%s'; see sparkctl list metrics", unknown);
	else if (diff_gates_check(diff, o->diagnostic, text))
		error("--fail-on %s", text);
	else
		return STATUS_OK;
	return STATUS_USAGE;
}

/* ---- the end --------------------------------------------------------------------------------------- */

/* A regression is one, whatever else could not be compared. */
static int diff_status(const struct diff *diff)
{
	int status = STATUS_OK;

	for (u32 side = 1; side < diff->nsides; side++) {
		if (diff->sides[side].partly || (diff->sides[side].refused[0] && !diff->force))
			status = STATUS_NOT_COMPARABLE;
		for (u32 i = 0; i < diff->ngates; i++)
			if (diff->gates[i].results[side].end == DIFF_UNDECIDED)
				status = STATUS_NOT_COMPARABLE;
	}
	for (u32 side = 1; side < diff->nsides; side++)
		for (u32 i = 0; i < diff->ngates; i++)
			if (diff->gates[i].results[side].end == DIFF_FAILED)
				status = STATUS_REGRESSION;
	return status;
}

static int diff_print(const struct diff_command_options *o, const struct diff *diff)
{
	static int (*const writers[])(FILE *file, const struct diff *diff, const struct diff_options *options) = {
		[FORMAT_TABLE] = diff_table, [FORMAT_JSON] = diff_json, [FORMAT_CSV] = diff_csv,
		[FORMAT_MARKDOWN] = diff_markdown,
	};
	const struct diff_options way = {
		.output = { .width = term_width(fileno(stdout)), .color = color_wanted(stdout, o->color),
			    .utf8 = output_utf8(), .verbose = o->quiet ? -1 : o->verbose },
		.top = o->top,
	};

	if (writers[o->format](stdout, diff, &way) == 0)
		return diff_status(diff);
	error("out of memory for the difference");
	__fpurge(stdout);
	return STATUS_FAILURE;
}

static int diff_files(struct diff_command_options *o, char *const *files, size_t n)
{
	struct diff diff;
	int status = STATUS_FAILURE;

	if (diff_init(&diff, diff_sides(files, n)))
		error("out of memory");
	else
		status = diff_ask(o, &diff);
	if (!status)
		status = diff_read_all(o, &diff, files, n);
	if (!status)
		status = diff_check(o, &diff);
	if (!status && diff_judge(&diff)) {
		error("out of memory for the difference");
		status = STATUS_FAILURE;
	} else if (!status) {
		pager_start();
		status = diff_print(o, &diff);
	}
	diff_free(&diff);
	return status;
}

/* Words between two --vs are a command line of their own, with a NULL before its operands. -1: *status is the end. */
static int diff_parse(struct diff_command_options *o, int argc, char **argv, char **files, size_t *n, int *status)
{
	int end;

	for (int at = 0; at < argc; at = end) {
		int first;

		for (end = at + 1; end < argc && strcmp(argv[end], "--vs") != 0; end++)
			;
		first = command_parse(&command_diff, o, end - at, argv + at, status);
		if (first < 0)
			return -1;
		if (at)
			files[(*n)++] = NULL;
		if (first >= end - at && (at || end < argc)) {
			*status = command_misused(&command_diff, "needs recordings on both sides of --vs", NULL);
			return -1;
		}
		for (; first < end - at; first++)
			files[(*n)++] = argv[at + first];
	}
	if (*n > SIDES_MOST && diff_sides(files, *n) == *n)
		*status = command_misused(&command_diff, "--vs is missing: without it each recording is a side of its own, "
					  "of which there may be 16", NULL);
	else if (*n < 2)
		*status = command_misused(&command_diff, "needs two recordings, made by run -o FILE", NULL);
	else
		return 0;
	return -1;
}

static int diff_command(int argc, char **argv)
{
	struct diff_command_options o = { .format = FORMAT_TABLE, .top = 20 };
	char **files = calloc((size_t)argc + 1, sizeof(*files));
	size_t n = 0;
	int status = STATUS_FAILURE;

	if (!files) {
		error("out of memory");
	} else if (!diff_parse(&o, argc, argv, files, &n, &status)) {
		log_set_level(o.quiet ? LOG_LEVEL_QUIET : o.verbose);
		setlocale(LC_CTYPE, "");
		status = diff_files(&o, files, n);
	}
	opt_list_free(&o.define);
	opt_list_free(&o.renames);
	opt_list_free(&o.gates);
	definitions_free(&o.definitions);
	free(files);
	return status;
}

const struct command command_diff = {
	.name = "diff",
	.summary = "compare recordings: what differs, and whether it is more than noise",
	.usage = "[OPTION...] FILE...",
	.options = options,
	.examples = examples,
	.run = diff_command,
};
