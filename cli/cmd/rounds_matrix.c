/* SPDX-License-Identifier: MIT */
/* Matrices of parameters, -L and -P of stat; see rounds.h. */
#define _GNU_SOURCE
#include "cli/cmd/rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"

#define VALUES_MOST 1000u
#define FRACTION_MOST 9u

static int parameter_add(struct matrix_parameter *p, char *value)
{
	char **grown = realloc(p->values, (p->n + 2) * sizeof(*grown));

	if (grown)
		p->values = grown;
	if (!grown || !value) {
		free(value);
		return error("out of memory");
	}
	p->values[p->n++] = value;
	p->values[p->n] = NULL;
	return 0;
}

/* "a,b,c"; a value may be empty, and "\," is a comma. */
static int list_make(struct matrix_parameter *p, const char *text)
{
	for (;;) {
		char *value = malloc(strlen(text) + 1), *to = value;

		while (value && *text && *text != ',') {
			if (*text == '\\' && text[1] == ',')
				text++;
			*to++ = *text++;
		}
		if (value)
			*to = 0;
		if (parameter_add(p, value))
			return -1;
		if (!*text++)
			return 0;
	}
}

/* A number in units of its last digit; digits: how many stand behind the point. */
static bool scan_number(const char *text, double *value, size_t *digits)
{
	const char *point = strchr(text, '.');
	char *end;

	if (!opt_is_number(text) || text[strspn(text, "+-0123456789.")])
		return false;
	*value = strtod(text, &end);
	*digits = MAX(*digits, point ? strlen(point + 1) : 0);
	return !*end && isfinite(*value) && *digits <= FRACTION_MOST;
}

/* Counted in whole steps, so that no rounding adds up. */
static int scan_make(struct matrix_parameter *p, char *const *words)
{
	size_t digits = 0;
	double least, most, step = 1;
	char *text;

	if (!scan_number(words[1], &least, &digits) || !scan_number(words[2], &most, &digits) ||
	    (*words[3] && !scan_number(words[3], &step, &digits)))
		return error("option --parameter-scan takes a name, two numbers and a step, not '%s %s %s %s'", words[0],
			     words[1], words[2], words[3]);
	if (least > most || step <= 0)
		return error("option --parameter-scan: from %s to %s there is no way by a step of %s", words[1], words[2],
			     *words[3] ? words[3] : "1");
	if ((most - least) / step >= VALUES_MOST)
		return error("option --parameter-scan: more than %u values", VALUES_MOST);
	for (size_t i = 0; least + (double)i * step <= most + step * 1e-9; i++)
		if (parameter_add(p, asprintf(&text, "%.*f", (int)digits, least + (double)i * step) < 0 ? NULL : text))
			return -1;
	return 0;
}

static int name_check(const struct matrix *m, const char *name)
{
	if (!*name)
		return error("a parameter needs a name");
	for (size_t i = 0; i < m->nparameters; i++)
		if (!strcmp(m->parameter[i].name, name))
			return error("the parameter %s is given twice", name);
	return 0;
}

int matrix_make(struct matrix *m, const struct opt_list *lists, const struct opt_list *scans)
{
	*m = (struct matrix){ .parameter = calloc(lists->n / 2 + scans->n / 4 + 1, sizeof(*m->parameter)),
			      .combinations = 1 };
	if (!m->parameter)
		return error("out of memory");
	for (size_t i = 0; i < lists->n + scans->n;) {
		bool list = i < lists->n;
		char **words = list ? lists->item + i : scans->item + (i - lists->n);
		struct matrix_parameter *p = &m->parameter[m->nparameters];

		if (name_check(m, words[0]))
			return -1;
		m->nparameters++;
		p->name = words[0];
		if (list ? list_make(p, words[1]) : scan_make(p, words))
			return -1;
		if (m->combinations * p->n > VALUES_MOST)
			return error("more than %u combinations of parameters", VALUES_MOST);
		m->combinations *= p->n;
		i += list ? 2 : 4;
	}
	return 0;
}

const char *matrix_value(const struct matrix *m, size_t combination, size_t parameter)
{
	for (size_t k = m->nparameters; --k > parameter;)
		combination /= m->parameter[k].n;
	return m->parameter[parameter].values[combination % m->parameter[parameter].n];
}

void matrix_free(struct matrix *m)
{
	for (size_t i = 0; i < m->nparameters; i++) {
		for (size_t k = 0; k < m->parameter[i].n; k++)
			free(m->parameter[i].values[k]);
		free(m->parameter[i].values);
	}
	free(m->parameter);
	*m = (struct matrix){ .parameter = NULL };
}
