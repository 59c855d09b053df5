/* SPDX-License-Identifier: MIT */
/*
 * Hostile lists of events and hostile files of sysfs: parsed without a crash, the list as before
 * where it is refused, each event whole where it is not.
 *
 * With libFuzzer (-DFUZZ_LIBFUZZER -fsanitize=fuzzer,address,undefined) the input is the list, then
 * after a zero byte each the files "type", "cpus", a format, an event and its scale. Without, main()
 * makes both from sound pieces: fuzz_names [ROUNDS [SEED]]; one round can be repeated by ROUNDS 1
 * and its seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/names/names.h"
#include "tests/unit/machines.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static const char *const fuzz_files[] = {
	"/sys/bus/event_source/devices/odd/type", "/sys/bus/event_source/devices/odd/cpus",
	"/sys/bus/event_source/devices/odd/format/event", "/sys/bus/event_source/devices/odd/events/thing",
	"/sys/bus/event_source/devices/odd/events/thing.scale",
};

static void fuzz_check(const struct event_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct event *event = &list->event[i];

		if (!event->name || !*event->name || event->attr.size != sizeof(event->attr) ||
		    event->attr.read_format || event->group >= list->groups || event->item >= list->items ||
		    (event->path && event->attr.config1 != (u64)(uintptr_t)event->path) || !(event->scale > 0))
			abort();
	}
}

static int fuzz_each_alias(void *data, const struct names_alias *alias)
{
	(void)data;
	return !alias->name[0] || !(alias->scale > 0) ? abort(), 1 : 0;
}

static int fuzz_each_format(void *data, const struct names_format *format)
{
	(void)data;
	return format->word > 3 || !format->bits ? abort(), 1 : 0;
}

static int fuzz_each_pmu(void *data, const struct names_pmu *pmu)
{
	return names_each_alias(data, pmu, fuzz_each_alias, NULL) || names_each_format(data, pmu, fuzz_each_format, NULL);
}

static void fuzz_parse(const char *text)
{
	struct caps_context caps = { .root = fake_root };
	struct event_list list = { .event = NULL };
	struct names_context names;
	size_t before;

	names_init(&names, &caps);
	names_parse(&names, "dummy", &list);
	before = list.n;
	if (names_parse(&names, text, &list) == 0 ? list.n <= before : list.n != before)
		abort();
	fuzz_check(&list);
	if (names_each_pmu(&names, fuzz_each_pmu, &names) != 0)
		abort();
	event_list_free(&list);
	names_fini(&names);
}

static void fuzz_start(void)
{
	static bool started;

	if (started)
		return;
	started = true;
	fake_make(machine_plain);
	/* What is said of each refusal. */
	if (!freopen("/dev/null", "w", stderr))
		abort();
	atexit(fake_remove);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	char *copy = malloc(size + 1), *at = copy;

	if (!copy)
		return 0;
	fuzz_start();
	memcpy(copy, data, size);
	copy[size] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(fuzz_files) && (at = memchr(at, '\0', (size_t)(copy + size - at))); i++)
		fake_put(fuzz_files[i], ++at);
	/* A block of just its size: a byte read beyond it is seen. */
	at = strdup(copy);
	if (at)
		fuzz_parse(at);
	free(at);
	free(copy);
	return 0;
}

#ifndef FUZZ_LIBFUZZER

static u64 fuzz_state;

static u64 fuzz_random(void)
{
	fuzz_state ^= fuzz_state << 13;
	fuzz_state ^= fuzz_state >> 7;
	fuzz_state ^= fuzz_state << 17;
	return fuzz_state;
}

static const char *const pieces[] = {
	"cycles", "cs", "L1-dcache-load-misses", "r1a", "raw:r", "thing", "odd/thing/", "odd/event=0x3c,thing/u", "odd/",
	"event=", "0x", "config=1", "name='a,b'", "period=9/", "mem:0x10/8:w", "mem:", "syscalls:sys_enter_read", "s*:*",
	"uprobe:/proc/self/exe:main", "uretprobe:/proc/self/exe:0x10+1", "uprobe:", "skl::INST_RETIRED:ANY_P", "::", "1:2",
	"hv_24x7/reads,domain=1/", "hv_24x7/wild=1/", "hv_24x7/loop/", "{", "}", ",", ":", "/", ":u", ":ukpppD", ":P", "'",
	"\\", "=", "?", "*", "[", "..", "%s%n", "\xff\xfe", " ", "\n", "18446744073709551616", "-1", "e9",
};

static const char *const contents[] = {
	"4\n", "", "x", "4294967296", "-1", "0-3\n", "config:0-7,32-35\n", "config9:1", "config:", "config:63-0", "config:0-64",
	"config1:0-63", "config:1,", "config:4-", "event=1", "event=1,umask=2", "thing", "event=?", ",,", "=", "'", "name=x",
	"name=", "config3=0xffffffffffffffff,config=1", "1e-9", "nan", "-5", "inf", "1e999",
};

static void fuzz_append(char *to, size_t size, const char *text)
{
	size_t len = strlen(to);

	snprintf(to + len, size - len, "%s", text);
}

static void fuzz_round(void)
{
	char list[1024] = "", data[4096];
	size_t n = 1 + fuzz_random() % 7, len;

	while (n--) {
		fuzz_append(list, sizeof(list), pieces[fuzz_random() % ARRAY_SIZE(pieces)]);
		if (n && fuzz_random() % 3 == 0)
			fuzz_append(list, sizeof(list), ",");
	}
	len = strlen(list);
	if (len && fuzz_random() % 4 == 0)
		list[fuzz_random() % len] = (char)(1 + fuzz_random() % 255);
	memcpy(data, list, len + 1);
	len++;
	for (size_t i = 0; i < ARRAY_SIZE(fuzz_files); i++) {
		/* Mostly a PMU that can be had. */
		const char *text = i == 0 && fuzz_random() % 4 ? contents[0] : contents[fuzz_random() % ARRAY_SIZE(contents)];

		strcpy(data + len, text);
		len += strlen(text) + 1;
	}
	LLVMFuzzerTestOneInput((const u8 *)data, len);
}

int main(int argc, char **argv)
{
	u64 rounds = argc > 1 ? strtoull(argv[1], NULL, 0) : 300, i;
	u64 seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;

	for (i = 0; i < rounds; i++) {
		fuzz_state = (seed + i) * 0x9e3779b97f4a7c15ULL + 1;
		fuzz_round();
	}
	printf("1..1\nok 1 - %llu rounds from seed %llu\n", (unsigned long long)rounds, (unsigned long long)seed);
	return 0;
}

#endif
