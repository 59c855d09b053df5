/* SPDX-License-Identifier: MIT */
/* Arithmetic with states; see cell.h. */
#include "cli/analyze/cell.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const char *cell_state_name(enum cell_state state)
{
	static const char *const names[] = {
		[CELL_COUNTED] = "counted",
		[CELL_SCALED] = "scaled",
		[CELL_ESTIMATE] = "estimate",
		[CELL_NOT_COUNTED] = "not_counted",
		[CELL_UNAVAILABLE] = "unavailable",
		[CELL_LOST] = "lost",
	};

	return names[state];
}

bool cell_of_user(const struct cell *cell)
{
	return cell->note && !strncmp(cell->note, CELL_NOTE_USER, sizeof(CELL_NOTE_USER) - 1);
}

struct cell cell_counted(double value)
{
	if (!isfinite(value))
		return cell_absent(CELL_UNAVAILABLE, "not a finite number");
	return (struct cell){ .value = value, .state = CELL_COUNTED };
}

struct cell cell_absent(enum cell_state state, const char *note)
{
	return (struct cell){ .state = state, .note = note };
}

/* A value with the worse of two states and the note that belongs to it. */
static struct cell cell_join(struct cell a, struct cell b, double value)
{
	struct cell worst = b.state > a.state ? b : a;

	worst.value = value;
	if (!worst.note && a.state == b.state)
		worst.note = b.note;
	if (cell_has_value(&worst) && !isfinite(value))
		return cell_absent(CELL_UNAVAILABLE, "not a finite number");
	return worst;
}

struct cell cell_add(struct cell a, struct cell b)
{
	return cell_join(a, b, a.value + b.value);
}

struct cell cell_subtract(struct cell a, struct cell b)
{
	return cell_join(a, b, a.value > b.value ? a.value - b.value : 0);
}

struct cell cell_divide(struct cell a, struct cell b, double scale)
{
	if (cell_has_value(&a) && cell_has_value(&b) && b.value == 0)
		return cell_absent(CELL_NOT_COUNTED, NULL);
	return cell_join(a, b, b.value != 0 ? a.value / b.value * scale : 0);
}
