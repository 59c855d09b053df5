/* SPDX-License-Identifier: MIT */
/* The columns of metrics that a program gives by spark_metric(); see metric.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/derived.h"
#include "cli/analyze/metric.h"

static const struct profile_value *metric_client_value(const struct metric *metric,
						       const struct metric_input *in)
{
	u32 i = in->row ? in->row->values : PROFILE_NONE;

	while (i != PROFILE_NONE && in->profile->values[i].name != metric->arg)
		i = in->profile->values[i].next;
	return i == PROFILE_NONE ? NULL : &in->profile->values[i];
}

static struct cell metric_client_mean(const struct metric *metric, const struct metric_input *in)
{
	const struct profile_value *value = metric_client_value(metric, in);

	if (!value)
		return cell_absent(CELL_NOT_COUNTED, NULL);
	return cell_counted(value->sum / (double)value->count);
}

static struct cell metric_client_extreme(const struct profile_value *value, double extreme)
{
	struct cell cell = cell_counted(extreme);

	if (value->bounds && cell_has_value(&cell))
		cell = (struct cell){ extreme, CELL_ESTIMATE, "of values from when nothing was measured, too" };
	return cell;
}

static struct cell metric_client_min(const struct metric *metric, const struct metric_input *in)
{
	const struct profile_value *value = metric_client_value(metric, in);

	return value ? metric_client_extreme(value, value->min) : cell_absent(CELL_NOT_COUNTED, NULL);
}

static struct cell metric_client_max(const struct metric *metric, const struct metric_input *in)
{
	const struct profile_value *value = metric_client_value(metric, in);

	return value ? metric_client_extreme(value, value->max) : cell_absent(CELL_NOT_COUNTED, NULL);
}

static struct cell metric_client_count(const struct metric *metric, const struct metric_input *in)
{
	const struct profile_value *value = metric_client_value(metric, in);

	return value ? cell_counted((double)value->count) : cell_absent(CELL_NOT_COUNTED, NULL);
}

static const struct client_column {
	const char *suffix;
	enum metric_format format;
	const char *meaning;
	struct cell (*value)(const struct metric *metric, const struct metric_input *in);
} metric_client_columns[METRIC_CLIENT_COLUMNS] = {
	{ "", METRIC_PLAIN, "mean of the values that the program gave with spark_metric", metric_client_mean },
	{ ".min", METRIC_PLAIN, "least of the values that the program gave", metric_client_min },
	{ ".max", METRIC_PLAIN, "greatest of the values that the program gave", metric_client_max },
	{ ".count", METRIC_COUNT, "number of values that the program gave", metric_client_count },
};

/* The row of a client metric's column; its name is set already. */
static void metric_client_fill(struct metric *row, const struct client_column *column)
{
	bool mean = column == metric_client_columns;

	row->title = row->name;
	row->unit = column->format == METRIC_COUNT ? "count" : "";
	row->class_name = "quantitative";
	row->source = "client";
	row->format = column->format;
	row->shown = mean;
	row->place = 40;
	row->importance = mean ? 62 : 20;
	row->meaning = column->meaning;
	row->bias = "none known";
	row->value = column->value;
}

const struct metric *metric_client_examples(void)
{
	static const char *const names[METRIC_CLIENT_COLUMNS] = { "NAME", "NAME.min", "NAME.max", "NAME.count" };
	static struct metric rows[METRIC_CLIENT_COLUMNS];
	u32 i;

	for (i = 0; i < METRIC_CLIENT_COLUMNS; i++) {
		rows[i].name = names[i];
		metric_client_fill(&rows[i], &metric_client_columns[i]);
	}
	return rows;
}

int metric_client_init(struct metric *columns, const struct profile *profile, u32 name)
{
	/* The program's "wall" is not ours. */
	const char *bytes = profile->names[name].bytes;
	const char *prefix = metric_find(bytes) || derived_find(bytes) ? "client." : "";
	const struct client_column *column;
	char *text;
	u32 i;

	memset(columns, 0, METRIC_CLIENT_COLUMNS * sizeof(*columns));
	for (i = 0; i < METRIC_CLIENT_COLUMNS; i++) {
		column = &metric_client_columns[i];
		if (asprintf(&text, "%s%s%s", prefix, profile->names[name].bytes, column->suffix) < 0) {
			metric_client_fini(columns);
			return -1;
		}
		columns[i].name = text;
		columns[i].arg = name;
		metric_client_fill(&columns[i], column);
	}
	return 0;
}

void metric_client_fini(struct metric *columns)
{
	u32 i;

	for (i = 0; i < METRIC_CLIENT_COLUMNS; i++)
		free((char *)(uintptr_t)columns[i].name);
}
