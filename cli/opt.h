/* SPDX-License-Identifier: MIT */
/*
 * Option rows: the one description of a command's options, from which they are parsed, their help
 * is printed and completions are made; the man page is compared with them. GNU conventions:
 * --name=value, --name value, unique beginnings of long names, bundled letters (-qv, -fVALUE), "--"
 * ends the options, and so does the first word that is none. A repeated option: the last one wins,
 * lists append. One that takes several words has the others behind the first, as words of their own.
 *
 * Completions know a value by the metavar: FILE is the name of one, METRIC is one of sparkctl
 * list metrics, METRICS several with commas between, GROUP one of list groups; for others they offer
 * the words.
 */
#ifndef CLI_OPT_H
#define CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum opt_kind {		/* destination */
	OPT_FLAG,	/* bool: set to true */
	OPT_COUNT,	/* int: plus one each time */
	OPT_STRING,	/* const char *: points into argv */
	OPT_OPTIONAL,	/* the same; only behind =, else it is the default_text. To completions it is a flag */
	OPT_UINT,	/* unsigned long */
	OPT_SECONDS,	/* uint64_t: nanoseconds */
	OPT_ENUM,	/* int or enum: the index in words */
	OPT_LIST,	/* struct opt_list: allocated */
	OPT_EACH,	/* the same, but each value is one item, whatever is in it */
	OPT_WORDS,	/* the same, of as many words as the metavar has; "[LAST]": only if it is a number, else "" */
};

struct opt_list {
	char **item;
	size_t n;
};

struct opt {
	const char *name;		/* without dashes; NULL ends a table */
	char letter;			/* or 0 */
	enum opt_kind kind;
	size_t offset;			/* of the destination in the command's struct */
	const char *metavar;		/* of an option with a value; an enum may leave it out */
	const char *const *words;	/* all of an enum's, else what completion offers; NULL ends */
	const char *help;		/* one sentence or phrase, without a full stop */
	const char *default_text;	/* or NULL */
	bool hidden;			/* left out of the help */
};

enum { OPT_ERROR = -1, OPT_HELP = -2 };

/*
 * Parses argv[1] on into the struct at to, which holds the defaults. Returns the index of the
 * first word that is no option, OPT_HELP at -h or --help, or OPT_ERROR after one printed sentence;
 * argv[0] names the command in it.
 */
int opt_parse(const struct opt *rows, void *to, int argc, char **argv);

/*
 * Strict, locale-free numbers: the whole text must be one. Return 0 or -EINVAL, -ERANGE.
 * Seconds take a fraction and a unit, ns us ms s m h.
 */
int opt_parse_uint(const char *text, unsigned long *value);
int opt_parse_seconds(const char *text, uint64_t *value_ns);

/* Digits with what else a number may have; strtod(3) has the last word. */
bool opt_is_number(const char *text);
/* A decimal number and nothing behind it; false: it is none, and value is as it was. */
bool opt_number(const char *text, double *value);

/* Appends the comma-separated patterns of text; "\," is a comma. Returns 0, -EINVAL or -ENOMEM. */
int opt_list_add(struct opt_list *list, const char *text);
/* Appends the text as it is. Returns 0 or -ENOMEM. */
int opt_list_add_whole(struct opt_list *list, const char *text);
/* Whether a pattern of the list matches, by the rules of fnmatch(3). */
bool opt_list_match(const struct opt_list *list, const char *name);
void opt_list_free(struct opt_list *list);

/* Prints the rows as aligned help for a terminal of the given width; 0 means 80. */
void opt_print_help(FILE *file, const struct opt *rows, size_t width);

/* One line a row, tab-separated: name letter kind metavar words default help. */
void opt_print_table(FILE *file, const struct opt *rows);

#endif
