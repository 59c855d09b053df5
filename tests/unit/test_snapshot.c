/* SPDX-License-Identifier: MIT */
/* analyze/snapshot: files of the system and of control groups, whatever a kernel leaves out or adds. */
#include "cli/analyze/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"

#define ABSENT WIRE_ABSENT(WIRE_ABSENT_FIELD)

static u64 values[SNAPSHOT_CELLS];

static u32 cell(const char *name)
{
	for (u32 i = 0; i < SNAPSHOT_CELLS; i++)
		if (!strcmp(snapshot_cells[i].name, name))
			return i;
	ck_abort_msg("no cell %s", name);
}

/* The value of a cell from the text of its file, which lies at the end of its memory. */
static u64 parsed(const char *name, const char *text, const char *disks)
{
	size_t size = strlen(text);
	char *copy = malloc(size ? size : 1);
	u32 i = cell(name);

	memcpy(copy, text, size);
	snapshot_parse(values, snapshot_file_of(i), copy, size, disks);
	free(copy);
	return values[i];
}

START_TEST(test_rows)
{
	u32 cells = 0;

	for (u32 f = 0; f < SNAPSHOT_FILES; f++) {
		ck_assert_uint_eq(snapshot_first(f), cells);
		for (u32 k = 0; k < snapshot_files[f].cells; k++)
			ck_assert_uint_eq(snapshot_file_of(cells++), f);
	}
	ck_assert_uint_eq(cells, SNAPSHOT_CELLS);
	for (u32 i = 0; i < SNAPSHOT_CELLS; i++)
		ck_assert_uint_eq(cell(snapshot_cells[i].name), i);
}
END_TEST

START_TEST(test_pressure)
{
	const char text[] = "some avg10=1.53 avg60=0.41 avg300=0.10 total=270341\n"
			    "full avg10=0.00 avg60=0.00 avg300=0.00 total=8\n";

	ck_assert_uint_eq(parsed("psi.io.some", text, NULL), 270341000);
	ck_assert_uint_eq(parsed("psi.io.full", text, NULL), 8000);
	/* Before Linux 5.13 the CPU has no full line; others may come. */
	ck_assert_uint_eq(parsed("psi.cpu.full", "some avg10=0.00 total=5\nirq total=3\n", NULL), ABSENT);
	ck_assert_uint_eq(parsed("psi.cpu.some", "new total=1\nsome total=5 more=7\n", NULL), 5000);
	ck_assert_uint_eq(parsed("psi.cpu.some", "some total=\n", NULL), ABSENT);
	ck_assert_uint_eq(parsed("psi.cpu.some", "some total=-5\n", NULL), ABSENT);
	ck_assert_uint_eq(parsed("psi.cpu.some", "some total=18446744073709551615\n", NULL), ABSENT);
	ck_assert_uint_eq(parsed("psi.cpu.some", "some total=18446744073709551\n", NULL), 18446744073709551000u);
	ck_assert_uint_eq(parsed("psi.cpu.some", "some total=99999999999999999\n", NULL), ABSENT);
	ck_assert_uint_eq(parsed("psi.cpu.some", "", NULL), ABSENT);
}
END_TEST

/* A line that was cut may end in the midst of its number. */
START_TEST(test_cut)
{
	ck_assert_uint_eq(parsed("psi.cpu.some", "some total=123", NULL), ABSENT);
	ck_assert_uint_eq(parsed("cgroup.majflt", "anon 1\npgmajfault 12", NULL), ABSENT);
	ck_assert_uint_eq(values[cell("cgroup.anon")], 1);
	ck_assert_uint_eq(parsed("disk.reads", " 8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n 8 16 sdb 1 2", NULL), 1);
}
END_TEST

START_TEST(test_keyed)
{
	const char text[] = "usage_usec 7\nuser_usec 4\nsystem_usec 3\nnice_usec 0\nnr_periods 0\nnr_throttled 2\nthrottled_usec 9\n";

	ck_assert_uint_eq(parsed("cgroup.cpu", text, NULL), 7000);
	ck_assert_uint_eq(values[cell("cgroup.throttles")], 2);
	ck_assert_uint_eq(values[cell("cgroup.throttled")], 9000);
	/* Without the cpu controller. */
	ck_assert_uint_eq(parsed("cgroup.throttled", "usage_usec 7\nuser_usec 4\nsystem_usec 3\n", NULL), ABSENT);
	ck_assert_uint_eq(parsed("cgroup.cpu", "usage_usec_more 7\n", NULL), ABSENT);
	ck_assert_uint_eq(parsed("cgroup.cpu", "usage_usec\n", NULL), ABSENT);
	ck_assert_uint_eq(parsed("cgroup.memory_peak", "4096\n", NULL), 4096);
	ck_assert_uint_eq(parsed("cgroup.memory_peak", "max\n", NULL), ABSENT);
	ck_assert_uint_eq(parsed("cgroup.oom_kills", "low 0\nhigh 5\nmax 6\noom 7\noom_kill 2\noom_group_kill 0\n", NULL), 2);
	ck_assert_uint_eq(values[cell("cgroup.memory_highs")], 5);
	ck_assert_uint_eq(values[cell("cgroup.memory_maxes")], 6);
}
END_TEST

START_TEST(test_nested)
{
	ck_assert_uint_eq(parsed("cgroup.read_bytes", "8:16 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6\n"
				 "8:0 rbytes=10 wbytes=20 rios=30 wios=40 new=7\n", NULL), 11);
	ck_assert_uint_eq(values[cell("cgroup.writes")], 44);
	ck_assert_uint_eq(parsed("cgroup.reads", "", NULL), 0);
	ck_assert_uint_eq(parsed("cgroup.reads", "8:0 rios=x\n8:1 rios=4\n", NULL), ABSENT);
	ck_assert_uint_eq(parsed("cgroup.reads", "8:0 rios=18446744073709000000\n8:1 rios=18446744073709000000\n", NULL), ABSENT);
}
END_TEST

START_TEST(test_disks)
{
	const char text[] = "   8       0 sda 10 20 30 40 50 60 70 80 0 90 100 0 0 0 0 0 0\n"
			    "   8       1 sda1 1 1 1 1 1 1 1 1 0 1 1\n"
			    " 254       0 vda 1000 2000 3000 4000 5000 6000 7000 8000 0 9000 10000\n";

	ck_assert_uint_eq(parsed("disk.reads", text, " sda vda "), 1010);
	ck_assert_uint_eq(values[cell("disk.read_bytes")], 3030 * 512);
	ck_assert_uint_eq(values[cell("disk.write_time")], 8080000000);
	ck_assert_uint_eq(values[cell("disk.busy")], 9090000000);
	ck_assert_uint_eq(parsed("disk.reads", text, " sda1 "), 1);
	ck_assert_uint_eq(parsed("disk.reads", text, " sd "), ABSENT);
	ck_assert_uint_eq(parsed("disk.reads", text, " "), ABSENT);
	ck_assert_uint_eq(parsed("disk.reads", text, NULL), 1011);
	/* Linux 2.6's partitions have four numbers. */
	ck_assert_uint_eq(parsed("disk.busy", "8 1 sda1 1 2 3 4\n", NULL), ABSENT);
}
END_TEST

/* The list ends before a name does that goes on behind a zero byte. */
START_TEST(test_disk_name_with_zero)
{
	static const char text[] = "8 0 vda\0xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx 1 2 3\n";
	char disks[] = " sda vda ";
	u32 i = cell("disk.reads");

	snapshot_parse(values, snapshot_file_of(i), text, sizeof(text) - 1, disks);
	ck_assert_uint_eq(values[i], ABSENT);
}
END_TEST

START_TEST(test_between)
{
	u32 plain = cell("psi.cpu.some"), gauge = cell("cgroup.file"), gone = cell("psi.io.some"), off = cell("psi.memory.some");
	struct cell cells[SNAPSHOT_CELLS], sum[SNAPSHOT_CELLS] = { { 0, CELL_COUNTED, NULL } };
	u64 begin[SNAPSHOT_CELLS] = { 0 }, end[SNAPSHOT_CELLS] = { 0 };

	begin[plain] = 5000;
	end[plain] = 7000;
	begin[gauge] = 4096;
	end[gauge] = 1024;
	end[gone] = WIRE_ABSENT(WIRE_ABSENT_NO_FILE);
	begin[off] = WIRE_ABSENT(WIRE_ABSENT_UNREADABLE);
	snapshot_between(cells, begin, end);
	ck_assert_double_eq(cells[plain].value, 2000);
	ck_assert_double_eq(cells[gauge].value, 1024);
	ck_assert_int_eq(cells[gone].state, CELL_UNAVAILABLE);
	ck_assert_ptr_nonnull(strstr(cells[gone].note, "CONFIG_PSI"));
	ck_assert_int_eq(cells[off].state, CELL_UNAVAILABLE);
	ck_assert_ptr_nonnull(strstr(cells[off].note, "psi=1"));
	snapshot_add(sum, cells);
	snapshot_add(sum, cells);
	ck_assert_double_eq(sum[plain].value, 4000);
	ck_assert_double_eq(sum[gauge].value, 1024);
	ck_assert_int_eq(sum[gone].state, CELL_UNAVAILABLE);
	/* An edge alone does for what is looked at once. */
	begin[gauge] = WIRE_ABSENT(WIRE_ABSENT_NO_FILE);
	snapshot_between(cells, begin, end);
	ck_assert_double_eq(cells[gauge].value, 1024);
	/* A counter that went back is nothing, not 2^64. */
	begin[plain] = 9000;
	snapshot_between(cells, begin, end);
	ck_assert_double_eq(cells[plain].value, 0);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("snapshot");

	tcase_add_test(t, test_rows);
	tcase_add_test(t, test_pressure);
	tcase_add_test(t, test_cut);
	tcase_add_test(t, test_keyed);
	tcase_add_test(t, test_nested);
	tcase_add_test(t, test_disks);
	tcase_add_test(t, test_disk_name_with_zero);
	tcase_add_test(t, test_between);
	return suite_run("snapshot", t);
}
