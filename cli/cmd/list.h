/* SPDX-License-Identifier: MIT */
/* What the files of the command list share. */
#ifndef CLI_CMD_LIST_H
#define CLI_CMD_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct list_options {
	bool json;
	bool bias;
	const char *globs;	/* names to list, separated by commas; NULL: all */
};

/* Whether a name is asked for. */
bool list_wants(const struct list_options *options, const char *name);

/* Print or collect one listing. Return how many names there are in it, or -1 after one sentence. */
int list_print_events(const struct list_options *options, size_t width);
int list_json_events(const struct list_options *options, json_t *root);
int list_print_groups(const struct list_options *options, size_t width);
int list_json_groups(const struct list_options *options, json_t *root);
int list_print_sets(const struct list_options *options, size_t width);
int list_json_sets(const struct list_options *options, json_t *root);
int list_print_markers(const struct list_options *options, size_t width);
int list_json_markers(const struct list_options *options, json_t *root);

/*
 * The listing "symbols": what a program and its libraries call in each other, of the names that match one of the
 * patterns, if there are any. The exit status.
 */
int list_symbols(const struct list_options *options, const char *command, char **patterns);
/* The listing "probes": static probes of a program and its libraries. As list_symbols(). */
int list_probes(const struct list_options *options, const char *command, char **patterns);

#endif
