/* SPDX-License-Identifier: MIT */
/*
 * A command is one file and one row: its own struct command here below and in the table of cmd.c.
 * Look-up, usage, help and completions come from the rows; the man page is compared with them.
 *
 * Completions know operands by the usage: FILE is a recording, HISTORY a file of many runs, COMMAND a command of
 * sparkctl, a|b are words, and "[--] COMMAND" is a program with its own words. "..." behind one: more of the same.
 */
#ifndef CLI_CMD_CMD_H
#define CLI_CMD_CMD_H

#include <stddef.h>
#include <stdio.h>

#include "cli/opt.h"

/* Exit statuses of sparkctl's own; otherwise run has its target's. */
enum command_status {
	STATUS_OK = 0,
	STATUS_REGRESSION = 1,       /* of diff */
	STATUS_USAGE = 2,
	STATUS_NOT_COMPARABLE = 3,   /* the same */
	STATUS_TIMEOUT = 124,
	STATUS_FAILURE = 125,
	STATUS_NOT_EXECUTABLE = 126,
	STATUS_NOT_FOUND = 127,
};

struct command_example {
	const char *line;	/* NULL ends the list */
	const char *what;
};

struct command {
	const char *name;
	const char *summary;			/* one line, lower case, without a full stop */
	const char *usage;			/* what follows the name */
	const struct opt *options;
	const struct command_example *examples;
	bool runs_command;			/* its first operand is a command: options end there */
	int (*run)(int argc, char **argv);	/* argv[0] is the name; returns the exit status */
};

extern const struct command command_run, command_stat, command_attach, command_report, command_diff, command_history,
	command_annotate, command_export, command_note, command_list, command_doctor, command_help;

/* All commands, in the order of the help. */
const struct command *const *command_table(size_t *n);

/* The command of that name or the only one that begins so; else NULL, after one sentence. */
const struct command *command_find(const char *word);

/*
 * Parses the options of a command into to, as opt_parse does. Returns the index of the first
 * operand; or -1 when the command is at its end, after help or an error, with *status to return.
 */
int command_parse(const struct command *command, void *to, int argc, char **argv, int *status);

/* Says in one sentence what is wrong with the operands; returns STATUS_USAGE. */
int command_misused(const struct command *command, const char *what, const char *word);

void command_print_overview(FILE *file);
void command_print_help(FILE *file, const struct command *command);

/*
 * Writes out what stdout still holds. Returns the status given, or STATUS_FAILURE after one
 * sentence when it could not be written. Where nobody reads any more it ends the process by
 * SIGPIPE, quietly, unless the status is a failure already.
 */
int command_end_output(int status);

#endif
