/* SPDX-License-Identifier: MIT */
/* The command "export": the samples of a recording for other programs. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd/recorded.h"
#include "cli/log.h"
#include "cli/output/export.h"
#include "cli/store/store.h"

struct export_command_options {
	int format;                  /* index in export_formats */
	const char *output;
	int group, weight;           /* -1: not given */
	bool no_regions;
};

static const struct opt options[] = {
	{ "format", 0, OPT_ENUM, offsetof(struct export_command_options, format), NULL, export_words,
	  "for flame graphs, for go tool pprof, as trace events, as perf script prints samples, for speedscope or the Firefox profiler, or a page for a browser", "folded", false },
	{ "output", 'o', OPT_STRING, offsetof(struct export_command_options, output), "FILE", NULL,
	  "write to this file", "the standard output", false },
	{ "group-by", 0, OPT_ENUM, offsetof(struct export_command_options, group), NULL, profile_group_words,
	  "folded: begin stacks with their process, or also their thread", "region", false },
	{ "weight", 0, OPT_ENUM, offsetof(struct export_command_options, weight), NULL, export_weight_words,
	  "folded: print samples, or the ns or events that they stand for", "count", false },
	{ "no-regions", 0, OPT_FLAG, offsetof(struct export_command_options, no_regions), NULL, NULL,
	  "leave regions out", NULL, false },
	{ .name = NULL },
};

static const struct command_example examples[] = {
	{ "sparkctl export out.spark | flamegraph.pl >out.svg", "a flame graph with the regions in it" },
	{ "sparkctl export --format pprof -o out.pb.gz out.spark", "for go tool pprof: a label for the region" },
	{ "sparkctl export --format chrome -o out.json out.spark", "for ui.perfetto.dev and profiler.firefox.com" },
	{ "sparkctl export --format html -o out.html out.spark", "regions and flame graphs in a page that needs nothing else" },
	{ .line = NULL },
};

/* Standard output if there is no name; NULL after a message. */
static FILE *export_open(const char *output, const char *recording)
{
	struct stat to, from;
	FILE *file;

	if (!output)
		return stdout;
	if (!stat(output, &to) && !stat(recording, &from) && to.st_dev == from.st_dev && to.st_ino == from.st_ino) {
		error("%s is the recording itself", output);
		return NULL;
	}
	file = fopen(output, "we");
	if (!file)
		error("cannot write %s: %s", output, strerror(errno));
	return file;
}

/* 0, or -1 after a message. What is left for standard output is main()'s to write. */
static int export_close(FILE *file, const char *output)
{
	bool failed;

	if (file == stdout)
		return 0;
	failed = ferror(file);
	if (!fclose(file) && !failed)
		return 0;
	return error("cannot write %s: %s", output, strerror(errno));
}

/* The exit status, after a message if it is not 0. */
static int export_samples(const struct export_command_options *o, FILE *file, const struct recording *recording)
{
	struct export_options options_of_format = {
		.group = o->group < 0 ? PROFILE_BY_REGION : (enum profile_group)o->group,
		.weight = o->weight < 0 ? EXPORT_COUNT : (enum export_weight)o->weight,
		.no_regions = o->no_regions,
	};
	struct exporter exporter = { .samples = recording->facts.samples, .facts = &recording->facts,
				     .options = &options_of_format, .file = file };

	return export_write(&export_formats[o->format], &exporter) ? STATUS_FAILURE : STATUS_OK;
}

static int export_recording(const struct export_command_options *o, const char *path, const struct recording *recording)
{
	const struct print_options as_recorded = { .group = -1 };
	const char *report = export_formats[o->format].report;
	FILE *file;
	int status;

	if (!report && (!recording->facts.samples || !samples_taken(recording->facts.samples))) {
		error("%s has no samples: it was made without run --profile", path);
		return STATUS_FAILURE;
	}
	file = export_open(o->output, path);
	if (!file)
		return STATUS_FAILURE;
	setvbuf(file, NULL, _IOFBF, 1 << 16);
	status = report ? recorded_print(&as_recorded, output_find(report), file, recording, &recording->facts)
			: export_samples(o, file, recording);
	return export_close(file, o->output) ? STATUS_FAILURE : status;
}

static int export_with(const struct export_command_options *o, const char *path)
{
	const struct export_format *format = &export_formats[o->format];
	struct recording *recording;
	int status;

	if (!format->folded && (o->group >= 0 || o->weight >= 0))
		return command_misused(&command_export, "has --group-by and --weight for folded alone, not for",
				       format->name);
	if (format->report && o->no_regions)
		return command_misused(&command_export, "has --no-regions for samples alone, not for", format->name);
	if (format->binary && !o->output && isatty(STDOUT_FILENO))
		return command_misused(&command_export, "writes nothing binary to a terminal: use -o or a pipe for",
				       format->name);
	recording = recording_read(path);
	if (!recording)
		return STATUS_FAILURE;
	status = export_recording(o, path, recording);
	recording_free(recording);
	return status;
}

static int export_command(int argc, char **argv)
{
	struct export_command_options o = { .group = -1, .weight = -1 };
	int status, first = command_parse(&command_export, &o, argc, argv, &status);

	if (first < 0)
		return status;
	if (first >= argc)
		return command_misused(&command_export, "needs a recording, made by run --profile -o FILE", NULL);
	if (argc - first > 1)
		return command_misused(&command_export, "takes one recording, not also", argv[first + 1]);
	return export_with(&o, argv[first]);
}

const struct command command_export = {
	.name = "export",
	.summary = "write the samples of a recording for flame graphs, pprof, Perfetto or others",
	.usage = "[OPTION...] FILE",
	.options = options,
	.examples = examples,
	.run = export_command,
};
