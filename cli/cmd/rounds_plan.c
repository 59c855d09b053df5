/* SPDX-License-Identifier: MIT */
/* The commands that stat repeats: of its operands, --vs, the parameters and the shell; see rounds.h. */
#define _GNU_SOURCE
#include "cli/cmd/rounds.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cmd/words.h"
#include "cli/log.h"

#define TARGET_USUAL 0.01
#define MOST_NS_USUAL (10 * NSEC_PER_SEC) /* for each command */
#define ROUNDS_MOST 1000000ul

/* What the parameters are in one combination. */
struct combination {
	const struct matrix *matrix;
	size_t number;
};

static int replace_all(char **text, const struct combination *c)
{
	for (size_t k = 0; k < c->matrix->nparameters && *text; k++) {
		char *next = words_replace(*text, c->matrix->parameter[k].name, matrix_value(c->matrix, c->number, k));

		free(*text);
		*text = next;
	}
	return *text ? 0 : error("out of memory");
}

/* SHELL -c TEXT */
static char **shell_words(const char *shell, const char *text)
{
	char **words = words_split("--shell", shell), **grown;
	size_t n = 0;

	while (words && words[n])
		n++;
	grown = words ? realloc(words, (n + 3) * sizeof(*words)) : NULL;
	if (!grown) {
		words_free(words);
		return NULL;
	}
	grown[n] = strdup("-c");
	grown[n + 1] = grown[n] ? strdup(text) : NULL;
	grown[n + 2] = NULL;
	if (grown[n + 1])
		return grown;
	words_free(grown);
	return NULL;
}

/* The text is replaced before it is taken apart by a shell, its words after that: values stay one word each. */
static char **command_words(const char *who, const char *text, const char *shell, const struct combination *c)
{
	char *copy, **words = NULL;

	if (shell) {
		copy = strdup(text);
		if (!copy || replace_all(&copy, c) == 0)
			words = copy ? shell_words(shell, copy) : NULL;
		free(copy);
		return words;
	}
	words = words_split(who, text);
	for (size_t i = 0; words && words[i]; i++)
		if (replace_all(&words[i], c)) {
			/* What follows the one that is missing belongs to nobody else. */
			for (i++; words[i]; i++)
				free(words[i]);
			words_free(words);
			return NULL;
		}
	return words;
}

/* Of a shell's command its text is enough. */
static char *command_text(char **argv, const char *shell)
{
	size_t last = 0;

	if (!shell)
		return words_join(argv, true);
	while (argv[last + 1])
		last++;
	return strdup(argv[last]);
}

/* The item of an option that is given once for all commands, or once for each. */
static const char *hook_text(const struct opt_list *list, size_t command)
{
	return list->n ? list->item[list->n == 1 ? 0 : command] : NULL;
}

static int hook_make(struct round_hook *hook, const char *who, const char *text, const char *shell,
		     const struct combination *c)
{
	if (!text)
		return 0;
	hook->argv = command_words(who, text, shell, c);
	return hook->argv ? repeat_look(&hook->program, hook->argv) : -1;
}

static int parameters_tell(struct runs_command *run, const struct combination *c)
{
	run->parameters = calloc(c->matrix->nparameters + 1, sizeof(*run->parameters));
	for (size_t k = 0; run->parameters && k < c->matrix->nparameters; k++) {
		struct runs_parameter *p = &run->parameters[run->nparameters++];

		p->name = strdup(c->matrix->parameter[k].name);
		p->value = strdup(matrix_value(c->matrix, c->number, k));
		if (!p->name || !p->value)
			return error("out of memory");
	}
	return run->parameters ? 0 : error("out of memory");
}

/* Command i of the plan: the texts in turn, each in all combinations. */
static int command_make(struct rounds_plan *plan, struct runs *runs, const struct rounds_asked *asked,
			const char *shell, const struct matrix *matrix, char *const *texts, size_t i)
{
	const struct combination c = { matrix, i % matrix->combinations };
	struct round_command *command = &plan->command[i];
	size_t text = i / matrix->combinations;

	command->argv = command_words(text ? "--vs" : "the command", texts[text], shell, &c);
	if (!command->argv || repeat_look(&command->program, command->argv))
		return -1;
	runs->command[i].text = command_text(command->argv, shell);
	if (!runs->command[i].text)
		return error("out of memory");
	return parameters_tell(&runs->command[i], &c) ||
	       hook_make(&command->setup, "--setup", hook_text(&asked->setup, text), shell, &c) ||
	       hook_make(&command->prepare, "--prepare", hook_text(&asked->prepare, text), shell, &c) ||
	       hook_make(&command->cleanup, "--cleanup", hook_text(&asked->cleanup, text), shell, &c) ? -1 : 0;
}

static int hooks_check(const struct rounds_asked *asked)
{
	const struct { const char *name; size_t n; } lists[] = {
		{ "setup", asked->setup.n }, { "prepare", asked->prepare.n }, { "cleanup", asked->cleanup.n },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (lists[i].n > 1 && lists[i].n != asked->vs.n + 1)
			return error("option --%s is given %zu times: once for all, or once for each of %zu commands", lists[i].name,
				     lists[i].n, asked->vs.n + 1);
	return 0;
}

/* "1%", "0.5" */
static int target_parse(const char *text, double *target)
{
	char *end;

	*target = strtod(text, &end) / 100;
	if (*end == '%')
		end++;
	if (opt_is_number(text) || (*text && text[strlen(text) - 1] == '%'))
		if (!*end && *target > 0 && *target < 1)
			return 0;
	return error("option --target takes a part of 100 such as 1%%, not '%s'", text);
}

static int limits_make(struct rounds_plan *plan, const struct rounds_asked *asked)
{
	bool automatic = !asked->runs || asked->target;

	plan->most = asked->runs ? asked->runs : ROUNDS_MOST;
	plan->most_ns = asked->most_ns;
	if (automatic && !plan->most_ns)
		plan->most_ns = MOST_NS_USUAL * plan->n;
	plan->target = automatic ? TARGET_USUAL : 0;
	if (asked->runs > ROUNDS_MOST)
		return error("option --runs: '%lu' is too large", asked->runs);
	return asked->target ? target_parse(asked->target, &plan->target) : 0;
}

static int reference_find(struct runs *runs, const char *label)
{
	for (size_t i = 0; label && i < runs->n; i++)
		if (!strcmp(runs->command[i].label, label)) {
			runs->reference = i;
			return 0;
		}
	return label ? error("there is no command %s to compare with: the last one is %s", label,
			     runs->command[runs->n - 1].label) : 0;
}

static int plan_make(struct rounds_plan *plan, struct runs *runs, const struct rounds_asked *asked,
		     const struct matrix *matrix, char *const *texts)
{
	const char *shell = asked->shell && strcmp(asked->shell, "none") ? asked->shell : NULL;
	const struct combination none = { &(const struct matrix){ .combinations = 1 }, 0 };

	plan->n = (asked->vs.n + 1) * matrix->combinations;
	plan->command = calloc(plan->n, sizeof(*plan->command));
	if (runs_init(runs, plan->n) || !plan->command)
		return error("out of memory");
	if (limits_make(plan, asked) || reference_find(runs, asked->reference) || hooks_check(asked))
		return -1;
	for (size_t i = 0; i < plan->n; i++)
		if (command_make(plan, runs, asked, shell, matrix, texts, i))
			return -1;
	plan->idle.argv = command_words("idle", shell ? ":" : "true", shell, &none);
	if (!plan->idle.argv || repeat_look(&plan->idle.program, plan->idle.argv))
		return -1;
	plan->idle.program.as_found = true;
	return 0;
}

int rounds_plan(struct rounds_plan *plan, struct runs *runs, const struct rounds_asked *asked, char **argv)
{
	char **texts = calloc(asked->vs.n + 2, sizeof(*texts));
	struct matrix matrix = { .parameter = NULL };
	int err;

	*plan = (struct rounds_plan){ .command = NULL };
	*runs = (struct runs){ .command = NULL };
	/* To be taken apart again, or by a shell as its own users have it: sh -c "$*". */
	if (texts)
		texts[0] = words_join(argv, !asked->shell || !strcmp(asked->shell, "none"));
	for (size_t i = 0; texts && i < asked->vs.n; i++)
		texts[1 + i] = asked->vs.item[i];
	err = texts && texts[0] ? matrix_make(&matrix, &asked->lists, &asked->scans) : error("out of memory");
	err = err ? err : plan_make(plan, runs, asked, &matrix, texts);
	matrix_free(&matrix);
	free(texts ? texts[0] : NULL);
	free(texts);
	return err ? STATUS_USAGE : STATUS_OK;
}

static void hook_free(struct round_hook *hook)
{
	words_free(hook->argv);
	repeat_forget(&hook->program);
}

static void command_free(struct round_command *c)
{
	words_free(c->argv);
	repeat_forget(&c->program);
	hook_free(&c->setup);
	hook_free(&c->prepare);
	hook_free(&c->cleanup);
}

void rounds_plan_free(struct rounds_plan *plan)
{
	for (size_t i = 0; plan->command && i < plan->n; i++)
		command_free(&plan->command[i]);
	command_free(&plan->idle);
	free(plan->command);
	*plan = (struct rounds_plan){ .command = NULL };
}
