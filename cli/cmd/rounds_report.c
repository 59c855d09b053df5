/* SPDX-License-Identifier: MIT */
/* What repeated runs have come to, on standard error and in files; see rounds.h. */
#define _GNU_SOURCE
#include "cli/cmd/rounds.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "cli/log.h"
#include "cli/output/runs_output.h"

typedef int (*rounds_writer)(FILE *file, const struct runs *runs, const struct output_options *options);

/* By the names of the formats. */
static rounds_writer writer_of(const char *format)
{
	if (!strcmp(format, "json"))
		return runs_json;
	return strcmp(format, "csv") ? runs_table : runs_csv;
}

int rounds_files_open(struct rounds_files *files, const struct rounds_asked *asked)
{
	*files = (struct rounds_files){ .path = { asked->json, asked->csv, asked->markdown } };
	for (size_t i = 0; i < ROUNDS_FILES; i++) {
		const char *path = files->path[i];
		int fd;

		if (!path)
			continue;
		fd = strcmp(path, "-") ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) : -1;
		files->file[i] = !strcmp(path, "-") ? stdout : fd < 0 ? NULL : fdopen(fd, "w");
		if (!files->file[i])
			return error("cannot write to %s: %s", path, strerror(errno));
	}
	return 0;
}

void rounds_files_close(struct rounds_files *files)
{
	for (size_t i = 0; i < ROUNDS_FILES; i++)
		if (files->file[i] && files->file[i] != stdout)
			fclose(files->file[i]);
}

static int file_write(struct rounds_files *files, size_t i, rounds_writer write, const struct runs *runs,
		      const struct output_options *options)
{
	const char *path = files->path[i];
	FILE *file = files->file[i];
	int err;

	if (!file)
		return 0;
	launch_report_empty(file, path);
	errno = 0;
	err = write(file, runs, options) ? error("out of memory for %s", path) : launch_report_written(file, path);
	if (file == stdout)
		return err;
	files->file[i] = NULL;
	if (fclose(file) && !err)
		err = error("cannot write to %s: %s", path, strerror(errno));
	return err;
}

int rounds_report(const struct runs *runs, struct rounds_files *files, const struct rounds_way *way)
{
	const struct output_options options = {
		.width = term_width(fileno(way->file)),
		.color = color_wanted(way->file, way->print->color),
		.utf8 = output_utf8(),
		.verbose = way->print->quiet ? -1 : way->print->verbose,
	};
	const char *name = way->report && strcmp(way->report, "-") ? way->report : "the report";
	int err;

	launch_report_begin(way->file, way->report);
	/* One write for all of it: standard error is not buffered. */
	if (way->file == stderr)
		setvbuf(way->file, NULL, _IOFBF, 1 << 16);
	errno = 0;
	err = writer_of(way->print->format)(way->file, runs, &options) ? error("out of memory for the report") :
									   launch_report_written(way->file, name);
	/* One that cannot be written takes no other along. */
	err |= file_write(files, ROUNDS_JSON, runs_json, runs, &options);
	err |= file_write(files, ROUNDS_CSV, runs_csv, runs, &options);
	err |= file_write(files, ROUNDS_MARKDOWN, runs_markdown, runs, &options);
	return err ? -1 : 0;
}
