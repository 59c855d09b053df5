/* SPDX-License-Identifier: MIT */
/*
 * The format perf-script: each sample as perf script(1) prints it with -F comm,pid,tid,cpu,time,period,
 * event,ip,sym,dso and --ns, innermost frame first. stackcollapse-perf.pl, speedscope and the Firefox
 * profiler read it. Addresses are those of the object's file; inlined functions have lines of their own.
 *
 * Frames and region paths are made into text once; a sample is put together from these.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/exports.h"

/* What stands in parentheses behind a frame that is of no object. */
#define SCRIPT_SPARK "[spark]"
/* By this importers know a frame of the kernel. */
#define SCRIPT_KERNEL "[kernel.kallsyms]"

/* Lines of text, those of an item from at[item] to at[item + 1]. */
struct script_lines {
	char *text;
	size_t size;
	size_t *at;
};

struct script {
	const struct exporter *exporter;
	char *event;
	char **commands;             /* by process */
	struct script_lines frames, regions;
	u32 *printed;                /* by row: how many of its events */
};

/* ---- lines ------------------------------------------------------------------------------------------ */

/* Importers take a blank or a parenthesis for the end. Frees the name. */
static char *script_plain(char *name)
{
	char *plain = name ? malloc(strlen(name) * 4 + 1) : NULL, *out = plain;
	const char *c;

	for (c = name; plain && *c; c++)
		if (strchr(" ()", *c))
			out += sprintf(out, "\\x%02x", (unsigned int)*c);
		else
			*out++ = *c;
	if (plain)
		*out = '\0';
	free(name);
	return plain;
}

static char *script_object(const struct samples_object *object)
{
	if (object->kind == SAMPLES_KERNEL && !strncmp(object->path, "[kernel", 7))
		return strdup(SCRIPT_KERNEL);
	return script_plain(export_name("", object->path, strlen(object->path)));
}

/* The number of bytes, or -1 when memory is short. */
static int script_line(const struct exporter *exporter, FILE *file, u64 address, u32 function, const char *object)
{
	char *name = function == SAMPLES_NONE ? strdup(EXPORT_NO_FRAME) : export_string_name(exporter, function);
	int n = name ? fprintf(file, "\t%16" PRIx64 " %s (%s)\n", address, name, object) : -1;

	free(name);
	return n;
}

static int script_frame(const struct exporter *exporter, FILE *file, u32 number)
{
	const struct samples_frame *frame = &exporter->samples->frames[number];
	const struct samples_line *lines = &exporter->samples->lines[frame->first_line];
	char *object = script_object(&exporter->samples->objects[frame->object]);
	int total = 0, n = object ? 0 : -1;
	u32 i;

	for (i = 0; i + 1 < frame->nlines && n >= 0; i++) {
		n = script_line(exporter, file, frame->address, lines[i].function, "inlined");
		total += n;
	}
	if (n >= 0)
		n = script_line(exporter, file, frame->address,
				frame->nlines ? lines[frame->nlines - 1].function : SAMPLES_NONE, object);
	free(object);
	return n < 0 ? -1 : total + n;
}

/* The innermost region first, as functions are. */
static int script_region(const struct exporter *exporter, FILE *file, u32 region)
{
	const struct samples *samples = exporter->samples;
	int total = 0;

	for (; region != SAMPLES_NONE; region = samples->regions[region].parent) {
		const struct samples_string *bytes = &samples->strings[samples->regions[region].name];
		char *name = export_name(EXPORT_REGION, bytes->bytes, bytes->length);
		int n = name ? fprintf(file, "\t%16x %s (%s)\n", 0, name, SCRIPT_SPARK) : -1;

		free(name);
		if (n < 0)
			return -1;
		total += n;
	}
	return total;
}

/* 0, or -1 when memory is short. */
static int script_lines_make(struct script_lines *lines, const struct exporter *exporter, u32 count,
			     int (*print)(const struct exporter *exporter, FILE *file, u32 item))
{
	FILE *file = open_memstream(&lines->text, &lines->size);
	int n = 0;
	u32 i;

	lines->at = calloc((size_t)count + 1, sizeof(*lines->at));
	for (i = 0; file && lines->at && i < count && n >= 0; i++) {
		n = print(exporter, file, i);
		lines->at[i + 1] = lines->at[i] + (size_t)n;
	}
	return !file || (fclose(file) | n) < 0 || !lines->at ? -1 : 0;
}

static void script_lines_free(struct script_lines *lines)
{
	free(lines->text);
	free(lines->at);
}

static void script_lines_put(const struct script_lines *lines, u32 item, FILE *file)
{
	fwrite_unlocked(lines->text + lines->at[item], 1, lines->at[item + 1] - lines->at[item], file);
}

/* ---- samples ---------------------------------------------------------------------------------------- */

static void script_command(const struct script *script, const struct samples_row *row)
{
	const struct process_facts *process = export_process(script->exporter, row->process);

	if (process)
		fputs(script->commands[process - script->exporter->facts->processes], script->exporter->file);
	else
		fprintf(script->exporter->file, ":%u", row->pid);
}

static void script_sample(const struct script *script, const struct samples_event *event)
{
	const struct exporter *exporter = script->exporter;
	const struct samples *samples = exporter->samples;
	const struct samples_row *row = &samples->rows[event->row];
	FILE *file = exporter->file;
	u32 chain;

	script_command(script, row);
	fprintf(file, " %5u/%-5u [%03u] %5" PRIu64 ".%09" PRIu64 ": %10" PRIu64 " %s: \n", row->pid, row->tid,
		event->cpu, event->time_ns / 1000000000, event->time_ns % 1000000000,
		export_period(exporter, event->row, script->printed), script->event);
	for (chain = row->chain; chain != SAMPLES_NONE; chain = samples->chains[chain].parent)
		script_lines_put(&script->frames, samples->chains[chain].frame, file);
	if (row->chain == SAMPLES_NONE)
		fprintf(file, "\t%16x %s (%s)\n", 0, EXPORT_NO_FRAME, EXPORT_NO_FRAME);
	else if (row->flags & SAMPLES_TRUNCATED)
		fprintf(file, "\t%16x %s (%s)\n", 0, EXPORT_TRUNCATED, SCRIPT_SPARK);
	if (!exporter->options->no_regions) {
		if (row->flags & SAMPLES_UNATTRIBUTED)
			fprintf(file, "\t%16x %s (%s)\n", 0, EXPORT_NO_REGION, SCRIPT_SPARK);
		if (row->region != SAMPLES_NONE)
			script_lines_put(&script->regions, row->region, file);
	}
	putc_unlocked('\n', file);
}

/* ---- life ------------------------------------------------------------------------------------------- */

static int script_prepare(struct script *script)
{
	const struct exporter *exporter = script->exporter;
	const struct samples *samples = exporter->samples;
	const char *event = samples->event ? samples->event : "samples";
	const struct session_facts *facts = exporter->facts;
	size_t i;

	script->event = script_plain(export_name("", event, strlen(event)));
	script->commands = calloc(facts->nprocesses + 1, sizeof(*script->commands));
	script->printed = calloc((size_t)samples->nrows + 1, sizeof(*script->printed));
	if (!script->event || !script->commands || !script->printed)
		return -1;
	for (i = 0; i < facts->nprocesses; i++) {
		script->commands[i] = export_process_name(&facts->processes[i], facts->processes[i].pid);
		if (!script->commands[i])
			return -1;
	}
	if (script_lines_make(&script->frames, exporter, samples->nframes, script_frame))
		return -1;
	return script_lines_make(&script->regions, exporter, samples->nregions, script_region);
}

static void script_free(struct script *script)
{
	size_t i;

	for (i = 0; script->commands && i < script->exporter->facts->nprocesses; i++)
		free(script->commands[i]);
	free(script->commands);
	free(script->event);
	free(script->printed);
	script_lines_free(&script->frames);
	script_lines_free(&script->regions);
}

int perf_script_export(const struct exporter *exporter)
{
	struct script script = { .exporter = exporter };
	int err = script_prepare(&script);
	u32 i;

	for (i = 0; !err && i < exporter->samples->nevents && !ferror(exporter->file); i++)
		script_sample(&script, &exporter->samples->events[i]);
	script_free(&script);
	return err ? export_no_memory() : 0;
}
