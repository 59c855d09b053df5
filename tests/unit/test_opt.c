/* SPDX-License-Identifier: MIT */
/* cli/opt: what an option row takes, refuses and prints. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/opt.h"
#include "common/base.h"

static const char *const words[] = { "table", "json", NULL };

struct options {
	bool follow, quiet;
	int verbose;
	const char *report;
	unsigned long count;
	uint64_t timeout_ns;
	int format;
	struct opt_list metrics;
	struct opt_list events;
	struct opt_list scan;
};

#define AT(field) .offset = offsetof(struct options, field)

static const struct opt rows[] = {
	{ .name = "follow", .kind = OPT_FLAG, AT(follow), .help = "wait" },
	{ .name = "quiet", .letter = 'q', .kind = OPT_FLAG, AT(quiet), .help = "say less" },
	{ .name = "verbose", .letter = 'v', .kind = OPT_COUNT, AT(verbose), .help = "say more" },
	{ .name = "report", .letter = 'o', .kind = OPT_STRING, AT(report), .metavar = "FILE",
	  .help = "write there", .default_text = "standard error" },
	{ .name = "count", .letter = 'n', .kind = OPT_UINT, AT(count), .metavar = "N",
	  .help = "so often" },
	{ .name = "timeout", .kind = OPT_SECONDS, AT(timeout_ns), .metavar = "SECONDS",
	  .help = "end then, after a sentence that is long enough to be broken into lines" },
	{ .name = "format", .kind = OPT_ENUM, AT(format), .words = words, .help = "in that form" },
	{ .name = "metrics", .kind = OPT_LIST, AT(metrics), .metavar = "GLOBS", .help = "columns" },
	{ .name = "events", .kind = OPT_EACH, AT(events), .metavar = "LIST", .help = "events", .hidden = true },
	{ .name = "scan", .letter = 'P', .kind = OPT_WORDS, AT(scan), .metavar = "N A [B]", .help = "values" },
	{ .name = "secret", .kind = OPT_FLAG, AT(follow), .help = "hidden", .hidden = true },
	{ .name = NULL },
};

static struct options got;
/* What the last parse printed on standard error. */
static char said[512];

static int saved_stderr, pipe_end[2];

static void capture_begin(void)
{
	fflush(stderr);
	saved_stderr = dup(STDERR_FILENO);
	ck_assert_int_eq(pipe(pipe_end), 0);
	dup2(pipe_end[1], STDERR_FILENO);
	close(pipe_end[1]);
}

static void capture_end(void)
{
	ssize_t len;

	dup2(saved_stderr, STDERR_FILENO);
	close(saved_stderr);
	len = read(pipe_end[0], said, sizeof(said) - 1);
	said[len > 0 ? len : 0] = '\0';
	close(pipe_end[0]);
}

/* Parses a command line that is split at blanks. */
static int parse(const char *line)
{
	static char copy[256];
	char *argv[16], *word, *rest = copy;
	int argc = 0, result;

	opt_list_free(&got.metrics);
	opt_list_free(&got.events);
	opt_list_free(&got.scan);
	memset(&got, 0, sizeof(got));
	snprintf(copy, sizeof(copy), "run %s", line);
	while ((word = strsep(&rest, " ")))
		argv[argc++] = word;
	capture_begin();
	result = opt_parse(rows, &got, argc, argv);
	capture_end();
	return result;
}

START_TEST(test_values)
{
	ck_assert_int_eq(parse("--report=a --count 7 --timeout 1.5 --format json --follow x"), 9);
	ck_assert_str_eq(got.report, "a");
	ck_assert_uint_eq(got.count, 7);
	ck_assert_uint_eq(got.timeout_ns, 1500000000);
	ck_assert_int_eq(got.format, 1);
	ck_assert(got.follow && !got.quiet);
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(test_letters)
{
	ck_assert_int_eq(parse("-qvv -n5 -v -o file"), 6);
	ck_assert(got.quiet);
	ck_assert_int_eq(got.verbose, 3);
	ck_assert_uint_eq(got.count, 5);
	ck_assert_str_eq(got.report, "file");
	ck_assert_int_eq(parse("-vofile"), 2);
	ck_assert_str_eq(got.report, "file");
}
END_TEST

START_TEST(test_ends)
{
	ck_assert_int_eq(parse("-q app -v"), 2);
	ck_assert_int_eq(got.verbose, 0);
	ck_assert_int_eq(parse("-q -- -v"), 3);
	ck_assert_int_eq(parse("-q - -v"), 2);
	ck_assert_int_eq(parse("--report -- -v app"), 4);
	ck_assert_str_eq(got.report, "--");
	ck_assert_int_eq(got.verbose, 1);
	ck_assert_int_eq(parse("-q"), 2);
	ck_assert_int_eq(parse("--report= x"), 2);
	ck_assert_str_eq(got.report, "");
}
END_TEST

START_TEST(test_repeated)
{
	ck_assert_int_eq(parse("--count 1 --count 2 --metrics a,b* --metrics c\\,d"), 9);
	ck_assert_uint_eq(got.count, 2);
	ck_assert_uint_eq(got.metrics.n, 3);
	ck_assert(opt_list_match(&got.metrics, "a"));
	ck_assert(opt_list_match(&got.metrics, "bcd"));
	ck_assert(opt_list_match(&got.metrics, "c,d"));
	ck_assert(!opt_list_match(&got.metrics, "c"));
	ck_assert_int_eq(parse("--events {a,b}:u --events c\\,d"), 5);
	ck_assert_uint_eq(got.events.n, 2);
	ck_assert_str_eq(got.events.item[0], "{a,b}:u");
	ck_assert_str_eq(got.events.item[1], "c\\,d");
}
END_TEST

START_TEST(test_words)
{
	static const struct { const char *line; int first; const char *words[3]; } lines[] = {
		{ "--scan n 1 x", 4, { "n", "1", "" } }, { "--scan=n 1 2 x", 4, { "n", "1", "2" } },
		{ "-P n 1 .5e-3 x", 5, { "n", "1", ".5e-3" } }, { "-Pn 1 -- 3", 4, { "n", "1", "" } },
		{ "-qP n 1", 4, { "n", "1", "" } }, { "-P -q -2 -3", 5, { "-q", "-2", "-3" } },
		{ "-P n 1 2x x", 4, { "n", "1", "" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		ck_assert_int_eq(parse(lines[i].line), lines[i].first);
		ck_assert_uint_eq(got.scan.n, 3);
		for (size_t k = 0; k < 3; k++)
			ck_assert_str_eq(got.scan.item[k], lines[i].words[k]);
	}
	ck_assert_int_eq(parse("-P a 1 2 -P b 3 x"), 8);
	ck_assert_uint_eq(got.scan.n, 6);
	ck_assert_int_eq(parse("--scan n"), OPT_ERROR);
	ck_assert_ptr_nonnull(strstr(said, "option --scan needs more words: N A [B]"));
	ck_assert_int_eq(parse("-P"), OPT_ERROR);
}
END_TEST

START_TEST(test_beginnings)
{
	ck_assert_int_eq(parse("--fol --cou=3"), 3);
	ck_assert(got.follow);
	ck_assert_uint_eq(got.count, 3);
	ck_assert_int_eq(parse("--fo"), OPT_ERROR);
	ck_assert_str_eq(said,
		"sparkctl: option --fo of run could be any of 2; write more of it\n");
}
END_TEST

START_TEST(test_help)
{
	ck_assert_int_eq(parse("-q --help"), OPT_HELP);
	ck_assert_int_eq(parse("-qh"), OPT_HELP);
	ck_assert_int_eq(parse("app --help"), 1);
	ck_assert_int_eq(parse("--report --help"), 3);
	ck_assert_str_eq(said, "");
}
END_TEST

/* Every refusal is one sentence that names the option. */
static const struct { const char *line, *sentence; } refused[] = {
	{ "--format xml", "option --format takes one of table, json, not 'xml'" },
	{ "--format=", "option --format takes one of table, json, not ''" },
	{ "--count -1", "option --count takes a whole number, not '-1'" },
	{ "--count 0x10", "option --count takes a whole number, not '0x10'" },
	{ "--count 18446744073709551616", "option --count: '18446744073709551616' is too large" },
	{ "--timeout 1,5", "option --timeout takes seconds or a time such as 1.5, 200ms or 2m, "
			   "not '1,5'" },
	{ "--metrics a,,b", "option --metrics takes names or patterns separated by commas, "
			    "not 'a,,b'" },
	{ "--follow=yes", "option --follow takes no value" },
	{ "--report", "option --report needs a value" },
	{ "-n", "option -n (--count) needs a value" },
	{ "--fllow", "run has no option --fllow; did you mean --follow?" },
	{ "--xyzzy=1", "run has no option --xyzzy; see sparkctl help run" },
	{ "-qx", "run has no option -x; see sparkctl help run" },
	{ "-\033", "run has no option -\\x1B; see sparkctl help run" },
};

START_TEST(test_refused)
{
	char want[256];

	snprintf(want, sizeof(want), "sparkctl: %s\n", refused[_i].sentence);
	ck_assert_int_eq(parse(refused[_i].line), OPT_ERROR);
	ck_assert_str_eq(said, want);
}
END_TEST

static const struct { const char *text; int err; uint64_t ns; } times[] = {
	{ "0", 0, 0 }, { "1", 0, 1000000000 }, { "1.5", 0, 1500000000 }, { ".25", 0, 250000000 },
	{ "200ms", 0, 200000000 }, { "2m", 0, 120000000000 }, { "1h", 0, 3600000000000 },
	{ "7us", 0, 7000 }, { "1.0000000019", 0, 1000000001 }, { "0.1s", 0, 100000000 },
	{ "9223372036.854775807", 0, INT64_MAX },
	{ "9223372036.854775808", -ERANGE, 0 }, { "18446744073.709551615", -ERANGE, 0 },
	{ "18446744073.709551616", -ERANGE, 0 }, { "99999999999999999999", -ERANGE, 0 },
	{ "", -EINVAL, 0 }, { ".", -EINVAL, 0 }, { "1.", -EINVAL, 0 }, { "s", -EINVAL, 0 },
	{ "-1", -EINVAL, 0 }, { "+1", -EINVAL, 0 }, { " 1", -EINVAL, 0 }, { "1 s", -EINVAL, 0 },
	{ "1e3", -EINVAL, 0 }, { "inf", -EINVAL, 0 }, { "nan", -EINVAL, 0 }, { "1d", -EINVAL, 0 },
	{ "1.5.5", -EINVAL, 0 },
};

START_TEST(test_seconds)
{
	uint64_t ns = 0;

	ck_assert_int_eq(opt_parse_seconds(times[_i].text, &ns), times[_i].err);
	ck_assert_uint_eq(ns, times[_i].ns);
}
END_TEST

static char *print(void (*printer)(FILE *, const struct opt *, size_t), size_t width)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	printer(file, rows, width);
	fclose(file);
	return text;
}

static void print_table(FILE *file, const struct opt *table, size_t width)
{
	(void)width;
	opt_print_table(file, table);
}

START_TEST(test_print_help)
{
	static const size_t widths[] = { 20, 40, 60, 80, 200 };
	char *text = print(opt_print_help, widths[_i]), *rest = text, *line;

	ck_assert_ptr_nonnull(strstr(text, "  -o, --report=FILE"));
	ck_assert_ptr_nonnull(strstr(text, "--format=table|json"));
	ck_assert_ptr_null(strstr(text, "secret"));
	while ((line = strsep(&rest, "\n")))
		ck_assert_uint_le(strlen(line), MAX(widths[_i], 25));
	free(text);
}
END_TEST

START_TEST(test_print_table)
{
	char *text = print(print_table, 0);

	ck_assert_ptr_nonnull(strstr(text,
		"report\to\tstring\tFILE\t\tstandard error\twrite there\n"));
	ck_assert_ptr_nonnull(strstr(text, "format\t\tenum\t\ttable,json\t\tin that form\n"));
	ck_assert_ptr_null(strstr(text, "secret"));
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("opt");
	TCase *parsing = tcase_create("parsing"), *printing = tcase_create("printing");
	SRunner *runner;
	int failed;

	tcase_add_test(parsing, test_values);
	tcase_add_test(parsing, test_letters);
	tcase_add_test(parsing, test_ends);
	tcase_add_test(parsing, test_repeated);
	tcase_add_test(parsing, test_words);
	tcase_add_test(parsing, test_beginnings);
	tcase_add_test(parsing, test_help);
	tcase_add_loop_test(parsing, test_refused, 0, ARRAY_SIZE(refused));
	tcase_add_loop_test(parsing, test_seconds, 0, ARRAY_SIZE(times));
	tcase_add_loop_test(printing, test_print_help, 0, 5);
	tcase_add_test(printing, test_print_table);
	suite_add_tcase(suite, parsing);
	suite_add_tcase(suite, printing);
	runner = srunner_create(suite);
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
