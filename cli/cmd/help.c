/* SPDX-License-Identifier: MIT */
/* sparkctl help: the rows of the command table, for people and for generators. */
#include <stddef.h>

#include "cli/analyze/derived.h"
#include "cli/cmd/cmd.h"
#include "cli/cmd/group.h"

struct help_options {
	bool dump;
	bool metrics;
	bool groups;
};

static const struct opt help_rows[] = {
	{ .name = "dump-options", .kind = OPT_FLAG, .offset = offsetof(struct help_options, dump),
	  .help = "print rows separated by tabs, for completions and tests",
	  .hidden = true },
	{ .name = "dump-metrics", .kind = OPT_FLAG, .offset = offsetof(struct help_options, metrics),
	  .help = "print the names of metrics, for completions", .hidden = true },
	{ .name = "dump-groups", .kind = OPT_FLAG, .offset = offsetof(struct help_options, groups),
	  .help = "print the names of groups, for completions", .hidden = true },
	{ .name = NULL },
};

static const struct command_example help_examples[] = {
	{ "sparkctl help run", "the options of run" },
	{ NULL, NULL },
};

static void help_dump_commands(void)
{
	const struct command *const *table;
	size_t i, n;

	table = command_table(&n);
	for (i = 0; i < n; i++)
		printf("%s\t%s\t%s\n", table[i]->name, table[i]->usage, table[i]->summary);
}

static void help_dump_metrics(void)
{
	const struct derived_row *derived;
	const struct metric *metric;
	size_t i, n;

	metric = metric_table(&n);
	for (i = 0; i < n; i++)
		puts(metric[i].name);
	derived = derived_table(&n);
	for (i = 0; i < n; i++)
		puts(derived[i].metric.name);
}

static int help_dump_groups(void)
{
	struct opt_list names = { .n = 0 };
	int err = group_names(&names);

	for (size_t i = 0; !err && i < names.n; i++)
		puts(names.item[i]);
	opt_list_free(&names);
	return err ? STATUS_FAILURE : STATUS_OK;
}

/* The page is installed beside the program; sparkctl COMMAND --help does without the line. */
static void help_print_manual(const char *command)
{
	printf("\nManual: man sparkctl%s%s\n", command ? "-" : "", command ? command : "");
}

static void help_print(const struct command *command)
{
	if (command)
		command_print_help(stdout, command);
	else
		command_print_overview(stdout);
	help_print_manual(command ? command->name : NULL);
}

static int help_run(int argc, char **argv)
{
	struct help_options options = { .dump = false };
	const struct command *command = NULL;
	int status, first = command_parse(&command_help, &options, argc, argv, &status);

	if (first < 0)
		return status;
	if (argc - first > 1)
		return command_misused(&command_help, "takes one command, not also",
				       argv[first + 1]);
	if (first < argc) {
		command = command_find(argv[first]);
		if (!command)
			return STATUS_USAGE;
	}
	if (options.groups)
		return help_dump_groups();
	if (options.metrics)
		help_dump_metrics();
	else if (options.dump && command)
		opt_print_table(stdout, command->options);
	else if (options.dump)
		help_dump_commands();
	else
		help_print(command);
	return STATUS_OK;
}

const struct command command_help = {
	.name = "help",
	.summary = "explain a command and its options",
	.usage = "[COMMAND]",
	.options = help_rows,
	.examples = help_examples,
	.run = help_run,
};
