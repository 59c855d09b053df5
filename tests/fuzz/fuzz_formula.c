/* SPDX-License-Identifier: MIT */
/*
 * Formulas that are nearly right: parsed and computed without a crash; a mistake lies in the text; a
 * value follows from the inputs alone, and what is not there has a reason.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/formula.h"
#include "tests/fuzz/fuzz.h"

#define ROOM 2048u

/* Any input: the choice depends on the bytes of its name, so that a saved input does the same again. */
static struct formula_input input_of(const char *name)
{
	static const double numbers[] = { 0, 1, -3, 1e308, 1e-308, 12345 };
	u32 hash = 5381;

	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	return (struct formula_input){
		.cell = { .value = numbers[hash % ARRAY_SIZE(numbers)],
			  .state = hash / 7 % 3 ? CELL_COUNTED : (enum cell_state)(hash / 21 % (CELL_LOST + 1)),
			  .note = hash / 130 % 2 ? "why" : NULL },
		.side = (enum formula_side)(hash / 260 % 3),
	};
}

static void check_value(const struct formula *formula)
{
	struct formula_input inputs[FORMULA_INPUTS_MAX];
	enum cell_state worst = CELL_COUNTED;
	char note[FORMULA_NOTE_MAX];
	struct cell cell;

	for (size_t i = 0; i < formula->ninputs; i++) {
		inputs[i] = input_of(formula->inputs[i]);
		worst = MAX(worst, inputs[i].cell.state);
	}
	cell = formula_value(formula, inputs, note);
	if (cell_has_value(&cell)) {
		fuzz_check(isfinite(cell.value), "a value is finite");
		fuzz_check(cell.state == worst, "a value has the worst state");
	} else {
		fuzz_check(cell.note || cell.state == CELL_NOT_COUNTED, "what is not there has a reason");
		fuzz_check(!cell.note || strlen(cell.note) < FORMULA_NOTE_MAX, "a reason ends");
	}
}

static void formula_run(const u8 *input, size_t size)
{
	char *text = malloc(size + 1);
	struct formula_error mistake;
	struct formula formula;

	if (!text)
		return;
	memcpy(text, input, size);
	text[size] = '\0';
	if (formula_parse(&formula, text, &mistake) == 0) {
		fuzz_check(formula.name[0] && strlen(formula.name) <= FORMULA_NAME_MAX, "a metric has a name");
		check_value(&formula);
	} else {
		fuzz_check(mistake.column >= 1 && mistake.column <= strlen(text) + 1, "a mistake lies in the text");
		fuzz_check(mistake.why[0], "a mistake has a reason");
	}
	formula_free(&formula);
	free(text);
}

static void formula_open(char **argv)
{
	(void)argv;
}

static const char *const pieces[] = {
	"cycles", "instructions", "L1-dcache-load-misses", "a", "b", "c", "wall.p99", "sched:sched_switch", "cycles:u",
	"`pmu/event=1/`", "`x", "1", "0", ".5", "1e3", "1e999", "100", "(", ")", "((", "))", "-", "--", "+", "*", "/",
	" - ", " / ", "-a", "a-", "[%]", "=", "\xc3\xa4", "2x",
};

/* Mostly operands and operators in turn. */
static size_t formula_make(u8 *input)
{
	size_t len = (size_t)sprintf((char *)input, "x%s = ", fuzz_once_in(8) ? " [1/s]" : "");

	for (u64 n = 1 + fuzz_below(fuzz_once_in(20) ? 200 : 12); n && len < ROOM - 64; n--) {
		const char *piece = fuzz_once_in(4) ? pieces[fuzz_below(ARRAY_SIZE(pieces))] : pieces[fuzz_below(17)];

		len += (size_t)sprintf((char *)input + len, "%s", piece);
		if (n > 1 && !fuzz_once_in(6))
			len += (size_t)sprintf((char *)input + len, " %c ", "+-*/"[fuzz_below(4)]);
	}
	return len;
}

static size_t formula_mutate(u8 *input, size_t size)
{
	return fuzz_once_in(2) ? size : fuzz_mutate_text(input, size, ROOM);
}

const struct fuzz fuzz_target = {
	.name = "formula",
	.room = ROOM,
	.rounds = 5000,
	.open = formula_open,
	.make = formula_make,
	.mutate = formula_mutate,
	.run = formula_run,
};
