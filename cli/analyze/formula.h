/* SPDX-License-Identifier: MIT */
/*
 * Formulas: "name = expression" or "name [unit] = expression", of numbers, names of metrics, + - * /,
 * unary minus and parentheses. A name has letters, digits and _ . : - and begins with a letter or _;
 * a hyphen belongs to it between two such characters. Any other name stands between backquotes.
 * Formulas come from strangers: text, depth and number of names are limited. No locale is used.
 */
#ifndef CLI_ANALYZE_FORMULA_H
#define CLI_ANALYZE_FORMULA_H

#include <stddef.h>

#include "cli/analyze/cell.h"

enum {
	FORMULA_TEXT_MAX = 1024,
	FORMULA_NAME_MAX = 64,       /* of the name that is defined */
	FORMULA_UNIT_MAX = 16,
	FORMULA_DEPTH_MAX = 64,      /* of parentheses and signs */
	FORMULA_INPUTS_MAX = 32,
	FORMULA_NOTE_MAX = 512,
};

struct formula_step;

struct formula {
	char *text;                  /* all of it, without blanks around */
	char *name;
	char *unit;                  /* "": none */
	char *inputs[FORMULA_INPUTS_MAX]; /* names, each once */
	size_t ninputs;
	struct formula_step *steps;  /* operands before their operators */
	size_t nsteps;
};

struct formula_error {
	size_t column;               /* of the mistake, from 1, in characters */
	char why[160];
};

/* 0, or -1 with the mistake; free it in any case. */
int formula_parse(struct formula *formula, const char *text, struct formula_error *error);
void formula_free(struct formula *formula);

/* What a count comprises; FORMULA_NO_SIDE: it is no count of what a program does, as time and work are none. */
enum formula_side { FORMULA_NO_SIDE, FORMULA_USER_SIDE, FORMULA_ALL_SIDES };

struct formula_input {
	struct cell cell;
	enum formula_side side;
};

/*
 * The value, in the worst of the inputs' states. There is none where an input has none, where counts
 * of user mode meet others, or where a divisor is 0: the reason is written to note.
 */
struct cell formula_value(const struct formula *formula, const struct formula_input *inputs,
			  char note[FORMULA_NOTE_MAX]);

#endif
