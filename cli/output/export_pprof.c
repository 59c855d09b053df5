/* SPDX-License-Identifier: MIT */
/*
 * The format pprof: profile.proto, gzipped, for go tool pprof and all that reads it. A sample has the
 * labels region ("outer;inner"), process, pid and tid. Objects are mappings that begin at 0: addresses
 * are those of their files.
 */
#ifdef HAVE_PROTOBUF_C
#include <stdlib.h>
#include <string.h>

#include "cli/output/exports.h"
#include "cli/output/pprof_stream.h"

/* Numbers of both a location and its function; all others come behind. */
enum { PPROF_TRUNCATED = 1, PPROF_NO_FRAME, PPROF_FIRST };

enum { LABEL_PROCESS, LABEL_PID, LABEL_TID, LABEL_REGION, LABELS };

struct pprof_object {
	u64 limit;
	bool functions, files, lines, inlines;
};

struct pprof {
	const struct exporter *exporter;
	struct pprof_stream stream;
	int64_t nstrings;                /* in the table so far: first "", then those of the samples */
	int64_t keys[LABELS];
	int64_t *regions, *processes;    /* strings */
	int64_t no_region;
	struct pprof_object *objects;
	struct samples functions;    /* its chains are functions: parent is the name, frame the file */
	u64 *locations;              /* room for the deepest chain */
	bool no_memory;
};

/* ---- strings ---------------------------------------------------------------------------------------- */

/* Frees the text. */
static int64_t pprof_string(struct pprof *pprof, char *text)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	ProtobufCBinaryData string = { .data = (u8 *)text };

	if (!text) {
		pprof->no_memory = true;
		return 0;
	}
	string.len = strlen(text);
	part.n_string_table = 1;
	part.string_table = &string;
	pprof_stream_put(&pprof->stream, &part);
	free(text);
	return pprof->nstrings++;
}

static int64_t pprof_text(struct pprof *pprof, const char *text)
{
	return pprof_string(pprof, text ? export_name("", text, strlen(text)) : strdup(""));
}

/* Of a string of the samples. */
static int64_t pprof_known(u32 string)
{
	return string == SAMPLES_NONE ? 0 : (int64_t)string + 1;
}

/* "outer;inner", front being what is around it; frees that. NULL when memory is short. */
static char *pprof_join(char *front, char *name)
{
	char *joined = NULL;

	if (front && name) {
		export_colons(name);
		if (asprintf(&joined, "%s;%s", front, name) < 0)
			joined = NULL;
	}
	free(front);
	free(name);
	return joined;
}

static char *pprof_path(const struct exporter *exporter, u32 number)
{
	const struct samples_region *region = &exporter->samples->regions[number];
	char *name = export_string_name(exporter, region->name);

	if (region->parent != SAMPLES_NONE)
		return pprof_join(pprof_path(exporter, region->parent), name);
	if (name)
		export_colons(name);
	return name;
}

static void pprof_strings(struct pprof *pprof)
{
	static const char *const keys[LABELS] = { "process", "pid", "tid", "region" };
	const struct exporter *exporter = pprof->exporter;
	size_t i;

	pprof_text(pprof, "");
	for (i = 0; i < exporter->samples->nstrings; i++)
		pprof_string(pprof, export_string_name(exporter, (u32)i));
	for (i = 0; i < LABELS; i++)
		pprof->keys[i] = pprof_text(pprof, keys[i]);
	for (i = 0; i < exporter->facts->nprocesses; i++) {
		const struct process_facts *process = &exporter->facts->processes[i];

		pprof->processes[i] = pprof_string(pprof, export_process_name(process, process->pid));
	}
	if (exporter->options->no_regions)
		return;
	pprof->no_region = pprof_text(pprof, EXPORT_NO_REGION);
	for (i = 0; i < exporter->samples->nregions; i++)
		pprof->regions[i] = pprof_string(pprof, pprof_path(exporter, (u32)i));
}

/* ---- code ------------------------------------------------------------------------------------------- */

static void pprof_function(struct pprof *pprof, u64 id, int64_t name, int64_t file)
{
	Pprof__Function function = PPROF__FUNCTION__INIT, *list = &function;
	Pprof__Profile part = PPROF__PROFILE__INIT;

	function.id = id;
	function.name = function.system_name = name;
	function.filename = file;
	part.n_function = 1;
	part.function = &list;
	pprof_stream_put(&pprof->stream, &part);
}

/* The number of a line's function, which is written when it is met first. */
static u64 pprof_function_of(struct pprof *pprof, const struct samples_line *line)
{
	u32 before = pprof->functions.nchains, no_file = pprof->exporter->samples->nstrings, number;

	number = samples_chain(&pprof->functions, line->function, line->file == SAMPLES_NONE ? no_file : line->file);
	if (number == SAMPLES_NONE)
		return 0;
	if (number == before)
		pprof_function(pprof, number + (u64)PPROF_FIRST, pprof_known(line->function), pprof_known(line->file));
	return number + (u64)PPROF_FIRST;
}

static void pprof_location(struct pprof *pprof, Pprof__Location *location)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;

	part.n_location = 1;
	part.location = &location;
	pprof_stream_put(&pprof->stream, &part);
}

/* A frame that is nobody's code. */
static void pprof_own(struct pprof *pprof, u64 id, const char *name)
{
	Pprof__Location location = PPROF__LOCATION__INIT;
	Pprof__Line line = PPROF__LINE__INIT, *lines = &line;

	pprof_function(pprof, id, pprof_text(pprof, name), 0);
	line.function_id = location.id = id;
	location.n_line = 1;
	location.line = &lines;
	pprof_location(pprof, &location);
}

static void pprof_frame(struct pprof *pprof, u32 number, Pprof__Line *lines, Pprof__Line **list)
{
	const struct samples *samples = pprof->exporter->samples;
	const struct samples_frame *frame = &samples->frames[number];
	struct pprof_object *object = &pprof->objects[frame->object];
	Pprof__Location location = PPROF__LOCATION__INIT;
	u32 i;

	for (i = 0; i < frame->nlines; i++) {
		const struct samples_line *line = &samples->lines[frame->first_line + i];

		pprof__line__init(&lines[i]);
		lines[i].function_id = pprof_function_of(pprof, line);
		lines[i].line = line->line;
		list[i] = &lines[i];
		object->files |= line->file != SAMPLES_NONE;
		object->lines |= line->line != 0;
	}
	object->functions |= frame->nlines != 0;
	object->inlines |= frame->nlines > 1;
	object->limit = MAX(object->limit, frame->address + (frame->address != ~0ULL));
	location.id = number + (u64)PPROF_FIRST;
	location.mapping_id = frame->object + 1ULL;
	location.address = frame->address;
	location.n_line = frame->nlines;
	location.line = list;
	pprof_location(pprof, &location);
}

static void pprof_frames(struct pprof *pprof)
{
	const struct samples *samples = pprof->exporter->samples;
	Pprof__Line *lines, **list;
	u32 i, most = 0;

	pprof_own(pprof, PPROF_TRUNCATED, EXPORT_TRUNCATED);
	pprof_own(pprof, PPROF_NO_FRAME, EXPORT_NO_FRAME);
	for (i = 0; i < samples->nframes; i++)
		most = MAX(most, samples->frames[i].nlines);
	lines = calloc((size_t)most + 1, sizeof(*lines));
	list = calloc((size_t)most + 1, sizeof(Pprof__Line *));
	if (!lines || !list)
		pprof->no_memory = true;
	for (i = 0; lines && list && i < samples->nframes && !pprof->functions.no_memory; i++)
		pprof_frame(pprof, i, lines, list);
	free(lines);
	free(list);
}

static void pprof_mapping(struct pprof *pprof, u32 number)
{
	const struct samples_object *object = &pprof->exporter->samples->objects[number];
	const struct pprof_object *known = &pprof->objects[number];
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *list = &mapping;
	Pprof__Profile part = PPROF__PROFILE__INIT;

	mapping.id = number + 1ULL;
	mapping.memory_limit = known->limit;
	mapping.filename = pprof_text(pprof, object->path);
	mapping.build_id = object->build_id ? pprof_text(pprof, object->build_id) : 0;
	mapping.has_functions = known->functions;
	mapping.has_filenames = known->files;
	mapping.has_line_numbers = known->lines;
	mapping.has_inline_frames = known->inlines;
	part.n_mapping = 1;
	part.mapping = &list;
	pprof_stream_put(&pprof->stream, &part);
}

/* The first is taken for the program. */
static void pprof_mappings(struct pprof *pprof)
{
	const struct samples *samples = pprof->exporter->samples;
	const struct session_facts *facts = pprof->exporter->facts;
	const char *image = facts->nprocesses ? facts->processes[0].image : NULL;
	u32 i, first = SAMPLES_NONE;

	for (i = 0; image && i < samples->nobjects && first == SAMPLES_NONE; i++)
		if (!strcmp(samples->objects[i].path, image))
			first = i;
	if (first != SAMPLES_NONE)
		pprof_mapping(pprof, first);
	for (i = 0; i < samples->nobjects; i++)
		if (i != first)
			pprof_mapping(pprof, i);
}

/* ---- samples ---------------------------------------------------------------------------------------- */

static size_t pprof_chain(struct pprof *pprof, const struct samples_row *row)
{
	const struct samples_chain *chains = pprof->exporter->samples->chains;
	size_t n = 0;
	u32 chain;

	for (chain = row->chain; chain != SAMPLES_NONE; chain = chains[chain].parent)
		pprof->locations[n++] = chains[chain].frame + (u64)PPROF_FIRST;
	if (!n)
		pprof->locations[n++] = PPROF_NO_FRAME;
	else if (row->flags & SAMPLES_TRUNCATED)
		pprof->locations[n++] = PPROF_TRUNCATED;
	return n;
}

/* The number of labels. */
static size_t pprof_labels(struct pprof *pprof, const struct samples_row *row, Pprof__Label *labels)
{
	const struct process_facts *process = export_process(pprof->exporter, row->process);
	bool no_regions = pprof->exporter->options->no_regions;

	labels[LABEL_PROCESS].str = process ? pprof->processes[process - pprof->exporter->facts->processes] : 0;
	labels[LABEL_PID].num = row->pid;
	labels[LABEL_TID].num = row->tid;
	if (no_regions || (row->region == SAMPLES_NONE && !(row->flags & SAMPLES_UNATTRIBUTED)))
		return LABEL_REGION;
	labels[LABEL_REGION].str = row->region == SAMPLES_NONE ? pprof->no_region : pprof->regions[row->region];
	return LABELS;
}

static void pprof_rows(struct pprof *pprof)
{
	const struct samples *samples = pprof->exporter->samples;
	Pprof__Label labels[LABELS], *label_list[LABELS];
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *list = &sample;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	int64_t values[2];
	u32 i;

	for (i = 0; i < LABELS; i++) {
		pprof__label__init(&labels[i]);
		labels[i].key = pprof->keys[i];
		label_list[i] = &labels[i];
	}
	part.n_sample = 1;
	part.sample = &list;
	sample.location_id = pprof->locations;
	sample.n_value = ARRAY_SIZE(values);
	sample.value = values;
	sample.label = label_list;
	for (i = 0; i < samples->nrows && !ferror(pprof->exporter->file); i++) {
		values[0] = (int64_t)samples->rows[i].count;
		values[1] = (int64_t)samples->rows[i].weight;
		sample.n_location_id = pprof_chain(pprof, &samples->rows[i]);
		sample.n_label = pprof_labels(pprof, &samples->rows[i], labels);
		pprof_stream_put(&pprof->stream, &part);
	}
}

/* ---- the whole -------------------------------------------------------------------------------------- */

/* What came round at each sample, by and large. */
static int64_t pprof_period(const struct samples *samples)
{
	u64 count = 0, weight = 0;
	u32 i;

	for (i = 0; i < samples->nrows; i++) {
		count += samples->rows[i].count;
		weight += samples->rows[i].weight;
	}
	return count ? (int64_t)(weight / count) : 0;
}

static void pprof_header(struct pprof *pprof)
{
	const struct samples *samples = pprof->exporter->samples;
	const struct session_facts *facts = pprof->exporter->facts;
	Pprof__ValueType count = PPROF__VALUE_TYPE__INIT, weight = PPROF__VALUE_TYPE__INIT;
	Pprof__ValueType *types[] = { &count, &weight };
	Pprof__Profile part = PPROF__PROFILE__INIT;

	count.type = pprof_text(pprof, "samples");
	count.unit = pprof_text(pprof, "count");
	weight.type = pprof_text(pprof, samples->clock || !samples->event ? "cpu" : samples->event);
	weight.unit = samples->clock ? pprof_text(pprof, "nanoseconds") : count.unit;
	part.n_sample_type = ARRAY_SIZE(types);
	part.sample_type = types;
	part.period_type = &weight;
	part.period = pprof_period(samples);
	part.default_sample_type = weight.type;
	part.time_nanos = facts->provenance ? (int64_t)facts->provenance->started_ns : 0;
	part.duration_nanos = (int64_t)facts->duration_ns;
	pprof_stream_put(&pprof->stream, &part);
}

static int pprof_room(struct pprof *pprof)
{
	const struct samples *samples = pprof->exporter->samples;

	samples_init(&pprof->functions);
	pprof->regions = calloc((size_t)samples->nregions + 1, sizeof(*pprof->regions));
	pprof->processes = calloc(pprof->exporter->facts->nprocesses + 1, sizeof(*pprof->processes));
	pprof->objects = calloc((size_t)samples->nobjects + 1, sizeof(*pprof->objects));
	pprof->locations = calloc((size_t)samples->nchains + 2, sizeof(*pprof->locations));
	return pprof->regions && pprof->processes && pprof->objects && pprof->locations ? 0 : -1;
}

static int pprof_write(struct pprof *pprof)
{
	if (pprof_stream_begin(&pprof->stream, pprof->exporter->file))
		return -1;
	pprof_strings(pprof);
	pprof_header(pprof);
	pprof_frames(pprof);
	pprof_mappings(pprof);
	pprof_rows(pprof);
	pprof_stream_end(&pprof->stream);
	return pprof->no_memory || pprof->stream.no_memory || pprof->functions.no_memory ? export_no_memory() : 0;
}

int pprof_export(const struct exporter *exporter)
{
	struct pprof pprof = { .exporter = exporter };
	int err = pprof_room(&pprof) ? export_no_memory() : pprof_write(&pprof);

	samples_fini(&pprof.functions);
	free(pprof.regions);
	free(pprof.processes);
	free(pprof.objects);
	free(pprof.locations);
	return err;
}
#endif
