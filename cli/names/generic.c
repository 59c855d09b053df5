/* SPDX-License-Identifier: MIT */
/*
 * Names that mean the same on every machine: those of include/uapi/linux/perf_event.h, spelled as
 * perf does. Where cores differ, an event is made for each kind: the upper half of config names
 * the PMU (PERF_PMU_TYPE_SHIFT). arm's drivers take that from Linux 6.6 on only; there the PMU's
 * own name of the event is used where it has one (armv8_pmuv3_perf_map in the kernel).
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/log.h"
#include "cli/names/internal.h"

#define GENERIC_PMU_SHIFT 32

struct generic {
	const char *name, *other;
	const char *arm;             /* alias of an arm PMU */
	enum event_side side;
};

static const struct generic hardware[] = {
	[PERF_COUNT_HW_CPU_CYCLES] = { "cycles", "cpu-cycles", "cpu_cycles", EVENT_EITHER },
	[PERF_COUNT_HW_INSTRUCTIONS] = { "instructions", NULL, "inst_retired", EVENT_EITHER },
	[PERF_COUNT_HW_CACHE_REFERENCES] = { "cache-references", NULL, "l1d_cache", EVENT_EITHER },
	[PERF_COUNT_HW_CACHE_MISSES] = { "cache-misses", NULL, "l1d_cache_refill", EVENT_EITHER },
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = { "branches", "branch-instructions", "br_retired", EVENT_EITHER },
	[PERF_COUNT_HW_BRANCH_MISSES] = { "branch-misses", NULL, "br_mis_pred", EVENT_EITHER },
	[PERF_COUNT_HW_BUS_CYCLES] = { "bus-cycles", NULL, "bus_cycles", EVENT_EITHER },
	[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = { "stalled-cycles-frontend", "idle-cycles-frontend",
						    "stall_frontend", EVENT_EITHER },
	[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = { "stalled-cycles-backend", "idle-cycles-backend",
						   "stall_backend", EVENT_EITHER },
	[PERF_COUNT_HW_REF_CPU_CYCLES] = { "ref-cycles", NULL, NULL, EVENT_EITHER },
};

static const struct generic software[] = {
	[PERF_COUNT_SW_CPU_CLOCK] = { "cpu-clock", NULL, NULL, EVENT_NO_SIDE },
	[PERF_COUNT_SW_TASK_CLOCK] = { "task-clock", NULL, NULL, EVENT_NO_SIDE },
	[PERF_COUNT_SW_PAGE_FAULTS] = { "page-faults", "faults", NULL, EVENT_EITHER },
	[PERF_COUNT_SW_CONTEXT_SWITCHES] = { "context-switches", "cs", NULL, EVENT_KERNEL },
	[PERF_COUNT_SW_CPU_MIGRATIONS] = { "cpu-migrations", "migrations", NULL, EVENT_KERNEL },
	[PERF_COUNT_SW_PAGE_FAULTS_MIN] = { "minor-faults", NULL, NULL, EVENT_EITHER },
	[PERF_COUNT_SW_PAGE_FAULTS_MAJ] = { "major-faults", NULL, NULL, EVENT_EITHER },
	[PERF_COUNT_SW_ALIGNMENT_FAULTS] = { "alignment-faults", NULL, NULL, EVENT_EITHER },
	[PERF_COUNT_SW_EMULATION_FAULTS] = { "emulation-faults", NULL, NULL, EVENT_EITHER },
	[PERF_COUNT_SW_DUMMY] = { "dummy", NULL, NULL, EVENT_EITHER },
	[PERF_COUNT_SW_BPF_OUTPUT] = { "bpf-output", NULL, NULL, EVENT_KERNEL },
	[11] = { "cgroup-switches", NULL, NULL, EVENT_KERNEL }, /* PERF_COUNT_SW_CGROUP_SWITCHES, Linux 5.13 */
};

/* Which operations a cache has: bits by enum perf_hw_cache_op_id. */
enum { READ = 1 << PERF_COUNT_HW_CACHE_OP_READ, WRITE = 1 << PERF_COUNT_HW_CACHE_OP_WRITE,
       PREFETCH = 1 << PERF_COUNT_HW_CACHE_OP_PREFETCH };

static const struct {
	const char *names[5];
	int operations;
} caches[] = {
	[PERF_COUNT_HW_CACHE_L1D] = { { "L1-dcache", "l1-d", "l1d", "L1-data" }, READ | WRITE | PREFETCH },
	[PERF_COUNT_HW_CACHE_L1I] = { { "L1-icache", "l1-i", "l1i", "L1-instruction" }, READ | PREFETCH },
	[PERF_COUNT_HW_CACHE_LL] = { { "LLC", "L2" }, READ | WRITE | PREFETCH },
	[PERF_COUNT_HW_CACHE_DTLB] = { { "dTLB", "d-tlb", "Data-TLB" }, READ | WRITE | PREFETCH },
	[PERF_COUNT_HW_CACHE_ITLB] = { { "iTLB", "i-tlb", "Instruction-TLB" }, READ },
	[PERF_COUNT_HW_CACHE_BPU] = { { "branch", "branches", "bpu", "btb", "bpc" }, READ },
	[PERF_COUNT_HW_CACHE_NODE] = { { "node" }, READ | WRITE | PREFETCH },
};

static const char *const operations[][5] = {
	[PERF_COUNT_HW_CACHE_OP_READ] = { "load", "loads", "read" },
	[PERF_COUNT_HW_CACHE_OP_WRITE] = { "store", "stores", "write" },
	[PERF_COUNT_HW_CACHE_OP_PREFETCH] = { "prefetch", "prefetches", "speculative-read", "speculative-load" },
};

static const char *const results[][5] = {
	[PERF_COUNT_HW_CACHE_RESULT_ACCESS] = { "refs", "Reference", "ops", "access" },
	[PERF_COUNT_HW_CACHE_RESULT_MISS] = { "misses", "miss" },
};

/* The longest of the names that end at a '-' or the word's end; *word is moved past it. */
static bool cache_part(const char *const names[5], const char **word)
{
	size_t i, len, longest = 0;

	for (i = 0; i < 5 && names[i]; i++) {
		len = strlen(names[i]);
		if (len > longest && !strncasecmp(*word, names[i], len) && ((*word)[len] == '-' || !(*word)[len]))
			longest = len;
	}
	if (!longest)
		return false;
	*word += longest + ((*word)[longest] == '-');
	return true;
}

/* cache[-operation][-result]. */
static bool cache_parse(const char *word, u64 *config)
{
	size_t cache, operation, result;
	const char *rest = word;

	for (cache = 0; cache < ARRAY_SIZE(caches) && !cache_part(caches[cache].names, &rest); cache++)
		;
	if (cache == ARRAY_SIZE(caches) || word[strlen(word) - 1] == '-')
		return false;
	for (operation = 0; operation < ARRAY_SIZE(operations) && !cache_part(operations[operation], &rest);
	     operation++)
		;
	if (operation == ARRAY_SIZE(operations))
		operation = PERF_COUNT_HW_CACHE_OP_READ;
	for (result = 0; result < ARRAY_SIZE(results) && !cache_part(results[result], &rest); result++)
		;
	if (result == ARRAY_SIZE(results))
		result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
	*config = cache | operation << 8 | result << 16;
	return !*rest && (caches[cache].operations >> operation & 1);
}

static const struct generic *generic_find(const struct generic *table, size_t n, const char *word,
	u64 *config)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(table[i].name, word) || (table[i].other && !strcmp(table[i].other, word))) {
			*config = i;
			return &table[i];
		}
	return NULL;
}

/* *row is set for what is in a table. */
static bool generic_parse(const char *word, u32 *type, u64 *config, const struct generic **row)
{
	*type = PERF_TYPE_HARDWARE;
	*row = generic_find(hardware, ARRAY_SIZE(hardware), word, config);
	if (*row)
		return true;
	*type = PERF_TYPE_SOFTWARE;
	*row = generic_find(software, ARRAY_SIZE(software), word, config);
	if (*row)
		return true;
	*type = PERF_TYPE_HW_CACHE;
	return *word && cache_parse(word, config);
}

bool raw_parse(const char *word, u64 *config)
{
	const char *at;

	*config = 0;
	if (*word != 'r' || !word[1] || strlen(word) > 17)
		return false;
	for (at = word + 1; *at; at++) {
		if (!isxdigit((unsigned char)*at))
			return false;
		*config = *config << 4 | (u64)(*at <= '9' ? *at - '0' : (*at | 0x20) - 'a' + 10);
	}
	return true;
}

int generic_encode(struct names_context *context, const struct names_pmu *pmu, struct event *event,
	const char *word)
{
	const struct generic *row;
	struct pmu_alias alias;
	u32 type;
	u64 config;

	if (pmu->kind != NAMES_PMU_CORE)
		return 0;
	if (raw_parse(word, &config)) {
		event->attr.config = config;
		return 1;
	}
	if (!generic_parse(word, &type, &config, &row) || type == PERF_TYPE_SOFTWARE)
		return 0;
	if (row && row->arm && !strncmp(pmu->name, "arm", 3) && pmu_alias_read(context, pmu, row->arm, &alias))
		return terms_apply(context, pmu, event, row->arm) ? -1 : 1;
	event->attr.type = type;
	event->attr.config = config;
	if (strcmp(pmu->name, "cpu") != 0)
		event->attr.config |= (u64)pmu->type << GENERIC_PMU_SHIFT;
	return 1;
}

/* One for each kind of core. */
static int generic_add_hybrid(struct names_context *context, struct event_list *list, const char *word)
{
	size_t i, n, from = list->n;
	const struct names_pmu *pmus = pmu_table(context, &n);
	struct event *event;
	int known;

	for (i = 0; i < n; i++) {
		if (pmus[i].kind != NAMES_PMU_CORE)
			continue;
		event = pmu_event_add(&pmus[i], list);
		known = event ? generic_encode(context, &pmus[i], event, word) : -1;
		if (known < 0)
			return -1;
		if (!known)
			event_list_cut(list, list->n - 1);
	}
	return (int)(list->n - from);
}

int generic_add(struct names_context *context, struct event_list *list, const char *word)
{
	const struct generic *row;
	struct event *event;
	u32 type;
	u64 config;

	if (!generic_parse(word, &type, &config, &row))
		return 0;
	if (type != PERF_TYPE_SOFTWARE && pmu_count_cores(context) > 1)
		return generic_add_hybrid(context, list, word);
	event = event_add(list, type, config);
	if (!event)
		return -1;
	event->side = row ? row->side : EVENT_EITHER;
	if (event->side == EVENT_NO_SIDE)
		return event_set(&event->unit, "ns") ? -1 : 1;
	return 1;
}

int raw_add(struct names_context *context, struct event_list *list, const char *word)
{
	u64 config;

	if (!raw_parse(word, &config))
		return 0;
	if (pmu_count_cores(context) > 1)
		return generic_add_hybrid(context, list, word);
	return event_add(list, PERF_TYPE_RAW, config) ? 1 : -1;
}

static int generic_each_cache(int (*each)(void *, const char *, const char *), void *data)
{
	char loads[48], misses[48];
	size_t cache, operation;
	int stop = 0;

	for (cache = 0; !stop && cache < ARRAY_SIZE(caches); cache++)
		for (operation = 0; !stop && operation < ARRAY_SIZE(operations); operation++) {
			if (!(caches[cache].operations >> operation & 1))
				continue;
			snprintf(loads, sizeof(loads), "%s-%s", caches[cache].names[0], operations[operation][1]);
			snprintf(misses, sizeof(misses), "%s-%s-misses", caches[cache].names[0],
				operations[operation][0]);
			stop = each(data, loads, NULL);
			stop = stop ? stop : each(data, misses, NULL);
		}
	return stop;
}

int names_each_generic(u32 type, int (*each)(void *data, const char *name, const char *other),
	void *data)
{
	const struct generic *table = type == PERF_TYPE_HARDWARE ? hardware : software;
	size_t i, n = type == PERF_TYPE_HARDWARE ? ARRAY_SIZE(hardware) : ARRAY_SIZE(software);
	int stop = 0;

	if (type == PERF_TYPE_HW_CACHE)
		return generic_each_cache(each, data);
	for (i = 0; !stop && i < n; i++)
		stop = each(data, table[i].name, table[i].other);
	return stop;
}
