/* SPDX-License-Identifier: MIT */
/* See limited.h. */
#define _GNU_SOURCE
#include "cli/cmd/limited.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cli/log.h"

/* ---- values ---------------------------------------------------------------------------------------- */

int limited_size(const char *text, u64 *bytes)
{
	static const char letters[] = "KMGT";
	size_t len = strlen(text);
	const char *letter = len ? strchr(letters, text[len - 1]) : NULL;
	char digits[32];
	unsigned long number;
	int err;

	if (!len || len >= sizeof(digits))
		return -EINVAL;
	snprintf(digits, sizeof(digits), "%.*s", (int)(len - (letter != NULL)), text);
	err = opt_parse_uint(digits, &number);
	if (err)
		return err;
	*bytes = number;
	for (long i = 0; letter && i <= letter - letters; i++)
		if (__builtin_mul_overflow(*bytes, 1024, bytes))
			return -ERANGE;
	return *bytes ? 0 : -EINVAL;
}

int limited_percent(const char *text, char *value, size_t size)
{
	enum { PERIOD_US = 100000, LEAST_US = 1000 };      /* the kernel's usual one, and what it takes at least */
	double percent, most = 100.0 * 65536;
	char number[32];
	size_t len = strlen(text);

	if (!len || len >= sizeof(number))
		return -EINVAL;
	snprintf(number, sizeof(number), "%.*s", (int)(len - (text[len - 1] == '%')), text);
	if (!opt_number(number, &percent) || !(percent * PERIOD_US / 100 >= LEAST_US) || percent > most)
		return -EINVAL;
	snprintf(value, size, "%.0f %d", percent * PERIOD_US / 100, PERIOD_US);
	return 0;
}

static int io_limit(const char *word, char *value, size_t size)
{
	static const char *const keys[] = { "rbps=", "wbps=", "riops=", "wiops=" };
	u64 number;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		size_t len = strlen(keys[i]);

		if (strncmp(word, keys[i], len) != 0)
			continue;
		if (limited_size(word + len, &number))
			return -EINVAL;
		return snprintf(value, size, " %s%" PRIu64, keys[i], number) < (int)size ? 0 : -EINVAL;
	}
	return -EINVAL;
}

int limited_io(const char *text, char *value, size_t size)
{
	char copy[128], *rest, *word;
	size_t len = 0;

	if ((size_t)snprintf(copy, sizeof(copy), "%s", text) >= sizeof(copy) || !copy[0] || size < 2)
		return -EINVAL;
	value[0] = '\0';
	for (word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		if (io_limit(word, value + len, size - len))
			return -EINVAL;
		len += strlen(value + len);
	}
	if (!len)
		return -EINVAL;
	memmove(value, value + 1, len);
	return 0;
}

/* Limits are of whole disks. */
static dev_t disk_of(dev_t device)
{
	unsigned int major, minor;
	char path[96];
	FILE *f;
	int n;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/partition", major(device), minor(device));
	if (access(path, F_OK))
		return device;
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/../dev", major(device), minor(device));
	f = fopen(path, "re");
	n = f ? fscanf(f, "%u:%u", &major, &minor) : 0;
	if (f)
		fclose(f);
	return n == 2 ? makedev(major, minor) : device;
}

/* ---- options --------------------------------------------------------------------------------------- */

static struct cgroup_setting *setting_add(struct limited *l, const char *option, const char *file)
{
	struct cgroup_setting *setting = &l->asked.setting[l->asked.nsettings++];

	*setting = (struct cgroup_setting){ .option = option, .file = file };
	return setting;
}

static int memory_parse(struct limited *l, const char *text, const char *option, const char *file)
{
	struct cgroup_setting *setting;
	u64 bytes;

	if (!text)
		return 0;
	if (limited_size(text, &bytes))
		return error("%s needs a size such as 64M or 2G, not '%s'", option, text);
	setting = setting_add(l, option, file);
	snprintf(setting->value, sizeof(setting->value), "%" PRIu64, bytes);
	return 0;
}

static int cpu_parse(struct limited *l)
{
	struct cgroup_setting *setting;

	if (!l->cpu_max)
		return 0;
	setting = setting_add(l, "--cpu-max", "cpu.max");
	if (limited_percent(l->cpu_max, setting->value, sizeof(setting->value)))
		return error("--cpu-max needs percent of one CPU, at least 1, such as 50%% or 150%%, not '%s'", l->cpu_max);
	return 0;
}

static int io_parse(struct limited *l, const char *text)
{
	const char *colon = strrchr(text, ':');
	struct cgroup_setting *setting;
	char limits[96], path[PATH_MAX];
	unsigned int numbers[2];
	struct stat st;
	dev_t device;

	/* One is left for --memory-sweep. */
	if (l->asked.nsettings == CGROUP_SETTINGS - 1)
		return error("--io-max limits at most %d devices", CGROUP_SETTINGS - 4);
	if (!colon || colon == text || limited_io(colon + 1, limits, sizeof(limits)))
		return error("--io-max needs a device and its limits, such as /dev/sda:rbps=10M,wbps=10M,riops=100,wiops=100, not '%s'",
			     text);
	snprintf(path, sizeof(path), "%.*s", (int)MIN(colon - text, PATH_MAX - 1), text);
	if (sscanf(path, "%u:%u", &numbers[0], &numbers[1]) == 2)
		device = makedev(numbers[0], numbers[1]);
	else if (stat(path, &st))
		return error("--io-max: %s: %s", path, strerror(errno));
	else
		device = disk_of(S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev);
	setting = setting_add(l, "--io-max", "io.max");
	snprintf(setting->value, sizeof(setting->value), "%u:%u %s", major(device), minor(device), limits);
	return 0;
}

/* Before the last one. */
static bool size_is_there(const struct limited *l, u64 size)
{
	for (u32 i = 0; i + 1 < l->nsizes; i++)
		if (l->sizes[i] == size)
			return true;
	return false;
}

static int sweep_parse(struct limited *l)
{
	char *copy = strdup(l->sweep), *rest, *word;
	int err = copy ? 0 : error("out of memory");

	for (word = err ? NULL : strtok_r(copy, ",", &rest); word && !err; word = strtok_r(NULL, ",", &rest)) {
		if (l->nsizes == SWEEP_MOST)
			err = error("--memory-sweep takes at most %d sizes", SWEEP_MOST);
		else if (limited_size(word, &l->sizes[l->nsizes]))
			err = error("--memory-sweep needs sizes such as 32M,64M,128M, not '%s'", word);
		else if (size_is_there(l, l->sizes[l->nsizes++]))
			err = error("--memory-sweep has the size %s twice", word);
	}
	if (!err && !l->nsizes)
		err = error("--memory-sweep needs sizes such as 32M,64M,128M");
	free(copy);
	return err;
}

int limited_parse(struct limited *l, const struct command *command)
{
	int err = 0;

	if (l->sweep && l->memory_max)
		return command_misused(command, "can't both sweep the memory limit and set it, by --memory-max", NULL);
	err = memory_parse(l, l->memory_max, "--memory-max", "memory.max") ||
	      memory_parse(l, l->memory_high, "--memory-high", "memory.high") || cpu_parse(l);
	for (size_t i = 0; !err && i < l->io_max.n; i++)
		err = io_parse(l, l->io_max.item[i]);
	if (!err && l->sweep)
		err = sweep_parse(l);
	if (err)
		return STATUS_USAGE;
	if (l->root && !l->own && !l->asked.nsettings && !l->sweep)
		return command_misused(command, "needs --own-cgroup, or a limit, with --cgroup-root", NULL);
	l->asked.root = l->root;
	return 0;
}

bool limited_memory(const struct limited *l)
{
	return l->memory_max || l->memory_high || l->sweep;
}

const struct cgroup_asked *limited_group(const struct limited *l)
{
	return l->own || l->asked.nsettings ? &l->asked : NULL;
}

void limited_free(struct limited *l)
{
	opt_list_free(&l->io_max);
}
