/* SPDX-License-Identifier: MIT */
/* Numbers for people; see format.h.  The decimal point is a point: snprintf's is put right. */
#include "cli/output/format.h"

#include <stdio.h>
#include <string.h>

#include "cli/text.h"

static void format_point(char *text)
{
	char *comma = strchr(text, ',');

	if (comma)
		*comma = '.';
}

/* Three significant digits of a value from 0 to 1000. */
static void format_three(char out[FORMAT_SIZE], double value)
{
	int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

	snprintf(out, FORMAT_SIZE, "%.*f", digits, value);
	format_point(out);
}

/* Digits in groups of three. */
static void format_groups(char out[FORMAT_SIZE], double value)
{
	char digits[32];
	int n = snprintf(digits, sizeof(digits), "%.0f", value), i, k = 0;

	for (i = 0; i < n && i < 31; i++) {
		if (i && digits[i - 1] != '-' && (n - i) % 3 == 0)
			out[k++] = ' ';
		out[k++] = digits[i];
	}
	out[k] = '\0';
}

void format_ns(char out[FORMAT_SIZE], double ns, bool utf8)
{
	static const struct {
		double limit, scale;
		const char *unit, *ascii;
	} units[] = {
		{ 999.5, 1, "ns", "ns" },
		{ 999.5e3, 1e3, "µs", "us" },
		{ 999.5e6, 1e6, "ms", "ms" },
		{ 999.5e9, 1e9, "s", "s" },
	};
	char number[FORMAT_SIZE];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units) && ns >= units[i].limit; i++)
		;
	if (i == ARRAY_SIZE(units)) {
		format_groups(number, ns < 1e24 ? ns / 1e9 : 1e15);
		i--;
	} else if (i == 0 && ns == (double)(s64)ns) {
		snprintf(number, sizeof(number), "%.0f", ns);
	} else {
		format_three(number, ns / units[i].scale);
	}
	snprintf(out, FORMAT_SIZE, "%.40s %s", number, utf8 ? units[i].unit : units[i].ascii);
}

void format_si(char out[FORMAT_SIZE], double value, const char *unit)
{
	static const char *const prefixes[] = { "", "k", "M", "G", "T", "P", "E" };
	double size = value < 0 ? -value : value;
	bool joined = unit && (!strcmp(unit, "B") || unit[0] == '/');
	char number[FORMAT_SIZE];
	size_t i = 0;

	while (size >= 999.5 && i + 1 < ARRAY_SIZE(prefixes)) {
		size /= 1000;
		i++;
	}
	if (size >= 999.5)
		snprintf(number, sizeof(number), "%.2e", size);
	else if (i == 0 && size == (double)(s64)size)
		snprintf(number, sizeof(number), "%.0f", size);
	else if (size < 0.01 && size > 0)
		snprintf(number, sizeof(number), "%.2e", size);
	else
		format_three(number, size);
	format_point(number);
	snprintf(out, FORMAT_SIZE, "%s%.20s%s%s%s%.24s", value < 0 ? "-" : "", number,
		 *prefixes[i] || unit ? " " : "", prefixes[i],
		 *prefixes[i] && unit && !joined ? " " : "", unit ? unit : "");
}

void format_count(char out[FORMAT_SIZE], double value)
{
	if (value >= 0 && value < 1e9 && value == (double)(s64)value)
		format_groups(out, value);
	else
		format_si(out, value, NULL);
}

void format_percent(char out[FORMAT_SIZE], double value)
{
	char number[FORMAT_SIZE];

	if (value < 999.5)
		format_three(number, value);
	else
		format_groups(number, value < 1e15 ? value : 1e15);
	snprintf(out, FORMAT_SIZE, "%.40s %%", number);
}

/* What stands before a value, or instead of it: false if there is no value. */
static bool format_state(char out[FORMAT_SIZE], const struct cell *cell, bool utf8)
{
	static const char *const marks[] = {
		[CELL_COUNTED] = "", [CELL_SCALED] = "~", [CELL_ESTIMATE] = "~",
		[CELL_NOT_COUNTED] = "-", [CELL_UNAVAILABLE] = "n/a", [CELL_LOST] = "lost",
	};

	snprintf(out, FORMAT_SIZE, "%s",
		 cell->state == CELL_ESTIMATE && utf8 ? "≈" : marks[cell->state]);
	return cell_has_value(cell);
}

static void format_marked(char out[FORMAT_SIZE], const char *number)
{
	size_t len = strlen(out);

	snprintf(out + len, FORMAT_SIZE - len, "%s", number);
}

/* A PMU's own unit, such as Joules: prefixes would not suit all of them. */
static void format_other(char out[FORMAT_SIZE], double value, const char *unit)
{
	char escaped[FORMAT_SIZE], number[FORMAT_SIZE];

	text_escape(escaped, sizeof(escaped), unit, strlen(unit));
	if (!strncmp(escaped, "B/", 2)) {
		format_si(number, value, "B");
		snprintf(out, FORMAT_SIZE, "%.40s%.20s", number, escaped + 1);
		return;
	}
	format_count(number, value);
	snprintf(out, FORMAT_SIZE, "%.40s %.20s", number, escaped);
}

static void format_unit(char out[FORMAT_SIZE], double value, const char *unit, bool utf8)
{
	if (!strcmp(unit, "ns"))
		format_ns(out, value, utf8);
	else if (!strcmp(unit, "B"))
		format_si(out, value, "B");
	else if (!strcmp(unit, "count") || !*unit)
		format_count(out, value);
	else
		format_other(out, value, unit);
}

/* The program's own unit stands in the note of its values; it is no more to be trusted than a name. */
static void format_client(char out[FORMAT_SIZE], const struct cell *cell, bool rate)
{
	char escaped[FORMAT_SIZE], cut[24], unit[32];

	text_escape(escaped, sizeof(escaped), cell->note ? cell->note : "",
		    cell->note ? strlen(cell->note) : 0);
	text_fit(cut, sizeof(cut), escaped, 12);
	snprintf(unit, sizeof(unit), "%s%s", cut, rate ? "/s" : "");
	if (rate && !strcmp(cut, "B")) {
		format_si(out, cell->value, "B");
		format_marked(out, "/s");
	} else {
		format_si(out, cell->value, *unit ? unit : NULL);
	}
}

void format_cell(char out[FORMAT_SIZE], const struct cell *cell, const struct metric *metric, bool utf8)
{
	char number[FORMAT_SIZE];

	if (!format_state(out, cell, utf8))
		return;
	switch (metric->format) {
	case METRIC_NS:
		format_ns(number, cell->value, utf8);
		break;
	case METRIC_COUNT:
	case METRIC_RATIO:
		format_count(number, cell->value);
		break;
	case METRIC_PERCENT:
		format_percent(number, cell->value);
		break;
	case METRIC_BYTES:
		format_si(number, cell->value, "B");
		break;
	default:
		format_client(number, cell, metric->format == METRIC_RATE);
	}
	format_marked(out, number);
}

const char *format_total_side(const struct total_fact *total)
{
	return cell_of_user(&total->cell) ? ":u" : "";
}

void format_total(char out[FORMAT_SIZE], const struct total_fact *total, bool utf8)
{
	char number[FORMAT_SIZE];

	if (!format_state(out, &total->cell, utf8))
		return;
	format_unit(number, total->cell.value, total->unit ? total->unit : "count", utf8);
	format_marked(out, number);
}

void format_ratio(char out[FORMAT_SIZE], const struct report_ratio *ratio, bool utf8)
{
	char number[FORMAT_SIZE];

	out[0] = '\0';
	if (!ratio->unit || !cell_has_value(&ratio->cell) || !format_state(out, &ratio->cell, utf8))
		return;
	format_si(number, ratio->cell.value, ratio->unit);
	format_marked(out, number);
}

void format_share(char out[FORMAT_SIZE], const struct cell *cell, int digits, const char *sign, bool utf8)
{
	char number[FORMAT_SIZE];

	if (!format_state(out, cell, utf8))
		return;
	snprintf(number, sizeof(number), "%.*f%.8s", digits, cell->value < 1e12 ? cell->value : 1e12,
		 sign);
	format_point(number);
	format_marked(out, number);
}
