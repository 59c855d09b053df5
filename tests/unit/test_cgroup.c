/* SPDX-License-Identifier: MIT */
/* A run's own control group: where ours is, names of groups and whose they are, values of limits. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cmd/limited.h"
#include "cli/session/cgroup.h"
#include "cli/session/cgroup_own.h"
#include "cli/session/internal.h"
#include "tests/unit/suite.h"

#define V1 "30 25 0:26 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory\n"
#define V2 "33 25 0:29 / /sys/fs/cgroup rw,nosuid shared:10 master:2 - cgroup2 cgroup2 rw,nsdelegate\n"
#define V2_BOUND "34 25 0:29 /docker/01\\0402 /mnt/c\\040g ro - cgroup2 cgroup rw\n"

/* ---- where ours is --------------------------------------------------------------------------------- */

static const struct {
	const char *mounts, *group;
	const char *want;            /* NULL: nowhere */
} owns[] = {
	{ V1 V2, "/", "/sys/fs/cgroup" },
	{ V1 V2, "/user.slice/a b", "/sys/fs/cgroup/user.slice/a b" },
	/* A container that shows its own group as the root of the mount. */
	{ V2_BOUND, "/docker/01 2", "/mnt/c g" },
	{ V2_BOUND, "/docker/01 2/inner", "/mnt/c g/inner" },
	{ V2_BOUND, "/docker/01 23", NULL },
	{ V2_BOUND, "/", NULL },
	{ V2_BOUND V2, "/other", "/sys/fs/cgroup/other" },
	/* Of a namespace of groups that we are outside of. */
	{ V2, "/../x", NULL },
	{ V1, "/", NULL },
	{ "", "/", NULL },
	{ "1 2 3 / - cgroup2\n", "/", NULL },
	{ "1 2 - cgroup2 x y", "/", NULL },
};

START_TEST(test_own)
{
	char text[1024], path[64];
	bool found;

	snprintf(text, sizeof(text), "%s", owns[_i].mounts);
	found = cgroup_parse_own(text, owns[_i].group, path, sizeof(path));
	ck_assert_int_eq(found, owns[_i].want != NULL);
	if (owns[_i].want)
		ck_assert_str_eq(path, owns[_i].want);
}
END_TEST

START_TEST(test_own_too_long)
{
	char text[] = V2, path[16];

	ck_assert(!cgroup_parse_own(text, "/a", path, sizeof(path)));
}
END_TEST

START_TEST(test_membership)
{
	char group[32];

	ck_assert(cgroup_parse_membership("0::/\n", group, sizeof(group)));
	ck_assert_str_eq(group, "/");
	ck_assert(cgroup_parse_membership("4:memory:/x\n10::/no\n0::/a:b/c\n", group, sizeof(group)));
	ck_assert_str_eq(group, "/a:b/c");
	ck_assert(!cgroup_parse_membership("4:memory:/x\n10::/no\n", group, sizeof(group)));
	ck_assert(!cgroup_parse_membership("0::/a-name-that-does-not-fit-into-it\n", group, sizeof(group)));
	ck_assert(!cgroup_parse_membership("", group, sizeof(group)));
}
END_TEST

START_TEST(test_words)
{
	ck_assert(cgroup_has_word("cpuset cpu io\n", "cpu"));
	ck_assert(cgroup_has_word("cpuset cpu io\n", "io"));
	ck_assert(cgroup_has_word("cpu,cpuacct", "cpuacct"));
	ck_assert(!cgroup_has_word("cpuset cpuacct\n", "cpu"));
	ck_assert(!cgroup_has_word("", "cpu"));
	ck_assert_int_eq(cgroup_controller_of("memory.max"), CGROUP_MEMORY);
	ck_assert_int_eq(cgroup_controller_of("io.stat"), CGROUP_IO);
	ck_assert_int_eq(cgroup_controller_of("cpu.max"), CGROUP_CPU);
	ck_assert_int_eq(cgroup_controller_of("cpuset.cpus"), CGROUP_CONTROLLERS);
	ck_assert_int_eq(cgroup_controller_of("memory.pressure"), CGROUP_CONTROLLERS);
}
END_TEST

/* ---- names ----------------------------------------------------------------------------------------- */

START_TEST(test_name)
{
	char name[CGROUP_NAME_SIZE], next[CGROUP_NAME_SIZE];
	struct cgroup_name parts;

	cgroup_name_next(name);
	cgroup_name_next(next);
	ck_assert_str_ne(name, next);
	ck_assert(cgroup_name_parse(name, &parts));
	ck_assert_int_eq(parts.pid, (int)getpid());
	ck_assert_uint_gt(parts.start, 0);
	ck_assert_uint_gt(parts.namespace_id, 0);
	ck_assert(cgroup_name_parse("spark-1-2-3-4", &parts));
	ck_assert(!cgroup_name_parse("spark-1-2-3-4x", &parts));
	ck_assert(!cgroup_name_parse("spark-1-2-3", &parts));
	ck_assert(!cgroup_name_parse("spark-1--2-3-4", &parts));
	ck_assert(!cgroup_name_parse("spark-1-02-3-4", &parts));
	ck_assert(!cgroup_name_parse("spark-probe-17", &parts));
	ck_assert(!cgroup_name_parse("", &parts));
}
END_TEST

START_TEST(test_start)
{
	ck_assert_uint_eq(cgroup_name_start("7 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20"), 777);
	ck_assert_uint_eq(cgroup_name_start("7 (a) S 1 2 3"), 0);
	ck_assert_uint_eq(cgroup_name_start(""), 0);
}
END_TEST

static bool there(const char *directory, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return !access(path, F_OK);
}

static void put(const char *directory, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	ck_assert_int_eq(mkdir(path, 0755), 0);
}

/* Only those of sparkctls that have ended, only empty ones, only by their exact names. */
START_TEST(test_stale)
{
	char directory[] = "/tmp/spark-groups-XXXXXX", living[CGROUP_NAME_SIZE], dead[CGROUP_NAME_SIZE];
	char reused[CGROUP_NAME_SIZE], elsewhere[CGROUP_NAME_SIZE], full[CGROUP_NAME_SIZE], command[CGROUP_NAME_SIZE + 8];
	struct cgroup_name ours;
	pid_t gone = fork();

	if (!gone)
		_exit(0);
	ck_assert_int_eq(waitpid(gone, NULL, 0), gone);
	ck_assert_ptr_nonnull(mkdtemp(directory));
	cgroup_name_next(living);
	ck_assert(cgroup_name_parse(living, &ours));
	snprintf(dead, sizeof(dead), "spark-%lu-%d-5-1", ours.namespace_id, (int)gone);
	snprintf(full, sizeof(full), "spark-%lu-%d-5-2", ours.namespace_id, (int)gone);
	snprintf(elsewhere, sizeof(elsewhere), "spark-%lu-%d-5-1", ours.namespace_id + 1, (int)gone);
	snprintf(reused, sizeof(reused), "spark-%lu-%d-%llu-1", ours.namespace_id, ours.pid, ours.start + 1);
	put(directory, living);
	put(directory, dead);
	put(directory, full);
	put(directory, elsewhere);
	put(directory, reused);
	put(directory, "spark-of-somebody");
	snprintf(command, sizeof(command), "%s/in", full);
	put(directory, command);
	cgroup_sweep_stale(directory);
	ck_assert(there(directory, living));
	ck_assert(!there(directory, dead));
	ck_assert(there(directory, full));
	ck_assert(there(directory, elsewhere));
	ck_assert(!there(directory, reused));
	ck_assert(there(directory, "spark-of-somebody"));
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
	cgroup_sweep_stale(directory);
}
END_TEST

/* ---- values ---------------------------------------------------------------------------------------- */

START_TEST(test_sizes)
{
	u64 bytes = 0;

	ck_assert_int_eq(limited_size("4096", &bytes), 0);
	ck_assert_uint_eq(bytes, 4096);
	ck_assert_int_eq(limited_size("32M", &bytes), 0);
	ck_assert_uint_eq(bytes, 32 << 20);
	ck_assert_int_eq(limited_size("2T", &bytes), 0);
	ck_assert_uint_eq(bytes, 2ull << 40);
	ck_assert_int_eq(limited_size("99999999999T", &bytes), -ERANGE);
	ck_assert_int_eq(limited_size("", &bytes), -EINVAL);
	ck_assert_int_eq(limited_size("M", &bytes), -EINVAL);
	ck_assert_int_eq(limited_size("0", &bytes), -EINVAL);
	ck_assert_int_eq(limited_size("-1M", &bytes), -EINVAL);
	ck_assert_int_eq(limited_size("1.5M", &bytes), -EINVAL);
	ck_assert_int_eq(limited_size("1MB", &bytes), -EINVAL);
	ck_assert_int_eq(limited_size("1111111111111111111111111111111111", &bytes), -EINVAL);
}
END_TEST

START_TEST(test_percent)
{
	char value[64];

	ck_assert_int_eq(limited_percent("50%", value, sizeof(value)), 0);
	ck_assert_str_eq(value, "50000 100000");
	ck_assert_int_eq(limited_percent("12.5", value, sizeof(value)), 0);
	ck_assert_str_eq(value, "12500 100000");
	ck_assert_int_eq(limited_percent("200%", value, sizeof(value)), 0);
	ck_assert_str_eq(value, "200000 100000");
	ck_assert_int_eq(limited_percent("0.5%", value, sizeof(value)), -EINVAL);
	ck_assert_int_eq(limited_percent("%", value, sizeof(value)), -EINVAL);
	ck_assert_int_eq(limited_percent("", value, sizeof(value)), -EINVAL);
	ck_assert_int_eq(limited_percent("nan", value, sizeof(value)), -EINVAL);
	ck_assert_int_eq(limited_percent("1e999", value, sizeof(value)), -EINVAL);
	ck_assert_int_eq(limited_percent("-50%", value, sizeof(value)), -EINVAL);
	ck_assert_int_eq(limited_percent("half", value, sizeof(value)), -EINVAL);
}
END_TEST

START_TEST(test_io)
{
	char value[96], small[8];

	ck_assert_int_eq(limited_io("rbps=1M,wiops=100", value, sizeof(value)), 0);
	ck_assert_str_eq(value, "rbps=1048576 wiops=100");
	ck_assert_int_eq(limited_io("wbps=7", value, sizeof(value)), 0);
	ck_assert_str_eq(value, "wbps=7");
	ck_assert_int_eq(limited_io("", value, sizeof(value)), -EINVAL);
	ck_assert_int_eq(limited_io(",", value, sizeof(value)), -EINVAL);
	ck_assert_int_eq(limited_io("rbps", value, sizeof(value)), -EINVAL);
	ck_assert_int_eq(limited_io("rbps=", value, sizeof(value)), -EINVAL);
	ck_assert_int_eq(limited_io("bps=1", value, sizeof(value)), -EINVAL);
	ck_assert_int_eq(limited_io("rbps=1M;wbps=2", value, sizeof(value)), -EINVAL);
	ck_assert_int_eq(limited_io("rbps=1M,wiops=100", small, sizeof(small)), -EINVAL);
}
END_TEST

static void file_put(const char *folder, const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

/* What limits a group is among its figures; "max" limits nothing. */
START_TEST(test_limits)
{
	static const char *const names[] = { "cgroup.memory_max", "cgroup.cpu_max", "cgroup.rbps_max.999:1", "cgroup.wiops_max.999:2" };
	static const double values_wanted[] = { 67108864, 0.5, 1048576, 100 };
	static const char *const files[][2] = {
		{ "memory.max", "67108864\n" }, { "memory.high", "max\n" }, { "cpu.max", "50000 100000\n" },
		{ "io.max", "999:1 rbps=1048576 wbps=max riops=max wiops=max\n999:2 rbps=max wbps=max riops=max wiops=100\n" },
	};
	static struct cgroup_own own;
	struct totals *totals = calloc(1, sizeof(*totals));
	char folder[] = "/tmp/test_cgroup.XXXXXX", path[128];
	size_t found = 0;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		file_put(folder, files[i][0], files[i][1]);
	snprintf(own.path, sizeof(own.path), "%s", folder);
	totals->room = CGROUP_FIGURES;
	totals->facts = calloc(totals->room, sizeof(*totals->facts));
	cgroup_own_totals(&own, totals);
	for (size_t i = 0; i < totals->nfacts; i++)
		for (size_t k = 0; k < ARRAY_SIZE(names); k++)
			if (!strcmp(totals->facts[i].name, names[k])) {
				ck_assert_double_eq(totals->facts[i].cell.value, values_wanted[k]);
				found++;
			} else {
				ck_assert(strcmp(totals->facts[i].name, "cgroup.memory_high") != 0 && !strstr(totals->facts[i].name, "wbps_max"));
			}
	ck_assert_uint_eq(found, ARRAY_SIZE(names));
	free(totals->facts);
	free(totals);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i][0]);
		unlink(path);
	}
	rmdir(folder);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("cgroup");

	tcase_add_loop_test(t, test_own, 0, ARRAY_SIZE(owns));
	tcase_add_test(t, test_own_too_long);
	tcase_add_test(t, test_membership);
	tcase_add_test(t, test_words);
	tcase_add_test(t, test_name);
	tcase_add_test(t, test_start);
	tcase_add_test(t, test_stale);
	tcase_add_test(t, test_sizes);
	tcase_add_test(t, test_percent);
	tcase_add_test(t, test_io);
	tcase_add_test(t, test_limits);
	return suite_run("cgroup", t);
}
