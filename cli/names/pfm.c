/* SPDX-License-Identifier: MIT */
/*
 * Names of CPU vendors' manuals, by libpfm4 (pfm_get_os_event_encoding(3), PFM_OS_PERF_EVENT).
 *
 * libpfm's own detection is older than many a CPU, so the table is chosen by CPUID here and named
 * in front of each event: LIBPFM_ENCODE_INACTIVE=1 allows that. LIBPFM_FORCE_PMU would do too, but
 * breaks generic names. Both are read once, by pfm_initialize(), and left as they were for the
 * measured program.
 *
 * Its tables are 43,781 relative relocations: it is loaded when the first name needs it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/library.h"
#include "cli/log.h"
#include "cli/names/internal.h"

#ifdef HAVE_LIBPFM
#include <perfmon/pfmlib_perf_event.h>

#define LIBPFM_SONAME "libpfm.so.4"

#define PFM_TABLES_MOST 8

/* CPUs that libpfm 4.13 does not recognize or does not in all their models. */
static const struct pfm_cpu {
	const char *vendor;
	unsigned int family, first, last;
	const char *table;
	const char *pmu;             /* of sysfs, where cores differ */
} cpus[] = {
	{ "AuthenticAMD", 0x17, 0x00, 0x2f, "amd64_fam17h_zen1", NULL },
	{ "AuthenticAMD", 0x17, 0x30, 0xff, "amd64_fam17h_zen2", NULL },
	{ "HygonGenuine", 0x18, 0x00, 0xff, "amd64_fam17h_zen1", NULL },
	{ "AuthenticAMD", 0x19, 0x00, 0x0f, "amd64_fam19h_zen3", NULL },
	{ "AuthenticAMD", 0x19, 0x10, 0x1f, "amd64_fam19h_zen4", NULL },
	{ "AuthenticAMD", 0x19, 0x20, 0x5f, "amd64_fam19h_zen3", NULL },
	{ "AuthenticAMD", 0x19, 0x60, 0xff, "amd64_fam19h_zen4", NULL },
	{ "AuthenticAMD", 0x1a, 0x00, 0xff, "amd64_fam1ah_zen5", NULL },
	{ "GenuineIntel", 6, 0x97, 0x9a, "adl_glc", "cpu_core" },
	{ "GenuineIntel", 6, 0x97, 0x9a, "adl_grt", "cpu_atom" },
	{ "GenuineIntel", 6, 0xb7, 0xbf, "adl_glc", "cpu_core" },
	{ "GenuineIntel", 6, 0xb7, 0xbf, "adl_grt", "cpu_atom" },
	{ "GenuineIntel", 6, 0xcf, 0xcf, "emr", NULL },
	{ "GenuineIntel", 6, 0xcf, 0xcf, "spr", NULL },
};

struct pfm_table {
	char name[40];
	const char *pmu;
};

/* The tables of one CPU. */
struct pfm_tables {
	struct pfm_table table[PFM_TABLES_MOST];
	size_t n;
};

/* The functions of libpfm that are used here; those of pfm_load() once it has returned true. */
static struct {
	__typeof__(&pfm_initialize) initialize;
	__typeof__(&pfm_strerror) strerror;
	__typeof__(&pfm_get_pmu_info) pmu_info;
	__typeof__(&pfm_get_event_info) event_info;
	__typeof__(&pfm_get_event_next) event_next;
	__typeof__(&pfm_get_os_event_encoding) encode;
} libpfm;

static bool pfm_load(void)
{
	static const struct library_function functions[] = {
		{ "pfm_initialize", &libpfm.initialize },
		{ "pfm_strerror", &libpfm.strerror },
		{ "pfm_get_pmu_info", &libpfm.pmu_info },
		{ "pfm_get_event_info", &libpfm.event_info },
		{ "pfm_get_event_next", &libpfm.event_next },
		{ "pfm_get_os_event_encoding", &libpfm.encode },
	};

	static int state = -1;

	if (state < 0)
		state = library_load(LIBPFM_SONAME, functions, ARRAY_SIZE(functions));
	return state;
}

/* Sets a variable of the environment, NULL: away with it. Returns what it was, to be freed. */
static char *pfm_swap(const char *variable, const char *value)
{
	const char *now = getenv(variable);
	char *before = now ? strdup(now) : NULL;

	if (value)
		setenv(variable, value, 1);
	else
		unsetenv(variable);
	return before;
}

static bool pfm_ready(void)
{
	static int state = -1;
	char *inactive, *force;

	if (state >= 0)
		return state;
	state = pfm_load();
	if (!state) {
		warning("names of CPU vendors' manuals are not known: %s", library_problem());
		return false;
	}
	inactive = pfm_swap("LIBPFM_ENCODE_INACTIVE", "1");
	force = pfm_swap("LIBPFM_FORCE_PMU", NULL);
	state = libpfm.initialize() == PFM_SUCCESS;
	free(pfm_swap("LIBPFM_ENCODE_INACTIVE", inactive));
	free(pfm_swap("LIBPFM_FORCE_PMU", force));
	free(inactive);
	free(force);
	if (!state)
		warning(LIBPFM_SONAME " does not work here: names of CPU vendors' manuals are not known");
	return state;
}

static bool pfm_table_info(const char *name, pfm_pmu_info_t *info)
{
	int i;

	for (i = 0; i < PFM_PMU_MAX; i++) {
		memset(info, 0, sizeof(*info));
		info->size = sizeof(*info);
		if (libpfm.pmu_info((pfm_pmu_t)i, info) == PFM_SUCCESS && !strcmp(info->name, name))
			return true;
	}
	return false;
}

static void pfm_tables_add(struct pfm_tables *tables, const char *name, const char *pmu)
{
	if (tables->n < PFM_TABLES_MOST) {
		snprintf(tables->table[tables->n].name, sizeof(tables->table[0].name), "%s", name);
		tables->table[tables->n++].pmu = pmu;
	}
}

/* A number of /proc/cpuinfo; 0: not there. */
static unsigned long pfm_cpuinfo(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	at = at ? strchr(at, ':') : NULL;
	return at ? strtoul(at + 1, NULL, 10) : 0;
}

/* What libpfm finds active itself is this machine's, whatever the root. */
static void pfm_tables_present(struct pfm_tables *tables)
{
	pfm_pmu_info_t info;
	int i;

	for (i = 0; i < PFM_PMU_MAX; i++) {
		memset(&info, 0, sizeof(info));
		info.size = sizeof(info);
		if (libpfm.pmu_info((pfm_pmu_t)i, &info) == PFM_SUCCESS && info.is_present &&
		    info.type != PFM_PMU_TYPE_OS_GENERIC)
			pfm_tables_add(tables, info.name, NULL);
	}
}

static struct pfm_tables pfm_tables(const struct names_context *context)
{
	struct pfm_tables tables = { .n = 0 };
	unsigned long family, model;
	pfm_pmu_info_t info;
	char text[4096];
	size_t i;

	facts_read(context->caps, "/proc/cpuinfo", text, sizeof(text));
	family = pfm_cpuinfo(text, "cpu family\t");
	model = pfm_cpuinfo(text, "model\t");
	for (i = 0; i < ARRAY_SIZE(cpus); i++)
		if (strstr(text, cpus[i].vendor) && cpus[i].family == family && cpus[i].first <= model &&
		    model <= cpus[i].last && pfm_table_info(cpus[i].table, &info))
			pfm_tables_add(&tables, cpus[i].table, cpus[i].pmu);
	if (!tables.n && !context->caps->root[0])
		pfm_tables_present(&tables);
	return tables;
}

/* Returns an error of libpfm. */
static int pfm_encode(const char *text, struct perf_event_attr *attr)
{
	pfm_perf_encode_arg_t arg = { .attr = attr, .size = sizeof(arg) };

	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	return libpfm.encode(text, PFM_PLM0 | PFM_PLM3 | PFM_PLMH, PFM_OS_PERF_EVENT_EXT, &arg);
}

/* With perf's modifiers behind it, where libpfm does not take them. */
static int pfm_encode_modified(const char *text, struct perf_event_attr *attr, const char **modifiers)
{
	int err = pfm_encode(text, attr);
	const char *colon = strrchr(text, ':');
	char *bare;

	*modifiers = NULL;
	if (err == PFM_SUCCESS || !colon || colon == text || colon[-1] == ':' || !modifiers_valid(colon + 1))
		return err;
	bare = strndup(text, (size_t)(colon - text));
	if (!bare)
		return PFM_ERR_NOMEM;
	if (pfm_encode(bare, attr) == PFM_SUCCESS) {
		*modifiers = colon + 1;
		err = PFM_SUCCESS;
	}
	free(bare);
	return err;
}

/* An event of one table. 1; 0: libpfm does not know it, with *err; -1 after a message. */
static int pfm_add_from(struct names_context *context, struct event_list *list, const char *text, const char *pmu,
	int *err)
{
	const struct names_pmu *found = NULL;
	struct perf_event_attr attr;
	const char *modifiers;
	struct event *event;
	size_t at = 0;

	*err = pfm_encode_modified(text, &attr, &modifiers);
	if (*err != PFM_SUCCESS)
		return 0;
	if (pmu)
		found = pmu_match(context, pmu, &at);
	event = found ? pmu_event_add(found, list) : event_add(list, attr.type, 0);
	if (!event)
		return -1;
	if (found && attr.type == PERF_TYPE_RAW)
		attr.type = found->type;
	attr.read_format = 0;
	event->attr = attr;
	return modifiers && modifiers_apply(event, modifiers) ? -1 : 1;
}

static int pfm_suggest(void *data, const char *name, const char *meaning)
{
	(void)meaning;
	suggestion_offer(data, strstr(name, "::") + 2);
	return 0;
}

static int pfm_each_event(const char *table, int (*each)(void *, const char *, const char *), void *data);

static int pfm_refuse(const char *text, int err)
{
	char table[40], near_text[400], event[96];
	const char *colons = strstr(text, "::");
	struct suggestion near;
	pfm_pmu_info_t info;

	snprintf(table, sizeof(table), "%.*s", (int)MIN((size_t)(colons - text), sizeof(table) - 1), text);
	if (!pfm_table_info(table, &info))
		return error("libpfm has no table '%s'", table);
	if (err != PFM_ERR_NOTFOUND)
		return error("'%s': %s", text, libpfm.strerror(err));
	snprintf(event, sizeof(event), "%.*s", (int)MIN(strcspn(colons + 2, ":"), sizeof(event) - 1), colons + 2);
	suggestion_init(&near, event);
	pfm_each_event(table, pfm_suggest, &near);
	return error("libpfm's table %s has no event '%s'%s", table, colons + 2,
		suggestion_text(&near, near_text, sizeof(near_text)));
}

/* The codes of another CPU's table may count anything. */
static void pfm_warn_foreign(const struct names_context *context, const struct event *event, const char *text)
{
	struct pfm_tables tables = pfm_tables(context);
	size_t i, len;

	for (i = 0; i < tables.n; i++) {
		len = strlen(tables.table[i].name);
		if (!strncmp(text, tables.table[i].name, len) && text[len] == ':')
			return;
	}
	if (event->attr.type == PERF_TYPE_RAW)
		warning("%s is of a table that is not known to be this CPU's: its code may count something else", text);
}

int pfm_add(struct names_context *context, struct event_list *list, const char *text)
{
	struct pfm_tables tables;
	size_t i, from = list->n;
	int err, n;

	if (!pfm_ready())
		return 0;
	tables = pfm_tables(context);
	if (strstr(text, "::")) {
		const char *pmu = NULL;

		for (i = 0; i < tables.n; i++)
			if (!strncmp(text, tables.table[i].name, strlen(tables.table[i].name)))
				pmu = tables.table[i].pmu;
		n = pfm_add_from(context, list, text, pmu, &err);
		if (n > 0)
			pfm_warn_foreign(context, &list->event[list->n - 1], text);
		return n ? n : pfm_refuse(text, err);
	}
	for (i = 0; i < tables.n; i++) {
		char full[NAMES_TEXT_MOST + 64];

		snprintf(full, sizeof(full), "%s::%s", tables.table[i].name, text);
		if (pfm_add_from(context, list, full, tables.table[i].pmu, &err) < 0)
			return -1;
	}
	return (int)(list->n - from);
}

static int pfm_each_event(const char *table, int (*each)(void *, const char *, const char *), void *data)
{
	pfm_event_info_t event;
	pfm_pmu_info_t info;
	char name[200];
	int i, stop = 0;

	if (!pfm_table_info(table, &info))
		return 0;
	for (i = info.first_event; !stop && i != -1; i = libpfm.event_next(i)) {
		memset(&event, 0, sizeof(event));
		event.size = sizeof(event);
		if (libpfm.event_info(i, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS)
			continue;
		snprintf(name, sizeof(name), "%s::%s", table, event.name);
		stop = each(data, name, event.desc ? event.desc : "");
	}
	return stop;
}

int names_each_pfm(struct names_context *context,
	int (*each)(void *data, const char *name, const char *meaning), void *data)
{
	struct pfm_tables tables;
	int stop = 0;
	size_t i;

	if (!pfm_ready())
		return 0;
	tables = pfm_tables(context);
	for (i = 0; !stop && i < tables.n; i++)
		stop = pfm_each_event(tables.table[i].name, each, data);
	return stop;
}

bool names_have_pfm(void)
{
	return pfm_load();
}

bool names_built_with_pfm(void)
{
	return true;
}

#else

bool names_have_pfm(void)
{
	return false;
}

bool names_built_with_pfm(void)
{
	return false;
}

int pfm_add(struct names_context *context, struct event_list *list, const char *text)
{
	(void)context;
	(void)list;
	if (!strstr(text, "::"))
		return 0;
	return error("'%s' is a name of libpfm4, and this sparkctl was built without it (Debian: libpfm4-dev)", text);
}

int names_each_pfm(struct names_context *context,
	int (*each)(void *data, const char *name, const char *meaning), void *data)
{
	(void)context;
	(void)each;
	(void)data;
	return 0;
}

#endif
