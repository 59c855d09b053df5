/* SPDX-License-Identifier: MIT */
/*
 * The ids of tracepoints that root saved once (sparkctl doctor --save-ids), for users who may not look into
 * tracefs. They are those of one build of the kernel and of the kernel alone: what a module brings gets
 * another id each time it is loaded.
 *
 * The file: a line "spark-tracepoints 1 RELEASE HASH", then "system:name id" for each, ended by newlines.
 */
#ifndef SPARK_CLI_CAPS_IDS_H
#define SPARK_CLI_CAPS_IDS_H

#include "cli/caps/caps.h"

#define IDS_COMMAND "sudo sparkctl doctor --save-ids"

struct ids {
	char *text;			/* the file, with NUL for each mark between words */
	const char *rows, *end;
};

struct ids_row {
	const char *system, *name;
	unsigned int id;
};

/* Where they are: /var/cache/spark/tracepoints, or what SPARK_TRACEPOINTS names. */
const char *ids_path(const struct caps_context *context);

/*
 * Reads them, if they are root's and of this kernel. Returns 0; or -1, then there is nothing to release,
 * and why, which says what closes tracefs, says what is wrong with a file that is there, too.
 */
int ids_load(const struct caps_context *context, struct ids *ids, struct outcome *why);
void ids_fini(struct ids *ids);
/* The row at *at, NULL: the first; *at is moved behind it. */
bool ids_next(const struct ids *ids, const char **at, struct ids_row *row);
/* The id, or 0. */
unsigned int ids_find(const struct ids *ids, const char *system, const char *name);
/* Adds to why that they have none of that name; mount: of tracefs, or NULL. */
void ids_lack(struct outcome *why, const char *mount, const char *name);

/*
 * Writes those of tracefs, whole or not at all. Returns 0 with their number and how many are left out as
 * a module's or made at run time; or -1 with the reason.
 */
int ids_save(const struct caps_context *context, size_t *saved, size_t *left_out, struct outcome *why);

/* Below: for ids.c and ids_save.c, and tests. */

/* The first line that a file for this kernel has, without newline. Returns 0 or -errno. */
int ids_header(const struct caps_context *context, char *text, size_t size);
/*
 * Takes the bytes of a file apart, in place; text[size] is 0. Returns 0; or -1 with what is wrong, as the
 * end of a sentence that begins with the file's name.
 */
int ids_parse(struct ids *ids, char *text, size_t size, const char *header, char *wrong, size_t room);

#endif
