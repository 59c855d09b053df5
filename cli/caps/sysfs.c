/* SPDX-License-Identifier: MIT */
/*
 * PMUs of sysfs; see sysfs.h and, in the kernel's Documentation/ABI/testing,
 * sysfs-bus-event_source-devices-events and -format.
 */
#include "cli/caps/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int sysfs_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int sysfs_add(struct sysfs_names *names, const char *name)
{
	char **list = realloc(names->list, (names->n + 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	names->list = list;
	list[names->n] = strdup(name);
	if (!list[names->n])
		return -ENOMEM;
	names->n++;
	return 0;
}

int sysfs_list(const struct caps_context *context, const char *path, bool events,
	struct sysfs_names *names)
{
	const struct dirent *entry;
	char full[PATH_MAX];
	int err = 0;
	DIR *dir;

	names->list = NULL;
	names->n = 0;
	snprintf(full, sizeof(full), "%s%s", context->root, path);
	dir = opendir(full);
	if (!dir)
		return -errno;
	for (errno = 0; !err && (entry = readdir(dir)); errno = 0)
		if (entry->d_name[0] != '.' && !(events && strchr(entry->d_name, '.')))
			err = sysfs_add(names, entry->d_name);
	if (!err)
		err = -errno;
	closedir(dir);
	if (err) {
		sysfs_names_fini(names);
		return err;
	}
	if (names->n)
		qsort(names->list, names->n, sizeof(*names->list), sysfs_compare);
	return 0;
}

void sysfs_names_fini(struct sysfs_names *names)
{
	size_t i;

	for (i = 0; i < names->n; i++)
		free(names->list[i]);
	free(names->list);
	names->list = NULL;
	names->n = 0;
}

long sysfs_read_type(const struct caps_context *context, const char *pmu)
{
	char path[PATH_MAX], text[32], *end;
	long got, type;

	snprintf(path, sizeof(path), SYSFS_PMUS "/%s/type", pmu);
	got = facts_read(context, path, text, sizeof(text));
	if (got < 0)
		return got;
	type = strtol(text, &end, 10);
	return end == text || type < 0 ? -EINVAL : type;
}

/* Puts value, lowest bits first, into the bits "0-7,32" of *word. Returns 0 or -errno. */
static int sysfs_put_bits(uint64_t *word, const char *bits, uint64_t value)
{
	unsigned long first, last;
	char *end;

	for (;;) {
		first = last = strtoul(bits, &end, 10);
		if (end == bits)
			return -EINVAL;
		if (*end == '-') {
			bits = end + 1;
			last = strtoul(bits, &end, 10);
			if (end == bits)
				return -EINVAL;
		}
		for (; first <= last && last < 64; first++, value >>= 1)
			*word |= (value & 1) << first;
		if (*end != ',')
			return 0;
		bits = end + 1;
	}
}

/* One term by the file of that name: "config1:0-15". */
static int sysfs_put_term(const struct caps_context *context, const char *pmu, const char *name,
	uint64_t value, struct perf_event_attr *attr)
{
	static const char *const words[] = { "config:", "config1:", "config2:" };
	uint64_t config[3] = { attr->config, attr->config1, attr->config2 };
	char path[PATH_MAX], text[256];
	size_t i;
	long got;
	int err = -EINVAL;

	snprintf(path, sizeof(path), SYSFS_PMUS "/%s/format/%s", pmu, name);
	got = facts_read(context, path, text, sizeof(text));
	if (got < 0)
		return got == -ENOENT ? -EINVAL : (int)got;
	for (i = 0; i < 3; i++)
		if (!strncmp(text, words[i], strlen(words[i])))
			err = sysfs_put_bits(&config[i], text + strlen(words[i]), value);
	attr->config = config[0];
	attr->config1 = config[1];
	attr->config2 = config[2];
	return err;
}

int sysfs_encode(const struct caps_context *context, const char *pmu, const char *terms,
	struct perf_event_attr *attr)
{
	char copy[512], *term, *rest, *value, *end;
	uint64_t number;
	int err;

	if ((size_t)snprintf(copy, sizeof(copy), "%s", terms) >= sizeof(copy))
		return -EINVAL;
	for (term = strtok_r(copy, ",\n", &rest); term; term = strtok_r(NULL, ",\n", &rest)) {
		value = strchr(term, '=');
		number = 1;
		if (value) {
			*value++ = '\0';
			number = strtoull(value, &end, 0);
			if (end == value || *end)
				return -EINVAL;
		}
		err = strchr(term, '/') ? -EINVAL : sysfs_put_term(context, pmu, term, number, attr);
		if (err)
			return err;
	}
	return 0;
}
