/* SPDX-License-Identifier: MIT */
/* Printing a report: what the commands that do have in common. */
#ifndef CLI_CMD_PRINT_H
#define CLI_CMD_PRINT_H

#include "cli/cmd/cmd.h"
#include "cli/cmd/define.h"
#include "cli/output/output.h"
#include "cli/term.h"

/* Of an options struct, in which it is the member "print". */
struct print_options {
	const char *metrics;
	const char *regions;
	const char *sort_by;
	const char *format;
	struct opt_list define;      /* as given */
	struct definitions definitions; /* of --define, and from elsewhere */
	struct report_profile profile;
	int group;                   /* enum profile_group; -1: not given */
	enum color_mode color;
	int quiet;
	int verbose;
	bool each_window;
	bool totals_only;            /* no option: see struct report_options */
	bool all_calls;              /* the same */
};

#define PRINT_OFFSET(type, member) (offsetof(type, print) + offsetof(struct print_options, member))

/* Rows that choose, and rows that shape; recorded is what stands before the defaults. */
#define PRINT_CHOICE_ROWS(type, more, recorded) \
	{ "metrics", 0, OPT_STRING, PRINT_OFFSET(type, metrics), "METRICS", NULL, \
	  "show these columns" more ": names or patterns, separated by commas; see sparkctl list metrics", \
	  recorded "the usual ones", false }, \
	{ "regions", 0, OPT_STRING, PRINT_OFFSET(type, regions), "GLOBS", NULL, \
	  "show only regions whose name or path (a;b) matches", recorded "all", false }, \
	{ "group-by", 0, OPT_ENUM, PRINT_OFFSET(type, group), NULL, profile_group_words, \
	  "a table for each process or thread, or regions merged over processes", recorded "process", \
	  false }, \
	{ "sort-by", 0, OPT_STRING, PRINT_OFFSET(type, sort_by), "METRIC", NULL, \
	  "order of regions beside each other, greatest first", recorded "wall", false }
#define PRINT_DEFINE_ROW(type) \
	{ "define", 0, OPT_EACH, PRINT_OFFSET(type, define), "FORMULA", NULL, \
	  "add a metric of one's own, 'name = expression' of others; see spark-report(5)", NULL, false }
#define PRINT_SHAPE_ROWS(type) \
	{ "format", 0, OPT_STRING, PRINT_OFFSET(type, format), "FORMAT", output_words, "table, json, csv or html", "table", \
	  false }, \
	{ "color", 0, OPT_ENUM, PRINT_OFFSET(type, color), NULL, color_words, "colours and bold type", "auto", false }, \
	{ "quiet", 'q', OPT_COUNT, PRINT_OFFSET(type, quiet), NULL, NULL, "the regions and what is missing only", NULL, \
	  false }, \
	{ "verbose", 'v', OPT_COUNT, PRINT_OFFSET(type, verbose), NULL, NULL, "more, also about what sparkctl does", \
	  NULL, false }

/* What the options have allocated. */
void print_options_free(struct print_options *options);

/* The format that was asked for; NULL after a message. */
const struct output *print_format(const struct command *command, const struct print_options *options);

/* Builds and writes the report, the profile grouped as asked. 0, or -1 after a message. */
int print_report(const struct print_options *options, const struct output *format, FILE *file,
		 const struct profile *profile, const struct session_facts *facts);

#endif
