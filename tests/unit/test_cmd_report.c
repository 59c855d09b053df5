/* SPDX-License-Identifier: MIT */
/* cli/cmd/report: the options of --profile on a recording with samples, and what is wrong usage. */
#include <stdarg.h>
#include <unistd.h>

#include "cli/cmd/cmd.h"
#include "cli/store/store.h"
#include "profiled.h"
#include "sample.h"
#include "suite.h"

static char path[] = "test_cmd_report.XXXXXX";
static const char rules[] = "test_cmd_report.rules";
static char output[1 << 16], message[1000];

static void record(bool profiled)
{
	struct provenance provenance = { .version = "1" };
	struct store_options options = { .group = PROFILE_BY_PROCESS };
	struct store_file file;
	struct samples samples;
	struct sample sample;

	sample_init(&sample, PROFILE_BY_THREAD);
	sample_regions(&sample);
	sample_report(&sample);
	profiled_samples(&samples);
	sample.facts.provenance = &provenance;
	sample.facts.samples = profiled ? &samples : NULL;
	strcpy(path + strlen(path) - 6, "XXXXXX");
	close(mkstemp(path));
	ck_assert_int_eq(store_open(&file, path), 0);
	ck_assert_int_eq(store_write(&file, &sample.profile, &sample.facts, &options), 0);
	store_close(&file);
	samples_fini(&samples);
	sample_fini(&sample);
}

static void setup(void)
{
	record(true);
}

static void teardown(void)
{
	unlink(path);
	unlink(rules);
}

static void read_back(int fd, char *text, size_t size)
{
	ssize_t n = pread(fd, text, size - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	close(fd);
}

/* Runs the command with words up to NULL and the recording; its status. */
static int report(const char *word, ...)
{
	char *argv[16] = { (char[]){ "report" } }, *own[16];
	int argc = 1, status, out = fileno(tmpfile()), err = fileno(tmpfile()), saved[2] = { dup(1), dup(2) };
	va_list words;

	va_start(words, word);
	for (; word; word = va_arg(words, const char *))
		argv[argc++] = strdup(word);
	va_end(words);
	argv[argc++] = strdup(path);
	memcpy(own, argv, sizeof(own)); /* the command puts them in another order */
	fflush(stdout);
	dup2(out, 1);
	dup2(err, 2);
	status = command_report.run(argc, argv);
	fflush(stdout);
	dup2(saved[0], 1);
	dup2(saved[1], 2);
	close(saved[0]);
	close(saved[1]);
	read_back(out, output, sizeof(output));
	read_back(err, message, sizeof(message));
	while (--argc)
		free(own[argc]);
	return status;
}

static void has(const char *text, bool wanted)
{
	ck_assert_msg((strstr(output, text) != NULL) == wanted, "'%s' is %s:\n%s", text, wanted ? "not there" : "there",
		      output);
}

START_TEST(test_plain)
{
	ck_assert_int_eq(report(NULL), 0);
	has("\nhot in query ", true);
	has("\nfunction ", false);
}
END_TEST

START_TEST(test_profile)
{
	ck_assert_int_eq(report("--profile", NULL), 0);
	has("\nhot in query ", false);
	has("\nfunction ", true);
	has("\nobject ", true);
	has("\ncalls ", false);
	ck_assert_int_eq(report("--top", "2", "--profile", NULL), 0);
	has("\nand 8 more functions; --top 0 shows all\n", true);
	ck_assert_int_eq(report("--top", "0", "--profile", NULL), 0);
	has(" more function", false);
}
END_TEST

/* Each of these says what is wanted, without --profile. */
START_TEST(test_alone)
{
	ck_assert_int_eq(report("--by-region", NULL), 0);
	has("\nfunction in query ", true);
	has("\nfunction in insert ", true);
	ck_assert_int_eq(report("--call-tree", NULL), 0);
	has("\ncalls ", true);
	ck_assert_int_eq(report("--lines", "sqlite3VdbeExec", NULL), 0);
	has("\nsqlite3VdbeExec  self %", true);
	has("\nx.c:2104 ", true);
}
END_TEST

START_TEST(test_buckets)
{
	FILE *file = fopen(rules, "w");

	fputs("# mine\n^sqlite3 → database\n", file);
	fclose(file);
	ck_assert_int_eq(report("--buckets", rules, NULL), 0);
	has("\nbucket ", true);
	has("\ndatabase           66.1       72\n", true);
	has("\n[instrumentation]   1.8        2\n", true);
}
END_TEST

/* One sentence, nothing else, and the status. */
static void wrong(int status, int wanted, const char *why)
{
	ck_assert_int_eq(status, wanted);
	ck_assert_str_eq(output, "");
	ck_assert_msg(strstr(message, why) && strchr(message, '\n') == message + strlen(message) - 1, "%s", message);
}

START_TEST(test_mistakes)
{
	FILE *file;

	wrong(report("--lines", "no_such", NULL), 125, "has no samples in a function 'no_such'");
	wrong(report("--buckets", "no/such", NULL), 2, "cannot read the buckets no/such: No such file or directory");
	wrong(report("--buckets", ".", NULL), 2, "cannot read the buckets .: Is a directory");
	wrong(report("--top", "many", NULL), 2, "many");
	file = fopen(rules, "w");
	fputs("a -> b\n[ -> c\n", file);
	fclose(file);
	wrong(report("--buckets", rules, NULL), 2, "test_cmd_report.rules:2: ");
	truncate(rules, 2000000);
	wrong(report("--buckets", rules, NULL), 2, "no more than 1048576 bytes");
	truncate(rules, 100);
	wrong(report("--buckets", rules, NULL), 2, "test_cmd_report.rules is no text");
	unlink(path);
	record(false);
	wrong(report("--profile", NULL), 125, "has no samples: it was not recorded with run --profile");
	ck_assert_int_eq(report(NULL), 0);
	has("samples", false);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("cmd_report");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, test_plain);
	tcase_add_test(tests, test_profile);
	tcase_add_test(tests, test_alone);
	tcase_add_test(tests, test_buckets);
	tcase_add_test(tests, test_mistakes);
	return suite_run("cmd_report", tests);
}
