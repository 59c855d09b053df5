/* SPDX-License-Identifier: MIT */
/* Functions, places and chains of samples, and which samples are in a scope; see stacks.h. */
#include "cli/analyze/stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/pair_map.h"
#include "cli/analyze/stacks_build.h"

/* ---- the instrumentation --------------------------------------------------------------------------- */

static const char *stacks_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool stacks_is_agent(const struct samples_object *object)
{
	return object->kind == SAMPLES_FILE && !strcmp(stacks_basename(object->path), "libsparkagent.so");
}

/* The agent's own of these only pass on what the program calls. */
static bool stacks_is_passage(const char *name)
{
	return !strcmp(name, "syscall") || !strcmp(name, "prctl");
}

/* Calls between objects pass through it: what it calls is the program's, what is on top in it is not. */
static bool stacks_is_bracket(const struct samples *samples, u32 object, u32 name)
{
	return name != SAMPLES_NONE && !strcmp(samples->strings[name].bytes, "spark_bracketed_call") &&
	       stacks_is_agent(&samples->objects[object]);
}

/* The functions of spark/spark.h: the markers, inlined, and what they call when they are awake. */
static bool stacks_is_marker(const char *name)
{
	static const char *const markers[] = {
		"spark_begin", "spark_end", "spark_region_begin", "spark_region_end", "spark_region_units", "spark_metric",
		"spark_frame", "spark_window_begin", "spark_window_end", "spark_scope_end_",
	};
	size_t i, length = strcspn(name, "(.");

	if (strncmp(name, "spark_", 6) != 0)
		return false;
	for (i = 0; i < ARRAY_SIZE(markers); i++)
		if (strlen(markers[i]) == length && !strncmp(name, markers[i], length))
			return true;
	return !strncmp(name, "spark_call_", 11) && name[length - 1] == '_';
}

static bool stacks_instruments(const struct samples *samples, u32 object, u32 name)
{
	const char *text = name == SAMPLES_NONE ? "" : samples->strings[name].bytes;

	return stacks_is_agent(&samples->objects[object]) ? !stacks_is_passage(text) : stacks_is_marker(text);
}

/* ---- functions and places -------------------------------------------------------------------------- */

/* The number of a function; SAMPLES_NONE when memory is short. */
static u32 stacks_intern(struct stacks *stacks, struct pair_map *map, u32 object, u32 name)
{
	u32 number, n = stacks->nfunctions;

	if (stacks_is_bracket(stacks->samples, object, name))
		return STACKS_BRACKET;
	if (stacks_instruments(stacks->samples, object, name))
		return STACKS_INSTRUMENTATION;
	if (!pair_map_number(map, object, name, &n, &number))
		return SAMPLES_NONE;
	stacks->functions[number] = (struct stacks_function){ object, name };
	stacks->nfunctions = n;
	return number;
}

static int stacks_find_functions(struct stacks *stacks)
{
	const struct samples *samples = stacks->samples;
	struct pair_map map = { .entries = NULL };
	u32 i, k, line, bad = 0;

	stacks->functions[STACKS_INSTRUMENTATION] = (struct stacks_function){ SAMPLES_NONE, SAMPLES_NONE };
	stacks->functions[STACKS_BRACKET] = (struct stacks_function){ SAMPLES_NONE, SAMPLES_NONE };
	stacks->nfunctions = STACKS_BRACKET + 1;
	for (i = 0; i < samples->nframes && !bad; i++) {
		const struct samples_frame *frame = &samples->frames[i];

		if (!frame->nlines)
			stacks->of_frame[i] = stacks_intern(stacks, &map, frame->object, SAMPLES_NONE);
		bad |= stacks->of_frame[i] == SAMPLES_NONE;
		for (k = 0; k < frame->nlines; k++) {
			line = frame->first_line + k;
			stacks->of_line[line] = stacks_intern(stacks, &map, frame->object, samples->lines[line].function);
			stacks->line_frame[line] = i;
			bad |= stacks->of_line[line] == SAMPLES_NONE;
		}
	}
	pair_map_fini(&map);
	return bad ? -1 : 0;
}

/* Numbers of the triples (function, file, line). */
static int stacks_find_places(struct stacks *stacks)
{
	const struct samples *samples = stacks->samples;
	struct pair_map files = { .entries = NULL }, lines = { .entries = NULL };
	u32 i, file, nfiles = 0, number;
	bool good = true;

	for (i = 0; i < samples->nlines && good; i++) {
		const struct samples_line *line = &samples->lines[i];

		good = pair_map_number(&files, stacks->of_line[i], line->file, &nfiles, &file) &&
		       pair_map_number(&lines, file, line->line, &stacks->nplaces, &number);
		if (!good)
			break;
		stacks->place[i] = number;
		stacks->places[number] = (struct stacks_place){ stacks->of_line[i], line->file, line->line };
	}
	pair_map_fini(&files);
	pair_map_fini(&lines);
	return good ? 0 : -1;
}

const struct samples *stacks_samples(const struct stacks *stacks)
{
	return stacks->samples;
}

const struct stacks_function *stacks_function(const struct stacks *stacks, u32 function)
{
	return &stacks->functions[function];
}

const char *stacks_string(const struct stacks *stacks, u32 string)
{
	return string == SAMPLES_NONE ? NULL : stacks->samples->strings[string].bytes;
}

char *stacks_function_name(const struct stacks *stacks, u32 function)
{
	const struct stacks_function *known = &stacks->functions[function];
	const char *name = stacks_string(stacks, known->name), *path;
	char *text;

	if (function == STACKS_INSTRUMENTATION)
		return strdup("[instrumentation]");
	if (name)
		return strdup(name);
	path = stacks->samples->objects[known->object].path;
	if (path[0] == '[')
		return strdup(path);
	return asprintf(&text, "[%s]", stacks_basename(path)) < 0 ? NULL : text;
}

/* ---- chains ---------------------------------------------------------------------------------------- */

/* Another step outwards. What the instrumentation has called is the instrumentation's. */
static u32 stacks_step(struct stacks *stacks, u32 n, u32 function, u32 line)
{
	if (function == STACKS_BRACKET) {
		if (n && stacks->steps[n - 1].function != STACKS_INSTRUMENTATION)
			return n;
		function = STACKS_INSTRUMENTATION;
	}
	if (function == STACKS_INSTRUMENTATION)
		n = 0;
	stacks->steps[n] = (struct stacks_step){ function, line };
	return n + 1;
}

u32 stacks_steps(struct stacks *stacks, u32 row)
{
	const struct samples *samples = stacks->samples;
	u32 chain = samples->rows[row].chain, n = 0, k;

	for (; chain != SAMPLES_NONE && n < STACKS_DEPTH_MAX; chain = samples->chains[chain].parent) {
		u32 number = samples->chains[chain].frame;
		const struct samples_frame *frame = &samples->frames[number];

		if (!frame->nlines)
			n = stacks_step(stacks, n, stacks->of_frame[number], SAMPLES_NONE);
		for (k = 0; k < frame->nlines && n < STACKS_DEPTH_MAX; k++)
			n = stacks_step(stacks, n, stacks->of_line[frame->first_line + k], frame->first_line + k);
	}
	return n;
}

/* ---- scopes ---------------------------------------------------------------------------------------- */

/* By region; those in none first, then those of which it is not known. */
static u64 stacks_region_key(const struct samples_row *row)
{
	if (row->flags & SAMPLES_UNATTRIBUTED)
		return 1;
	return row->region == SAMPLES_NONE ? 0 : (u64)row->region + 2;
}

static u64 stacks_scope_key(const struct stacks_scope *scope)
{
	return scope->unattributed ? 1 : scope->region ? (u64)scope->region + 1 : 0;
}

static int stacks_row_order(const void *a, const void *b, void *context)
{
	const struct samples_row *rows = context, *x = &rows[*(const u32 *)a], *y = &rows[*(const u32 *)b];
	u64 i = stacks_region_key(x), k = stacks_region_key(y);

	if (i != k)
		return i < k ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return *(const u32 *)a < *(const u32 *)b ? -1 : 1;
}

bool stacks_in_region(const struct samples *samples, const struct samples_row *row, const struct stacks_scope *scope)
{
	u32 region = row->region;

	if (scope->whole)
		return true;
	if (!scope->inner || scope->unattributed || !scope->region)
		return stacks_region_key(row) == stacks_scope_key(scope);
	while (region != SAMPLES_NONE && region > scope->region - 1)
		region = samples->regions[region].parent;
	return region == scope->region - 1 && !(row->flags & SAMPLES_UNATTRIBUTED);
}

/* The first place in the order that is not before the region. */
static u32 stacks_begin(const struct stacks *stacks, u64 key)
{
	u32 low = 0, high = stacks->samples->nrows, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (stacks_region_key(&stacks->samples->rows[stacks->order[middle]]) < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int stacks_each(const struct stacks *stacks, const struct stacks_scope *scope, int (*visit)(void *context, u32 row),
		void *context)
{
	const struct samples *samples = stacks->samples;
	bool one = !scope->whole && !scope->inner;
	u32 i = one ? stacks_begin(stacks, stacks_scope_key(scope)) : 0;
	int ret = 0;

	for (; i < samples->nrows && !ret; i++) {
		const struct samples_row *row = &samples->rows[stacks->order[i]];

		if (stacks_in_region(samples, row, scope)) {
			if (!scope->process || scope->process == row->process)
				ret = visit(context, stacks->order[i]);
		} else if (one) {
			break;
		}
	}
	return ret;
}

struct stacks_summing {
	const struct samples *samples;
	struct stacks_sum sum;
};

static int stacks_sum_row(void *context, u32 row)
{
	struct stacks_summing *summing = context;

	stacks_count(&summing->sum, &summing->samples->rows[row]);
	return 0;
}

struct stacks_sum stacks_sum(const struct stacks *stacks, const struct stacks_scope *scope)
{
	struct stacks_summing summing = { .samples = stacks->samples };

	stacks_each(stacks, scope, stacks_sum_row, &summing);
	return summing.sum;
}

static int stacks_part_order(const void *a, const void *b)
{
	const struct stacks_part *x = a, *y = b;
	int order = stacks_sum_order(&x->sum, &y->sum);

	if (order)
		return order;
	if (x->scope.region != y->scope.region)
		return x->scope.region < y->scope.region ? -1 : 1;
	return x->scope.process < y->scope.process ? -1 : x->scope.process > y->scope.process;
}

int stacks_parts(const struct stacks *stacks, bool by_process, struct stacks_part **parts, size_t *n)
{
	const struct samples_row *rows = stacks->samples->rows, *last = NULL, *row;
	u32 i;

	*n = 0;
	*parts = calloc((size_t)stacks->samples->nrows + 1, sizeof(**parts));
	if (!*parts)
		return -1;
	for (i = 0; i < stacks->samples->nrows; i++, last = row) {
		row = &rows[stacks->order[i]];
		if (!last || stacks_region_key(row) != stacks_region_key(last) || (by_process && row->process != last->process)) {
			struct stacks_part *part = &(*parts)[(*n)++];

			part->scope.unattributed = row->flags & SAMPLES_UNATTRIBUTED;
			part->scope.region = part->scope.unattributed ? 0 : row->region + 1;
			part->scope.process = by_process ? row->process : 0;
			part->pid = by_process ? row->pid : 0;
		}
		stacks_count(&(*parts)[*n - 1].sum, row);
	}
	qsort(*parts, *n, sizeof(**parts), stacks_part_order);
	return 0;
}

/* ---- life ------------------------------------------------------------------------------------------ */

static int stacks_find(struct stacks *stacks)
{
	const struct samples *samples = stacks->samples;
	size_t lines = (size_t)samples->nlines + 1, frames = (size_t)samples->nframes + 1;
	u32 i;

	stacks->functions = calloc(lines + frames + STACKS_BRACKET + 1, sizeof(*stacks->functions));
	stacks->places = calloc(lines, sizeof(*stacks->places));
	stacks->of_frame = calloc(frames, sizeof(*stacks->of_frame));
	stacks->of_line = calloc(lines, sizeof(*stacks->of_line));
	stacks->place = calloc(lines, sizeof(*stacks->place));
	stacks->line_frame = calloc(lines, sizeof(*stacks->line_frame));
	stacks->order = calloc((size_t)samples->nrows + 1, sizeof(*stacks->order));
	stacks->steps = calloc(STACKS_DEPTH_MAX, sizeof(*stacks->steps));
	if (!stacks->functions || !stacks->places || !stacks->of_frame || !stacks->of_line || !stacks->place ||
	    !stacks->line_frame || !stacks->order || !stacks->steps)
		return -1;
	for (i = 0; i < samples->nrows; i++)
		stacks->order[i] = i;
	if (samples->nrows)
		qsort_r(stacks->order, samples->nrows, sizeof(*stacks->order), stacks_row_order, samples->rows);
	return stacks_find_functions(stacks) || stacks_find_places(stacks) ? -1 : 0;
}

struct stacks *stacks_new(const struct samples *samples)
{
	struct stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->samples = samples;
	if (stacks_find(stacks) == 0)
		return stacks;
	stacks_free(stacks);
	return NULL;
}

void stacks_free(struct stacks *stacks)
{
	if (!stacks)
		return;
	free(stacks->functions);
	free(stacks->places);
	free(stacks->of_frame);
	free(stacks->of_line);
	free(stacks->place);
	free(stacks->line_frame);
	free(stacks->order);
	free(stacks->steps);
	free(stacks);
}
