/* SPDX-License-Identifier: MIT */
/* The samples of a run in the format json. */
#include <stdlib.h>
#include <string.h>

#include "cli/output/json_build.h"

static json_t *json_unresolved(const struct stacks_gaps *gaps)
{
	static const char *const reasons[] = {
		[SAMPLES_STRIPPED] = "stripped", [SAMPLES_DELETED] = "deleted", [SAMPLES_UNREADABLE] = "unreadable",
		[SAMPLES_NO_MAP] = "no_map", [SAMPLES_HIDDEN] = "hidden", [SAMPLES_UNMAPPED] = "unmapped",
		[SAMPLES_NOT_ASKED] = "not_asked",
	};
	json_t *object = json_object();
	u32 i;

	for (i = SAMPLES_RESOLVED + 1; i < SAMPLES_UNRESOLVED_KINDS; i++)
		if (gaps->unresolved[i])
			json_object_set_new(object, reasons[i], json_u64(gaps->unresolved[i]));
	return object;
}

static json_t *json_truncations(const struct stacks_gaps *gaps)
{
	static const char *const reasons[] = {
		[SAMPLES_NO_REASON] = "not_told", [SAMPLES_SHORT_COPY] = "short_copy", [SAMPLES_OTHER_STACK] = "other_stack",
		[SAMPLES_NO_CFI] = "no_cfi", [SAMPLES_BAD_CFI] = "bad_cfi", [SAMPLES_NO_MAPPING] = "unmapped",
		[SAMPLES_NO_UNWINDER] = "no_unwinder", [SAMPLES_TOO_DEEP] = "too_deep", [SAMPLES_NO_REGISTERS] = "no_registers",
	};
	json_t *object = json_object();
	u32 i;

	for (i = 0; i < SAMPLES_TRUNCATIONS; i++)
		if (gaps->truncations[i])
			json_object_set_new(object, reasons[i], json_u64(gaps->truncations[i]));
	return object;
}

/* null: it is not known. */
static json_t *json_region(const struct samples *samples, const struct stacks_scope *scope)
{
	json_t *array = scope->unattributed ? json_null() : json_array();
	u32 i = scope->region ? scope->region - 1 : SAMPLES_NONE;

	for (; i != SAMPLES_NONE; i = samples->regions[i].parent) {
		const struct samples_string *name = &samples->strings[samples->regions[i].name];

		json_array_insert_new(array, 0, json_bytes(name->bytes, name->length));
	}
	return array;
}

static void json_set_gaps(json_t *object, const struct stacks_gaps *gaps)
{
	json_object_set_new(object, "count", json_u64(gaps->samples));
	json_object_set_new(object, "truncated", json_u64(gaps->truncated));
	json_object_set_new(object, "truncations", json_truncations(gaps));
	json_object_set_new(object, "lost", json_u64(gaps->lost));
	json_object_set_new(object, "throttled", json_u64(gaps->throttled));
	json_object_set_new(object, "no_place", json_u64(gaps->no_chain));
	json_object_set_new(object, "unresolved", json_unresolved(gaps));
}

/* What is missing of each region that has samples or lost some; of those in none, first, of those not known, last. */
static json_t *json_sampled_regions(const struct report *report)
{
	const struct samples *samples = report->facts->samples;
	json_t *array = json_array();

	for (u32 i = 0; i <= samples->nregions + 1; i++) {
		const struct stacks_scope scope = { .region = i <= samples->nregions ? i : 0,
						    .unattributed = i > samples->nregions };
		struct stacks_gaps gaps = stacks_gaps(report->stacks, &scope);
		json_t *object;

		if (!gaps.samples && !gaps.lost && !gaps.throttled)
			continue;
		object = json_object();
		json_object_set_new(object, "region", json_region(samples, &scope));
		json_set_gaps(object, &gaps);
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *json_samples(const struct report *report)
{
	const struct samples *samples = report->facts->samples;
	struct stacks_gaps gaps = stacks_gaps(report->stacks, &(struct stacks_scope){ .whole = true });
	json_t *object = json_object();

	json_set_gaps(object, &gaps);
	json_object_set_new(object, "unattributed", json_u64(gaps.unattributed));
	json_object_set_new(object, "frequency", samples->frequency ? json_u64(samples->frequency) : json_null());
	json_object_set_new(object, "effective", samples->effective > 0 ? json_real(samples->effective) : json_null());
	json_object_set_new(object, "event", json_text(samples->event));
	json_object_set_new(object, "unit", json_string(samples->clock ? "ns" : "count"));
	json_object_set_new(object, "stacks", json_text(samples->stacks));
	json_object_set_new(object, "note", json_text(samples->note));
	json_object_set_new(object, "regions", json_sampled_regions(report));
	return object;
}

static void json_set_place(json_t *object, const struct stacks *stacks, u32 file, u32 line)
{
	json_object_set_new(object, "file", json_text(stacks_string(stacks, file)));
	json_object_set_new(object, "line", line ? json_u64(line) : json_null());
}

static json_t *json_inlined(const struct stacks *stacks, const struct stacks_entry *entry)
{
	json_t *array = json_array();
	u32 i;

	for (i = 0; i < entry->nlines; i++) {
		const struct samples_line *line = &stacks_samples(stacks)->lines[entry->first_line + i];
		json_t *object = json_object();

		json_object_set_new(object, "symbol", json_text(stacks_string(stacks, line->function)));
		json_set_place(object, stacks, line->file, line->line);
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *json_entry(const struct stacks *stacks, const struct stacks_part *part, const struct stacks_entry *entry)
{
	const struct stacks_function *function = stacks_function(stacks, entry->function);
	const struct samples *samples = stacks_samples(stacks);
	json_t *object = json_object();

	json_object_set_new(object, "region", json_region(samples, &part->scope));
	json_object_set_new(object, "process", part->pid ? json_u64(part->pid) : json_null());
	json_object_set_new(object, "symbol", entry->function == STACKS_INSTRUMENTATION ? json_string("[instrumentation]") :
			    json_text(stacks_string(stacks, function->name)));
	json_object_set_new(object, "object",
			    json_text(function->object == SAMPLES_NONE ? NULL : samples->objects[function->object].path));
	json_set_place(object, stacks, entry->place.file, entry->place.line);
	json_object_set_new(object, "inlined", json_inlined(stacks, entry));
	json_object_set_new(object, "self", json_u64(entry->self.count));
	json_object_set_new(object, "total", json_u64(entry->total.count));
	json_object_set_new(object, "self_weight", json_u64(entry->self.weight));
	json_object_set_new(object, "total_weight", json_u64(entry->total.weight));
	return object;
}

void json_profile(struct json_writer *writer, const struct report *report)
{
	struct stacks_entry *entries;
	size_t i, k, n;

	if (!report->stacks) {
		json_member(writer, "samples", json_null());
		json_member(writer, "profile", json_null());
		return;
	}
	json_member(writer, "samples", json_samples(report));
	json_open_array(writer, "profile");
	for (i = 0; i < report->nparts; i++) {
		writer->failed |= stacks_flat(report->stacks, &report->parts[i].scope, &entries, &n) != 0;
		for (k = 0; k < n; k++)
			json_element(writer, json_entry(report->stacks, &report->parts[i], &entries[k]));
		free(entries);
	}
	json_close_array(writer);
}
