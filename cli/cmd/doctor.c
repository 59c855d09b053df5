/* SPDX-License-Identifier: MIT */
/* sparkctl doctor: each capability, whether it is here, why, and what would bring it. */
#include <jansson.h>
#include <string.h>

#include "cli/caps/caps.h"
#include "cli/caps/ids.h"
#include "cli/cmd/cmd.h"
#include "cli/cmd/outcome.h"
#include "cli/log.h"
#include "cli/term.h"
#include "cli/text.h"
#include "common/base.h"

struct doctor_options {
	bool json;
	bool save_ids;
	enum color_mode color;
};

static const struct opt doctor_rows[] = {
	{ .name = "json", .kind = OPT_FLAG, .offset = offsetof(struct doctor_options, json),
	  .help = "print JSON, schema spark-doctor/1" },
	{ .name = "save-ids", .kind = OPT_FLAG, .offset = offsetof(struct doctor_options, save_ids),
	  .help = "as root: save the ids of tracepoints, so that users can count system calls" },
	{ .name = "color", .kind = OPT_ENUM, .offset = offsetof(struct doctor_options, color),
	  .metavar = "WHEN", .words = color_words, .default_text = "auto",
	  .help = "use colour: auto, on a terminal and without NO_COLOR; always; never" },
	{ .name = NULL },
};

static const struct command_example doctor_examples[] = {
	{ "sparkctl doctor", "what can be measured here, and what would allow the rest" },
	{ "sudo -u nobody sparkctl doctor", "the same for another user" },
	{ "sudo sparkctl doctor --save-ids", "let users count system calls by name" },
	{ NULL, NULL },
};

/* The longest name of a capability. */
static size_t doctor_name_width(const struct capability *row, size_t n)
{
	size_t width = 0, i;

	for (i = 0; i < n; i++)
		width = MAX(width, text_width(row[i].name));
	return width;
}

static void doctor_print_table(struct caps_context *context, bool color)
{
	struct outcome outcomes[CAPS_MOST], outcome;
	struct outcome_layout layout;
	const struct capability *row;
	size_t i, k, n, have = 0;

	row = caps_table(&n);
	outcome_layout_init(&layout, doctor_name_width(row, n), color);
	outcome_print_head(&layout, "capability");
	/* Forks: nothing may wait in the buffer. */
	fflush(stdout);
	caps_probe_all(context, outcomes);
	for (i = 0; i < n; i++) {
		outcome = outcomes[i];
		for (k = 0; k < i; k++)
			outcome_shorten(&outcome, &outcomes[k], row[k].name);
		outcome_print_row(&layout, row[i].name, &outcome);
		have += outcome.available != CAPS_NO;
	}
	printf("%zu of %zu here (uid %u)\n", have, n, (unsigned int)context->uid);
}

static int doctor_print_json(struct caps_context *context)
{
	json_t *root = json_pack("{ss so?}", "schema", "spark-doctor/1",
		"capabilities", caps_json(context));
	int err;

	if (!root)
		return error("out of memory");
	err = json_dumpf(root, stdout, JSON_INDENT(2));
	json_decref(root);
	/* A failed write is left to command_end_output, which knows what to say. */
	if (!err)
		putchar('\n');
	return 0;
}

static int doctor_save_ids(const struct caps_context *context)
{
	size_t saved, left_out;
	struct outcome why;

	if (context->uid != 0)
		return error("only root can save the ids of tracepoints: " IDS_COMMAND);
	if (ids_save(context, &saved, &left_out, &why))
		return error("the ids of tracepoints are not saved: %s%s%s", why.because,
			why.remedy[0] ? "; " : "", why.remedy);
	printf("%zu tracepoints saved in %s", saved, ids_path(context));
	if (left_out)
		printf("; %zu of modules and such, whose ids do not last, left out", left_out);
	putchar('\n');
	return 0;
}

static int doctor_run(int argc, char **argv)
{
	struct doctor_options options = { .json = false, .color = COLOR_AUTO };
	struct caps_context context;
	int status, first = command_parse(&command_doctor, &options, argc, argv, &status);

	if (first < 0)
		return status;
	if (first < argc)
		return command_misused(&command_doctor, "takes no operand, not", argv[first]);
	if (options.json && options.save_ids)
		return command_misused(&command_doctor, "takes --json or --save-ids, not both", NULL);
	caps_init(&context, "");
	if (options.save_ids)
		return doctor_save_ids(&context) ? STATUS_FAILURE : STATUS_OK;
	if (options.json)
		return doctor_print_json(&context) ? STATUS_FAILURE : STATUS_OK;
	doctor_print_table(&context, color_wanted(stdout, options.color));
	return STATUS_OK;
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "tell what can be measured here, and what would allow the rest",
	.usage = "[OPTION...]",
	.options = doctor_rows,
	.examples = doctor_examples,
	.run = doctor_run,
};
