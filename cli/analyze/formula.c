/* SPDX-License-Identifier: MIT */
/* See formula.h. A formula is parsed once by recursive descent, and computed on a stack for each row. */
#define _GNU_SOURCE
#include "cli/analyze/formula.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base.h"

enum formula_operation { FORMULA_NUMBER, FORMULA_INPUT, FORMULA_NEGATE, FORMULA_ADD, FORMULA_SUBTRACT, FORMULA_MULTIPLY,
			 FORMULA_DIVIDE };

struct formula_step {
	enum formula_operation operation;
	double number;
	size_t input;
};

struct formula_parser {
	struct formula *formula;
	struct formula_error *error;
	const char *at;
	size_t depth;
};

/* ---- characters ------------------------------------------------------------------------------------ */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word(char c)
{
	return is_letter(c) || is_digit(c) || c == '.' || c == ':';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The length of the name at s; 0: none begins there. */
static size_t name_length(const char *s)
{
	size_t n = 0;

	if (!is_letter(*s))
		return 0;
	while (is_word(s[n]) || (s[n] == '-' && is_word(s[n - 1]) && is_word(s[n + 1])))
		n++;
	return n;
}

static void skip_blanks(struct formula_parser *p)
{
	while (is_blank(*p->at))
		p->at++;
}

__attribute__((format(printf, 3, 4)))
static int mistake(struct formula_parser *p, const char *at, const char *why, ...)
{
	va_list args;

	p->error->column = 1;
	for (const char *s = p->formula->text; s < at; s++)
		p->error->column += ((unsigned char)*s & 0xc0) != 0x80;
	va_start(args, why);
	vsnprintf(p->error->why, sizeof(p->error->why), why, args);
	va_end(args);
	return -1;
}

/* "'x' is not ...", or that the text has ended. */
static int unexpected(struct formula_parser *p, const char *wanted)
{
	if (!*p->at)
		return mistake(p, p->at, "it ends where %s is expected", wanted);
	if ((unsigned char)*p->at >= 0x80)
		return mistake(p, p->at, "%s is expected; other characters belong between backquotes", wanted);
	return mistake(p, p->at, "%s is expected, not '%c'", wanted, *p->at);
}

/* ---- the parser ------------------------------------------------------------------------------------ */

/* There is room: each step has a character of its own. */
static void add_step(struct formula_parser *p, struct formula_step step)
{
	p->formula->steps[p->formula->nsteps++] = step;
}

static int add_input(struct formula_parser *p, const char *name, size_t len)
{
	struct formula *f = p->formula;
	size_t i = 0;

	while (i < f->ninputs && (strlen(f->inputs[i]) != len || memcmp(f->inputs[i], name, len) != 0))
		i++;
	if (i == FORMULA_INPUTS_MAX)
		return mistake(p, name, "it has more than %d names", FORMULA_INPUTS_MAX);
	if (i == f->ninputs) {
		f->inputs[i] = strndup(name, len);
		if (!f->inputs[i])
			return mistake(p, name, "out of memory");
		f->ninputs++;
	}
	add_step(p, (struct formula_step){ .operation = FORMULA_INPUT, .input = i });
	return 0;
}

static int parse_number(struct formula_parser *p)
{
	const char *begin = p->at, *s = begin;
	double number;
	locale_t c;

	while (is_digit(*s))
		s++;
	s += *s == '.';
	while (is_digit(*s))
		s++;
	if (*s == 'e' || *s == 'E') {
		const char *exponent = s + 1 + (s[1] == '-' || s[1] == '+');

		for (s = is_digit(*exponent) ? exponent : s; is_digit(*s);)
			s++;
	}
	if (is_word(*s))
		return mistake(p, s, "an operator is expected behind the number, not '%c'", *s);
	/* Whatever the locale is: the point is a point. Hexadecimal and words have been kept out. */
	c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c)
		return mistake(p, begin, "out of memory");
	number = strtod_l(begin, NULL, c);
	freelocale(c);
	p->at = s;
	if (!isfinite(number))
		return mistake(p, begin, "the number is too large");
	add_step(p, (struct formula_step){ .operation = FORMULA_NUMBER, .number = number });
	return 0;
}

static int parse_quoted(struct formula_parser *p)
{
	const char *begin = p->at + 1, *end = strchr(begin, '`');

	if (!end)
		return mistake(p, p->at, "the backquote has no second one");
	if (end == begin)
		return mistake(p, p->at, "there is no name between the backquotes");
	p->at = end + 1;
	return add_input(p, begin, (size_t)(end - begin));
}

static int parse_sum(struct formula_parser *p);

static int parse_parentheses(struct formula_parser *p)
{
	const char *open = p->at++;

	if (parse_sum(p))
		return -1;
	if (!*p->at)
		return mistake(p, open, "the parenthesis is not closed");
	if (*p->at != ')')
		return unexpected(p, "an operator or )");
	p->at++;
	return 0;
}

static int parse_operand(struct formula_parser *p)
{
	size_t len;

	skip_blanks(p);
	len = name_length(p->at);
	if (len) {
		p->at += len;
		return add_input(p, p->at - len, len);
	}
	if (is_digit(*p->at) || (*p->at == '.' && is_digit(p->at[1])))
		return parse_number(p);
	if (*p->at == '`')
		return parse_quoted(p);
	if (*p->at == '(')
		return parse_parentheses(p);
	return unexpected(p, "a number, a name or (");
}

static int parse_signed(struct formula_parser *p)
{
	bool minus;
	int err;

	skip_blanks(p);
	minus = *p->at == '-';
	if (p->depth == FORMULA_DEPTH_MAX)
		return mistake(p, p->at, "it is nested deeper than %d", FORMULA_DEPTH_MAX);
	p->depth++;
	p->at += minus;
	err = minus ? parse_signed(p) : parse_operand(p);
	p->depth--;
	if (!err && minus)
		add_step(p, (struct formula_step){ .operation = FORMULA_NEGATE });
	return err;
}

static int parse_product(struct formula_parser *p)
{
	int err = parse_signed(p);

	for (skip_blanks(p); !err && (*p->at == '*' || *p->at == '/'); skip_blanks(p)) {
		enum formula_operation operation = *p->at++ == '*' ? FORMULA_MULTIPLY : FORMULA_DIVIDE;

		err = parse_signed(p);
		if (!err)
			add_step(p, (struct formula_step){ .operation = operation });
	}
	return err;
}

static int parse_sum(struct formula_parser *p)
{
	int err = parse_product(p);

	for (skip_blanks(p); !err && (*p->at == '+' || *p->at == '-'); skip_blanks(p)) {
		enum formula_operation operation = *p->at++ == '+' ? FORMULA_ADD : FORMULA_SUBTRACT;

		err = parse_product(p);
		if (!err)
			add_step(p, (struct formula_step){ .operation = operation });
	}
	return err;
}

static int parse_unit(struct formula_parser *p)
{
	const char *begin = p->at + 1;
	size_t len = strcspn(begin, "[]");

	if (begin[len] != ']')
		return mistake(p, p->at, "the bracket of the unit is not closed");
	if (!len || len > FORMULA_UNIT_MAX)
		return mistake(p, begin, "a unit has 1 to %d bytes", FORMULA_UNIT_MAX);
	p->formula->unit = strndup(begin, len);
	p->at = begin + len + 1;
	skip_blanks(p);
	return 0;
}

/* "name =" or "name [unit] =". */
static int parse_head(struct formula_parser *p)
{
	size_t len = name_length(p->at);

	if (!len)
		return unexpected(p, "the name of the new metric");
	if (len > FORMULA_NAME_MAX)
		return mistake(p, p->at, "the name is longer than %d characters", FORMULA_NAME_MAX);
	p->formula->name = strndup(p->at, len);
	p->at += len;
	skip_blanks(p);
	if (*p->at == '[' && parse_unit(p))
		return -1;
	if (*p->at != '=')
		return unexpected(p, "= behind the name");
	p->at++;
	if (!p->formula->unit)
		p->formula->unit = strdup("");
	return p->formula->name && p->formula->unit ? 0 : mistake(p, p->at, "out of memory");
}

int formula_parse(struct formula *formula, const char *text, struct formula_error *error)
{
	struct formula_parser p = { .formula = formula, .error = error };
	size_t len;

	*formula = (struct formula){ .name = NULL };
	while (is_blank(*text))
		text++;
	for (len = strlen(text); len && is_blank(text[len - 1]);)
		len--;
	if (len > FORMULA_TEXT_MAX) {
		*error = (struct formula_error){ .column = FORMULA_TEXT_MAX + 1 };
		snprintf(error->why, sizeof(error->why), "it is longer than %d bytes", FORMULA_TEXT_MAX);
		return -1;
	}
	formula->text = strndup(text, len);
	formula->steps = calloc(len + 1, sizeof(*formula->steps));
	if (!formula->text || !formula->steps) {
		*error = (struct formula_error){ .column = 1, .why = "out of memory" };
		return -1;
	}
	p.at = formula->text;
	if (parse_head(&p) || parse_sum(&p))
		return -1;
	return *p.at ? unexpected(&p, "an operator") : 0;
}

void formula_free(struct formula *formula)
{
	for (size_t i = 0; i < formula->ninputs; i++)
		free(formula->inputs[i]);
	free(formula->name);
	free(formula->unit);
	free(formula->text);
	free(formula->steps);
	*formula = (struct formula){ .name = NULL };
}

/* ---- the value ------------------------------------------------------------------------------------- */

/* Names the inputs that are missing for the reason of the first one; *absent is what to show then. */
static bool lacks_input(const struct formula *f, const struct formula_input *inputs, char note[FORMULA_NOTE_MAX],
			struct cell *absent)
{
	const struct cell *first = NULL;
	const char *because = NULL;
	size_t len = 0;

	for (size_t i = 0; i < f->ninputs; i++) {
		const struct cell *cell = &inputs[i].cell;
		const char *own = cell->note ? cell->note : cell_state_name(cell->state);

		if (cell_has_value(cell) || (first && strcmp(own, because) != 0))
			continue;
		len += (size_t)snprintf(note + len, FORMULA_NOTE_MAX - len, "%s%s", first ? ", " : "needs ", f->inputs[i]);
		len = MIN(len, FORMULA_NOTE_MAX - 1);
		if (!first) {
			first = cell;
			because = own;
		}
	}
	if (!first)
		return false;
	snprintf(note + len, FORMULA_NOTE_MAX - len, ": %s", because);
	/* What makes no sense for a row stays so. */
	*absent = cell_absent(first->state, first->state == CELL_NOT_COUNTED && !first->note ? NULL : note);
	return true;
}

static bool mixes_sides(const struct formula *f, const struct formula_input *inputs, char note[FORMULA_NOTE_MAX])
{
	const char *user = NULL, *all = NULL;

	for (size_t i = 0; i < f->ninputs; i++) {
		if (inputs[i].side == FORMULA_USER_SIDE)
			user = f->inputs[i];
		else if (inputs[i].side == FORMULA_ALL_SIDES)
			all = f->inputs[i];
	}
	if (!user || !all)
		return false;
	snprintf(note, FORMULA_NOTE_MAX, "%s is of user mode only and %s is not: they cannot be put together", user, all);
	return true;
}

/* The worst state of the inputs with its note. */
static struct cell worst_input(const struct formula *f, const struct formula_input *inputs)
{
	struct cell worst = cell_counted(0);

	for (size_t i = 0; i < f->ninputs; i++) {
		const char *note = inputs[i].cell.note;

		/* An event that was asked for as cycles:u has no note of its own. */
		if (!note && inputs[i].side == FORMULA_USER_SIDE)
			note = CELL_NOTE_USER;
		worst = cell_add(worst, (struct cell){ 0, inputs[i].cell.state, note });
	}
	return worst;
}

static double apply(enum formula_operation operation, double a, double b)
{
	switch (operation) {
	case FORMULA_ADD:
		return a + b;
	case FORMULA_SUBTRACT:
		return a - b;
	case FORMULA_MULTIPLY:
		return a * b;
	default:
		return a / b;
	}
}

/* False where a divisor is 0. There are never more values at a time than steps, nor more steps than characters. */
static bool compute(const struct formula *f, const struct formula_input *inputs, double *result,
		    char note[FORMULA_NOTE_MAX])
{
	double stack[FORMULA_TEXT_MAX + 1];
	size_t n = 0;

	for (size_t i = 0; i < f->nsteps; i++) {
		const struct formula_step *step = &f->steps[i];

		if (step->operation == FORMULA_NUMBER) {
			stack[n++] = step->number;
		} else if (step->operation == FORMULA_INPUT) {
			stack[n++] = inputs[step->input].cell.value;
		} else if (step->operation == FORMULA_NEGATE) {
			stack[n - 1] = -stack[n - 1];
		} else {
			n--;
			if (step->operation == FORMULA_DIVIDE && stack[n] == 0) {
				snprintf(note, FORMULA_NOTE_MAX, "division by zero: %s is 0", step[-1].operation == FORMULA_INPUT
					 ? f->inputs[step[-1].input] : "the divisor");
				return false;
			}
			stack[n - 1] = apply(step->operation, stack[n - 1], stack[n]);
		}
	}
	*result = stack[0];
	return true;
}

struct cell formula_value(const struct formula *formula, const struct formula_input *inputs,
			  char note[FORMULA_NOTE_MAX])
{
	struct cell cell;

	if (lacks_input(formula, inputs, note, &cell))
		return cell;
	if (mixes_sides(formula, inputs, note))
		return cell_absent(CELL_UNAVAILABLE, note);
	cell = worst_input(formula, inputs);
	if (!compute(formula, inputs, &cell.value, note))
		return cell_absent(CELL_NOT_COUNTED, note);
	return isfinite(cell.value) ? cell : cell_absent(CELL_UNAVAILABLE, "not a finite number");
}
