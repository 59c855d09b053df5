/* SPDX-License-Identifier: MIT */
/* Adding a run to a history; see history.h. Its figures are those of a diff of one run. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/store/history_build.h"
#include "cli/text.h"

/* What of a region, and of the whole run, is kept of each run. */
#define USUAL "calls,wall,wall.excl,wall.p50,wall.p90,wall.p99,wall.max,cpu," \
	      "elapsed,user,sys,maxrss,task-clock,minor-faults,major-faults,context-switches,cpu-migrations"

struct adder {
	struct store_db db;
	const struct diff *diff;     /* one side with one run */
	s64 run;
	s64 *lines[DIFF_KINDS], *metrics[DIFF_KINDS]; /* of the file, by rows and metrics of the diff */
};

/* ---- the run --------------------------------------------------------------------------------------- */

/* Without the folder of the program: builds lie in folders of their own. */
static char *command_text(const struct session_facts *facts)
{
	const char *name = facts->argv && facts->argv[0] ? facts->argv[0] : facts->target ? facts->target : "";
	const char *slash = facts->argv && facts->argv[0] ? strrchr(name, '/') : NULL;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	if (facts->argv && facts->argv[0])
		text_quote(f, slash && slash[1] ? slash + 1 : name);
	else
		fputs(name, f);
	/* One argument with a blank in it is another command than two. */
	for (size_t i = 1; facts->argv && facts->argv[0] && facts->argv[i]; i++) {
		fputc(' ', f);
		text_quote(f, facts->argv[i]);
	}
	if (fclose(f)) {
		free(text);
		text = NULL;
	}
	return text;
}

static void add_run(struct adder *a, const struct session_facts *facts, const char *command)
{
	const struct diff_run *run = &a->diff->sides[0].runs[0];
	sqlite3_stmt *of = store_prepare(&a->db, "INSERT INTO command (text) VALUES (?)"
					 " ON CONFLICT (text) DO UPDATE SET text = excluded.text RETURNING id");
	sqlite3_stmt *insert = store_prepare(&a->db, "INSERT INTO run (command, started_ns, duration_ns, status, signal,"
					     " unfinished) VALUES (?, ?, ?, ?, ?, ?) RETURNING id");
	s64 id = store_put_id(&a->db, of, "t", command);

	a->run = store_put_id(&a->db, insert, "iiiiii", id, run->started_ns, run->duration_ns, (s64)facts->status,
			      (s64)facts->signal, (s64)(run->unfinished || facts->alive));
	sqlite3_finalize(of);
	sqlite3_finalize(insert);
}

static void add_fields(struct adder *a, const char *program)
{
	const struct diff_run *run = &a->diff->sides[0].runs[0];
	sqlite3_stmt *text = store_prepare(&a->db, "INSERT INTO text (text) VALUES (?)"
					   " ON CONFLICT (text) DO UPDATE SET text = excluded.text RETURNING id");
	sqlite3_stmt *insert = store_prepare(&a->db, "INSERT INTO field VALUES (?, ?, ?)");

	for (u32 field = 0; field < HISTORY_FIELDS; field++) {
		s64 id = store_put_id(&a->db, text, "t", field == HISTORY_PROGRAM ? program : run->field[field]);

		store_put(&a->db, insert, "iti", a->run, history_field_key(field), id);
	}
	sqlite3_finalize(text);
	sqlite3_finalize(insert);
}

/* ---- its values ------------------------------------------------------------------------------------ */

static int add_metrics(struct adder *a, enum diff_kind kind)
{
	const struct diff_table *table = &a->diff->tables[kind];
	sqlite3_stmt *insert = store_prepare(&a->db, "INSERT INTO metric (kind, name, unit, format, diagnostic)"
					     " VALUES (?, ?, ?, ?, ?) ON CONFLICT (kind, name) DO UPDATE SET"
					     " unit = excluded.unit RETURNING id");

	a->metrics[kind] = calloc(table->nmetrics + 1, sizeof(*a->metrics[kind]));
	for (u32 m = 0; a->metrics[kind] && m < table->nmetrics; m++)
		a->metrics[kind][m] = store_put_id(&a->db, insert, "tttti", diff_kind_words[kind], table->metrics[m].name,
						   table->metrics[m].unit, metric_format_name(table->metrics[m].format),
						   (s64)table->metrics[m].diagnostic);
	sqlite3_finalize(insert);
	return a->metrics[kind] ? 0 : -1;
}

static int add_lines(struct adder *a, enum diff_kind kind)
{
	const struct diff_table *table = &a->diff->tables[kind];
	sqlite3_stmt *insert = store_prepare(&a->db, "INSERT INTO line (kind, parent, name, origin, unit, diagnostic)"
					     " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, parent, name, origin)"
					     " DO UPDATE SET unit = excluded.unit RETURNING id");

	a->lines[kind] = calloc(table->nrows + 1, sizeof(*a->lines[kind]));
	for (u32 i = 0; a->lines[kind] && i < table->nrows; i++) {
		const struct diff_row *row = &table->rows[i];

		a->lines[kind][i] = store_put_id(&a->db, insert, "tistti", diff_kind_words[kind],
						 row->parent == DIFF_NONE ? (s64)0 : a->lines[kind][row->parent], row->name,
						 row->len, row->origin, row->unit, (s64)row->diagnostic);
	}
	sqlite3_finalize(insert);
	return a->lines[kind] ? 0 : -1;
}

static void add_values(struct adder *a, enum diff_kind kind)
{
	const struct diff_table *table = &a->diff->tables[kind];
	sqlite3_stmt *insert = store_prepare(&a->db, "INSERT INTO value VALUES (?, ?, ?, ?, ?, ?)");

	for (u32 row = 0; row < table->nrows; row++)
		for (u32 m = 0; m < table->nmetrics; m++) {
			u8 state;
			double value = diff_value(&a->diff->sides[0].runs[0], kind, m, row, &state);

			if (state & DIFF_PRESENT && (state & DIFF_STATE) <= CELL_ESTIMATE)
				store_put(&a->db, insert, "iiirti", a->run, a->lines[kind][row], a->metrics[kind][m], value,
					  cell_state_name(state & DIFF_STATE), (s64)((state & DIFF_USER) != 0));
		}
	sqlite3_finalize(insert);
}

static int add_all(struct adder *a, const struct session_facts *facts, const char *command, const char *program)
{
	static const enum diff_kind kinds[] = { DIFF_TOTALS, DIFF_REGIONS };

	if (history_open_write(&a->db, HISTORY_WAIT_LONG_MS))
		return -1;
	add_run(a, facts, command);
	add_fields(a, program);
	for (size_t i = 0; i < ARRAY_SIZE(kinds) && !a->db.failed; i++) {
		if (add_metrics(a, kinds[i]) || add_lines(a, kinds[i]))
			return error("out of memory for the history");
		add_values(a, kinds[i]);
	}
	return a->db.failed ? -1 : history_run_sql(&a->db, "COMMIT");
}

static int add_diff(const char *path, const struct diff *diff, const struct session_facts *facts)
{
	struct adder a = { .db = { .path = path }, .diff = diff };
	char *command = command_text(facts), *program = history_program(facts);
	struct sigaction before;
	int err;

	history_outlive_limit(&before);
	err = command && program ? add_all(&a, facts, command, program) : error("out of memory for the history");
	/* What was not committed is undone. */
	sqlite3_close(a.db.handle);
	sigaction(SIGXFSZ, &before, NULL);
	for (u32 i = 0; i < DIFF_KINDS; i++) {
		free(a.lines[i]);
		free(a.metrics[i]);
	}
	free(command);
	free(program);
	return err ? -1 : 0;
}

/* The usual ones, those of the run's own counters, and what was asked for; to be freed. */
static char *columns_of(const struct profile *profile, const char *more)
{
	char *globs = NULL;
	size_t size;
	FILE *f = open_memstream(&globs, &size);

	if (!f)
		return NULL;
	fputs(USUAL, f);
	for (u32 i = 0; i < profile->nevents; i++)
		/* A list has no way to quote a comma. */
		if (!strchr(profile->events[i].name, ','))
			fprintf(f, ",%s", profile->events[i].name);
	if (more)
		fprintf(f, ",%s", more);
	if (fclose(f)) {
		free(globs);
		globs = NULL;
	}
	return globs;
}

int store_history_add(const char *path, const struct profile *profile, const struct session_facts *facts,
		      const char *more)
{
	char *globs = columns_of(profile, more);
	struct profile grouped;
	struct diff diff;
	int err = -1;

	if (!globs)
		return error("out of memory for the history");
	profile_init(&grouped, PROFILE_BY_REGION);
	if (diff_init(&diff, 1))
		error("out of memory for the history");
	else if (!profile_merge(&grouped, profile)) {
		diff.metrics = globs;
		err = diff_add(&diff, 0, path, &grouped, facts);
		err = err ? err : add_diff(path, &diff, facts);
	}
	diff_free(&diff);
	profile_fini(&grouped);
	free(globs);
	return err;
}
