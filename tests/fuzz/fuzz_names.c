/* SPDX-License-Identifier: MIT */
/*
 * Lists of events and files of sysfs that are nearly right: parsed without a crash, the list as it
 * was where it is refused, each event whole where it is not.
 *
 * An input is the list, then after a zero byte each the files "type", "cpus", a format, an event
 * and its scale of a PMU "odd".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/names/names.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/machines.h"

#define ROOM 4096u

static const char *const files[] = {
	"/sys/bus/event_source/devices/odd/type", "/sys/bus/event_source/devices/odd/cpus",
	"/sys/bus/event_source/devices/odd/format/event", "/sys/bus/event_source/devices/odd/events/thing",
	"/sys/bus/event_source/devices/odd/events/thing.scale",
};

static void names_check(const struct event_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct event *event = &list->event[i];

		if (!event->name || !*event->name || event->attr.size != sizeof(event->attr) ||
		    event->attr.read_format || event->group >= list->groups || event->item >= list->items ||
		    (event->path && event->attr.config1 != (u64)(uintptr_t)event->path) || !(event->scale > 0))
			abort();
	}
}

static int check_alias(void *data, const struct names_alias *alias)
{
	(void)data;
	return !alias->name[0] || !(alias->scale > 0) ? abort(), 1 : 0;
}

static int check_format(void *data, const struct names_format *format)
{
	(void)data;
	return format->word > 3 || !format->bits ? abort(), 1 : 0;
}

static int check_pmu(void *data, const struct names_pmu *pmu)
{
	return names_each_alias(data, pmu, check_alias, NULL) || names_each_format(data, pmu, check_format, NULL);
}

static void names_try(const char *text)
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
	names_check(&list);
	if (names_each_pmu(&names, check_pmu, &names) != 0)
		abort();
	event_list_free(&list);
	names_fini(&names);
}

static void names_open(char **argv)
{
	(void)argv;
	fake_make(machine_plain);
	atexit(fake_remove);
	log_set_level(LOG_LEVEL_QUIET);
}

static void names_run(const u8 *input, size_t size)
{
	char *copy = malloc(size + 1), *at = copy, *list;

	if (!copy)
		return;
	memcpy(copy, input, size);
	copy[size] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(files) && (at = memchr(at, '\0', (size_t)(copy + size - at))); i++)
		fake_put(files[i], ++at);
	/* A block of just its size: a byte read beyond it is seen. */
	list = strdup(copy);
	if (list)
		names_try(list);
	free(list);
	free(copy);
}

static const char *const pieces[] = {
	"cycles", "cs", "L1-dcache-load-misses", "r1a", "raw:r", "thing", "odd/thing/",
		"odd/event=0x3c,thing/u", "odd/",
	"event=", "0x", "config=1", "name='a,b'", "period=9/", "mem:0x10/8:w", "mem:",
		"syscalls:sys_enter_read", "s*:*",
	"uprobe:/proc/self/exe:main", "uretprobe:/proc/self/exe:0x10+1", "uprobe:",
		"skl::INST_RETIRED:ANY_P", "::", "1:2",
	"hv_24x7/reads,domain=1/", "hv_24x7/wild=1/", "hv_24x7/loop/", "{", "}", ",", ":", "/",
		":u", ":ukpppD", ":P", "'",
	"\\", "=", "?", "*", "[", "..", "%s%n", "\xff\xfe", " ", "\n", "18446744073709551616", "-1", "e9",
};

static const char *const contents[] = {
	"4\n", "", "x", "4294967296", "-1", "0-3\n", "config:0-7,32-35\n", "config9:1", "config:",
		"config:63-0", "config:0-64",
	"config1:0-63", "config:1,", "config:4-", "event=1", "event=1,umask=2", "thing", "event=?",
		",,", "=", "'", "name=x",
	"name=", "config3=0xffffffffffffffff,config=1", "1e-9", "nan", "-5", "inf", "1e999",
};

static size_t names_make(u8 *input)
{
	size_t len = 0;

	for (u64 n = 1 + fuzz_below(7); n; n--) {
		len += (size_t)sprintf((char *)input + len, "%s", pieces[fuzz_below(ARRAY_SIZE(pieces))]);
		if (n > 1 && fuzz_once_in(3))
			input[len++] = ',';
	}
	input[len++] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		/* Mostly a PMU that can be had. */
		const char *text = i || fuzz_once_in(4) ? contents[fuzz_below(ARRAY_SIZE(contents))] : contents[0];

		len += (size_t)sprintf((char *)input + len, "%s", text) + 1;
	}
	return len;
}

static size_t names_mutate(u8 *input, size_t size)
{
	return fuzz_once_in(2) ? size : fuzz_mutate_text(input, size, ROOM);
}

const struct fuzz fuzz_target = {
	.name = "names",
	.room = ROOM,
	.rounds = 500,
	.open = names_open,
	.make = names_make,
	.mutate = names_mutate,
	.run = names_run,
};
