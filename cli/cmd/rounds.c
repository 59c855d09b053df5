/* SPDX-License-Identifier: MIT */
/*
 * Repeating commands by turns, A B, B A, A B, ..., so that what slowly changes in a machine is in all of
 * them alike; see rounds.h.
 */
#define _GNU_SOURCE
#include "cli/cmd/rounds.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/cmd/live.h"
#include "cli/log.h"
#include "cli/output/format.h"
#include "cli/session/machine.h"
#include "cli/text.h"

#define ROUNDS_LEAST 10ul            /* that are made without a number being given, if there is time */
#define LOOK_PART 10                 /* the precision is looked at when there are so much more rounds */
#define IDLE_RUNS 5
#define IDLE_NS (50 * NSEC_PER_MSEC) /* a command that takes longer is not short */
#define LIVE_NS (100 * NSEC_PER_MSEC)

struct rounds {
	const struct rounds_asked *asked;
	const struct rounds_way *way;
	struct rounds_plan plan;
	struct runs runs;
	struct repeat *repeat;
	struct rounds_files files;
	struct live live;
	struct machine_look machine; /* before the first round */
	u64 start_ns, drawn_ns;
	size_t done;                 /* rounds */
	size_t look;                 /* at the precision, after so many */
	int status;                  /* of the first failure */
	bool stop;
};

bool rounds_wanted(const struct rounds_asked *a)
{
	return a->runs || a->warmups || a->target || a->most_ns || a->vs.n || a->setup.n || a->prepare.n || a->cleanup.n ||
	       a->lists.n || a->scans.n || a->reference || a->shell || a->ignore_failure || a->show_output || a->json ||
	       a->csv || a->markdown;
}

void rounds_asked_free(struct rounds_asked *a)
{
	opt_list_free(&a->vs);
	opt_list_free(&a->setup);
	opt_list_free(&a->prepare);
	opt_list_free(&a->cleanup);
	opt_list_free(&a->lists);
	opt_list_free(&a->scans);
}

/* The first to be said is what the command ends with. */
static void rounds_stop(struct rounds *r, int status)
{
	r->stop = r->runs.stopped = true;
	if (!r->status)
		r->status = status;
}

/* The exit status for the way a run ended; negative: a signal. */
static int run_status(const struct repeat_run *run)
{
	switch (run->end) {
	case SESSION_NOT_FOUND:
		return STATUS_NOT_FOUND;
	case SESSION_NOT_EXECUTABLE:
		return STATUS_NOT_EXECUTABLE;
	case SESSION_TIMEOUT:
		return STATUS_TIMEOUT;
	case SESSION_ENDED:
		return WIFSIGNALED(run->status) ? -WTERMSIG(run->status) : WEXITSTATUS(run->status);
	default:
		return STATUS_FAILURE;
	}
}

static const char *status_say(int status, char text[32])
{
	if (status < 0)
		snprintf(text, 32, "was killed by signal %d", -status);
	else if (status == STATUS_TIMEOUT)
		snprintf(text, 32, "took too long");
	else
		snprintf(text, 32, "ended with status %d", status);
	return text;
}

/* Whether somebody wants an end: what runs just then is no measurement any more. */
static bool rounds_interrupted(struct rounds *r)
{
	int by = repeat_interrupted(r->repeat);

	if (by)
		rounds_stop(r, -by);
	return by != 0;
}

static void hook_run(struct rounds *r, const struct round_hook *hook, const char *option, size_t command)
{
	struct repeat_run run;
	char text[32];
	int status;

	if (!hook->argv)
		return;
	repeat_between(r->repeat, &hook->program, &run);
	status = run_status(&run);
	if (rounds_interrupted(r) || !status)
		return;
	live_close(&r->live);
	if (run.end == SESSION_ENDED || run.end == SESSION_TIMEOUT)
		error("the command of --%s for %s %s", option, r->runs.command[command].label, status_say(status, text));
	rounds_stop(r, STATUS_FAILURE);
}

/* As far as the rounds so far tell, and at most what is left of the time; 0: nobody knows. */
static u64 time_left(const struct rounds *r, u64 passed)
{
	u64 left = 0, bound = r->plan.most_ns - MIN(passed, r->plan.most_ns);

	if (r->asked->runs && r->done)
		left = passed / r->done * (r->plan.most - MIN(r->done, r->plan.most));
	return r->plan.most_ns && (!left || bound < left) ? bound : left;
}

/* "run 12 of 30  1.20 s, 800 ms left  A ./app" */
static void progress(struct rounds *r, size_t command, bool counted)
{
	u64 now = repeat_now(), passed = now - r->start_ns, left = time_left(r, passed);
	const struct runs_command *c = &r->runs.command[command];
	char line[512], text[256], fitted[512], number[64] = "warm-up", time[FORMAT_SIZE], rest[FORMAT_SIZE + 16] = "";
	size_t width;

	if (!r->live.on || now - r->drawn_ns < LIVE_NS)
		return;
	r->drawn_ns = now;
	width = live_width(&r->live);
	if (!width)
		return;
	if (counted)
		snprintf(number, sizeof(number), r->asked->runs ? "run %zu of %lu" : "run %zu", r->done + 1, r->asked->runs);
	if (counted && left) {
		format_ns(time, (double)left, false);
		snprintf(rest, sizeof(rest), ", %s left", time);
	}
	format_ns(time, (double)passed, false);
	text_escape(text, sizeof(text), c->text, strlen(c->text));
	snprintf(line, sizeof(line), "%s  %s%s  %s %s", number, time, rest, c->label, text);
	text_fit(fitted, sizeof(fitted), line, width - 1);
	live_draw(&r->live, fitted);
}

/* Whether the run failed and all is to end with it. */
static bool run_failed(struct rounds *r, size_t command, const struct repeat_run *run)
{
	int status = run_status(run);
	bool ran = run->end == SESSION_ENDED || run->end == SESSION_TIMEOUT;
	char text[32];

	if (!status || (ran && r->asked->ignore_failure))
		return false;
	live_close(&r->live);
	if (ran)
		error("run %zu of %s %s: there are no more runs without --ignore-failure", r->runs.command[command].n + 1,
		      r->runs.command[command].label, status_say(status, text));
	rounds_stop(r, status);
	return true;
}

/* Keeps what was measured, with the metrics made of it where some are to be expected. 0, or -1 after a message. */
static int run_keep(struct rounds *r, struct runs_command *c, const struct repeat_run *run)
{
	const struct session_facts facts = { .totals = run->totals, .ntotals = run->ntotals };
	const struct definitions *definitions = &r->way->print->definitions;
	/* As if it had not been so polite to end by itself. */
	int status = run->end == SESSION_TIMEOUT && !run->status ? SIGTERM : run->status;
	struct report *report;
	int err;

	if (!definitions->n && !r->way->events->n)
		return runs_add(c, run->totals, run->ntotals, status) ? error("out of memory") : 0;
	report = report_totals(&facts, definitions);
	if (!report)
		return -1;
	err = runs_add(c, report->totals, r->way->print->metrics ? report->ntotals : report->nshown, status);
	report_free(report);
	return err ? error("out of memory") : 0;
}

static void run_one(struct rounds *r, size_t command, bool counted)
{
	struct repeat_run run;

	progress(r, command, counted);
	hook_run(r, &r->plan.command[command].prepare, "prepare", command);
	if (r->stop)
		return;
	repeat_run(r->repeat, &r->plan.command[command].program, &run);
	if (rounds_interrupted(r) || run_failed(r, command, &run) || !counted)
		return;
	if (run_keep(r, &r->runs.command[command], &run))
		rounds_stop(r, STATUS_FAILURE);
	else if (run.cache && runs_add_cache(&r->runs.command[command], run.cache))
		rounds_stop(r, error("out of memory") ? STATUS_FAILURE : 0);
}

/* Each command once, every other time in the opposite order. */
static void round_run(struct rounds *r, size_t number, bool counted)
{
	for (size_t i = 0; i < r->runs.n && !r->stop; i++)
		run_one(r, number % 2 ? r->runs.n - 1 - i : i, counted);
}

/* Whether there are rounds enough. */
static bool rounds_done(struct rounds *r)
{
	bool late = r->plan.most_ns && r->done && repeat_now() - r->start_ns >= r->plan.most_ns;
	double precision;

	if (r->stop || r->done >= r->plan.most)
		return true;
	/* Fewer have no interval, however long they take; but one that was asked for is a bound. */
	if (late && (r->done >= SPREAD_LEAST || r->asked->most_ns)) {
		r->runs.stopped = r->asked->runs && !r->plan.target;
		return true;
	}
	if (r->plan.target <= 0 || r->done < ROUNDS_LEAST || r->done < r->look)
		return false;
	r->look = r->done + r->done / LOOK_PART + 1;
	precision = runs_precision(&r->runs);
	return precision >= 0 && precision <= r->plan.target;
}

/* What a program takes that does nothing, where that is much of the time of one of these. */
static void floor_measure(struct rounds *r)
{
	double elapsed[IDLE_RUNS], sorted[IDLE_RUNS];
	struct spread spread;
	struct repeat_run run;
	bool hushed, wanted = false;

	for (size_t i = 0; i < r->runs.n; i++) {
		const struct runs_series *e = runs_elapsed(&r->runs.command[i]);

		wanted = wanted || (e && r->runs.command[i].n && e->value[0] < IDLE_NS);
	}
	if (!wanted || r->stop)
		return;
	hushed = log_hush(true);
	for (size_t i = 0; i < IDLE_RUNS; i++) {
		repeat_run(r->repeat, &r->plan.idle.program, &run);
		if (rounds_interrupted(r) || run_status(&run) != 0) {
			log_hush(hushed);
			return;
		}
		elapsed[i] = (double)run.elapsed_ns;
	}
	log_hush(hushed);
	spread_of(&spread, elapsed, IDLE_RUNS, sorted);
	r->runs.floor = cell_counted(spread.median);
}

static void rounds_run(struct rounds *r)
{
	bool stopped;

	for (size_t i = 0; i < r->runs.n && !r->stop; i++)
		hook_run(r, &r->plan.command[i].setup, "setup", i);
	r->start_ns = repeat_now();
	for (size_t i = 0; i < r->asked->warmups && !r->stop; i++)
		round_run(r, i, false);
	machine_look(&r->machine, "");
	r->start_ns = repeat_now();
	while (!rounds_done(r)) {
		round_run(r, r->done, true);
		r->done++;
	}
	/* What comes behind the rounds cuts none of them short. */
	stopped = r->runs.stopped;
	floor_measure(r);
	/* They clean up what the others have made, whatever has happened meanwhile. */
	for (size_t i = 0; i < r->runs.n; i++)
		hook_run(r, &r->plan.command[i].cleanup, "cleanup", i);
	r->runs.stopped = stopped;
	live_close(&r->live);
}

static void machine_notes(struct rounds *r)
{
	struct machine_look end;
	struct machine machine;

	machine_look(&end, "");
	machine_judge(&machine, &r->machine, &end);
	for (size_t i = 0; i < machine.nnotes; i++)
		runs_note(&r->runs, machine.notes[i]);
}

static int rounds_finish(struct rounds *r)
{
	runs_show(&r->runs, r->way->print->metrics);
	r->runs.warmups = r->asked->warmups;
	r->runs.cached = r->way->cache != NULL;
	r->runs.cache_asked = r->way->cache ? r->way->cache->asked : CACHE_ASKED_STEADY;
	r->runs.storage = repeat_storage(r->repeat);
	r->runs.target = r->plan.target;
	if (r->asked->target && runs_precision(&r->runs) > r->plan.target)
		r->runs.missed = runs_precision(&r->runs);
	if (runs_judge(&r->runs))
		return error("out of memory");
	machine_notes(r);
	return rounds_report(&r->runs, &r->files, r->way);
}

int rounds_stat(const struct rounds_asked *asked, const struct rounds_way *way, char **argv)
{
	const struct repeat_options options = {
		.events = way->events,
		.no_inherit = way->no_inherit,
		.show_output = asked->show_output,
		.timeout_ns = way->timeout_ns,
		.storage = way->storage,
		.cache = way->cache,
	};
	struct rounds r = { .asked = asked, .way = way };
	int status = rounds_plan(&r.plan, &r.runs, asked, argv);

	if (!status) {
		/* What the command writes would come in between. */
		if (!asked->show_output)
			live_open(&r.live);
		if (rounds_files_open(&r.files, asked) || repeat_open(&r.repeat, &options))
			status = STATUS_FAILURE;
		if (!status) {
			rounds_run(&r);
			status = r.status;
			if (r.runs.command[0].n && rounds_finish(&r))
				status = status ? status : STATUS_FAILURE;
		}
		repeat_close(r.repeat);
		rounds_files_close(&r.files);
	}
	rounds_plan_free(&r.plan);
	runs_free(&r.runs);
	return status;
}
