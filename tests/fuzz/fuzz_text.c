/* SPDX-License-Identifier: MIT */
/*
 * Everything in sparkctl that reads text of others: option values and words, patterns, names that
 * are printed, files of /proc and /sys. A parser is one row; the first byte of an input says which.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/analyze/block.h"
#include "cli/analyze/snapshot.h"
#include "cli/analyze/storage.h"
#include "cli/caps/caps.h"
#include "cli/caps/ids.h"
#include "cli/cmd/group.h"
#include "cli/log.h"
#include "cli/opt.h"
#include "cli/session/blockio.h"
#include "cli/session/cgroup.h"
#include "cli/session/cpus.h"
#include "cli/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/sample.h"

#define ROOM 2048u
#define ROOT "fuzz-root"

/* ---- option values ----------------------------------------------------------------------------------- */

static void run_uint(char *text, size_t size)
{
	unsigned long value = 0, want;
	int ret = opt_parse_uint(text, &value);
	bool digits = text[0] && text[strspn(text, "0123456789")] == 0;

	(void)size;
	errno = 0;
	want = strtoul(text, NULL, 10);
	fuzz_check(digits ? ret != -EINVAL : ret != 0, "digits are a number, and nothing else is");
	fuzz_check(!digits || (ret == -ERANGE) == (errno == ERANGE), "too large is too large");
	fuzz_check(ret || value == want, "the number is right");
}

static void run_seconds(char *text, size_t size)
{
	u64 ns = 0;
	int ret = opt_parse_seconds(text, &ns);

	(void)size;
	fuzz_check(ret || strspn(text, "0123456789.") > 0, "a time begins with a number");
	fuzz_check(!ret || ret == -EINVAL || ret == -ERANGE, "an error is one of two");
}

/* Patterns, then what they are compared with. glibc takes time that doubles with every asterisk. */
static void run_list(char *text, size_t size)
{
	struct opt_list list = { .n = 0 };
	const char *name = strlen(text) < size ? text + strlen(text) + 1 : "";
	u32 stars = 0;

	for (const char *s = text; *s; s++)
		stars += *s == '*';
	if (stars < 6 && opt_list_add(&list, text) == 0) {
		for (size_t i = 0; i < list.n; i++)
			fuzz_check(list.item[i][0], "no pattern is empty");
		opt_list_match(&list, name);
	}
	opt_list_free(&list);
}

struct options {
	bool flag;
	int count, word;
	const char *string;
	unsigned long number;
	u64 ns;
	struct opt_list list;
};

static const char *const words[] = { "table", "json", NULL };
static const struct opt rows[] = {
	{ .name = "flag", .letter = 'f', .kind = OPT_FLAG, .offset = offsetof(struct options, flag), .help = "h" },
	{ .name = "flags", .kind = OPT_FLAG, .offset = offsetof(struct options, flag), .help = "h", .hidden = true },
	{ .name = "verbose", .letter = 'v', .kind = OPT_COUNT, .offset = offsetof(struct options, count), .help = "h" },
	{ .name = "report", .letter = 'r', .kind = OPT_STRING, .offset = offsetof(struct options, string), .help = "h" },
	{ .name = "number", .letter = 'n', .kind = OPT_UINT, .offset = offsetof(struct options, number), .help = "h" },
	{ .name = "timeout", .letter = 't', .kind = OPT_SECONDS, .offset = offsetof(struct options, ns), .help = "h" },
	{ .name = "format", .kind = OPT_ENUM, .offset = offsetof(struct options, word), .words = words, .help = "h" },
	{ .name = "regions", .kind = OPT_LIST, .offset = offsetof(struct options, list), .help = "h" },
	{ .name = NULL },
};

/* Words that end with NUL. */
static void run_options(char *text, size_t size)
{
	struct options options = { .flag = false };
	char *argv[16] = { (char[]){ "run" } };
	int argc = 1, first;

	for (char *s = text; s < text + size && argc < 15; s += strlen(s) + 1)
		argv[argc++] = s;
	first = opt_parse(rows, &options, argc, argv);
	fuzz_check(first == OPT_ERROR || first == OPT_HELP || (first >= 1 && first <= argc), "parsing ends at a word");
	fuzz_check(options.word >= 0 && options.word < 2, "a word is one of the list");
	opt_list_free(&options.list);
}

/* ---- names that are printed -------------------------------------------------------------------------- */

/* Nothing that steers a terminal, and valid UTF-8. */
static void check_printable(const char *s)
{
	unsigned int code;
	size_t n;

	for (; *s; s += n) {
		n = text_decode(s, strlen(s), &code);
		fuzz_check(n > 0, "what is printed is UTF-8");
		fuzz_check(code >= 0x20 && (code < 0x7f || code >= 0xa0), "what is printed steers no terminal");
	}
}

static void run_escape(char *text, size_t size)
{
	static char whole[4 * ROOM + 1], part[64], fitted[256];
	char *bytes = malloc(size ? size : 1);
	size_t len, columns = size % 80, used;

	/* Names end without a sign of it. */
	if (!bytes)
		abort();
	memcpy(bytes, text, size);
	len = text_escape(whole, sizeof(whole), bytes, size);
	free(bytes);

	fuzz_check(len == strlen(whole), "the length is the length");
	check_printable(whole);
	fuzz_check(text_escape(part, 1 + size % sizeof(part), text, size) == len, "the length does not depend on the room");
	check_printable(part);
	fuzz_check(!strncmp(part, whole, strlen(part)) || len >= sizeof(part), "a part is the beginning");
	used = text_fit(fitted, 1 + len % sizeof(fitted), whole, columns);
	fuzz_check(used <= columns && used == text_width(fitted), "what fits has the width that is told");
	check_printable(fitted);
	text_wrap(fuzz_sink(), whole, size % 8, columns);
	text_pad(fuzz_sink(), whole, columns);
	text_distance(text, "report");
}

/* ---- what others' files say -------------------------------------------------------------------------- */

static void file_write(const char *path, const char *text, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void run_facts(const char *path, const char *text, size_t size)
{
	struct caps_context context;
	char why[256];

	file_write(path, text, size);
	caps_init(&context, ROOT);
	caps_clock_tsc_usable(&context, why, sizeof(why));
	fuzz_check(strlen(why) > 0, "there is a reason");
	unlink(path);
}

static void run_status(char *text, size_t size)
{
	run_facts(ROOT "/proc/self/status", text, size);
}

static void run_cpuinfo(char *text, size_t size)
{
	run_facts(ROOT "/proc/cpuinfo", text, size);
}

static void run_level(char *text, size_t size)
{
	run_facts(ROOT "/proc/sys/kernel/perf_event_paranoid", text, size);
}

static void run_source(char *text, size_t size)
{
	run_facts(ROOT "/sys/devices/system/clocksource/clocksource0/current_clocksource", text, size);
}

static void run_key(char *text, size_t size)
{
	const char *key = strlen(text) < size ? text + strlen(text) + 1 : "flags";

	facts_has_word(text, key, "tsc");
}

#define IDS_HEADER "spark-tracepoints 1 6.1.0-13-amd64 af63dc4c8601ec8c"

static void run_ids(char *text, size_t size)
{
	const char *at = NULL;
	char wrong[128] = "";
	struct ids_row row;
	struct ids ids;
	size_t n = 0;

	if (ids_parse(&ids, text, size, IDS_HEADER, wrong, sizeof(wrong))) {
		fuzz_check(strlen(wrong) > 0, "there is a reason");
		check_printable(wrong);
		return;
	}
	for (; ids_next(&ids, &at, &row); n++) {
		fuzz_check(*row.system && *row.name && row.id, "a row has all");
		fuzz_check(!strpbrk(row.name, "/. \n"), "a name is no path");
	}
	fuzz_check(n == 0 || at == ids.end, "the last row ends the list");
}

/* ---- options of a report ----------------------------------------------------------------------------- */

static struct sample sample;

static void run_report(char *text, size_t size)
{
	const char *second = strlen(text) < size ? text + strlen(text) + 1 : NULL;
	struct report_options options = { .regions = text, .metrics = second };
	struct report *report;
	u32 stars = 0;

	for (size_t i = 0; i < size; i++)
		stars += text[i] == '*';
	if (stars > 5)
		return;
	report = report_build(&sample.profile, &sample.facts, &options);
	fuzz_check(report != NULL, "there is a report");
	output_write(output_find("table"), fuzz_sink(), report, &(struct output_options){ .width = 80 });
	report_free(report);
}

/* ---- files of groups --------------------------------------------------------------------------------- */

/* A file is as long as it is: zeros may be in it. */
static void run_group(char *text, size_t size)
{
	char *bytes = malloc(size ? size : 1);
	struct group group;

	if (!bytes)
		abort();
	memcpy(bytes, text, size);
	log_hush(true);
	if (group_parse(&group, "fuzz.group", bytes, size) == 0) {
		fuzz_check(group.meaning && group.meaning[0], "a group means something");
		fuzz_check(group.nways >= 1 && group.nways <= GROUP_WAYS_MAX, "there is a way");
		for (size_t i = 0; i < group.nways; i++) {
			fuzz_check(group.ways[i].nevents && group.ways[i].nmetrics, "a way has events and metrics");
			for (size_t k = 0; k < group.ways[i].nevents; k++)
				fuzz_check(group.ways[i].events[k][0] && !strchr(group.ways[i].events[k], '\n'), "an event is one");
		}
	}
	log_hush(false);
	group_free(&group);
	free(bytes);
}

/* ---- cli/session ------------------------------------------------------------------------------------- */

static void run_mounts(char *text, size_t size)
{
	char path[64];

	for (int version = 1; version <= 2; version++) {
		char *copy = malloc(size + 1);

		if (!copy)
			abort();
		memcpy(copy, text, size + 1);
		fuzz_check(!cgroup_parse_root(copy, version, path, sizeof(path)) || strlen(path) < sizeof(path), "a path fits");
		free(copy);
	}
}

static void run_cpus(char *text, size_t size)
{
	cpu_set_t set;
	int ret = cpus_parse(text, &set);

	(void)size;
	fuzz_check(ret || CPU_COUNT(&set), "a list is of some CPUs");
	fuzz_check(!ret || ret == -EINVAL || ret == -ERANGE, "an error is one of two");
}

/* ---- cli/analyze ------------------------------------------------------------------------------------- */

/* A file of snapshot.def, the first byte says which; it ends where its memory ends. */
static void run_snapshot(char *text, size_t size)
{
	u64 values[SNAPSHOT_CELLS] = { 0 };
	u32 file = size ? (u8)text[0] % SNAPSHOT_FILES : 0;
	char *bytes = malloc(size ? size : 1);

	if (!bytes)
		abort();
	memcpy(bytes, text, size);
	snapshot_parse(values, file, bytes + !!size, size - !!size, " sda vda ");
	free(bytes);
	for (u32 i = 0; i < SNAPSHOT_CELLS; i++)
		fuzz_check(snapshot_file_of(i) == file || !values[i], "the cells of other files are left alone");
	for (u32 i = 0; i < snapshot_files[file].cells; i++)
		fuzz_check(wire_absent(values[snapshot_first(file) + i]) || values[snapshot_first(file) + i] % snapshot_cells[snapshot_first(file) + i].scale == 0,
			   "a value is so many units");
}

static void run_mountinfo(char *text, size_t size)
{
	struct storage_mount mount;
	size_t length;
	const char *value;

	(void)size;
	if (!storage_find_mount(text, 0, 253, 3, &mount))
		return;
	fuzz_check(mount.major == 253 && mount.minor == 3, "the mount is the one that was asked for");
	fuzz_check(mount.place && mount.type && mount.source && mount.options, "a mount has all");
	value = storage_option(mount.super_options, "upperdir", &length);
	fuzz_check(!value || (value + length <= mount.super_options + strlen(mount.super_options) && !memchr(value, ',', length)),
		   "an option's value is in it");
}

/* A file of a block device, whichever it is. */
static void run_device(char *text, size_t size)
{
	char *copy = strdup(text), *word;
	char swaps[64];

	(void)size;
	if (!copy)
		abort();
	fuzz_check(storage_number(text) >= -1, "a number is one, or none");
	word = storage_chosen(text);
	fuzz_check(!word || (*word && !strpbrk(word, " \n[]")), "what is chosen is one word");
	word = storage_device_name(copy);
	fuzz_check(!word || (*word && !strchr(word, '\n')), "a name is of one line");
	storage_swaps(copy, swaps, sizeof(swaps));
	fuzz_check(strlen(swaps) > 0, "something is said of swap");
	free(copy);
}

static enum block_kind block_disk(const struct block_stat *stat)
{
	(void)stat;
	return BLOCK_DISK;
}

/* Two readings of /proc/diskstats, the second behind a zero. */
static void run_block(char *text, size_t size)
{
	size_t first = strnlen(text, size);
	struct block block = { .ndevices = 0 };
	struct block_stats before, now;

	if (block_stats_parse(&before, text, first) || block_stats_parse(&now, text + first, size - first))
		abort();
	now.time_ns = 1000;
	fuzz_check(!block_between(&block, &before, &now, block_disk) && block.ndevices == now.n, "each device has a row");
	for (u32 i = 0; i < block.ndevices; i++) {
		fuzz_check(!cell_has_value(&block.devices[i].cell[BLOCK_BUSY]) || block.devices[i].cell[BLOCK_BUSY].value <= 100,
			   "no device is busy all the time and more");
		for (u32 d = 0; d < BLOCK_DIRECTIONS; d++)
			fuzz_check(!cell_has_value(&block.devices[i].side[d][BLOCK_REQUESTS]) ||
				   block.devices[i].side[d][BLOCK_REQUESTS].value >= 0, "no request is undone");
	}
	block_stats_free(&before);
	block_stats_free(&now);
	block_fini(&block);
}

/* The file "format" of a tracepoint. */
static void run_block_format(char *text, size_t size)
{
	struct blockio_format format;

	(void)size;
	if (blockio_format(text, &format))
		return;
	fuzz_check(format.dev && format.sector && format.sectors && format.rwbs && format.rwbs_size <= 64, "each field has a place");
}

/* ---- the rows ---------------------------------------------------------------------------------------- */

#define TEXT(s) s, sizeof(s) - 1

static const struct parser {
	void (*run)(char *text, size_t size);
	const char *text;
	size_t size;
} parsers[] = {
	{ run_uint, TEXT("4096") },
	{ run_seconds, TEXT("1.5ms") },
	{ run_list, TEXT("alpha*,b[a-z]?,c\\,d\0alpha beta") },
	{ run_options, TEXT("--report=x\0-vvf\0--timeout\0" "2m\0--format=json\0--regions\0a,b\0-n\0" "7\0--\0cmd") },
	{ run_escape, TEXT("plain \033[31mred\033[0m \xc3\xa4\xe4\xb8\xad e\xcc\x81 \\ \n\t\xff \xe2\x80\xae") },
	{ run_status, TEXT("Name:\tx\nCapEff:\t000001ffffffffff\nSeccomp:\t2\nSeccomp_filters:\t1\n") },
	{ run_cpuinfo, TEXT("processor\t: 0\nflags\t\t: fpu constant_tsc nonstop_tsc hypervisor\n\nprocessor\t: 1\n") },
	{ run_level, TEXT("2\n") },
	{ run_source, TEXT("tsc\n") },
	{ run_key, TEXT("flags\t: tsc hypervisor\nmodel name : x\0flags") },
	{ run_ids, TEXT(IDS_HEADER "\nsched:sched_switch 314\nsyscalls:sys_enter_read 700\n") },
	{ run_group, TEXT("# x\nmeaning Some words.\nevents a,{b,c},p/q=1,r=2/u\nmetric m [%] = 100 * a / b\nor\n"
			  "events 'd'\nmetric m = d\n") },
	{ run_mounts, TEXT("31 25 0:27 / /sys/fs/cgroup/perf\\040event rw shared:9 - cgroup none rw,perf_event\n"
			   "33 25 0:29 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n") },
	{ run_cpus, TEXT("0-3,8,10-11\n") },
	{ run_snapshot, TEXT("\0some avg10=1.53 avg60=0.41 avg300=0.10 total=270341\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=8\n") },
	{ run_snapshot, TEXT("\3   8  0 sda 10 20 30 40 50 60 70 80 0 90 100\n 254 0 vda 1 2 3 4 5 6 7 8 0 9 10 11 12\n") },
	{ run_snapshot, TEXT("\4usage_usec 7\nuser_usec 4\nsystem_usec 3\nnr_throttled 2\nthrottled_usec 9\n") },
	{ run_snapshot, TEXT("\7" "8:16 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6\n") },
	{ run_mountinfo, TEXT("27 1 253:3 / /a\\040b rw,relatime shared:1 - overlay /dev/mapper/x rw,lowerdir=/l,upperdir=/u\n") },
	{ run_device, TEXT("none [mq-deadline] kyber\nDEVNAME=sda\n/dev/sda2 partition 8388604 0 -2\n128\n") },
	{ run_block, TEXT("   8  0 sda 10 20 30 40 50 60 70 80 0 90 100 1 2 3 4 5 6\n 8 1 sda1 1 2 3 4\n\0"
			  "   8  0 sda 15 20 35 44 50 60 70 80 0 91 104 1 2 3 4 6 9\n 254 0 vda 1 2 3 4 5 6 7 8 0 9 10\n") },
	{ run_block_format, TEXT("ID: 2107\n\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\tfield:sector_t sector;\toffset:16;\tsize:8;"
				 "\n\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\n\tfield:char rwbs[10];\toffset:34;\tsize:10;\n") },
	{ run_report, TEXT("load*,query\0calls,wall,*cpu*,p9?") },
};

static void text_open(char **argv)
{
	static const char *const folders[] = {
		"", "/proc", "/proc/self", "/proc/sys", "/proc/sys/kernel", "/sys", "/sys/devices", "/sys/devices/system",
		"/sys/devices/system/clocksource", "/sys/devices/system/clocksource/clocksource0",
	};
	char path[128];

	(void)argv;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		snprintf(path, sizeof(path), ROOT "%s", folders[i]);
		if (mkdir(path, 0700) && errno != EEXIST)
			abort();
	}
	sample_init(&sample, PROFILE_BY_PROCESS);
	sample_regions(&sample);
	report_free(sample_report(&sample));
	sample.report = NULL;
}

static size_t text_make(u8 *input)
{
	u64 which = fuzz_below(ARRAY_SIZE(parsers));

	input[0] = (u8)which;
	memcpy(input + 1, parsers[which].text, parsers[which].size);
	return 1 + parsers[which].size;
}

static size_t text_mutate(u8 *input, size_t size)
{
	return 1 + fuzz_mutate_text(input + 1, size - 1, ROOM - 1);
}

/* As it comes from a file or a command line: terminated. */
static void text_run(const u8 *input, size_t size)
{
	char *text;

	if (!size)
		return;
	text = malloc(size);
	if (!text)
		abort();
	memcpy(text, input + 1, size - 1);
	text[size - 1] = 0;
	parsers[input[0] % ARRAY_SIZE(parsers)].run(text, size - 1);
	free(text);
}

const struct fuzz fuzz_target = {
	.name = "text",
	.room = ROOM,
	.rounds = 10000,
	.open = text_open,
	.make = text_make,
	.mutate = text_mutate,
	.run = text_run,
};
