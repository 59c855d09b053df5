/* SPDX-License-Identifier: MIT */
/* The table of commands, and what all of them share; see cmd.h. Called by main.c and commands. */
#include "cli/cmd/cmd.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/term.h"
#include "cli/text.h"

static const struct command *const commands[] = {
	&command_run,
	&command_stat,
	&command_attach,
	&command_report,
	&command_diff,
	&command_history,
	&command_annotate,
	&command_export,
	&command_note,
	&command_list,
	&command_doctor,
	&command_help,
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

const struct command *const *command_table(size_t *n)
{
	*n = COMMANDS;
	return commands;
}

/* Adds a name to a list "a, b" of the given size. */
static void command_append(char *list, size_t size, const char *name)
{
	size_t at = strlen(list);

	snprintf(list + at, size - at, "%s%s", at ? ", " : "", name);
}

const struct command *command_find(const char *word)
{
	const struct command *found = NULL;
	char begin[128] = "", near[128] = "";
	size_t i, n = 0, len = strlen(word);

	for (i = 0; i < COMMANDS; i++) {
		if (!strcmp(commands[i]->name, word))
			return commands[i];
		if (text_distance(commands[i]->name, word) <= 2)
			command_append(near, sizeof(near), commands[i]->name);
		if (!len || strncmp(commands[i]->name, word, len))
			continue;
		command_append(begin, sizeof(begin), commands[i]->name);
		found = commands[i];
		n++;
	}
	if (n == 1)
		return found;
	if (n)
		error("'%s' could be any of: %s", word, begin);
	else if (near[0])
		error("there is no command '%s'; near it: %s", word, near);
	else
		error("there is no command '%s'; see sparkctl --help", word);
	return NULL;
}

/* Options may also stand behind operands, as GNU programs have it; not where the operands are a command to run. */
static int command_parse_mixed(const struct command *command, void *to, int argc, char **argv)
{
	int base = 0, operands = 0, first;

	for (;;) {
		char *word = argv[base];

		argv[base] = argv[0];
		first = opt_parse(command->options, to, argc - base, argv + base);
		argv[base] = word;
		if (first < 0)
			return first;
		if (base + first >= argc)
			break;
		if (first > 1 && !strcmp(argv[base + first - 1], "--")) {
			for (base += first; base < argc; base++)
				argv[1 + operands++] = argv[base];
			break;
		}
		base += first;
		argv[1 + operands++] = argv[base];
	}
	memmove(argv + argc - operands, argv + 1, (size_t)operands * sizeof(*argv));
	return argc - operands;
}

int command_parse(const struct command *command, void *to, int argc, char **argv, int *status)
{
	int first;

	/* A command may have been called by a beginning of its name. */
	argv[0] = (char *)(uintptr_t)command->name;
	first = command->runs_command ? opt_parse(command->options, to, argc, argv) :
					command_parse_mixed(command, to, argc, argv);
	if (first == OPT_HELP) {
		command_print_help(stdout, command);
		*status = STATUS_OK;
		return -1;
	}
	if (first < 0)
		*status = STATUS_USAGE;
	return first < 0 ? -1 : first;
}

int command_misused(const struct command *command, const char *what, const char *word)
{
	if (word)
		error("%s %s '%s'; see sparkctl help %s", command->name, what, word, command->name);
	else
		error("%s %s; see sparkctl help %s", command->name, what, command->name);
	return STATUS_USAGE;
}

static size_t command_help_width(FILE *file)
{
	size_t width = term_width(fileno(file));

	return width ? width : 80;
}

static void command_print_example(FILE *file, const struct command_example *example, size_t width)
{
	size_t indent = 44;

	/* A command is never broken: it is there to be copied. */
	fputs("  ", file);
	if (text_width(example->line) + 4 <= indent && width >= 72) {
		text_pad(file, example->line, indent - 2);
	} else {
		indent = 6;
		fprintf(file, "%s\n%*s", example->line, (int)indent, "");
	}
	text_wrap(file, example->what, indent, width);
}

void command_print_overview(FILE *file)
{
	size_t width = command_help_width(file), i;

	fputs("Usage: sparkctl COMMAND [OPTION...]\n"
	      "       sparkctl --help | --version\n\n", file);
	text_wrap(file, "Measures native Linux programs region by region.", 0, width);
	fputs("\nCommands:\n", file);
	for (i = 0; i < COMMANDS; i++) {
		fputs("  ", file);
		text_pad(file, commands[i]->name, 9);
		text_wrap(file, commands[i]->summary, 11, width);
	}
	fputs("\nExamples:\n", file);
	for (i = 0; i < COMMANDS; i++)
		if (commands[i]->examples->line)
			command_print_example(file, commands[i]->examples, width);
	fputc('\n', file);
	text_wrap(file, "The options of a command: sparkctl help COMMAND.", 0, width);
}

void command_print_help(FILE *file, const struct command *command)
{
	const struct command_example *example;
	size_t width = command_help_width(file);
	char about[256];

	fprintf(file, "Usage: sparkctl %s ", command->name);
	text_wrap(file, command->usage, 17 + strlen(command->name), width);
	snprintf(about, sizeof(about), "%s.", command->summary);
	about[0] += 'A' - 'a';
	fputc('\n', file);
	text_wrap(file, about, 0, width);
	fputs("\nOptions:\n", file);
	opt_print_help(file, command->options, width);
	if (command->examples->line)
		fputs("\nExamples:\n", file);
	for (example = command->examples; example->line; example++)
		command_print_example(file, example, width);
}

/* Whoever wrote first has met EPIPE already, and stdio keeps no errno. */
static bool command_is_unread(void)
{
	struct pollfd end = { .fd = STDOUT_FILENO };

	return poll(&end, 1, 0) == 1 && end.revents & POLLERR;
}

int command_end_output(int status)
{
	bool failed = ferror(stdout);

	errno = 0;
	if (!fflush(stdout) && !failed)
		return status;
	if (errno == EPIPE || (!errno && command_is_unread())) {
		if (status)
			return status;
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	if (errno)
		error("cannot write to standard output: %s", strerror(errno));
	else
		error("cannot write all to standard output");
	return STATUS_FAILURE;
}
