/* SPDX-License-Identifier: MIT */
/* Tables of the samples: functions, calls, lines, objects, buckets. They stand below those of the regions. */
#include <stdlib.h>
#include <string.h>

#include "cli/output/format.h"
#include "cli/output/grid.h"
#include "cli/output/lines.h"
#include "cli/output/profile_tree.h"
#include "cli/text.h"

enum {
	PROFILE_PARTS = 20,
	PROFILE_OBJECT_MAX = 24,
	PROFILE_CELL = 160,
	PROFILE_NAME_LEAST = 22,
	PROFILE_FLAT_OTHERS = 62,    /* columns beside the names of functions */
};

/* Titles and their importance, as grid_column has them. */
struct profile_column {
	const char *title;
	unsigned int importance;
};

static int profile_begin(struct grid *grid, const char *title, size_t nrows, const struct profile_column *columns,
			 size_t ncolumns)
{
	size_t c;

	if (grid_init(grid, title, nrows, ncolumns) != 0)
		return -1;
	for (c = 0; c < ncolumns; c++) {
		if (grid_set_title(grid, c, columns[c].title) != 0)
			return -1;
		grid->columns[c].importance = columns[c].importance;
	}
	return 0;
}

static int profile_end(const struct lines *lines, struct grid *grid, int err)
{
	if (!err) {
		fputc('\n', lines->file);
		grid_print(lines->file, grid, lines->options->width, lines->options->color);
	}
	grid_fini(grid);
	return err;
}

static int profile_share(struct grid *grid, size_t row, size_t column, const struct stacks_sum *sum,
			 const struct stacks_sum *of)
{
	char text[FORMAT_SIZE];

	snprintf(text, sizeof(text), "%.1f", lines_share(sum, of));
	return grid_set_cell(grid, row, column, text);
}

static int profile_count(struct grid *grid, size_t row, size_t column, u64 count)
{
	char text[FORMAT_SIZE];

	format_count(text, (double)count);
	return grid_set_cell(grid, row, column, text);
}

/* Text of a stranger; its middle may be left out. */
static int profile_text(struct grid *grid, size_t row, size_t column, const char *text, size_t columns)
{
	char *cut = lines_name_middle(text, columns);
	int err = cut ? grid_set_cell(grid, row, column, cut) : -1;

	free(cut);
	return err;
}

static const char *profile_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int profile_object(const struct lines *lines, struct grid *grid, size_t row, size_t column, u32 function)
{
	u32 object = stacks_function(lines->report->stacks, function)->object;
	const char *path = object == SAMPLES_NONE ? "" : lines->report->facts->samples->objects[object].path;

	return profile_text(grid, row, column, profile_basename(path), PROFILE_OBJECT_MAX);
}

/*
 * The grid cuts names at their ends, where those of functions differ: they are made short before, for what the other
 * columns mostly leave.
 */
int profile_name(const struct lines *lines, struct grid *grid, size_t row, const char *indent, size_t others,
		 u32 function)
{
	size_t width = lines->options->width, most = width ? MAX(width, others + PROFILE_NAME_LEAST) - others : GRID_NAME_MAX;
	size_t room = MIN(most, (size_t)GRID_NAME_MAX);
	char *name = stacks_function_name(lines->report->stacks, function);
	char *cut = name ? lines_function(name, room - MIN(text_width(indent), room / 2)) : NULL, *whole = NULL;
	int err = cut && asprintf(&whole, "%s%s", indent, cut) >= 0 ? grid_set_name(grid, row, whole, 0) : -1;

	free(whole);
	free(cut);
	free(name);
	return err;
}

/* "function" or "function in query", which the heads of all tables of a region have. */
static char *profile_title(const struct lines *lines, const struct stacks_part *part, const char *word)
{
	return part ? lines_part(lines, part, word) : strdup(word);
}

/* ---- functions ------------------------------------------------------------------------------------- */

static int profile_entry(const struct lines *lines, struct grid *grid, size_t i, const struct stacks_entry *entry,
			 const struct stacks_sum *of)
{
	char place[PROFILE_CELL];

	lines_place(lines, &entry->place, place, sizeof(place));
	return profile_name(lines, grid, i, "", PROFILE_FLAT_OTHERS, entry->function) ||
	       profile_share(grid, i, 0, &entry->self, of) || profile_share(grid, i, 1, &entry->total, of) ||
	       profile_count(grid, i, 2, entry->self.count) ||
	       grid_set_cell(grid, i, 3, place) || profile_object(lines, grid, i, 4, entry->function) ? -1 : 0;
}

static int profile_flat(const struct lines *lines, const struct stacks_scope *scope, const struct stacks_part *part,
			const struct stacks_sum *of)
{
	static const struct profile_column columns[] = {
		{ "self %", 90 }, { "total %", 80 }, { "samples", 30 }, { "hottest line", 60 }, { "object", 50 },
	};
	unsigned long top = lines->report->options.profile.top;
	char *title = profile_title(lines, part, "function");
	struct stacks_entry *entries = NULL;
	struct grid grid = { .nrows = 0 };
	size_t i, n = 0, shown;
	int err = title ? stacks_flat(lines->report->stacks, scope, &entries, &n) : -1;

	shown = top ? MIN(n, top) : n;
	if (!err)
		err = profile_begin(&grid, title, shown, columns, ARRAY_SIZE(columns));
	for (i = 0; !err && i < shown; i++)
		err = profile_entry(lines, &grid, i, &entries[i], of);
	err = profile_end(lines, &grid, err);
	if (!err && shown < n)
		fprintf(lines->file, "and %zu more function%s; --top 0 shows all\n", n - shown, n - shown == 1 ? "" : "s");
	free(entries);
	free(title);
	return err;
}

/* ---- lines ----------------------------------------------------------------------------------------- */

static int profile_lines(const struct lines *lines, const struct stacks_scope *scope, const struct stacks_part *part,
			 const struct stacks_sum *of)
{
	static const struct profile_column columns[] = {
		{ "self %", 90 }, { "total %", 80 }, { "samples", 30 }, { "object", 50 },
	};
	char place[PROFILE_CELL], *name = lines_function(lines->report->options.profile.lines, 40);
	char *title = name ? profile_title(lines, part, name) : NULL;
	struct stacks_line *found = NULL;
	struct grid grid = { .nrows = 0 };
	size_t i, n = 0;
	int err = title ? stacks_lines(lines->report->stacks, scope, lines->report->options.profile.lines, &found, &n) : -1;

	/* Of many regions, it has samples in few. */
	if (err || !n)
		goto out;
	err = profile_begin(&grid, title, n, columns, ARRAY_SIZE(columns));
	for (i = 0; !err && i < n; i++) {
		lines_place(lines, &found[i].place, place, sizeof(place));
		err = grid_set_name(&grid, i, *place ? place : "no line known", 0) ||
		      profile_share(&grid, i, 0, &found[i].self, of) || profile_share(&grid, i, 1, &found[i].total, of) ||
		      profile_count(&grid, i, 2, found[i].self.count) ||
		      profile_object(lines, &grid, i, 3, found[i].place.function) ? -1 : 0;
	}
	err = profile_end(lines, &grid, err);
out:
	free(found);
	free(title);
	free(name);
	return err;
}

/* ---- buckets, objects ------------------------------------------------------------------------------ */

static int profile_buckets(const struct lines *lines, const struct stacks_scope *scope, const struct stacks_part *part,
			   const struct stacks_sum *of)
{
	static const struct profile_column columns[] = { { "%", 90 }, { "samples", 30 } };
	char *title = profile_title(lines, part, "bucket");
	struct stacks_bucket *sums = NULL;
	struct grid grid = { .nrows = 0 };
	size_t i, n = 0;
	int err = title ? stacks_buckets(lines->report->stacks, scope, lines->report->options.profile.buckets, &sums, &n) : -1;

	if (!err)
		err = profile_begin(&grid, title, n, columns, ARRAY_SIZE(columns));
	for (i = 0; !err && i < n; i++) {
		char *name = lines_name_middle(sums[i].name, GRID_NAME_MAX);

		err = !name || grid_set_name(&grid, i, name, 0) || profile_share(&grid, i, 0, &sums[i].sum, of) ||
		      profile_count(&grid, i, 1, sums[i].sum.count) ? -1 : 0;
		free(name);
	}
	err = profile_end(lines, &grid, err);
	free(sums);
	free(title);
	return err;
}

static int profile_module(const struct lines *lines, struct grid *grid, size_t i, const struct stacks_module *module,
			  const struct stacks_sum *of)
{
	const struct samples_object *object = &lines->report->facts->samples->objects[module->object];
	bool verbose = lines->options->verbose > 0;
	char *name = lines_name_middle(verbose ? object->path : profile_basename(object->path), GRID_NAME_MAX), named[32];
	int err;

	snprintf(named, sizeof(named), "%.1f", 100 * (double)module->named / (double)module->self.count);
	err = !name || grid_set_name(grid, i, name, 0) || profile_share(grid, i, 0, &module->self, of) ||
	      profile_count(grid, i, 1, module->self.count) || grid_set_cell(grid, i, 2, named) ||
	      profile_text(grid, i, 3, object->build_id ? object->build_id : "", verbose ? 64 : 12) ||
	      (grid->ncolumns > 4 && profile_text(grid, i, 4, object->note ? object->note : "", 32)) ? -1 : 0;
	free(name);
	return err;
}

static int profile_modules(const struct lines *lines, const struct stacks_scope *scope, const struct stacks_sum *of)
{
	static const struct profile_column columns[] = {
		{ "%", 90 }, { "samples", 30 }, { "named %", 60 }, { "build id", 20 }, { "note", 50 },
	};
	struct stacks_module *modules = NULL;
	struct grid grid = { .nrows = 0 };
	size_t i, n = 0;
	bool notes = false;
	int err = stacks_modules(lines->report->stacks, scope, &modules, &n);

	for (i = 0; !err && i < n; i++)
		notes |= lines->report->facts->samples->objects[modules[i].object].note != NULL;
	if (!err)
		err = profile_begin(&grid, "object", n, columns, ARRAY_SIZE(columns) - !notes);
	for (i = 0; !err && i < n; i++)
		err = profile_module(lines, &grid, i, &modules[i], of);
	err = profile_end(lines, &grid, err);
	free(modules);
	return err;
}

/* ---- all of them ----------------------------------------------------------------------------------- */

/* part: NULL: of all samples. */
static int profile_print(const struct lines *lines, const struct stacks_scope *scope, const struct stacks_part *part)
{
	const struct report_profile *asked = &lines->report->options.profile;
	struct stacks_sum of = stacks_sum(lines->report->stacks, scope);
	char *title;
	int err = profile_flat(lines, scope, part, &of);

	if (!err && asked->call_tree) {
		title = profile_title(lines, part, "calls");
		err = title ? profile_tree_print(lines, scope, title, &of) : -1;
		free(title);
	}
	if (!err && asked->lines)
		err = profile_lines(lines, scope, part, &of);
	if (!err && asked->buckets)
		err = profile_buckets(lines, scope, part, &of);
	if (!err && part)
		lines_part_missing(lines, part, scope);
	return err;
}

int table_profile_print(const struct lines *lines)
{
	const struct report *report = lines->report;
	size_t i, most = lines->options->verbose > 0 ? report->nparts : MIN(report->nparts, (size_t)PROFILE_PARTS);
	struct stacks_scope scope = { .whole = true };
	struct stacks_sum of = stacks_sum(report->stacks, &scope);
	int err = 0;

	if (!of.count)
		return 0;
	if (!report->options.profile.by_region)
		err = profile_print(lines, &scope, NULL);
	for (i = 0; !err && report->options.profile.by_region && i < most; i++) {
		scope = report->parts[i].scope;
		scope.inner = report->options.profile.inner;
		err = profile_print(lines, &scope, &report->parts[i]);
	}
	if (!err && report->options.profile.by_region && most < report->nparts)
		fprintf(lines->file, "\nand %zu more region%s with samples; -v shows all\n", report->nparts - most,
			report->nparts - most == 1 ? "" : "s");
	scope = (struct stacks_scope){ .whole = true };
	if (!err)
		err = profile_modules(lines, &scope, &of);
	if (!err)
		fputc('\n', lines->file);
	return err;
}
