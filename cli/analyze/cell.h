/* SPDX-License-Identifier: MIT */
/* A value with its state: what everything that is reported consists of. */
#ifndef CLI_ANALYZE_CELL_H
#define CLI_ANALYZE_CELL_H

#include <stdbool.h>

/* From best to worst: a sum takes the worst state of its parts. */
enum cell_state {
	CELL_COUNTED,
	CELL_SCALED,                 /* multiplexed: value x enabled / running */
	CELL_ESTIMATE,               /* sampled, modelled or incomplete */
	CELL_NOT_COUNTED,            /* it never happened or never ran: there is no value */
	CELL_UNAVAILABLE,            /* cannot be had; note says why */
	CELL_LOST,                   /* was measured and could not be kept */
};

struct cell {
	double value;                /* only if cell_has_value() */
	enum cell_state state;
	const char *note;            /* NULL: none; lives as long as what it belongs to */
};

/* Of a count that leaves out what the kernel did for the program; tables write :u behind its name. */
#define CELL_NOTE_USER "user mode only"
#define CELL_NOTE_SHARED "the counter was shared: scaled by enabled / running"
#define CELL_NOTE_USER_SHARED CELL_NOTE_USER "; " CELL_NOTE_SHARED

/* "counted", "scaled", ...: as JSON has them. */
const char *cell_state_name(enum cell_state state);

static inline bool cell_has_value(const struct cell *cell)
{
	return cell->state <= CELL_ESTIMATE;
}

/* Its note begins with CELL_NOTE_USER. */
bool cell_of_user(const struct cell *cell);
struct cell cell_counted(double value);
struct cell cell_absent(enum cell_state state, const char *note);
/* Worst state wins, with its note. */
struct cell cell_add(struct cell a, struct cell b);
/* a - b, clamped at 0. */
struct cell cell_subtract(struct cell a, struct cell b);
/* a / b x scale; not counted where b is 0. */
struct cell cell_divide(struct cell a, struct cell b, double scale);

#endif
