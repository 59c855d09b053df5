/* SPDX-License-Identifier: MIT */
/*
 * The catalog of metrics: every column that a report can have. The rows of the time source stand in
 * metric.c; the cells of the bracketed sources come from common/sources.def; the program's own
 * (client) metrics are added when a report is built. A metric is a name, some facts as data, and a
 * function.
 */
#ifndef CLI_ANALYZE_METRIC_H
#define CLI_ANALYZE_METRIC_H

#include "cli/analyze/clock_map.h"
#include "cli/analyze/profile.h"
#include "cli/analyze/window.h"

enum metric_format {
	METRIC_NS, METRIC_COUNT, METRIC_PERCENT, METRIC_BYTES, METRIC_RATE, METRIC_PLAIN, METRIC_RATIO
};

enum metric_place { METRIC_NEVER, METRIC_ASKED, METRIC_ALWAYS };

enum metric_scope { METRIC_ROOT, METRIC_REGION, METRIC_WINDOW };

/* What a metric is computed from: one finished row, ns. */
struct metric_input {
	enum metric_scope scope;
	const struct profile *profile;
	const struct profile_row *row; /* regions only, else NULL */
	const struct clock_map *clock;
	u64 calls;                   /* finished + open */
	u64 open;
	struct cell wall, wall_excl, cpu, cpu_excl, off;
	const struct usage *usage;   /* roots and windows: of the whole thread or process; may be NULL */
	const struct cell *snapshot; /* windows: of the system and the control group; else NULL */
	const struct cell *parts;    /* windows: by enum window_part, then the time of the threads; else NULL */
};

struct metric {
	const char *name;
	const char *title;           /* heading in a table */
	const char *unit;            /* "ns", "count", "B", "": given by the program */
	const char *class_name;      /* "quantitative", "diagnostic" */
	const char *source;          /* "time", "client", or a row of the source table */
	enum metric_format format;
	bool shown;                  /* without --metrics */
	enum metric_place in_windows; /* whether it is a column of the table of windows */
	bool windows_only;           /* regions have none */
	u32 place;                   /* in a table, from the left; else in the order of columns */
	u32 importance;              /* greater stays longer on a narrow terminal */
	const char *meaning;
	const char *bias;            /* "none known", or what shifts it */
	u32 arg;
	char *note;                  /* allocated, of an event's column: what is said where it did not always count; NULL */
	struct cell (*value)(const struct metric *metric, const struct metric_input *in); /* NULL: derived.h */
};

/* metric_window.c */
#define METRIC_WINDOW_COLUMNS 6
extern const struct metric metric_windows[METRIC_WINDOW_COLUMNS];

/* All rows but client metrics, in the order of columns; *count of them. */
const struct metric *metric_table(size_t *count);
const struct metric *metric_find(const char *name);
/* "ns", "count", ... */
const char *metric_format_name(enum metric_format format);

/* metric_client.c. The columns that a client metric NAME makes: the mean under its own name, then .min .max .count. */
#define METRIC_CLIENT_COLUMNS 4
/* What a list shows in their place, since no run has named them: rows called NAME, NAME.min ... */
const struct metric *metric_client_examples(void);
/* Fills columns[METRIC_CLIENT_COLUMNS]; name is the profile's, names are allocated: metric_client_fini. */
int metric_client_init(struct metric *columns, const struct profile *profile, u32 name);
void metric_client_fini(struct metric *columns);

/* What a list shows in place of the columns of events: a row called EVENT. */
const struct metric *metric_event_example(void);
/* Fills the column of an event of the profile; its name is allocated: metric_event_fini. -1: out of memory. */
int metric_event_init(struct metric *column, const struct profile *profile, u32 event);
void metric_event_fini(struct metric *column);

/* Whether a name matches one of the globs of a comma-separated list; NULL or "" matches nothing. */
bool metric_glob(const char *globs, const char *name);

/*
 * What --metrics asks of the session: the mask of bracketed sources to open (0 without globs), and
 * the number of globs that name no metric of the catalog (they may mean client metrics).
 */
struct metric_selection {
	u32 sources;
	u32 unknown;
};
struct metric_selection metric_select(const char *globs);

#endif
