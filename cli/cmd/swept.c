/* SPDX-License-Identifier: MIT */
/* See swept.h. */
#define _GNU_SOURCE
#include "cli/cmd/swept.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/input.h"
#include "cli/cmd/launch.h"
#include "cli/cmd/run_file.h"
#include "cli/log.h"
#include "cli/output/sweep.h"

static int row_status(const struct sweep_row *row)
{
	if (row->timeout)
		return STATUS_TIMEOUT;
	return sweep_killed(row) ? 0 : row->signal ? 128 + row->signal : row->status;
}

/*
 * One row. 0, with what the run itself ended with in *own, or an exit status, below 0 a signal: there is no row then,
 * and no further run.
 */
static int run_one(struct limited *l, const struct session_options *options, const struct run_record *record,
		   struct sweep_row *row, int *own)
{
	struct cgroup_asked asked = l->asked;
	struct session_options so = *options;
	struct session *session = NULL;
	enum session_end end;
	struct run_file f;
	char size[24];
	int status;

	sweep_size(size, sizeof(size), row->limit);
	status = run_file_open(&f, record, size);
	if (status)
		return run_file_close(&f), status;
	asked.setting[asked.nsettings] = (struct cgroup_setting){ .option = "--memory-sweep", .file = "memory.max" };
	snprintf(asked.setting[asked.nsettings].value, sizeof(asked.setting[0].value), "%" PRIu64, row->limit);
	asked.nsettings++;
	asked.reclaim = true;
	so.cgroup = &asked;
	end = session_run(&session, &so);
	if (end >= SESSION_ENDED) {
		sweep_take(row, session_facts(session));
		*own = row_status(row);
		if (run_file_write(&f, record, session))
			*own = *own ? *own : STATUS_FAILURE;
		/* Such a run was not long enough to tell whether memory is. */
		status = -session_interrupted(session);
	}
	if (end != SESSION_ENDED && end != SESSION_TIMEOUT && !status)
		status = launch_status(end, session);
	session_free(session);
	run_file_close(&f);
	return status;
}

static int sweep_write(const struct sweep *sweep, const struct print_options *print, FILE *file)
{
	const struct output_options options = {
		.width = term_width(fileno(file)), .color = color_wanted(file, print->color), .utf8 = output_utf8(),
	};

	int err;

	if (!strcmp(print->format, "json"))
		err = sweep_json(file, sweep);
	else if (!strcmp(print->format, "csv"))
		err = sweep_csv(file, sweep);
	else if (!strcmp(print->format, "html"))
		err = sweep_html(file, sweep);
	else
		err = sweep_table(file, sweep, &options);
	if (err)
		return error("out of memory");
	return fflush(file) ? error("cannot write the report") : 0;
}

int swept_run(struct limited *limited, const struct session_options *options, const struct print_options *print,
	      const struct run_record *record, FILE *file, const char *report)
{
	struct sweep sweep = { .argv = (const char *const *)options->argv };
	struct input input;
	int status = 0, first = 0;

	sweep.rows = calloc(limited->nsizes, sizeof(*sweep.rows));
	if (!sweep.rows)
		return error("out of memory"), STATUS_FAILURE;
	input_keep(&input);
	while (!status && sweep.nrows < limited->nsizes) {
		struct sweep_row *row = &sweep.rows[sweep.nrows];
		int own = 0;

		row->limit = limited->sizes[sweep.nrows];
		input_rewind(&input);
		status = run_one(limited, options, record, row, &own);
		if (!status)
			sweep.nrows++;
		if (!status && !first)
			first = own;
	}
	if (sweep.nrows) {
		sweep_judge(&sweep);
		launch_report_begin(file, report);
		if (sweep_write(&sweep, print, file))
			status = status ? status : STATUS_FAILURE;
	}
	free(sweep.rows);
	return status ? status : first;
}
