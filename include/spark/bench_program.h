/* SPDX-License-Identifier: MIT */
/*
 * bench_program.h - what makes a program of benchmarks: options and the points of matrices. It is a
 * part of bench.h, which includes it; all in it but spark_bench_main is internal.
 */
#ifndef SPARK_BENCH_PROGRAM_H
#define SPARK_BENCH_PROGRAM_H

#ifndef SPARK_BENCH_H
#error "include <spark/bench.h>"
#endif

/* ---- the points of a matrix ------------------------------------------------------------------------ */

/* How many values the parameter at p has; 0: it is none. */
SPARK_BENCH_FN_ unsigned long spark_bench_values_(const char *p)
{
	unsigned long n = 0;
	size_t length = strcspn(p, "=, ");

	if (!length || p[length] != '=')
		return 0;
	do {
		p += length + 1;
		length = strcspn(p, ", ");
		if (!length)
			return 0;
		n++;
	} while (p[length] == ',');
	return n;
}

/* All combinations; 0: the matrix is malformed. */
SPARK_BENCH_FN_ unsigned long spark_bench_points_(const struct spark_bench_case *c)
{
	const char *p = c->matrix ? c->matrix : "";
	unsigned long points = 1;

	for (p += strspn(p, " "); *p && points; p += strspn(p, " ")) {
		points *= spark_bench_values_(p);
		p += strcspn(p, " ");
	}
	return points;
}

/* What does not fit is cut, which spark_bench_each_() finds. */
SPARK_BENCH_FN_ void spark_bench_append_(struct spark_bench *b, const char *text, size_t length)
{
	size_t have = strlen(b->text);

	if (length > SPARK_BENCH_NAME_SIZE - 2 - have)
		length = SPARK_BENCH_NAME_SIZE - 2 - have;
	memcpy(b->text + have, text, length);
	b->text[have + length] = '\0';
}

/* Names the point: "hash/size=4K/order=random". */
SPARK_BENCH_FN_ void spark_bench_point_(struct spark_bench *b, const struct spark_bench_case *c, unsigned long point)
{
	const char *p = c->matrix ? c->matrix : "", *value;
	unsigned long rest = spark_bench_points_(c), n;
	size_t i;

	memset(b, 0, sizeof(*b));
	b->name = b->text;
	b->iterations = 1;
	spark_bench_append_(b, c->name, strlen(c->name));
	for (p += strspn(p, " "); *p; p += strspn(p, " ")) {
		rest /= spark_bench_values_(p);
		value = strchr(p, '=') + 1;
		spark_bench_append_(b, "/", 1);
		spark_bench_append_(b, p, SPARK_BENCH_CAST_(size_t, value - p));
		for (n = point / rest % spark_bench_values_(p); n; n--)
			value += strcspn(value, ",") + 1;
		spark_bench_append_(b, value, strcspn(value, ", "));
		p += strcspn(p, " ");
	}
	for (i = 0; b->text[i]; i++)
		b->words[i] = SPARK_BENCH_CAST_(char, b->text[i] == '/' ? '\0' : b->text[i]);
}

/* ---- what is asked for ----------------------------------------------------------------------------- */

/* The pattern up to end: * is any text, ? a character. It may match the parts of a name up to a slash. */
SPARK_BENCH_FN_ int spark_bench_glob_(const char *p, const char *end, const char *name)
{
	for (; p < end; p++, name++) {
		if (*p == '*') {
			do
				if (spark_bench_glob_(p + 1, end, name))
					return 1;
			while (*name++);
			return 0;
		}
		if (!*name || (*p != '?' && *p != *name))
			return 0;
	}
	return !*name || *name == '/';
}

SPARK_BENCH_FN_ int spark_bench_chosen_(const struct spark_bench_options_ *o, const char *name)
{
	const char *p = o->filter;
	size_t length;

	if (!p)
		return 1;
	for (;; p += length + 1) {
		length = strcspn(p, ",");
		if (spark_bench_glob_(p, p + length, name))
			return 1;
		if (!p[length])
			return 0;
	}
}

SPARK_BENCH_FN_ int spark_bench_set_filter_(struct spark_bench_options_ *o, const char *value)
{
	const char *end = value + strlen(value);

	if (value == end || *value == ',' || end[-1] == ',' || strstr(value, ",,"))
		return spark_bench_error_(o, "--bench-filter has an empty pattern: '%s'", value);
	o->filter = value;
	return 0;
}

SPARK_BENCH_FN_ int spark_bench_set_passes_(struct spark_bench_options_ *o, const char *value)
{
	static const char *const names[] = { "warm-up", "timing", "counting", "profile" };
	size_t length;
	unsigned i;

	for (o->passes = 0;; value += length + 1) {
		length = strcspn(value, ",");
		for (i = SPARK_BENCH_TIMING_; i < SPARK_BENCH_DONE_; i++)
			if (strlen(names[i]) == length && !strncmp(value, names[i], length))
				break;
		if (i == SPARK_BENCH_DONE_)
			return spark_bench_error_(o, "--bench-passes takes timing, counting and profile, not '%.*s'",
						  SPARK_BENCH_CAST_(int, length), value);
		o->passes |= 1U << i;
		if (!value[length])
			return 0;
	}
}

/* Digits, a point and digits, a unit; not by strtod(3), whose point is the locale's. */
SPARK_BENCH_FN_ int spark_bench_set_time_(struct spark_bench_options_ *o, const char *value)
{
	static const char units[4][4] = { "ns", "us", "ms", "s" };
	double ns = 0, unit = 1e9, part = 1;
	const char *p = value;
	int i;

	for (; *p >= '0' && *p <= '9'; p++)
		ns = 10 * ns + (*p - '0');
	if (*p == '.' && p > value)
		for (p++; *p >= '0' && *p <= '9'; p++)
			ns += (*p - '0') * (part /= 10);
	for (i = 0; i < 4 && p > value; i++)
		if (!strcmp(p, units[i]))
			break;
	if (p == value || (*p && i == 4))
		return spark_bench_error_(o, "--bench-min-time takes a time such as 5ms, not '%s'", value);
	for (; *p && i < 3; i++)
		unit /= 1000;
	if (ns * unit < 1 || ns * unit > 3600e9)
		return spark_bench_error_(o, "--bench-min-time takes 1ns to 3600s, not '%s'", value);
	o->min_ns = SPARK_BENCH_CAST_(unsigned long, ns * unit);
	return 0;
}

SPARK_BENCH_FN_ int spark_bench_set_format_(struct spark_bench_options_ *o, const char *value)
{
	o->json = !strcmp(value, "json");
	if (o->json || !strcmp(value, "table"))
		return 0;
	return spark_bench_error_(o, "--bench-format takes table or json, not '%s'", value);
}

SPARK_BENCH_FN_ int spark_bench_set_report_(struct spark_bench_options_ *o, const char *value)
{
	o->report = value;
	return *value ? 0 : spark_bench_error_(o, "--bench-report takes the name of a file");
}

/* -1: it needs a value and has none. */
SPARK_BENCH_FN_ int spark_bench_set_(struct spark_bench_options_ *o, const char *name, size_t length, const char *value)
{
	static const struct {
		const char *name;
		int (*set)(struct spark_bench_options_ *o, const char *value);
	} rows[] = {
		{ "--bench-filter", spark_bench_set_filter_ },
		{ "--bench-format", spark_bench_set_format_ },
		{ "--bench-min-time", spark_bench_set_time_ },
		{ "--bench-passes", spark_bench_set_passes_ },
		{ "--bench-report", spark_bench_set_report_ }
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strlen(rows[i].name) == length && !strncmp(name, rows[i].name, length))
			return value ? rows[i].set(o, value) : -1;
	return spark_bench_error_(o, "unknown option '%s': --help has all", name);
}

SPARK_BENCH_FN_ int spark_bench_ask_(struct spark_bench_options_ *o, int argc, char **argv)
{
	const char *value;
	size_t length;
	int i, status = 0;

	for (i = 1; i < argc && !status; i++) {
		value = strchr(argv[i], '=');
		length = value ? SPARK_BENCH_CAST_(size_t, value - argv[i]) : strlen(argv[i]);
		if (!strcmp(argv[i], "--bench-list")) {
			o->list = 1;
		} else if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			o->help = 1;
		} else if (argv[i][0] != '-') {
			status = spark_bench_error_(o, "takes options alone, not '%s': --help has all", argv[i]);
		} else if (value) {
			status = spark_bench_set_(o, argv[i], length, value + 1);
		} else {
			status = spark_bench_set_(o, argv[i], length, i + 1 < argc ? argv[i + 1] : SPARK_NULL_);
			if (status < 0)
				status = spark_bench_error_(o, "%s needs a value", argv[i]);
			i++;
		}
	}
	return status;
}

SPARK_BENCH_FN_ int spark_bench_help_(const struct spark_bench_options_ *o)
{
	printf("Usage: %s [option ...]\n\n", o->program);
	printf("  --bench-filter=PATTERNS  run those with these names, or beginnings of them up to a slash: * is any text,\n"
	       "                           ? a character, commas separate patterns\n"
	       "  --bench-list             print the names of the benchmarks, and run none\n");
	printf("  --bench-passes=LIST      of timing, counting and profile (timing,counting)\n"
	       "  --bench-min-time=TIME    what a sample takes at least (5ms)\n"
	       "  --bench-format=FORMAT    table or json (table)\n"
	       "  --bench-report=FILE      print the results there, not to standard output\n"
	       "  --help                   print this\n");
	return 0;
}

/* ---- all of it ------------------------------------------------------------------------------------- */

/* What a name may not have, since names are words of patterns, tables and JSON. */
SPARK_BENCH_FN_ int spark_bench_misnamed_(const char *text, const char *allowed)
{
	for (; *text; text++)
		if (!strchr(allowed, *text) && ((*text > 0 && *text <= ' ') || strchr("\"\\,/*?\177", *text)))
			return 1;
	return 0;
}

/* How long the character is; 0: it is none of UTF-8. */
SPARK_BENCH_FN_ size_t spark_bench_character_(const char *text)
{
	unsigned long code = SPARK_BENCH_CAST_(unsigned char, *text), least = 0x80;
	size_t length = code < 0xc0 ? 1 : code < 0xe0 ? 2 : code < 0xf0 ? 3 : 4, i;

	if (code < 0x80)
		return 1;
	if (length == 1 || code > 0xf7)
		return 0;
	code &= 0x7fUL >> length;
	for (i = 1; i < length; i++) {
		if ((SPARK_BENCH_CAST_(unsigned char, text[i]) & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (SPARK_BENCH_CAST_(unsigned char, text[i]) & 0x3fUL);
		least = i == 1 ? least : least << (i == 2 ? 4 : 5);
	}
	return code < least || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff ? 0 : length;
}

/* JSON is UTF-8. */
SPARK_BENCH_FN_ int spark_bench_unreadable_(const char *text)
{
	while (*text) {
		size_t length = spark_bench_character_(text);

		if (!length)
			return 1;
		text += length;
	}
	return 0;
}

SPARK_BENCH_FN_ int spark_bench_repeated_(const char *matrix)
{
	const char *p, *other;

	for (p = matrix + strspn(matrix, " "); *p; p += strspn(p, " ")) {
		size_t length = strcspn(p, "=") + 1, word = strcspn(p, " ");

		for (other = p + word; *other; other += strcspn(other, " ")) {
			other += strspn(other, " ");
			if (!strncmp(p, other, length))
				return 1;
		}
		p += word;
	}
	return 0;
}

SPARK_BENCH_FN_ int spark_bench_check_(const struct spark_bench_options_ *o, const struct spark_bench_case *c)
{
	const char *matrix = c->matrix ? c->matrix : "";

	if (!c->name || !*c->name || !c->run)
		return spark_bench_error_(o, "a case has no name or no function");
	if (spark_bench_misnamed_(c->name, "") || spark_bench_unreadable_(c->name))
		return spark_bench_error_(o, "'%s' is no name of a case", c->name);
	if (!spark_bench_points_(c) || spark_bench_misnamed_(matrix, " ,") || spark_bench_unreadable_(matrix))
		return spark_bench_error_(o, "%s: '%s' is no matrix of parameters", c->name, matrix);
	if (spark_bench_repeated_(matrix))
		return spark_bench_error_(o, "%s: '%s' has a parameter twice", c->name, matrix);
	return 0;
}

SPARK_BENCH_FN_ int spark_bench_measure_(struct spark_bench *b, const struct spark_bench_case *c)
{
	struct spark_bench_options_ *o = b->options;

	c->run(b);
	if (b->pass != SPARK_BENCH_DONE_) {
		spark_bench_error_(o, "%s: its loop was not run to its end", b->name);
		return 1;
	}
	if (o->ticker)
		fputs("\r\033[K", stderr);
	if (o->json)
		spark_bench_json_(b);
	else
		spark_bench_row_(b);
	fflush(o->out);
	o->rows++;
	return 0;
}

/* Each benchmark that was asked for; with `run` measured or listed, else counted and its name measured. */
SPARK_BENCH_FN_ int spark_bench_each_(struct spark_bench_options_ *o, const struct spark_bench_case *cases,
				      unsigned long count, int run)
{
	unsigned long i, point, points;
	struct spark_bench b;
	int status = 0;

	for (i = 0; i < count; i++) {
		points = spark_bench_points_(&cases[i]);
		for (point = 0; point < points; point++) {
			spark_bench_point_(&b, &cases[i], point);
			b.options = o;
			if (strlen(b.name) == SPARK_BENCH_NAME_SIZE - 2)
				return spark_bench_error_(o, "%s: has names that are too long", cases[i].name);
			if (!spark_bench_chosen_(o, b.name))
				continue;
			if (run && o->list)
				fprintf(o->out, "%s\n", b.name);
			else if (run)
				status |= spark_bench_measure_(&b, &cases[i]);
			else if (o->width < SPARK_BENCH_CAST_(int, strlen(b.name)))
				o->width = SPARK_BENCH_CAST_(int, strlen(b.name));
		}
	}
	return status;
}

SPARK_BENCH_FN_ int spark_bench_all_(struct spark_bench_options_ *o, const struct spark_bench_case *cases,
				     unsigned long count)
{
	int status;

	if (!o->list && o->json)
		fprintf(o->out, "{\"schema\": \"spark-bench/1\", \"min_time_ns\": %lu, \"benchmarks\": [", o->min_ns);
	else if (!o->list)
		spark_bench_head_(o);
	status = spark_bench_each_(o, cases, count, 1);
	if (!o->list && o->json)
		fputs("\n]}\n", o->out);
	if (fflush(o->out) || ferror(o->out)) {
		spark_bench_error_(o, "the results could not be written");
		status = 1;
	}
	return status;
}

/*
 * spark_bench_main - does what the arguments ask for with the cases: without any, it measures them
 * all and prints a table on the standard output; --help prints what can be asked for.
 *
 * Returns the exit status: 0, 1 where something could not be measured or written, 2 for wrong
 * usage. Both are told in a sentence on standard error.
 */
SPARK_BENCH_FN_ int spark_bench_main(int argc, char **argv, const struct spark_bench_case *cases, unsigned long count)
{
	struct spark_bench_options_ options;
	const char *term = getenv("TERM");
	unsigned long i;
	int status;

	memset(&options, 0, sizeof(options));
	options.program = argc > 0 ? argv[0] : "bench";
	options.out = stdout;
	options.min_ns = 5000000;
	options.passes = 1U << SPARK_BENCH_TIMING_ | 1U << SPARK_BENCH_COUNTING_;
	status = spark_bench_ask_(&options, argc, argv);
	for (i = 0; i < count && !status; i++)
		status = spark_bench_check_(&options, &cases[i]);
	if (status || options.help)
		return status ? status : spark_bench_help_(&options);
	status = spark_bench_each_(&options, cases, count, 0);
	if (status)
		return status;
	if (!options.width)
		return spark_bench_error_(&options, "no benchmark matches '%s': --bench-list has all",
					  options.filter ? options.filter : "");
	if (options.report)
		options.out = fopen(options.report, "w");
	if (!options.out)
		return spark_bench_error_(&options, "cannot write %s", options.report) - 1;
	options.ticker = !options.list && isatty(2) && term && strcmp(term, "dumb") != 0;
	status = spark_bench_all_(&options, cases, count);
	if (options.report && fclose(options.out) && !status)
		status = spark_bench_error_(&options, "cannot write %s", options.report) - 1;
	return status;
}

#endif /* SPARK_BENCH_PROGRAM_H */
