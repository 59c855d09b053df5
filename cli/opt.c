/* SPDX-License-Identifier: MIT */
/* Parsing by option rows and printing them; see opt.h. Called by commands, before any session. */
#include "cli/opt.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/text.h"

int opt_parse_uint(const char *text, unsigned long *value)
{
	unsigned long sum = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		if (__builtin_mul_overflow(sum, 10ul, &sum) ||
		    __builtin_add_overflow(sum, (unsigned long)(*text - '0'), &sum))
			return -ERANGE;
	}
	*value = sum;
	return 0;
}

static uint64_t opt_unit_ns(const char *unit)
{
	static const struct { const char *name; uint64_t ns; } units[] = {
		{ "", 1000000000 }, { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 },
		{ "ns", 1 }, { "m", 60000000000 }, { "h", 3600000000000 },
	};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(unit, units[i].name))
			return units[i].ns;
	return 0;
}

int opt_parse_seconds(const char *text, uint64_t *value_ns)
{
	size_t whole = strspn(text, "0123456789"), fraction = 0, i;
	bool point = text[whole] == '.';
	uint64_t sum = 0, part, unit;

	if (point)
		fraction = strspn(text + whole + 1, "0123456789");
	unit = opt_unit_ns(text + whole + point + fraction);
	if (!unit || !(whole + fraction) || (point && !fraction))
		return -EINVAL;
	for (i = 0; i < whole; i++)
		if (__builtin_mul_overflow(sum, (uint64_t)10, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)(text[i] - '0'), &sum))
			return -ERANGE;
	if (__builtin_mul_overflow(sum, unit, &sum))
		return -ERANGE;
	for (i = 0; i < fraction; i++) {
		unit /= 10;
		part = (uint64_t)(text[whole + 1 + i] - '0') * unit;
		if (__builtin_add_overflow(sum, part, &sum))
			return -ERANGE;
	}
	/* Added to a time of any clock a later one would wrap around. */
	if (sum > INT64_MAX)
		return -ERANGE;
	*value_ns = sum;
	return 0;
}

bool opt_is_number(const char *text)
{
	return text[strcspn(text, "0123456789")] && !text[strspn(text, "0123456789.+-eE")];
}

bool opt_number(const char *text, double *value)
{
	double number;
	char *end;

	if (!opt_is_number(text))
		return false;
	number = strtod(text, &end);
	if (*end)
		return false;
	*value = number;
	return true;
}

/* The length up to the next comma that no backslash protects; fnmatch drops the backslash. */
static size_t opt_list_span(const char *s)
{
	size_t n = 0;

	while (s[n] && s[n] != ',')
		n += s[n] == '\\' && s[n + 1] ? 2 : 1;
	return n;
}

static int opt_list_append(struct opt_list *list, const char *text, size_t len)
{
	char **grown = realloc(list->item, (list->n + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	list->item = grown;
	list->item[list->n] = strndup(text, len);
	if (!list->item[list->n])
		return -ENOMEM;
	list->n++;
	return 0;
}

int opt_list_add(struct opt_list *list, const char *text)
{
	size_t len;
	int err;

	for (;; text += len + 1) {
		len = opt_list_span(text);
		err = len ? opt_list_append(list, text, len) : -EINVAL;
		if (err || !text[len])
			return err;
	}
}

int opt_list_add_whole(struct opt_list *list, const char *text)
{
	return opt_list_append(list, text, strlen(text));
}

bool opt_list_match(const struct opt_list *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (!fnmatch(list->item[i], name, 0))
			return true;
	return false;
}

void opt_list_free(struct opt_list *list)
{
	while (list->n)
		free(list->item[--list->n]);
	free(list->item);
	list->item = NULL;
}

static bool opt_takes_value(const struct opt *row)
{
	return row->kind != OPT_FLAG && row->kind != OPT_COUNT && row->kind != OPT_OPTIONAL;
}

static void opt_join_words(const struct opt *row, const char *between, char *out, size_t size)
{
	size_t at = 0, i;

	out[0] = '\0';
	for (i = 0; row->words && row->words[i] && at < size; i++)
		at += (size_t)snprintf(out + at, size - at, "%s%s", i ? between : "",
				       row->words[i]);
}

static int opt_set_enum(const struct opt *row, int *to, const char *value)
{
	char words[256];
	int i;

	for (i = 0; row->words[i]; i++) {
		if (!strcmp(row->words[i], value)) {
			*to = i;
			return 0;
		}
	}
	opt_join_words(row, ", ", words, sizeof(words));
	return error("option --%s takes one of %s, not '%s'", row->name, words, value);
}

/* The common end of a value that did not parse. */
static int opt_say_bad(const struct opt *row, int err, const char *wanted, const char *value)
{
	if (err == -ENOMEM)
		return error("out of memory");
	if (err == -ERANGE)
		return error("option --%s: '%s' is too large", row->name, value);
	return error("option --%s takes %s, not '%s'", row->name, wanted, value);
}

static int opt_set(const struct opt *row, void *to, const char *value)
{
	void *at = (char *)to + row->offset;
	const char *wanted = "";
	int err = 0;

	switch (row->kind) {
	case OPT_FLAG:
		*(bool *)at = true;
		break;
	case OPT_COUNT:
		++*(int *)at;
		break;
	case OPT_OPTIONAL:
		*(const char **)at = value ? value : row->default_text;
		break;
	case OPT_STRING:
		*(const char **)at = value;
		break;
	case OPT_UINT:
		wanted = "a whole number";
		err = opt_parse_uint(value, at);
		break;
	case OPT_SECONDS:
		wanted = "seconds or a time such as 1.5, 200ms or 2m";
		err = opt_parse_seconds(value, at);
		break;
	case OPT_ENUM:
		return opt_set_enum(row, at, value);
	case OPT_LIST:
		wanted = "names or patterns separated by commas";
		err = opt_list_add(at, value);
		break;
	case OPT_EACH:
	case OPT_WORDS:
		err = opt_list_add_whole(at, value);
		break;
	}
	return err ? opt_say_bad(row, err, wanted, value) : 0;
}

/* The words behind the first one, for which the metavar has a name each; *i is moved to the last. */
static int opt_take_words(const struct opt *row, void *to, int argc, char **argv, int *i)
{
	const char *name = row->kind == OPT_WORDS ? strchr(row->metavar, ' ') : NULL;

	for (; name; name = strchr(name + 1, ' ')) {
		bool optional = name[1] == '[', there = *i + 1 < argc;

		if (!there && !optional)
			return error("option --%s needs more words: %s", row->name, row->metavar);
		there = there && (!optional || opt_is_number(argv[*i + 1]));
		if (opt_set(row, to, there ? argv[++*i] : ""))
			return -1;
	}
	return 0;
}

static const struct opt *opt_find_letter(const struct opt *rows, char letter)
{
	for (; rows->name; rows++)
		if (rows->letter == letter)
			return rows;
	return NULL;
}

/* The row's name itself, else the only one that begins like it; *n counts what began like it. */
static const struct opt *opt_find_name(const struct opt *rows, const char *name, size_t len,
				       unsigned int *n)
{
	const struct opt *found = NULL;

	*n = 0;
	for (; rows->name; rows++) {
		if (strncmp(rows->name, name, len))
			continue;
		if (!rows->name[len]) {
			*n = 1;
			return rows;
		}
		found = rows;
		++*n;
	}
	return *n == 1 ? found : NULL;
}

static int opt_say_unknown(const struct opt *rows, const char *who, const char *name, int len)
{
	const char *near = NULL;
	char given[64];
	unsigned int least = 3, far;

	snprintf(given, sizeof(given), "%.*s", len, name);
	for (; rows->name; rows++) {
		far = text_distance(rows->name, given);
		if (!rows->hidden && far < least) {
			least = far;
			near = rows->name;
		}
	}
	if (near)
		return error("%s has no option --%s; did you mean --%s?", who, given, near);
	return error("%s has no option --%s; see sparkctl help %s", who, given, who);
}

/* One long option; *i is moved past a value of its own. */
static int opt_parse_long(const struct opt *rows, void *to, int argc, char **argv, int *i)
{
	const char *name = argv[*i] + 2, *value = strchr(name, '=');
	size_t len = value ? (size_t)(value - name) : strlen(name);
	unsigned int n;
	const struct opt *row = opt_find_name(rows, name, len, &n);

	if (!row && len == 4 && !strncmp(name, "help", len))
		return OPT_HELP;
	if (!row && n > 1)
		return error("option --%.*s of %s could be any of %u; write more of it",
			     (int)len, name, argv[0], n);
	if (!row)
		return opt_say_unknown(rows, argv[0], name, len < 64 ? (int)len : 63);
	if (!opt_takes_value(row) && value && row->kind != OPT_OPTIONAL)
		return error("option --%s takes no value", row->name);
	if (opt_takes_value(row) && !value && *i + 1 >= argc)
		return error("option --%s needs a value", row->name);
	if (opt_set(row, to, value ? value + 1 : opt_takes_value(row) ? argv[++*i] : NULL))
		return OPT_ERROR;
	return opt_take_words(row, to, argc, argv, i);
}

/* One word of letters. */
static int opt_parse_letters(const struct opt *rows, void *to, int argc, char **argv, int *i)
{
	const char *s = argv[*i] + 1;
	const struct opt *row;
	size_t len;
	unsigned int code;

	for (; *s; s++) {
		row = opt_find_letter(rows, *s);
		if (!row && *s == 'h')
			return OPT_HELP;
		len = text_decode(s, strlen(s), &code);
		if (!row)
			return error("%s has no option -%.*s; see sparkctl help %s", argv[0],
				     len ? (int)len : 1, s, argv[0]);
		if (opt_takes_value(row) && !s[1] && *i + 1 >= argc)
			return error("option -%c (--%s) needs a value", *s, row->name);
		if (opt_set(row, to, !opt_takes_value(row) ? NULL : s[1] ? s + 1 : argv[++*i]))
			return OPT_ERROR;
		if (opt_takes_value(row))
			return opt_take_words(row, to, argc, argv, i);
	}
	return 0;
}

int opt_parse(const struct opt *rows, void *to, int argc, char **argv)
{
	int i, result;

	for (i = 1; i < argc; i++) {
		if (argv[i][0] != '-' || !argv[i][1])
			return i;
		if (!strcmp(argv[i], "--"))
			return i + 1;
		result = argv[i][1] == '-' ? opt_parse_long(rows, to, argc, argv, &i) :
					     opt_parse_letters(rows, to, argc, argv, &i);
		if (result)
			return result;
	}
	return i;
}

/* "-f, --format=table|json", indented. */
static void opt_format_left(const struct opt *row, char *out, size_t size)
{
	char words[128], letter[8] = "    ";
	const char *metavar = row->metavar;

	opt_join_words(row, "|", words, sizeof(words));
	if (!metavar)
		metavar = words;
	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	snprintf(out, size, "  %s--%s%s%s%s", letter, row->name, row->kind == OPT_OPTIONAL ? "[=" : opt_takes_value(row) ? "=" : "",
		 opt_takes_value(row) || row->kind == OPT_OPTIONAL ? metavar : "", row->kind == OPT_OPTIONAL ? "]" : "");
}

static void opt_print_row(FILE *file, const struct opt *row, size_t indent, size_t width)
{
	char left[256], right[1024];

	opt_format_left(row, left, sizeof(left));
	if (row->default_text)
		snprintf(right, sizeof(right), "%s (default: %s)", row->help, row->default_text);
	else
		snprintf(right, sizeof(right), "%s", row->help);
	if (text_width(left) + 2 > indent) {
		fprintf(file, "%s\n", left);
		left[0] = '\0';
	}
	text_pad(file, left, indent);
	text_wrap(file, right, indent, width);
}

void opt_print_help(FILE *file, const struct opt *rows, size_t width)
{
	static const struct opt help = {
		.name = "help", .letter = 'h', .kind = OPT_FLAG, .help = "show this help and end",
	};
	size_t indent;

	width = width ? width : 80;
	indent = width < 60 ? 8 : 28;
	for (; rows->name; rows++)
		if (!rows->hidden)
			opt_print_row(file, rows, indent, width);
	opt_print_row(file, &help, indent, width);
}

void opt_print_table(FILE *file, const struct opt *rows)
{
	static const char *const kind[] = {
		[OPT_FLAG] = "flag", [OPT_COUNT] = "count", [OPT_STRING] = "string", [OPT_OPTIONAL] = "flag",
		[OPT_UINT] = "uint", [OPT_SECONDS] = "seconds", [OPT_ENUM] = "enum",
		[OPT_LIST] = "list", [OPT_EACH] = "each", [OPT_WORDS] = "words",
	};
	char words[256], letter[2] = "";

	for (; rows->name; rows++) {
		if (rows->hidden)
			continue;
		opt_join_words(rows, ",", words, sizeof(words));
		letter[0] = rows->letter;
		fprintf(file, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", rows->name, letter, kind[rows->kind],
			rows->metavar ? rows->metavar : "", words,
			rows->default_text ? rows->default_text : "", rows->help);
	}
}
