/* SPDX-License-Identifier: MIT */
/* See run_file.h. */
#define _GNU_SOURCE
#include "cli/cmd/run_file.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/cmd/cmd.h"
#include "cli/log.h"
#include "cli/store/history.h"

int run_file_open(struct run_file *f, const struct run_record *record, const char *run)
{
	char *behind = NULL;

	*f = (struct run_file){ .name = NULL };
	if (!record->pattern)
		return 0;
	if (!store_names_run(record->pattern) && asprintf(&behind, "%s.%%n", record->pattern) < 0)
		return error("out of memory"), STATUS_FAILURE;
	f->name = store_expand(behind ? behind : record->pattern, run);
	free(behind);
	if (!f->name)
		return STATUS_USAGE;
	return store_open(&f->file, f->name) ? STATUS_FAILURE : 0;
}

int run_file_check(const struct run_record *record, const char *run)
{
	struct run_file f;
	int status = run_file_open(&f, record, run);

	run_file_close(&f);
	return status;
}

int run_file_write(struct run_file *f, const struct run_record *record, const struct session *session)
{
	const struct profile *profile = session_profile(session);
	const struct session_facts *facts = session_facts(session);

	if (f->name && store_write(&f->file, profile, facts, &record->options))
		return -1;
	return record->history ? store_history_add(record->history, profile, facts, record->options.report.metrics) : 0;
}

void run_file_close(struct run_file *f)
{
	if (f->name)
		store_close(&f->file);
	free(f->name);
	f->name = NULL;
}
