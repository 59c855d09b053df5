/* SPDX-License-Identifier: MIT */
/* Reading a history; see history.h. The file may be anybody's: numbers are checked before they are used as places. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/diff_build.h"
#include "cli/log.h"
#include "cli/store/history_build.h"

enum { LINES_MOST = PROFILE_ROWS_MAX, METRICS_MOST = 10000, DEEPEST = 512 };
/* Ratios and sums of values are to be numbers, too; what is less than nothing is printed by its whole numbers. */
#define VALUE_MOST 1e30
#define VALUE_LEAST (-1e18)

/* A row of the file. Its places in the diffs of histories are found when a value asks for them. */
struct line {
	s64 id;
	u32 parent;                  /* DIFF_NONE: none */
	u32 depth;
	enum diff_kind kind;
	char *name, *origin, *unit;
	size_t len;
	bool diagnostic, wanted;
};

struct metric_line {
	s64 id;
	enum diff_kind kind;
	char *name, *unit;
	enum metric_format format;
	bool diagnostic, wanted;
};

/* Where a run of the file is. */
struct place {
	s64 id;
	u32 history, run;
};

struct reader {
	struct store_db db;
	struct histories *all;
	struct place *places;        /* by id */
	u32 nplaces;
	struct line *lines;
	u32 nlines;
	struct metric_line *metrics;
	u32 nmetrics;
	u32 item_room, places_room, lines_room, metrics_room;
	u32 history, *rows;          /* of lines in this history; DIFF_NONE: not met */
};

static int damaged(struct reader *r, const char *what)
{
	return error("%s is damaged: %s makes no sense", r->db.path, what);
}

static int no_memory(void)
{
	return error("out of memory for the history");
}

/* A copy, "" for NULL; NULL when memory is short. */
static char *text_of(sqlite3_stmt *row, int i)
{
	const char *bytes = sqlite3_column_blob(row, i);
	size_t len = (size_t)sqlite3_column_bytes(row, i);
	char *text = malloc(len + 1);

	if (!text)
		return NULL;
	if (len)
		memcpy(text, bytes, len);
	text[len] = '\0';
	return text;
}

static int kind_of(sqlite3_stmt *row, int i, enum diff_kind *kind)
{
	const char *word = (const char *)sqlite3_column_text(row, i);

	for (*kind = DIFF_TOTALS; *kind <= DIFF_REGIONS; ++*kind)
		if (word && !strcmp(word, diff_kind_words[*kind]))
			return 0;
	return -1;
}

static int number_row(void *context, sqlite3_stmt *row)
{
	*(s64 *)context = sqlite3_column_int64(row, 0);
	return 0;
}

/* Room for the rows of a table, *rows of them; NULL after a message. A damaged table may have more by another index. */
static void *room_for(struct reader *r, const char *table, u32 most, size_t size, u32 *rows)
{
	char sql[64];
	s64 n = 0;
	void *room;

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", table);
	if (store_each(&r->db, sql, number_row, &n))
		return NULL;
	if (n < 0 || n > most) {
		damaged(r, table);
		return NULL;
	}
	room = calloc((size_t)n + 1, size);
	*rows = (u32)n;
	if (!room)
		no_memory();
	return room;
}

/* ---- runs ------------------------------------------------------------------------------------------ */

/* The newest runs of each command, by command. */
#define NEWEST "SELECT command, id, started_ns, duration_ns, status, signal, unfinished, " \
	       "row_number() OVER (PARTITION BY command ORDER BY started_ns DESC, id DESC) AS back FROM run"

static int command_row(void *context, sqlite3_stmt *row)
{
	struct reader *r = context;
	u32 n = read_u32(row, 1);
	s64 runs = sqlite3_column_int64(row, 2);
	struct history *h;

	if (read_u32(row, 3) != r->all->n || r->all->n >= r->item_room || n > LINES_MOST || runs < (s64)n)
		return damaged(r, "a command");
	h = &r->all->item[r->all->n++];
	if (history_init(h, n) || !(h->command = text_of(row, 0)))
		return no_memory();
	h->before = (u64)runs - n;
	return 0;
}

static int run_row(void *context, sqlite3_stmt *row)
{
	struct reader *r = context;
	u32 number = read_u32(row, 0);
	struct history *h = number < r->all->n ? &r->all->item[number] : NULL;
	struct diff_side *side = h ? &h->runs.sides[0] : NULL;

	if (!h || side->nruns >= h->room || r->nplaces >= r->places_room)
		return damaged(r, "a run");
	if (sqlite3_column_int64(row, 2) < 0 || sqlite3_column_int64(row, 3) < 0)
		return damaged(r, "the time of a run");
	r->places[r->nplaces++] = (struct place){ sqlite3_column_int64(row, 1), number, side->nruns };
	side->runs[side->nruns].started_ns = read_u64(row, 2);
	side->runs[side->nruns].duration_ns = read_u64(row, 3);
	h->of[side->nruns++] = (struct history_run){ .status = sqlite3_column_int(row, 4),
						     .signal = sqlite3_column_int(row, 5),
						     .unfinished = sqlite3_column_int(row, 6) };
	return 0;
}

static int place_order(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* Commands are in the order of their newest runs: the last one that was run comes last. */
static int runs_read(struct reader *r, u32 last)
{
	static const char commands[] =
		"CREATE TEMP TABLE newest AS SELECT * FROM (" NEWEST ") WHERE back <= %u;"
		"CREATE TEMP TABLE ordered AS SELECT command, row_number() OVER (ORDER BY max(started_ns), max(id)) - 1 AS number,"
		" count(*) AS runs FROM newest GROUP BY command;";
	char sql[640];

	snprintf(sql, sizeof(sql), commands, last);
	if (history_run_sql(&r->db, sql))
		return -1;
	r->all->item = room_for(r, "ordered", LINES_MOST, sizeof(*r->all->item), &r->item_room);
	r->places = room_for(r, "newest", LINES_MOST, sizeof(*r->places), &r->places_room);
	if (!r->all->item || !r->places ||
	    store_each(&r->db, "SELECT command.text, ordered.runs,"
		       " (SELECT count(*) FROM run WHERE run.command = ordered.command), number"
		       " FROM ordered JOIN command ON command.id = ordered.command ORDER BY number", command_row, r))
		return -1;
	if (r->all->n != r->item_room)
		return damaged(r, "a command");
	if (store_each(&r->db, "SELECT number, id, started_ns, duration_ns, status, signal, unfinished FROM newest"
		       " JOIN ordered USING (command) ORDER BY number, started_ns, id", run_row, r))
		return -1;
	if (r->nplaces)
		qsort(r->places, r->nplaces, sizeof(*r->places), place_order);
	return 0;
}

static const struct place *place_of(const struct reader *r, s64 id)
{
	const struct place wanted = { .id = id };

	return r->nplaces ? bsearch(&wanted, r->places, r->nplaces, sizeof(wanted), place_order) : NULL;
}

static int field_row(void *context, sqlite3_stmt *row)
{
	struct reader *r = context;
	const struct place *place = place_of(r, sqlite3_column_int64(row, 0));
	const char *name = (const char *)sqlite3_column_text(row, 1);
	struct history *h = place ? &r->all->item[place->history] : NULL;

	for (u32 field = 0; h && name && field < HISTORY_FIELDS; field++) {
		char **text = field == HISTORY_PROGRAM ? &h->of[place->run].program :
			      &h->runs.sides[0].runs[place->run].field[field];

		if (strcmp(name, history_field_key(field)) != 0 || *text)
			continue;
		*text = text_of(row, 2);
		return *text ? 0 : no_memory();
	}
	return 0;
}

/* ---- rows and metrics ------------------------------------------------------------------------------ */

static int line_order(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* They come by id, and a parent's is less. */
static int line_row(void *context, sqlite3_stmt *row)
{
	struct reader *r = context;
	struct line *line = &r->lines[r->nlines], *parent = NULL;
	const struct line wanted = { .id = sqlite3_column_int64(row, 2) };

	if (r->nlines >= r->lines_room)
		return damaged(r, "a row");
	*line = (struct line){ .id = sqlite3_column_int64(row, 0), .parent = DIFF_NONE,
			       .diagnostic = sqlite3_column_int(row, 6) };
	if (wanted.id) {
		parent = r->nlines ? bsearch(&wanted, r->lines, r->nlines, sizeof(wanted), line_order) : NULL;
		if (!parent || parent->depth >= DEEPEST)
			return damaged(r, "a row's parent");
		line->parent = (u32)(parent - r->lines);
		line->depth = parent->depth + 1;
	}
	if (kind_of(row, 1, &line->kind) || (parent && (parent->kind != line->kind || line->kind != DIFF_REGIONS)))
		return damaged(r, "a row");
	line->name = text_of(row, 3);
	line->len = (size_t)sqlite3_column_bytes(row, 3);
	line->origin = text_of(row, 4);
	line->unit = text_of(row, 5);
	r->nlines++;
	if (!line->name || !line->origin || !line->unit)
		return no_memory();
	line->wanted = line->kind != DIFF_TOTALS || metric_glob(r->all->metrics, line->name);
	return 0;
}

static int metric_row(void *context, sqlite3_stmt *row)
{
	struct reader *r = context;
	struct metric_line *m = &r->metrics[r->nmetrics];
	const char *format = (const char *)sqlite3_column_text(row, 4);

	if (r->nmetrics >= r->metrics_room)
		return damaged(r, "a metric");
	*m = (struct metric_line){ .id = sqlite3_column_int64(row, 0), .format = METRIC_PLAIN,
				   .diagnostic = sqlite3_column_int(row, 5) };
	if (kind_of(row, 1, &m->kind))
		return damaged(r, "a metric");
	for (enum metric_format i = METRIC_NS; format && i <= METRIC_RATIO; i++)
		if (!strcmp(format, metric_format_name(i)))
			m->format = i;
	m->name = text_of(row, 2);
	m->unit = text_of(row, 3);
	r->nmetrics++;
	if (!m->name || !m->unit)
		return no_memory();
	m->wanted = m->kind == DIFF_TOTALS || metric_glob(r->all->metrics, m->name);
	return 0;
}

/* The row of a line in the diff of the history that is being read; DIFF_NONE when memory is short. */
static u32 row_of(struct reader *r, struct diff *diff, u32 number)
{
	const struct line *line = &r->lines[number];
	struct diff_row *row;
	u32 parent = DIFF_NONE;

	if (r->rows[number] != DIFF_NONE)
		return r->rows[number];
	if (line->parent != DIFF_NONE) {
		parent = row_of(r, diff, line->parent);
		if (parent == DIFF_NONE)
			return DIFF_NONE;
	}
	r->rows[number] = diff_row(diff, line->kind, parent, line->name, line->len, line->origin);
	if (r->rows[number] == DIFF_NONE || line->kind != DIFF_TOTALS)
		return r->rows[number];
	row = &diff->tables[DIFF_TOTALS].rows[r->rows[number]];
	row->diagnostic = line->diagnostic;
	if (!row->unit)
		row->unit = diff_printable(line->unit);
	return row->unit ? r->rows[number] : DIFF_NONE;
}

/* ---- values ---------------------------------------------------------------------------------------- */

static int metric_order(const void *a, const void *b)
{
	const struct metric_line *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static void history_begin(struct reader *r, u32 history)
{
	r->history = history;
	for (u32 i = 0; i < r->nlines; i++)
		r->rows[i] = DIFF_NONE;
}

static int value_row(void *context, sqlite3_stmt *row)
{
	struct reader *r = context;
	const struct place *place = place_of(r, sqlite3_column_int64(row, 0));
	const struct line line_wanted = { .id = sqlite3_column_int64(row, 1) };
	const struct metric_line metric_wanted = { .id = sqlite3_column_int64(row, 2) };
	const struct line *line = r->nlines ? bsearch(&line_wanted, r->lines, r->nlines, sizeof(*line), line_order) : NULL;
	const struct metric_line *m = r->nmetrics ?
		bsearch(&metric_wanted, r->metrics, r->nmetrics, sizeof(*m), metric_order) : NULL;
	struct cell cell = { .value = sqlite3_column_double(row, 3) };
	struct diff *diff;
	u32 metric, at;

	if (!place || !line || !m || m->kind != line->kind || read_state(row, 4, &cell.state) || !cell_has_value(&cell) ||
	    sqlite3_column_type(row, 3) == SQLITE_NULL || !(cell.value >= VALUE_LEAST && cell.value <= VALUE_MOST))
		return damaged(r, "a value");
	if (place->history != r->history)
		history_begin(r, place->history);
	diff = &r->all->item[place->history].runs;
	cell.note = sqlite3_column_int(row, 5) ? CELL_NOTE_USER : NULL;
	metric = diff_metric(diff, m->kind, m->name, m->unit, m->format, m->diagnostic);
	at = row_of(r, diff, (u32)(line - r->lines));
	if (metric == DIFF_NONE || at == DIFF_NONE)
		return no_memory();
	/* Others are to be known, but not to be held. */
	if (!line->wanted || !m->wanted)
		return 0;
	return diff_put(diff, &diff->sides[0].runs[place->run], m->kind, metric, at, &cell) ? no_memory() : 0;
}

static int rows_read(struct reader *r)
{
	r->lines = room_for(r, "line", LINES_MOST, sizeof(*r->lines), &r->lines_room);
	r->metrics = r->lines ? room_for(r, "metric", METRICS_MOST, sizeof(*r->metrics), &r->metrics_room) : NULL;
	if (!r->metrics ||
	    store_each(&r->db, "SELECT id, kind, parent, name, origin, unit, diagnostic FROM line ORDER BY id", line_row, r) ||
	    store_each(&r->db, "SELECT id, kind, name, unit, format, diagnostic FROM metric ORDER BY id", metric_row, r))
		return -1;
	r->rows = calloc(r->nlines + 1, sizeof(*r->rows));
	if (!r->rows)
		return no_memory();
	history_begin(r, DIFF_NONE);
	return store_each(&r->db, "SELECT run, line, metric, value, state, user FROM value JOIN newest ON newest.id = run"
			  " JOIN ordered USING (command) ORDER BY number, run, line, metric", value_row, r);
}

static int all_read(struct reader *r, u32 last)
{
	if (history_open_read(&r->db) || runs_read(r, last) ||
	    store_each(&r->db, "SELECT run, field.name, text.text FROM field JOIN newest ON newest.id = run"
		       " JOIN text ON text.id = field.text", field_row, r) || rows_read(r))
		return -1;
	return r->db.failed ? -1 : 0;
}

int store_history_read(struct histories *all, const char *path, u32 last)
{
	struct reader r = { .db = { .path = path }, .all = all };
	int err;

	all->path = path;
	err = all_read(&r, last);
	sqlite3_close(r.db.handle);
	for (u32 i = 0; i < r.nlines; i++) {
		free(r.lines[i].name);
		free(r.lines[i].origin);
		free(r.lines[i].unit);
	}
	for (u32 i = 0; i < r.nmetrics; i++) {
		free(r.metrics[i].name);
		free(r.metrics[i].unit);
	}
	free(r.lines);
	free(r.metrics);
	free(r.places);
	free(r.rows);
	return err;
}
