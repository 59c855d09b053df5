/* SPDX-License-Identifier: MIT */
/*
 * The probe "precise-memory": a load is sampled with its address and where the data came from.
 * ibs_op comes before caps/max_precise, where AMD's kernels say nothing. Which bits an engine
 * wants is told by its files in sysfs; perf-mem(1) and perf-amd-ibs(1) describe both.
 */
#include "cli/caps/try.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/names/names.h"
#include "common/base.h"
#include "common/perf.h"

enum { PRECISE_LIMIT_MS = 100, PRECISE_BYTES = 1 << 20 };

struct precise_engine {
	const char *pmu;
	const char *title;
	const char *event;	/* named in sysfs, or NULL: the PMU is of loads alone */
	const char *filter;	/* term by which the PMU leaves out the kernel, or NULL */
	uint64_t period;
};

static const struct precise_engine precise_engines[] = {
	{ "ibs_op", "ibs_op (AMD)", NULL, "swfilt", 0x4000 },
	{ "cpu", "mem-loads (Intel)", "mem-loads", NULL, 100 },
	{ "cpu_core", "mem-loads (Intel, hybrid)", "mem-loads", NULL, 100 },
};

struct precise_record {
	struct perf_event_header header;
	uint64_t ip, address, weight, data_source;
};

/* Sets what terms or a named event of the engine mean. Returns 0; or -1 with what is wrong. */
static int precise_encode(struct names_context *names, const struct precise_engine *engine,
	const char *terms, struct perf_event_attr *attr, char *wrong, size_t size)
{
	struct perf_event_attr named;
	char text[128];

	snprintf(text, sizeof(text), "%s/%s/", engine->pmu, terms);
	if (names_encode(names, text, &named, wrong, size))
		return -1;
	attr->config = named.config;
	attr->config1 = named.config1;
	attr->config2 = named.config2;
	return 0;
}

/* Whether the PMU has an event of that name. */
static bool precise_has(const struct names_context *names, const struct precise_engine *engine,
	const char *event)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), NAMES_PMUS "/%s/events/%s", engine->pmu, event);
	return facts_exists(names->caps, path);
}

/*
 * Fills the attribute by the files of the engine. Returns 0 or -errno; ENOENT: it is not there;
 * EINVAL: with what is wrong.
 */
static int precise_prepare(struct names_context *names, const struct precise_engine *engine,
	struct perf_event_attr *attr, char *wrong, size_t size)
{
	const struct names_pmu *pmu = names_find_pmu(names, engine->pmu);
	char path[PATH_MAX], text[32];
	long got;

	if (!pmu)
		return names->type_error ? -names->type_error : -ENOENT;
	perf_attr_init(attr, pmu->type, 0);
	attr->sample_period = engine->period;
	attr->exclude_kernel = !engine->filter;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT |
		PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR;
	if (engine->filter && !precise_encode(names, engine, engine->filter, attr, wrong, size))
		attr->exclude_kernel = 1;
	if (!engine->event)
		return 0;
	snprintf(path, sizeof(path), NAMES_PMUS "/%s/caps/max_precise", engine->pmu);
	got = facts_read(names->caps, path, text, sizeof(text));
	attr->precise_ip = MIN(got > 0 ? (unsigned int)atoi(text) : 0, 2U) & 3;
	if (!attr->precise_ip)
		return got < 0 ? (int)got : -ENOENT;
	if (!precise_has(names, engine, engine->event))
		return -ENOENT;
	return precise_encode(names, engine, engine->event, attr, wrong, size) ? -EINVAL : 0;
}

/*
 * From Sapphire Rapids on loads are sampled only in a group that a second event leads; the kernel
 * says ENODATA otherwise. *leader is -1 where none is needed. Returns 0 or -errno.
 */
static int precise_open_leader(struct names_context *names, const struct precise_engine *engine,
	uint32_t type, int *leader)
{
	struct perf_event_attr attr;
	char event[64], wrong[192];

	*leader = -1;
	if (!engine->event)
		return 0;
	snprintf(event, sizeof(event), "%s-aux", engine->event);
	if (!precise_has(names, engine, event))
		return 0;
	perf_attr_init(&attr, type, 0);
	attr.exclude_kernel = 1;
	if (precise_encode(names, engine, event, &attr, wrong, sizeof(wrong)))
		return -EINVAL;
	*leader = perf_open(&attr, 0, -1, -1, 0);
	return *leader < 0 ? *leader : 0;
}

/* Loads that miss the first cache, of which some are sampled. */
static void precise_load(const volatile char *memory)
{
	size_t i;

	for (i = 0; i < PRECISE_BYTES; i += 64)
		(void)memory[i * 37 % PRECISE_BYTES];
}

/* Returns how many samples with an address came, or -errno with *stage. */
static int precise_sample(struct perf_event_attr *attr, int leader, enum try_stage *stage)
{
	clock_t end = clock() + PRECISE_LIMIT_MS * (CLOCKS_PER_SEC / 1000);
	char *memory = calloc(1, PRECISE_BYTES);
	struct precise_record record;
	struct try_ring ring;
	int err, n = 0;

	if (!memory)
		return -ENOMEM;
	err = try_ring_open(&ring, attr, leader, stage);
	/* Physical addresses need a privilege of their own. */
	if (err && *stage == TRY_OPEN) {
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_PHYS_ADDR;
		err = try_ring_open(&ring, attr, leader, stage);
	}
	while (!err && !n && clock() < end) {
		precise_load(memory);
		while (try_ring_next(&ring, PERF_RECORD_SAMPLE, &record, sizeof(record)))
			n += record.address && record.data_source;
	}
	if (!err)
		try_ring_close(&ring);
	free(memory);
	return err ? err : n;
}

static struct outcome precise_try(struct names_context *names, const struct precise_engine *engine,
	struct perf_event_attr *attr)
{
	struct outcome why;
	enum try_stage stage = TRY_OPEN;
	int leader, got = precise_open_leader(names, engine, attr->type, &leader);

	if (!got)
		got = precise_sample(attr, leader, &stage);
	if (leader >= 0)
		close(leader);
	if (got > 0)
		return outcome_yes("%s; samples of loads received%s", engine->title,
			attr->sample_type & PERF_SAMPLE_PHYS_ADDR ? ", with physical addresses" : "");
	if (!got)
		return outcome_no("", "%s opens, but no sample of a load comes", engine->title);
	if (stage == TRY_OPEN && advice_means_absent(-got))
		return outcome_no("", "%s is announced, but refused (%s)", engine->title,
			advice_errno_name(-got));
	why = try_ring_advice(names->caps, stage, -got,
		attr->exclude_kernel ? ADVICE_USER : ADVICE_KERNEL);
	return outcome_no(why.remedy, "%s: %.200s", engine->title, why.because);
}

static struct outcome precise_judge(struct names_context *names)
{
	const struct caps_context *context = names->caps;
	struct perf_event_attr attr;
	char wrong[192] = "";
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(precise_engines); i++) {
		err = precise_prepare(names, &precise_engines[i], &attr, wrong, sizeof(wrong));
		if (!err)
			return precise_try(names, &precise_engines[i], &attr);
		if (err == -EINVAL)
			return outcome_no("", "%s: %.190s", precise_engines[i].title, wrong);
		if (err != -ENOENT)
			return advice_errno(-err, precise_engines[i].title);
	}
	if (names->folder_error && names->folder_error != ENOENT)
		return advice_sysfs(context, names->folder_error, NAMES_PMUS);
	if (names_find_pmu(names, "arm_spe_0"))
		return outcome_no("", "arm_spe is there, but Spark does not read its records");
	return outcome_no(context->virtual_machine ? "take a bare-metal instance" : "",
		"no ibs_op (AMD), mem-loads (Intel) or arm_spe_0 among the PMUs%s",
		context->virtual_machine ? " of this virtual machine" : "");
}

struct outcome precise_probe(struct caps_context *context)
{
	struct names_context names;
	struct outcome outcome;

	names_init(&names, context);
	outcome = precise_judge(&names);
	names_fini(&names);
	return outcome;
}
