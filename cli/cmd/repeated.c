/* SPDX-License-Identifier: MIT */
/* See repeated.h. Commands are run by turns, A B, B A, ..., so that what slowly changes is in all of them alike. */
#include "cli/cmd/repeated.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/ends.h"
#include "cli/cmd/input.h"
#include "cli/cmd/launch.h"
#include "cli/cmd/passes.h"
#include "cli/cmd/words.h"
#include "cli/log.h"
#include "cli/output/diff_output.h"
#include "cli/output/figures_output.h"
#include "cli/session/machine.h"

enum { RUNS_USUAL_VS = 10, ROWS_USUAL = 20 };

struct repeated_command {
	char **argv;
	char *text;
	double *times;               /* ns of each run, warm-ups in front; of several commands */
	size_t ntimes;
};

struct repeated {
	const struct repeated_asked *asked;
	const struct repeated_way *way;
	struct repeated_command *commands;
	u32 n;
	unsigned long runs;
	char *events;                /* their names, with commas between, but those that have one themselves */
	struct figures figures;      /* of one command */
	struct diff diff;            /* of several */
	struct machine_look machine; /* before the first run, */
	struct input input;          /* as this is */
	u64 made, survived;          /* runs, with warm-ups; and those that processes have outlived */
	int status;                  /* of the first failure */
	bool stop;
};

/* One run to be made. */
struct turn {
	u32 command, side;           /* side: of the figures, its pass */
	unsigned long number;        /* from 1; 0: a warm-up */
};

/* ---- a run ----------------------------------------------------------------------------------------- */

static void turn_options(const struct repeated *r, const struct turn *turn, struct session_options *so)
{
	static const struct event_list none = { .n = 0 };
	const struct repeated_asked *asked = r->asked;
	enum run_pass pass = asked->npasses ? asked->pass[turn->side] : PASSES;

	*so = *r->way->options;
	so->argv = r->commands[turn->command].argv;
	if (!turn->number)
		so->probe_all = so->objects = false;
	so->ended = ends_taken();
	so->unarmed = pass == PASS_TIMING;
	if (pass == PASS_TIMING || pass == PASS_PROFILE) {
		so->events = &none;
		so->sources = 0;
	}
	if (pass == PASS_TIMING || pass == PASS_COUNTING) {
		so->sampling = NULL;
		so->off_cpu = so->block_io = false;
	}
}

/* "3", "timing.3", "B.3", "B.timing.3" */
static void turn_name(const struct repeated *r, const struct turn *turn, char name[48])
{
	const struct repeated_asked *asked = r->asked;
	const char *of = r->n > 1 ? r->diff.sides[turn->command].label : "";
	const char *pass = asked->npasses ? pass_words[asked->pass[turn->side]] : "";

	snprintf(name, 48, "%s%s%s%s%lu", of, *of ? "." : "", pass, *pass ? "." : "", turn->number);
}

static bool survived(const struct session_facts *facts)
{
	for (size_t i = 0; i < facts->nprocesses; i++)
		if (facts->processes[i].ended == PROCESS_ALIVE)
			return true;
	return false;
}

static int time_keep(struct repeated_command *c, double ns)
{
	double *times = realloc(c->times, (c->ntimes + 1) * sizeof(*times));

	if (!times)
		return error("out of memory");
	c->times = times;
	times[c->ntimes++] = ns;
	return 0;
}

/* What of a run that has ended is kept. 0, or -1 after a message. */
static int turn_take(struct repeated *r, const struct turn *turn, struct session *session, const char *path)
{
	const struct session_facts *facts = session_facts(session);
	double ns = (double)facts->duration_ns;
	struct profile merged;
	int err;

	r->made++;
	r->survived += survived(facts);
	if (r->n > 1 && !turn->side && time_keep(&r->commands[turn->command], ns))
		return -1;
	if (!turn->number)
		return r->n > 1 || turn->side ? 0 : figures_time(&r->figures, ns) ? error("out of memory") : 0;
	profile_init(&merged, PROFILE_BY_REGION);
	err = profile_merge(&merged, session_profile(session));
	if (!err && r->n > 1)
		err = diff_add_pass(&r->diff, turn->command, (u32)turn->number - 1,
				    r->diff.npasses ? r->diff.passes[turn->side] : PASSES, path, &merged, facts);
	else if (!err)
		err = figures_add(&r->figures, turn->side, path, &merged, facts,
				  facts->signal ? facts->signal : facts->status << 8);
	profile_fini(&merged);
	return err;
}

static void repeated_stop(struct repeated *r, int status)
{
	r->stop = true;
	if (!r->status)
		r->status = status;
}

/* A run whose command could not even begin says so itself. */
static void turn_failed(struct repeated *r, const struct turn *turn, enum session_end end, int status)
{
	bool ran = end == SESSION_ENDED || end == SESSION_TIMEOUT;
	const char *which = turn->number ? "run" : "a warm-up";
	char number[24] = "";

	if (ran && r->asked->ignore_failure)
		return;
	if (turn->number)
		snprintf(number, sizeof(number), " %lu", turn->number);
	if (ran && status < 0)
		error("%s%s of %s was killed by signal %d: there are no more runs without --ignore-failure", which,
		      number, r->commands[turn->command].text, -status);
	else if (ran)
		error("%s%s of %s %s: there are no more runs without --ignore-failure", which, number,
		      r->commands[turn->command].text, end == SESSION_TIMEOUT ? "took too long" : "failed");
	repeated_stop(r, status);
}

/* What is kept of a run: nothing of a warm-up, and a history has times of passes that disturb them least. */
static struct run_record turn_record(const struct repeated *r, const struct turn *turn)
{
	struct run_record record = *r->way->record;

	if (!turn->number)
		return (struct run_record){ .pattern = NULL };
	if (r->asked->npasses && r->asked->pass[turn->side] != PASS_TIMING)
		record.history = NULL;
	return record;
}

static bool turn_counts_again(const struct repeated *r, const struct turn *turn, const struct session_options *so,
			      enum session_end end, int status)
{
	return end == SESSION_ENDED && turn->number && so->events->n && (!status || r->asked->ignore_failure);
}

static void turn_run(struct repeated *r, const struct turn *turn)
{
	const struct run_record record = turn_record(r, turn);
	struct passes passes = { .input = r->input };
	struct session *session = NULL;
	struct session_options so;
	enum session_end end;
	struct run_file file;
	char name[48];
	int status;

	turn_options(r, turn, &so);
	turn_name(r, turn, name);
	status = run_file_open(&file, &record, name);
	if (status) {
		repeated_stop(r, status);
		run_file_close(&file);
		return;
	}
	input_rewind(&r->input);
	end = session_run(&session, &so);
	status = launch_status(end, session);
	/* One that somebody wanted an end of is no measurement any more. */
	if (end >= SESSION_ENDED && session_interrupted(session)) {
		repeated_stop(r, -session_interrupted(session));
	} else if (end >= SESSION_ENDED) {
		if (turn_counts_again(r, turn, &so, end, status) && passes_run(&passes, session, &so))
			repeated_stop(r, passes_interrupted(&passes) ? -passes_interrupted(&passes) : STATUS_FAILURE);
		else if (run_file_write(&file, &record, session) ||
			 turn_take(r, turn, session, file.name ? file.name : ""))
			repeated_stop(r, STATUS_FAILURE);
	}
	if (status && !r->stop)
		turn_failed(r, turn, end, status);
	passes_free(&passes);
	session_free(session);
	run_file_close(&file);
}

/* ---- all runs -------------------------------------------------------------------------------------- */

/* Each command once, every other time in the opposite order. */
static void round_run(struct repeated *r, u32 side, unsigned long place, unsigned long number)
{
	for (u32 i = 0; i < r->n && !r->stop && !*ends_taken(); i++)
		turn_run(r, &(struct turn){ place % 2 ? r->n - 1 - i : i, side, number });
	if (*ends_taken() && !r->stop)
		repeated_stop(r, -*ends_taken());
}

/* Pass after pass, so that none that samples stands between those that take times. */
static void rounds_run(struct repeated *r)
{
	u32 sides = MAX(r->asked->npasses, 1u);
	struct ends ends;

	ends_take(&ends);
	input_keep(&r->input);
	machine_look(&r->machine, "");
	for (u32 side = 0; side < sides && !r->stop; side++) {
		for (unsigned long i = 0; i < r->asked->warmups && !r->stop; i++)
			round_run(r, side, i, 0);
		for (unsigned long i = 0; i < r->runs && !r->stop; i++)
			round_run(r, side, i, i + 1);
	}
	ends_give(&ends);
}

/* Each recording has its place before anything runs. 0, or an exit status after a message. */
static int names_check(const struct repeated *r)
{
	u32 sides = MAX(r->asked->npasses, 1u);
	int status = 0;

	for (struct turn t = { .side = 0 }; r->way->record->pattern && t.side < sides; t.side++)
		for (t.number = 1; t.number <= r->runs; t.number++)
			for (t.command = 0; t.command < r->n && !status; t.command++) {
				char name[48];

				turn_name(r, &t, name);
				status = run_file_check(r->way->record, name);
			}
	return status;
}

/* ---- the report ------------------------------------------------------------------------------------ */

static char *event_names(const struct event_list *events)
{
	char *names = NULL;
	size_t size;
	FILE *f = open_memstream(&names, &size);

	if (!f)
		return NULL;
	for (size_t i = 0; events && i < events->n; i++)
		if (!strpbrk(events->event[i].name, ", "))
			fprintf(f, "%s%s", ftell(f) ? "," : "", events->event[i].name);
	return fclose(f) ? NULL : names;
}

static void diff_asked(struct diff *diff, const struct print_options *print)
{
	diff->metrics = print->metrics;
	diff->regions = print->regions;
	diff->definitions = &print->definitions;
}

static void note_runs(const struct repeated *r, struct diff *diff)
{
	if (r->survived)
		diff_note(diff, "in %" PRIu64 " of %" PRIu64 " runs, warm-ups counted, processes went on after the command, "
			  "beside what ran next: --follow waits for them", r->survived, r->made);
	if (input_gone(&r->input))
		diff_note(diff, "standard input is no file, and can be read once: a single run has had it");
}

static void note_single(const struct repeated *r, struct diff *diff)
{
	const struct session_options *so = r->way->options;
	bool events = so->events && so->events->n, samples = so->sampling || so->off_cpu;

	if (!r->asked->npasses && (events || samples || so->sources))
		diff_note(diff, "the times are of runs in which %s, too: --passes timing%s",
			  samples ? "samples were taken" : "events were counted",
			  samples ? ",profile has them apart" : ",counting has them apart");
	if (r->asked->npasses && so->sources && !repeated_has_pass(r->asked, PASS_COUNTING))
		diff_note(diff, "sources are read at markers in the pass counting alone: their metrics are missing in "
			  "regions");
}

static void machine_notes(struct repeated *r, struct diff *diff)
{
	struct machine *machine = &r->figures.machine;
	struct machine_look end;

	machine_look(&end, "");
	machine_judge(machine, &r->machine, &end);
	for (size_t i = 0; i < machine->nnotes; i++)
		diff_note(diff, "%s", machine->notes[i]);
}

static int vs_judge(struct repeated *r)
{
	for (u32 i = 0; i < r->n; i++) {
		struct repeated_command *c = &r->commands[i];
		double *sorted = calloc(c->ntimes + 1, sizeof(*sorted));
		struct steady steady;
		char of[DIFF_LABEL + 4];

		if (!sorted)
			return -1;
		steady_find(&steady, c->times, c->ntimes, sorted);
		free(sorted);
		snprintf(of, sizeof(of), "%s: ", r->diff.sides[i].label);
		figures_note_steady(&r->diff, of, &steady, c->ntimes, r->asked->warmups);
	}
	return diff_judge(&r->diff);
}

static int report_write(struct repeated *r, const struct output_options *options)
{
	const struct print_options *print = r->way->print;
	const struct diff_options way = { *options, print->verbose > 0 ? 0 : ROWS_USUAL };
	bool json = !strcmp(print->format, "json"), csv = !strcmp(print->format, "csv");
	FILE *file = r->way->file;

	if (r->n > 1)
		return (json ? diff_json : csv ? diff_csv : diff_table)(file, &r->diff, &way);
	return (json ? figures_json : csv ? figures_csv : figures_table)(file, &r->figures, options);
}

static int repeated_report(struct repeated *r)
{
	const struct repeated_way *way = r->way;
	const struct output_options options = {
		.width = term_width(fileno(way->file)),
		.color = color_wanted(way->file, way->print->color),
		.utf8 = output_utf8(),
		.verbose = way->print->quiet ? -1 : way->print->verbose,
	};
	struct diff *diff = r->n > 1 ? &r->diff : &r->figures.diff;
	const char *unknown;
	char text[DIFF_NOTE];

	unknown = diff_unknown_metric(diff, text);
	if (unknown)
		warning("no metric or total of these runs is called '%s'; see sparkctl list metrics", unknown);
	note_single(r, diff);
	if (r->n > 1 ? vs_judge(r) : figures_judge(&r->figures))
		return error("out of memory for the report");
	note_runs(r, diff);
	machine_notes(r, diff);
	launch_report_begin(way->file, way->report);
	/* One write for all of it: standard error is not buffered. */
	if (way->file == stderr)
		setvbuf(way->file, NULL, _IOFBF, 1 << 16);
	errno = 0;
	if (report_write(r, &options))
		return error("out of memory for the report");
	return launch_report_written(way->file, way->report && strcmp(way->report, "-") ? way->report : "the report");
}

/* ---- all of it ------------------------------------------------------------------------------------- */

static int command_make(struct repeated_command *c, char **argv)
{
	c->argv = argv;
	c->text = argv ? words_join(argv, true) : NULL;
	return c->text ? 0 : argv ? error("out of memory") : -1;
}

/* 0, or the exit status after a message. */
static int commands_make(struct repeated *r)
{
	r->commands = calloc(r->asked->vs.n + 1, sizeof(*r->commands));
	if (!r->commands || command_make(&r->commands[0], words_copy(r->way->options->argv)))
		return error("out of memory"), STATUS_FAILURE;
	for (r->n = 1; r->n <= r->asked->vs.n; r->n++)
		if (command_make(&r->commands[r->n], words_split("--vs", r->asked->vs.item[r->n - 1])))
			return STATUS_USAGE;
	return 0;
}

/* Whether every side of a comparison, or the first pass, has a run. */
static bool has_runs(const struct repeated *r)
{
	if (r->n == 1)
		return r->figures.diff.sides[0].nruns > 0;
	for (u32 i = 0; i < r->n; i++)
		if (!r->diff.sides[i].nruns)
			return false;
	return true;
}

static int repeated_prepare(struct repeated *r)
{
	int status = commands_make(r);

	if (status)
		return status;
	if (r->n > 1 ? diff_init(&r->diff, r->n) : figures_init(&r->figures, r->asked->pass, r->asked->npasses))
		return error("out of memory"), STATUS_FAILURE;
	diff_asked(r->n > 1 ? &r->diff : &r->figures.diff, r->way->print);
	r->diff.rounds = true;
	r->diff.passes = r->asked->pass;
	r->diff.npasses = r->n > 1 ? r->asked->npasses : 0;
	r->events = r->n > 1 ? event_names(r->way->options->events) : NULL;
	r->diff.also = r->events && *r->events ? r->events : NULL;
	for (u32 i = 0; i < r->n && r->n > 1; i++)
		r->diff.sides[i].command = r->commands[i].text;
	r->figures.argv = (const char *const *)r->commands[0].argv;
	r->figures.warmups = r->asked->warmups;
	return 0;
}

int repeated_run(const struct repeated_asked *asked, const struct repeated_way *way)
{
	struct repeated r = { .asked = asked, .way = way };
	int status;

	r.runs = asked->runs ? asked->runs : asked->vs.n ? RUNS_USUAL_VS : 1;
	status = repeated_prepare(&r);
	status = status ? status : names_check(&r);
	if (!status) {
		rounds_run(&r);
		status = r.status;
		r.figures.stopped = r.stop;
		if (has_runs(&r) && repeated_report(&r))
			status = status ? status : STATUS_FAILURE;
	}
	for (u32 i = 0; r.commands && i <= asked->vs.n; i++) {
		words_free(r.commands[i].argv);
		free(r.commands[i].text);
		free(r.commands[i].times);
	}
	free(r.commands);
	free(r.events);
	diff_free(&r.diff);
	figures_free(&r.figures);
	return status;
}
