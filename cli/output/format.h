/* SPDX-License-Identifier: MIT */
/* Numbers for people: scaled to three significant digits, with their unit, in no locale. */
#ifndef CLI_OUTPUT_FORMAT_H
#define CLI_OUTPUT_FORMAT_H

#include "cli/analyze/report.h"

#define FORMAT_SIZE 64

/* "2.43 s", "911 ms", "8.71 µs" ("us" without utf8). */
void format_ns(char out[FORMAT_SIZE], double ns, bool utf8);
/* "204 006"; from ten digits on scaled: "12.3 G". */
void format_count(char out[FORMAT_SIZE], double value);
/* "12.3 MB", "1.20 k rows": decimal prefixes; unit may be NULL. */
void format_si(char out[FORMAT_SIZE], double value, const char *unit);
/* "86 %", "0.17 %". */
void format_percent(char out[FORMAT_SIZE], double value);

/* By unit and state: with a mark where it is not exact, "-", "n/a" or "lost" where there is no value. */
void format_cell(char out[FORMAT_SIZE], const struct cell *cell, const struct metric *metric, bool utf8);
/* The same for a value that is no metric's: unit is "ns", "count", "B", ... */
/* What a table writes behind the name of a total: ":u" where only user mode was counted. */
const char *format_total_side(const struct total_fact *total);
void format_total(char out[FORMAT_SIZE], const struct total_fact *total, bool utf8);
/* With its unit; "" where there is none. */
void format_ratio(char out[FORMAT_SIZE], const struct report_ratio *ratio, bool utf8);
/* A share in a column of its own: digits decimals, no sign. */
void format_share(char out[FORMAT_SIZE], const struct cell *cell, int digits, const char *sign, bool utf8);

#endif
