/* SPDX-License-Identifier: MIT */
/* sparkctl doctor: each capability, whether it is here, why, and what would bring it. */
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "cli/caps/caps.h"
#include "cli/cmd/cmd.h"
#include "cli/log.h"
#include "cli/term.h"
#include "cli/text.h"

enum { DOCTOR_NAME = 18, DOCTOR_HERE = 6, DOCTOR_NARROW = 60 };

struct doctor_options {
	bool json;
	enum color_mode color;
};

static const struct opt doctor_rows[] = {
	{ .name = "json", .kind = OPT_FLAG, .offset = offsetof(struct doctor_options, json),
	  .help = "print JSON, schema spark-doctor/1" },
	{ .name = "color", .kind = OPT_ENUM, .offset = offsetof(struct doctor_options, color),
	  .metavar = "WHEN", .words = color_words, .default_text = "auto",
	  .help = "use colour: auto, on a terminal and without NO_COLOR; always; never" },
	{ .name = NULL },
};

static const struct command_example doctor_examples[] = {
	{ "sparkctl doctor", "what can be measured here, and what would allow the rest" },
	{ "sudo -u nobody sparkctl doctor", "the same for another user" },
	{ NULL, NULL },
};

/* How a row is laid out; on a narrow terminal texts stand below the name. */
struct doctor_layout {
	size_t width, indent;
	bool color;
};

static void doctor_print_remedy(const struct doctor_layout *layout, const char *remedy)
{
	fputs(term_style(layout->color, STYLE_ACCENT), stdout);
	fputs("\xe2\x86\x92 ", stdout);
	text_wrap(stdout, remedy, layout->indent + 2, layout->width);
	fputs(term_style(layout->color, STYLE_PLAIN), stdout);
}

static void doctor_print_row(const struct doctor_layout *layout, const char *name,
	const struct outcome *outcome)
{
	static const char *const here[] = { "no", "part", "yes" };
	char because[4 * sizeof(outcome->because)], remedy[4 * sizeof(outcome->remedy)];
	size_t together;

	text_escape(because, sizeof(because), outcome->because, strlen(outcome->because));
	text_escape(remedy, sizeof(remedy), outcome->remedy, strlen(outcome->remedy));
	text_pad(stdout, name, DOCTOR_NAME);
	if (layout->indent < DOCTOR_NAME)
		printf("%s\n%*s", here[outcome->available], (int)layout->indent, "");
	else
		text_pad(stdout, here[outcome->available], DOCTOR_HERE);
	together = layout->indent + text_width(because) + 4 + text_width(remedy);
	if (remedy[0] && (!layout->width || together <= layout->width)) {
		printf("%s  ", because);
		doctor_print_remedy(layout, remedy);
		return;
	}
	text_wrap(stdout, because, layout->indent, layout->width);
	if (remedy[0]) {
		printf("%*s", (int)layout->indent, "");
		doctor_print_remedy(layout, remedy);
	}
}

static void doctor_print_table(struct caps_context *context, bool color)
{
	struct doctor_layout layout = { .width = term_width(STDOUT_FILENO), .color = color };
	const struct capability *row;
	struct outcome outcome;
	size_t i, n, have = 0;
	bool narrow = layout.width && layout.width < DOCTOR_NARROW;

	layout.indent = narrow ? 2 : DOCTOR_NAME + DOCTOR_HERE;
	row = caps_table(&n);
	fputs(term_style(color, STYLE_STRONG), stdout);
	text_pad(stdout, "capability", DOCTOR_NAME);
	printf("here%s%s\n", narrow ? "" : "  because", term_style(color, STYLE_PLAIN));
	for (i = 0; i < n; i++) {
		outcome = row[i].probe(context);
		doctor_print_row(&layout, row[i].name, &outcome);
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

static int doctor_run(int argc, char **argv)
{
	struct doctor_options options = { .json = false, .color = COLOR_AUTO };
	struct caps_context context;
	int status, first = command_parse(&command_doctor, &options, argc, argv, &status);

	if (first < 0)
		return status;
	if (first < argc)
		return command_misused(&command_doctor, "takes no operand, not", argv[first]);
	caps_init(&context, "");
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
