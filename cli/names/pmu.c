/* SPDX-License-Identifier: MIT */
/*
 * PMUs as sysfs describes them, in /sys/bus/event_source/devices: type, CPUs, formats, events. See
 * Documentation/ABI/testing/sysfs-bus-event_source-devices* of the kernel. Files that make no sense
 * are left out, or named when they are needed.
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/names/internal.h"

void names_init(struct names_context *context, const struct caps_context *caps)
{
	*context = (struct names_context){ .caps = caps };
}

void names_fini(struct names_context *context)
{
	free(context->pmus);
	context->pmus = NULL;
	context->npmus = 0;
	context->scanned = false;
}

int pmu_scan(const struct names_context *context, const char *path,
	int (*each)(void *data, const char *name), void *data)
{
	char full[PATH_MAX];
	struct dirent **entries;
	int i, n, stop = 0;

	if (snprintf(full, sizeof(full), "%s%s", context->caps->root, path) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	n = scandir(full, &entries, NULL, alphasort);
	if (n < 0)
		return -errno;
	for (i = 0; i < n; i++) {
		if (!stop && entries[i]->d_name[0] != '.')
			stop = each(data, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return stop;
}

/* A file of a PMU as one line, blanks at its end cut off. Returns its length or -errno. */
static long pmu_read(const struct names_context *context, const char *pmu, const char *file, char *text,
	size_t size)
{
	char path[PATH_MAX];
	long len;

	text[0] = '\0';
	if (strchr(file, '/') != strrchr(file, '/') || strstr(file, ".."))
		return -EINVAL;
	if (snprintf(path, sizeof(path), NAMES_PMUS "/%s/%s", pmu, file) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	len = facts_read(context->caps, path, text, size);
	if (len < 0)
		return len;
	len = (long)strcspn(text, "\n");
	while (len && strchr(" \t\r", text[len - 1]))
		len--;
	text[len] = '\0';
	return len;
}

static int pmu_found(void *data, const char *name)
{
	struct names_context *context = data;
	struct names_pmu pmu = { .kind = NAMES_PMU_TASK }, *grown;
	char text[32];
	u64 type;
	long got = pmu_read(context, name, "type", text, sizeof(text));

	if (got < 0 && got != -ENOENT)
		context->type_error = (int)-got;
	if (strlen(name) >= sizeof(pmu.name) || got <= 0 || !number_parse(text, &type) || type > UINT32_MAX)
		return 0;
	snprintf(pmu.name, sizeof(pmu.name), "%s", name);
	pmu.type = (u32)type;
	if (pmu_read(context, name, "cpus", pmu.cpus, sizeof(pmu.cpus)) > 0 || !strcmp(name, "cpu"))
		pmu.kind = NAMES_PMU_CORE;
	else if (pmu_read(context, name, "cpumask", pmu.cpus, sizeof(pmu.cpus)) > 0)
		pmu.kind = NAMES_PMU_SYSTEM;
	grown = realloc(context->pmus, (context->npmus + 1) * sizeof(*grown));
	if (!grown)
		return error("out of memory");
	context->pmus = grown;
	context->pmus[context->npmus++] = pmu;
	return 0;
}

/* The only kind of cores has all that a task can run on. */
static void pmu_settle(struct names_context *context)
{
	struct names_pmu *only = NULL;
	size_t i, cores = 0;

	for (i = 0; i < context->npmus; i++)
		if (context->pmus[i].kind == NAMES_PMU_CORE) {
			only = &context->pmus[i];
			cores++;
		}
	if (cores == 1)
		only->cpus[0] = '\0';
}

const struct names_pmu *pmu_table(struct names_context *context, size_t *n)
{
	int err;

	if (!context->scanned) {
		err = pmu_scan(context, NAMES_PMUS, pmu_found, context);
		context->folder_error = err < 0 ? -err : 0;
		pmu_settle(context);
	}
	context->scanned = true;
	*n = context->npmus;
	return context->pmus;
}

int names_each_pmu(struct names_context *context, int (*each)(void *data, const struct names_pmu *),
	void *data)
{
	size_t i, n;
	const struct names_pmu *pmus = pmu_table(context, &n);
	int stop = 0;

	for (i = 0; !stop && i < n; i++)
		stop = each(data, &pmus[i]);
	return stop;
}

const struct names_pmu *names_find_pmu(struct names_context *context, const char *name)
{
	size_t i, n;
	const struct names_pmu *pmus = pmu_table(context, &n);

	for (i = 0; i < n; i++)
		if (!strcmp(pmus[i].name, name))
			return &pmus[i];
	return NULL;
}

size_t pmu_count_cores(struct names_context *context)
{
	size_t i, n, cores = 0;
	const struct names_pmu *pmus = pmu_table(context, &n);

	for (i = 0; i < n; i++)
		cores += pmus[i].kind == NAMES_PMU_CORE;
	return cores;
}

/* "uncore_imc" and "imc" mean uncore_imc_0, uncore_imc_1, ... */
static bool pmu_is_numbered(const char *pmu, const char *name)
{
	size_t len = strlen(name);

	if (!strncmp(pmu, "uncore_", 7) && strncmp(name, "uncore_", 7))
		pmu += 7;
	if (strncmp(pmu, name, len))
		return false;
	pmu += len + (pmu[len] == '_');
	return *pmu && !pmu[strspn(pmu, "0123456789")];
}

const struct names_pmu *pmu_match(struct names_context *context, const char *name, size_t *at)
{
	size_t i, n;
	const struct names_pmu *pmus = pmu_table(context, &n), *itself = names_find_pmu(context, name);

	/* Its very name means itself alone. */
	if (itself) {
		i = *at;
		*at = n;
		return i ? NULL : itself;
	}
	for (i = *at; i < n; i++)
		if (!fnmatch(name, pmus[i].name, 0) || pmu_is_numbered(pmus[i].name, name)) {
			*at = i + 1;
			return &pmus[i];
		}
	return NULL;
}

struct event *pmu_event_add(const struct names_pmu *pmu, struct event_list *list)
{
	static const enum event_scope scopes[] = {
		[NAMES_PMU_TASK] = EVENT_TASK, [NAMES_PMU_CORE] = EVENT_CORES, [NAMES_PMU_SYSTEM] = EVENT_SYSTEM,
	};
	struct event *event = event_add(list, pmu->type, 0);

	if (!event || event_set(&event->pmu, "%s", pmu->name))
		return NULL;
	event->scope = pmu->cpus[0] ? scopes[pmu->kind] : EVENT_TASK;
	event->hardware = pmu->kind == NAMES_PMU_CORE;
	if (pmu->cpus[0] && event_set(&event->cpus, "%s", pmu->cpus))
		return NULL;
	return event;
}

/*
 * Event 0 of Intel's PMUs that have slots (arch/x86/events/perf_event.h, INTEL_TD_SLOTS and INTEL_TD_METRIC_*).
 * Others use that code for something else.
 */
void pmu_settle_event(struct names_context *context, struct event *event)
{
	const struct names_pmu *pmu = names_find_pmu(context, event->pmu ? event->pmu : "cpu");
	u64 umask = event->attr.config >> 8;
	struct pmu_alias slots;

	if (!event->hardware || !pmu || event->attr.type != pmu->type || (event->attr.config & 0xff) != 0 ||
	    !pmu_alias_read(context, pmu, "slots", &slots))
		return;
	event->topdown = umask == 0x04 ? EVENT_SLOTS : umask >= 0x80 && umask <= 0x87 ? EVENT_TOPDOWN : EVENT_NO_TOPDOWN;
}

/* "2.3283064365386962890625e-10"; no locale for numbers is ever set. */
static double pmu_scale(const char *text)
{
	char *end;
	double scale = strtod(text, &end);

	return end == text || *end || !(scale > 0 && scale < 1e30) ? 1 : scale;
}

bool pmu_alias_read(struct names_context *context, const struct names_pmu *pmu, const char *name,
	struct pmu_alias *alias)
{
	char file[160], scale[64];

	if (!*name || strchr(name, '/') || strlen(name) > 128)
		return false;
	snprintf(file, sizeof(file), "events/%s", name);
	if (pmu_read(context, pmu->name, file, alias->terms, sizeof(alias->terms)) <= 0)
		return false;
	snprintf(file, sizeof(file), "events/%s.unit", name);
	pmu_read(context, pmu->name, file, alias->unit, sizeof(alias->unit));
	snprintf(file, sizeof(file), "events/%s.scale", name);
	alias->scale = pmu_read(context, pmu->name, file, scale, sizeof(scale)) > 0 ? pmu_scale(scale) : 1;
	return true;
}

/* "0-7,32-35" and the like. */
static bool format_bits(const char *text, u64 *bits)
{
	char *end;

	*bits = 0;
	for (;; text = end + 1) {
		unsigned long first, last;

		if (*text < '0' || *text > '9')
			return false;
		first = last = strtoul(text, &end, 10);
		if (*end == '-' && end[1] >= '0' && end[1] <= '9')
			last = strtoul(end + 1, &end, 10);
		if (first > last || last > 63)
			return false;
		*bits |= (~0ULL >> (63 - (last - first))) << first;
		if (*end != ',')
			return !*end;
	}
}

static bool format_parse(const char *text, struct names_format *format)
{
	static const char *const words[] = { "config:", "config1:", "config2:", "config3:" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!strncmp(text, words[i], strlen(words[i]))) {
			format->word = (unsigned int)i;
			return format_bits(text + strlen(words[i]), &format->bits);
		}
	return false;
}

int pmu_format_read(struct names_context *context, const struct names_pmu *pmu, const char *name,
	struct names_format *format)
{
	char file[160], text[128];
	long len;

	if (!*name || strchr(name, '/') || strlen(name) > 128)
		return 0;
	snprintf(file, sizeof(file), "format/%s", name);
	len = pmu_read(context, pmu->name, file, text, sizeof(text));
	if (len < 0)
		return 0;
	format->name = name;
	if (!format_parse(text, format))
		return error("the kernel's file " NAMES_PMUS "/%s/%s makes no sense: '%s'", pmu->name, file, text);
	return 1;
}

struct pmu_walk {
	struct names_context *context;
	const struct names_pmu *pmu;
	int (*each_alias)(void *data, const struct names_alias *);
	int (*each_format)(void *data, const struct names_format *);
	void *data;
};

static int walk_alias(void *data, const char *name)
{
	static const char *const parts[] = { ".scale", ".unit", ".per-pkg", ".snapshot" };
	struct pmu_walk *walk = data;
	const char *dot = strrchr(name, '.');
	struct pmu_alias alias;
	size_t i;

	for (i = 0; dot && i < ARRAY_SIZE(parts); i++)
		if (!strcmp(dot, parts[i]))
			return 0;
	if (!pmu_alias_read(walk->context, walk->pmu, name, &alias))
		return 0;
	return walk->each_alias(walk->data, &(struct names_alias){ name, alias.terms,
		alias.unit[0] ? alias.unit : NULL, alias.scale });
}

int names_each_alias(struct names_context *context, const struct names_pmu *pmu,
	int (*each)(void *data, const struct names_alias *), void *data)
{
	struct pmu_walk walk = { context, pmu, each, NULL, data };
	char path[128];
	int stop;

	snprintf(path, sizeof(path), NAMES_PMUS "/%s/events", pmu->name);
	stop = pmu_scan(context, path, walk_alias, &walk);
	return stop == -ENOENT ? 0 : stop;
}

static int walk_format(void *data, const char *name)
{
	struct pmu_walk *walk = data;
	struct names_format format = { .name = name };
	char file[300], text[128];

	snprintf(file, sizeof(file), "format/%s", name);
	if (pmu_read(walk->context, walk->pmu->name, file, text, sizeof(text)) < 0 || !format_parse(text, &format))
		return 0;
	return walk->each_format(walk->data, &format);
}

int names_each_format(struct names_context *context, const struct names_pmu *pmu,
	int (*each)(void *data, const struct names_format *), void *data)
{
	struct pmu_walk walk = { context, pmu, NULL, each, data };
	char path[128];
	int stop;

	snprintf(path, sizeof(path), NAMES_PMUS "/%s/format", pmu->name);
	stop = pmu_scan(context, path, walk_format, &walk);
	return stop == -ENOENT ? 0 : stop;
}
