/* SPDX-License-Identifier: MIT */
/* A trend in one line of text; see history_output.h. */
#include <math.h>
#include <string.h>

#include "cli/output/history_output.h"

enum { HEIGHTS = 8 };

static const char *const bars[HEIGHTS] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const digits[HEIGHTS] = { "1", "2", "3", "4", "5", "6", "7", "8" };

struct trend {
	double mean[HISTORY_TREND_MOST]; /* NAN: no run of it has a value */
	size_t n;
	double low, high;
};

static size_t lines_of(const struct history *h, u32 series)
{
	size_t n = 0;

	for (u32 i = 0; i < h->nchanges; i++)
		n += h->changes[i].series == series;
	return n;
}

static u32 first_run(const struct trend *t, u32 nruns, size_t cell)
{
	return (u32)((u64)cell * nruns / t->n);
}

static void trend_fill(struct trend *t, const struct history *h, const struct history_series *series)
{
	u32 nruns = history_nruns(h);
	bool any = false;

	for (size_t cell = 0; cell < t->n; cell++) {
		double sum = 0;
		u32 n = 0;

		for (u32 run = first_run(t, nruns, cell); run < first_run(t, nruns, cell + 1); run++) {
			double value = history_value(h, series, run);

			sum += isnan(value) ? 0 : value;
			n += !isnan(value);
		}
		t->mean[cell] = n ? sum / n : (double)NAN;
		if (!n)
			continue;
		t->low = any ? MIN(t->low, t->mean[cell]) : t->mean[cell];
		t->high = any ? MAX(t->high, t->mean[cell]) : t->mean[cell];
		any = true;
	}
}

/* Noise of a hundredth is not to fill the whole height. */
static void trend_widen(struct trend *t)
{
	double middle = (t->low + t->high) / 2, least = (middle < 0 ? -middle : middle) * 0.05;

	if (t->high - t->low < 2 * least) {
		t->low = middle - least;
		t->high = middle + least;
	}
}

static const char *height(const struct trend *t, double value, bool utf8)
{
	double part = t->high > t->low ? (value - t->low) / (t->high - t->low) : 0.5;
	int level = (int)(part * HEIGHTS);

	return (utf8 ? bars : digits)[MIN(MAX(level, 0), HEIGHTS - 1)];
}

/* The middle of a column's runs: a change behind it stands behind the column. */
static u32 middle_run(const struct trend *t, u32 nruns, size_t cell)
{
	u32 first = first_run(t, nruns, cell);

	return cell == t->n ? nruns : (first + first_run(t, nruns, cell + 1) + 1) / 2;
}

/* What stands in front of a column: the line of a change between those runs. */
static const char *line_before(const struct history *h, u32 series, u32 from, u32 end, bool utf8)
{
	for (u32 i = 0; i < h->nchanges; i++)
		if (h->changes[i].series == series && h->changes[i].run >= from && h->changes[i].run < end)
			return h->changes[i].outside ? (utf8 ? "┊" : ":") : (utf8 ? "│" : "|");
	return "";
}

void history_trend(char out[HISTORY_TREND_SIZE], const struct history *history, u32 series, size_t columns, bool utf8)
{
	u32 nruns = history_nruns(history);
	size_t most = MIN(columns, (size_t)HISTORY_TREND_MOST), changes = lines_of(history, series);
	struct trend t = { .n = most > 2 * changes ? most - changes : MAX(most / 2, (size_t)1) };

	t.n = MIN(t.n, (size_t)nruns);
	trend_fill(&t, history, &history->series[series]);
	trend_widen(&t);
	out[0] = '\0';
	for (size_t cell = 0; cell < t.n; cell++) {
		strcat(out, line_before(history, series, cell ? middle_run(&t, nruns, cell - 1) : 0,
					middle_run(&t, nruns, cell + (cell + 1 == t.n)), utf8));
		strcat(out, isnan(t.mean[cell]) ? " " : height(&t, t.mean[cell], utf8));
	}
}
