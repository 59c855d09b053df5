/* SPDX-License-Identifier: MIT */
/*
 * The saved ids of tracepoints: what is written of a tracefs and what is not, what is believed of a file, and who
 * uses it where tracefs does not answer.
 */
#include <unistd.h>

#include "caps_root.h"
#include "cli/caps/ids.h"
#include "cli/caps/try.h"
#include "cli/names/names.h"
#include "common/base.h"
#include "suite.h"

#define LIST "/var/cache/spark/tracepoints"
/* FNV-1a of "a" */
#define HEADER "spark-tracepoints 1 6.1.0-13-amd64 af63dc4c8601ec8c\n"

static const char sound[] = HEADER "sched:sched_switch 314\nsched:sched_waking 316\nsyscalls:sys_enter_read 700\n";

static struct caps_context context;

static void setup(void)
{
	root_setup();
	put_file("/proc/version", "a");
	put_file("/proc/sys/kernel/osrelease", "6.1.0-13-amd64\n");
	put_file("/proc/self/mountinfo", "");
	put_file(LIST, sound);
	caps_init(&context, root);
}

/* What is wrong with the list, after why tracefs does not serve; "" if it is taken. */
static const char *wrong(void)
{
	static struct outcome why;
	struct ids ids;

	why = outcome_no("first", "closed");
	if (ids_load(&context, &ids, &why) == 0) {
		ids_fini(&ids);
		return "";
	}
	ck_assert_ptr_null(ids.text);
	if (!strcmp(why.because, "closed"))
		ck_assert_str_eq(why.remedy, "first");
	else
		ck_assert_str_eq(why.remedy, IDS_COMMAND);
	return why.because;
}

START_TEST(test_rows)
{
	struct outcome why;
	struct ids_row row;
	struct ids ids;
	const char *at = NULL;

	ck_assert_int_eq(ids_load(&context, &ids, &why), 0);
	ck_assert(ids_next(&ids, &at, &row));
	ck_assert_str_eq(row.system, "sched");
	ck_assert_str_eq(row.name, "sched_switch");
	ck_assert_uint_eq(row.id, 314);
	ck_assert(ids_next(&ids, &at, &row) && ids_next(&ids, &at, &row));
	ck_assert_str_eq(row.system, "syscalls");
	ck_assert_uint_eq(row.id, 700);
	ck_assert(!ids_next(&ids, &at, &row));
	ck_assert_uint_eq(ids_find(&ids, "sched", "sched_waking"), 316);
	ck_assert_uint_eq(ids_find(&ids, "syscalls", "sched_waking"), 0);
	ids_fini(&ids);
}
END_TEST

static const struct { const char *text, *wrong; } texts[] = {
	{ HEADER, "" },
	{ "", "is no list" },
	{ "no newline", "is no list" },
	{ "\n", "is no list" },
	{ "spark-tracepoints 2 6.1.0-13-amd64 af63dc4c8601ec8c\n", "another version of sparkctl" },
	{ "spark-tracepoints 1 6.1.0-14-amd64 af63dc4c8601ec8c\n", "is of another kernel, 6.1.0-14-amd64" },
	{ "spark-tracepoints 1 6.1.0-13-amd64 af63dc4c8601ec8d\n", "is of another build of this kernel" },
	{ "spark-tracepoints 1 6.1.0-13-amd64\n", "is damaged in line 1" },
	{ "spark-tracepoints 1 \033[m af63dc4c8601ec8c\n", "is damaged in line 1" },
	{ HEADER "sched:sched_switch 314", "is damaged in line 2" },
	{ HEADER "sched:sched_switch 314\n\n", "is damaged in line 3" },
	{ HEADER "sched:sched_switch 0\n", "is damaged in line 2" },
	{ HEADER "sched:sched_switch 9999999999\n", "is damaged in line 2" },
	{ HEADER "sched:sched_switch 3x\n", "is damaged in line 2" },
	{ HEADER "sched:sched_switch  3\n", "is damaged in line 2" },
	{ HEADER "sched 3\n", "is damaged in line 2" },
	{ HEADER ":a 3\n", "is damaged in line 2" },
	{ HEADER "../a:b 3\n", "is damaged in line 2" },
};

START_TEST(test_texts)
{
	put_file(LIST, texts[_i].text);
	if (texts[_i].wrong[0])
		assert_contains(wrong(), texts[_i].wrong);
	else
		ck_assert_str_eq(wrong(), "");
}
END_TEST

/* Nobody but root may have written it. */
START_TEST(test_trust)
{
	char path[256], other[256];

	snprintf(path, sizeof(path), "%s" LIST, root);
	snprintf(other, sizeof(other), "%s/other", root);
	ck_assert_str_eq(wrong(), "");
	chmod(path, 0664);
	assert_contains(wrong(), "closed, and " LIST " can be written by others");
	chmod(path, 0646);
	assert_contains(wrong(), "can be written by others");
	chmod(path, 0644);
	context.uid++;
	assert_contains(wrong(), "is not root's");
	context.uid--;
	ck_assert_int_eq(rename(path, other), 0);
	ck_assert_str_eq(wrong(), "closed");
	ck_assert_int_eq(symlink(other, path), 0);
	assert_contains(wrong(), "cannot be read (ELOOP)");
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0644), 0);
	assert_contains(wrong(), "is no regular file");
	unlink(path);
	ck_assert_int_eq(rename(other, path), 0);
	ck_assert_int_eq(truncate(path, 5 << 20), 0);
	assert_contains(wrong(), "is too large");
	put_file(LIST, sound);
	put_file("/proc/version", "b");
	assert_contains(wrong(), "another build");
	snprintf(path, sizeof(path), "%s/proc/version", root);
	unlink(path);
	assert_contains(wrong(), "cannot be told from that of another kernel");
}
END_TEST

static void put_tracefs(void)
{
	put_file("/proc/self/mountinfo", "36 25 0:32 / /t rw - tracefs none rw\n");
	put_file("/t/events/enable", "0\n");
	put_file("/t/events/syscalls/sys_enter_read/id", "700\n");
	put_file("/t/events/syscalls/enable", "0\n");
	put_file("/t/events/sched/sched_switch/id", "314\n");
	put_file("/t/events/kvm/kvm_exit/id", "2000\n");
	put_file("/t/events/probe/kfree/id", "2001\n");
	put_file("/t/events/kmem/kfree/id", "200\n");
	put_file("/t/events/ftrace/function/id", "1\n");
	put_file("/t/events/odd/odd/id", "x\n");
	put_file("/t/dynamic_events", "p:probe/kfree kfree ptr=%di\n");
	put_file("/proc/kallsyms", "0 T __traceiter_sched_switch\n0 T __traceiter_kvm_exit\t[kvm]\n0 t kvm_exit\n"
		"0 D __tracepoint_kfree\n0 T __traceiter_sched\n");
}

/* The kernel's own, with names and ids that last. */
START_TEST(test_save)
{
	struct outcome why;
	struct ids ids;
	char path[256], command[300];
	struct stat st;
	size_t saved, left_out;

	put_tracefs();
	snprintf(command, sizeof(command), "rm -r %s/var", root);
	ck_assert_int_eq(system(command), 0);
	umask(077);
	ck_assert_int_eq(ids_save(&context, &saved, &left_out, &why), 0);
	ck_assert_uint_eq(saved, 3);
	ck_assert_uint_eq(left_out, 3);
	snprintf(path, sizeof(path), "%s" LIST, root);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0644);
	*strrchr(path, '/') = '\0';
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0755);
	ck_assert_int_eq(ids_load(&context, &ids, &why), 0);
	ck_assert_uint_eq(ids_find(&ids, "sched", "sched_switch"), 314);
	ck_assert_uint_eq(ids_find(&ids, "syscalls", "sys_enter_read"), 700);
	ck_assert_uint_eq(ids_find(&ids, "kmem", "kfree"), 200);
	ids_fini(&ids);
	/* Nothing is left beside it. */
	ck_assert_int_eq(rmdir(path), -1);
	strcat(path, "/tracepoints");
	unlink(path);
	*strrchr(path, '/') = '\0';
	ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

/* What cannot be saved leaves the former list. */
START_TEST(test_save_failed)
{
	struct outcome why;
	size_t saved, left_out;
	char path[256];

	ck_assert_int_eq(ids_save(&context, &saved, &left_out, &why), -1);
	assert_contains(why.because, "not mounted");
	put_file("/proc/self/mountinfo", "36 25 0:32 / /t rw - tracefs none rw\n");
	ck_assert_int_eq(ids_save(&context, &saved, &left_out, &why), -1);
	ck_assert_str_eq(wrong(), "");
	put_tracefs();
	snprintf(path, sizeof(path), "%s" LIST, root);
	unlink(path);
	put_file(LIST "/in the way", "");
	ck_assert_int_eq(ids_save(&context, &saved, &left_out, &why), -1);
	assert_contains(why.because, LIST);
}
END_TEST

START_TEST(test_probe)
{
	struct outcome why;

	ck_assert_int_eq(tracing_id(&context, "sched/sched_switch", &why), 314);
	ck_assert_int_lt(tracing_id(&context, "block/block_rq_issue", &why), 0);
	assert_contains(why.because, "the saved ids, of the kernel without modules, have no block:block_rq_issue");
	put_file(LIST, "x\n");
	ck_assert_int_lt(tracing_id(&context, "sched/sched_switch", &why), 0);
	assert_contains(why.because, "not mounted, nor is debugfs, and " LIST " is no list");
	ck_assert_str_eq(why.remedy, IDS_COMMAND);
}
END_TEST

static int count(void *data, const char *system, const char *name)
{
	sprintf((char *)data + strlen(data), "%s:%s ", system, name);
	return 0;
}

START_TEST(test_names)
{
	struct names_context names;
	struct event_list list = { .event = NULL };
	char text[256] = "";

	names_init(&names, &context);
	ck_assert_int_eq(names_parse(&names, "s*:s*_s*,syscalls:sys_enter_read:u,other:thing", &list), 0);
	ck_assert_uint_eq(list.n, 3);
	ck_assert_str_eq(list.event[0].name, "sched:sched_switch");
	ck_assert_uint_eq(list.event[0].attr.config, 314);
	ck_assert_int_eq(list.event[0].side, EVENT_KERNEL);
	ck_assert_uint_eq(list.event[1].attr.config, 700);
	ck_assert_int_eq(list.event[1].side, EVENT_USER);
	ck_assert_ptr_null(list.event[1].obstacle);
	/* It may be a module's. */
	assert_contains(list.event[2].obstacle, "have no other:thing");
	ck_assert_int_eq(names_parse(&names, "syscalls:sys_enter_raed", &list), -1);
	ck_assert_uint_eq(list.n, 3);
	ck_assert_int_eq(names_each_tracepoint(&names, "sch*", count, text), 0);
	ck_assert_str_eq(text, "sched:sched_switch sched:sched_waking ");
	put_file(LIST, "x\n");
	ck_assert_int_lt(names_each_tracepoint(&names, "*", count, text), 0);
	event_list_free(&list);
	names_fini(&names);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("ids");

	tcase_add_checked_fixture(tests, setup, root_teardown);
	tcase_add_test(tests, test_rows);
	tcase_add_loop_test(tests, test_texts, 0, ARRAY_SIZE(texts));
	tcase_add_test(tests, test_trust);
	tcase_add_test(tests, test_save);
	tcase_add_test(tests, test_save_failed);
	tcase_add_test(tests, test_probe);
	tcase_add_test(tests, test_names);
	return suite_run("ids", tests);
}
