/* SPDX-License-Identifier: MIT */
/* The command "note": words for whoever reads a recording later. */
#include "cli/cmd/cmd.h"
#include "cli/store/store.h"

static const struct opt options[] = {
	{ .name = NULL },
};

static const struct command_example examples[] = {
	{ "sparkctl note out.spark 'before the fix, BIOS 2.1'", "say what the file itself cannot know" },
	{ .line = NULL },
};

static int note_command(int argc, char **argv)
{
	char none;
	int status, first = command_parse(&command_note, &none, argc, argv, &status);

	if (first < 0)
		return status;
	if (argc - first < 2)
		return command_misused(&command_note, "needs a recording and a text", NULL);
	if (argc - first > 2)
		return command_misused(&command_note, "takes one text (put it in quotes), not also", argv[first + 2]);
	return store_note(argv[first], argv[first + 1]) ? STATUS_FAILURE : STATUS_OK;
}

const struct command command_note = {
	.name = "note",
	.summary = "add a note to a recording",
	.usage = "FILE TEXT",
	.options = options,
	.examples = examples,
	.run = note_command,
};
