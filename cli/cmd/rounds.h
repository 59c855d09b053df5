/* SPDX-License-Identifier: MIT */
/* Repeating commands and comparing them with each other: what is asked for, and how it is done. */
#ifndef CLI_CMD_ROUNDS_H
#define CLI_CMD_ROUNDS_H

#include "cli/analyze/runs.h"
#include "cli/cmd/launch.h"
#include "cli/session/repeat.h"

struct rounds_asked {
	unsigned long runs;          /* 0: automatic */
	unsigned long warmups;
	const char *target;          /* precision; NULL: none was asked for */
	uint64_t most_ns;            /* 0: no bound was asked for */
	struct opt_list vs;
	struct opt_list setup, prepare, cleanup;
	struct opt_list lists, scans; /* words, 2 and 4 each */
	const char *reference;
	const char *shell;
	bool ignore_failure;
	bool show_output;
	const char *json, *csv, *markdown; /* files */
};

/* Rows for a struct with a member rounds. */
#define ROUNDS_OFFSET(type, member) (offsetof(type, rounds) + offsetof(struct rounds_asked, member))
#define ROUNDS_ROWS(type) \
	{ "runs", 'r', OPT_UINT, ROUNDS_OFFSET(type, runs), "N", NULL, \
	  "run the command so often; with --target, at most so often", "until the figures are precise", false }, \
	{ "warmup", 'w', OPT_UINT, ROUNDS_OFFSET(type, warmups), "N", NULL, \
	  "run it so often before, uncounted", "0", false }, \
	{ "target", 0, OPT_STRING, ROUNDS_OFFSET(type, target), "PERCENT", NULL, \
	  "repeat until the elapsed time, or the ratio of two, is known as precisely", "1%", false }, \
	{ "max-time", 0, OPT_SECONDS, ROUNDS_OFFSET(type, most_ns), "TIME", NULL, \
	  "but no longer than this", "10 s for each command", false }, \
	{ "vs", 0, OPT_EACH, ROUNDS_OFFSET(type, vs), "COMMANDLINE", NULL, \
	  "compare with this command too, quoted as for a shell; all take turns", NULL, false }, \
	{ "reference", 0, OPT_STRING, ROUNDS_OFFSET(type, reference), "LABEL", NULL, \
	  "compare with the command of this letter", "A", false }, \
	{ "parameter-list", 'L', OPT_WORDS, ROUNDS_OFFSET(type, lists), "NAME VALUES", NULL, \
	  "run the commands with {name} replaced by each of the values, which have commas between", NULL, false }, \
	{ "parameter-scan", 'P', OPT_WORDS, ROUNDS_OFFSET(type, scans), "NAME MIN MAX [STEP]", NULL, \
	  "the same with the numbers from min to max", NULL, false }, \
	{ "setup", 0, OPT_EACH, ROUNDS_OFFSET(type, setup), "COMMANDLINE", NULL, \
	  "run this before the first run of a command", NULL, false }, \
	{ "prepare", 0, OPT_EACH, ROUNDS_OFFSET(type, prepare), "COMMANDLINE", NULL, \
	  "run this before each run; given several times: one for each command", NULL, false }, \
	{ "cleanup", 0, OPT_EACH, ROUNDS_OFFSET(type, cleanup), "COMMANDLINE", NULL, \
	  "run this after the last run of a command", NULL, false }, \
	{ "shell", 0, OPT_STRING, ROUNDS_OFFSET(type, shell), "SHELL", NULL, \
	  "have the commands run by this shell", "none", false }, \
	{ "ignore-failure", 0, OPT_FLAG, ROUNDS_OFFSET(type, ignore_failure), NULL, NULL, \
	  "go on after a run that failed, and end with status 0", NULL, false }, \
	{ "show-output", 0, OPT_FLAG, ROUNDS_OFFSET(type, show_output), NULL, NULL, \
	  "leave repeated commands their input and output", NULL, false }, \
	{ "export-json", 0, OPT_STRING, ROUNDS_OFFSET(type, json), "FILE", NULL, \
	  "write all runs there, in the form that scripts of hyperfine read", NULL, false }, \
	{ "export-csv", 0, OPT_STRING, ROUNDS_OFFSET(type, csv), "FILE", NULL, \
	  "write a line for each command there", NULL, false }, \
	{ "export-markdown", 0, OPT_STRING, ROUNDS_OFFSET(type, markdown), "FILE", NULL, \
	  "write a table for a document there", NULL, false }

/* Any of them was given that makes no sense for one run of one command. */
bool rounds_wanted(const struct rounds_asked *asked);
void rounds_asked_free(struct rounds_asked *asked);

/* What else the command was told. */
struct rounds_way {
	const struct print_options *print;
	const struct event_list *events;
	const char *report;
	FILE *file;
	uint64_t timeout_ns;
	bool no_inherit;
	const struct storage_asked *storage; /* NULL: nobody asks */
	const struct cache_options *cache; /* that each run is to find; NULL: as it is */
};

/* Runs, compares, reports. The exit status, below 0 a signal. */
int rounds_stat(const struct rounds_asked *asked, const struct rounds_way *way, char **argv);

/* ---- rounds_plan.c: the commands, with what stands before and after their runs */

struct round_command {
	char **argv;
	struct repeat_program program;
	struct round_hook {
		char **argv;         /* NULL: none */
		struct repeat_program program;
	} setup, prepare, cleanup;
};

struct rounds_plan {
	struct round_command *command; /* as many as runs has, in its order */
	struct round_command idle;   /* what a program that does nothing takes, with the same shell */
	size_t n;
	double target;               /* 0: none */
	unsigned long most;          /* rounds */
	uint64_t most_ns;            /* 0: no bound */
};

/* Fills the plan, and the texts and parameters of runs. 0, or the exit status after a message. */
int rounds_plan(struct rounds_plan *plan, struct runs *runs, const struct rounds_asked *asked, char **argv);
void rounds_plan_free(struct rounds_plan *plan);

/* ---- rounds_matrix.c: values of parameters */

struct matrix {
	struct matrix_parameter {
		const char *name;
		char **values;       /* NULL at the end */
		size_t n;
	} *parameter;
	size_t nparameters;
	size_t combinations;
};

/* 0, or -1 after a message. Free it in any case. */
int matrix_make(struct matrix *matrix, const struct opt_list *lists, const struct opt_list *scans);
/* The value that a parameter has in a combination; the last one changes fastest. */
const char *matrix_value(const struct matrix *matrix, size_t combination, size_t parameter);
void matrix_free(struct matrix *matrix);

/* ---- rounds_report.c */

enum { ROUNDS_JSON, ROUNDS_CSV, ROUNDS_MARKDOWN, ROUNDS_FILES };

/* Those of --export-*; NULL: not asked for. */
struct rounds_files {
	const char *path[ROUNDS_FILES];
	FILE *file[ROUNDS_FILES];
};

/* Before the runs, which may take hours: what the files hold stays until there is something to write. 0, or -1 after a message. */
int rounds_files_open(struct rounds_files *files, const struct rounds_asked *asked);
void rounds_files_close(struct rounds_files *files);
/* The table, and the files. 0, or -1 after a message. */
int rounds_report(const struct runs *runs, struct rounds_files *files, const struct rounds_way *way);

#endif
