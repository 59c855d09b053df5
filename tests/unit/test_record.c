/* SPDX-License-Identifier: MIT */
/* cli/session/record: records of sampling rings, whole and cut. */
#include <string.h>

#include "cli/session/record.h"
#include "suite.h"

#define STACKS RECORD_STACKS
#define REGS 3

static u64 words[64];
static u32 n;

static void begin(u32 type, u16 misc)
{
	memset(words, 0, sizeof(words));
	n = 1;
	words[0] = type | (u64)misc << 32;
}

static void put(u64 word)
{
	words[n++] = word;
}

static void put2(u32 low, u32 high)
{
	put(low | (u64)high << 32);
}

static void put_name(const char *name)
{
	strcpy((char *)&words[n], name);
	n += (u32)(strlen(name) / 8 + 1);
}

/* The header's last 16 bits (perf_event_open(2)). */
static void set_size(u64 *record, u32 size)
{
	record[0] = (record[0] & 0xffffffffffff) | (u64)(size * 8) << 48;
}

static bool parse(struct record *r)
{
	set_size(words, n);
	return record_parse((const u8 *)words, STACKS, REGS, r);
}

/* No shorter record of the kind is taken for one, nor read beyond its end. */
static void check_cut(struct record *r)
{
	u32 whole = n;

	for (u32 cut = 1; cut < whole; cut++) {
		u64 copy[64];

		memcpy(copy, words, cut * 8);
		set_size(copy, cut);
		ck_assert_msg(!record_parse((const u8 *)copy, STACKS, REGS, r), "cut to %u words", cut);
	}
}

static void put_id(void)
{
	put2(10, 11);
	put(12345);
	put2(1, 0);
}

static void put_sample(void)
{
	begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put(0x401000);
	put2(10, 11);
	put(12345);
	put2(1, 0);
	put(1000000);
}

START_TEST(test_sample)
{
	static const char stack[] = "sixteen  letters";
	struct record r;

	put_sample();
	put(2);
	put(PERF_CONTEXT_USER);
	put(0x401000);
	put2(12, 0x11); /* raw: a size of 32 bits, and so many bytes */
	put(0x22);
	put(2); /* abi */
	put(7);
	put(8);
	put(9);
	put(16);
	put_name(stack);
	n--;
	put(12);
	ck_assert(parse(&r));
	ck_assert_uint_eq(r.sample.ip, 0x401000);
	ck_assert_uint_eq(r.pid, 10);
	ck_assert_uint_eq(r.tid, 11);
	ck_assert_uint_eq(r.time_ns, 12345);
	ck_assert_uint_eq(r.cpu, 1);
	ck_assert_uint_eq(r.sample.period, 1000000);
	ck_assert_uint_eq(r.sample.nchain, 2);
	ck_assert_uint_eq(r.sample.chain[1], 0x401000);
	ck_assert_uint_eq(r.sample.raw_size, 12);
	ck_assert_uint_eq(r.sample.raw[0], 0x11);
	ck_assert_uint_eq(r.sample.raw[4], 0x22);
	ck_assert_uint_eq(r.sample.regs[2], 9);
	ck_assert_mem_eq(r.sample.stack, stack, 12);
	ck_assert_uint_eq(r.sample.stack_size, 12);
	check_cut(&r);
}
END_TEST

START_TEST(test_switch)
{
	struct record r;

	begin(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	put_id();
	ck_assert(parse(&r));
	ck_assert_uint_eq(r.tid, 11);
	ck_assert_uint_eq(r.time_ns, 12345);
	ck_assert_uint_eq(r.misc, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	check_cut(&r);
}
END_TEST

START_TEST(test_sample_lies)
{
	struct record r;

	put_sample();
	put(UINT64_MAX / 8 + 2); /* frames */
	put(0);
	put(0);
	ck_assert(!parse(&r));
	put_sample();
	put(0);
	put2(4, 0);
	put(0);
	put(8);
	put(0);
	put(16); /* more were copied than there was space for */
	ck_assert(!parse(&r));
}
END_TEST

/* A thread of the kernel has no registers, and nothing of a stack. */
START_TEST(test_sample_empty)
{
	struct record r;

	put_sample();
	put(0);
	put2(4, 0);
	put(0);
	put(0);
	ck_assert(parse(&r));
	ck_assert_ptr_null(r.sample.regs);
	ck_assert_ptr_null(r.sample.stack);
	ck_assert_uint_eq(r.sample.stack_size, 0);
}
END_TEST

static void put_map(u16 misc)
{
	begin(PERF_RECORD_MMAP2, misc);
	put2(10, 11);
	put(0x7000);
	put(0x1000);
	put(0x2000);
	if (misc) {
		u8 id[24] = { 20, 0, 0, 0, 0xab, [23] = 0xcd };

		memcpy(&words[n], id, sizeof(id));
		n += 3;
	} else {
		put2(8, 1);
		put(4711);
		put(0);
	}
	put2(5, 2);
	put_name("/usr/lib/libexample.so");
	put_id();
}

START_TEST(test_map)
{
	struct record r;

	put_map(0);
	ck_assert(parse(&r));
	ck_assert_uint_eq(r.map.start, 0x7000);
	ck_assert_uint_eq(r.map.length, 0x1000);
	ck_assert_uint_eq(r.map.offset, 0x2000);
	ck_assert_uint_eq(r.map.inode, 4711);
	ck_assert_uint_eq(r.map.major, 8);
	ck_assert_uint_eq(r.map.prot, 5);
	ck_assert_uint_eq(r.map.build_id_size, 0);
	ck_assert_str_eq(r.map.name, "/usr/lib/libexample.so");
	ck_assert_uint_eq(r.time_ns, 12345);
	put_map(PERF_RECORD_MISC_MMAP_BUILD_ID);
	ck_assert(parse(&r));
	ck_assert_uint_eq(r.map.build_id_size, 20);
	ck_assert_uint_eq(r.map.build_id[0], 0xab);
	ck_assert_uint_eq(r.map.build_id[19], 0xcd);
	/* What the same bytes say where the mark is another event's. */
	ck_assert_uint_eq(r.map.major, (u32)words[5]);
	ck_assert_uint_eq(r.map.minor, words[5] >> 32);
	ck_assert_uint_eq(r.map.inode, words[6]);
	/* The name does not end before the trailer. */
	memset(&words[9], 'x', (n - 9) * 8);
	ck_assert(!parse(&r));
}
END_TEST

START_TEST(test_others)
{
	struct record r;

	begin(PERF_RECORD_FORK, 0);
	put2(20, 10);
	put2(21, 11);
	put(12345);
	put_id();
	ck_assert(parse(&r));
	ck_assert_uint_eq(r.pid, 20);
	ck_assert_uint_eq(r.task.parent_pid, 10);
	ck_assert_uint_eq(r.tid, 21);
	check_cut(&r);
	begin(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	put2(10, 11);
	put_name("app");
	put_id();
	ck_assert(parse(&r));
	ck_assert_str_eq(r.comm.name, "app");
	begin(PERF_RECORD_LOST, 0);
	put(1);
	put(99);
	put_id();
	ck_assert(parse(&r));
	ck_assert_uint_eq(r.lost, 99);
	check_cut(&r);
	begin(PERF_RECORD_LOST_SAMPLES, 0);
	put(98);
	put_id();
	ck_assert(parse(&r));
	ck_assert_uint_eq(r.lost, 98);
	begin(PERF_RECORD_THROTTLE, 0);
	put(1);
	put(2);
	put(3);
	put_id();
	ck_assert(parse(&r));
	begin(PERF_RECORD_AUX, 0);
	put_id();
	ck_assert(!parse(&r));
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("record");

	tcase_add_test(tests, test_sample);
	tcase_add_test(tests, test_sample_lies);
	tcase_add_test(tests, test_switch);
	tcase_add_test(tests, test_sample_empty);
	tcase_add_test(tests, test_map);
	tcase_add_test(tests, test_others);
	return suite_run("record", tests);
}
