/* SPDX-License-Identifier: MIT */
/*
 * The time of each row taken apart: on a CPU by its own figures, off it by the intervals that were recorded. So the
 * two are measured apart, and what they do not add up to is the residual.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/report_build.h"
#include "common/source_table.h"

enum { SPLITS_TOLD = 8 }; /* rows of which a table tells more */

const char *const report_part_names[REPORT_PARTS] = {
	[REPORT_USER] = "user", [REPORT_KERNEL] = "kernel", [REPORT_RUNNABLE] = "runnable",
	[REPORT_DISK] = "blocked.disk", [REPORT_FUTEX] = "blocked.futex", [REPORT_IO] = "blocked.io",
	[REPORT_SLEEP] = "blocked.sleep", [REPORT_OTHER] = "blocked.other", [REPORT_RESIDUAL] = "residual",
};

static const char split_lost[] = "some of it was between records that were lost, or before a thread was met";
static const char split_over[] = "the recorded intervals exceed it: cut";
static const char split_unwoken[] = "some wake-ups were lost: what was waited for a CPU after them is in blocked";
static const char split_unseen[] = "no look into /proc was at a wait of its process: why it waited is not known";
static const char split_partly[] = "in it are waits of processes that no look was at: why those waited is not known";
static const char split_least[] = "threads went on after it was read last, up to 0.1 s before their end";
static const char split_excess[] = "the kernel accounts more of it than its threads waited: not believed";
static const char split_undelayed[] = "its threads ended before it was read, or are older than the accounting";
static const char split_schedstat[] = "schedstat, looked at each 10 ms";
static const char split_unread[] = "the kernel's sums of some threads could not be read: their waits after wake-ups are in blocked";

/* What is added up for a row. */
struct split_sums {
	double preempted, woken, blocked[REPORT_RESIDUAL - REPORT_DISK];
	double unseen;               /* of the last class: nobody looked */
	bool shared_out;             /* some of woken is a share of the kernel's sums */
	bool looked[REPORT_RESIDUAL - REPORT_DISK]; /* some of it was seen in /proc alone */
	double user, kernel;         /* weights of samples */
};

struct splitter {
	struct report *report;
	const struct samples *samples;
	struct split_sums *sums;     /* of each row */
	u32 *first, *next;           /* rows by region + 1 */
	size_t wall, cpu;            /* columns */
};

bool report_region_within(const struct samples *samples, u32 region, u32 outer)
{
	while (region != outer && region != SAMPLES_NONE)
		region = samples->regions[region].parent;
	return region == outer;
}

/* ---- regions of rows ------------------------------------------------------------------------------- */

static u32 region_named(const struct samples *samples, u32 parent, const struct report_row *row)
{
	u32 i;

	for (i = 0; i < samples->nregions; i++) {
		const struct samples_string *name = &samples->strings[samples->regions[i].name];

		if (samples->regions[i].parent == parent && name->length == row->len && !memcmp(name->bytes, row->name, row->len))
			return i;
	}
	return SAMPLES_NONE;
}

static size_t column_named(const struct report *report, const char *name)
{
	size_t c = 0;

	while (c < report->ncolumns && strcmp(report->columns[c].metric->name, name) != 0)
		c++;
	return c;
}

static int rows_prepare(struct splitter *s)
{
	struct report *report = s->report;
	size_t i;

	for (i = 0; i < report->nrows; i++) {
		struct report_row *row = &report->rows[i];
		const struct report_split *above = row->parent == PROFILE_NONE ? NULL : report->rows[row->parent].split;

		row->split = calloc(1, sizeof(*row->split));
		if (!row->split)
			return -1;
		row->split->region = SAMPLES_NONE;
		if (!row->root && (report->rows[row->parent].root || above->region != SAMPLES_NONE))
			row->split->region = region_named(s->samples, above->region, row);
		if (!row->root && row->split->region == SAMPLES_NONE)
			continue;
		s->next[i] = s->first[row->split->region + 1];
		s->first[row->split->region + 1] = (u32)i + 1;
	}
	return 0;
}

/* ---- sums ------------------------------------------------------------------------------------------ */

static void sums_add(struct split_sums *sums, const struct samples_row *row, bool off)
{
	u32 kind = samples_off_kind(row->flags), class = kind - SAMPLES_OFF_DISK;

	if (!off && row->flags & SAMPLES_IN_KERNEL)
		sums->kernel += (double)row->weight;
	else if (!off)
		sums->user += (double)row->weight;
	else if (kind == SAMPLES_OFF_PREEMPTED)
		sums->preempted += (double)row->weight;
	else if (kind == SAMPLES_OFF_WOKEN) {
		sums->woken += (double)row->weight;
		sums->shared_out |= !(row->flags & SAMPLES_OFF_RECORDED);
	} else {
		if (kind == SAMPLES_OFF_UNSEEN) {
			class = ARRAY_SIZE(sums->blocked) - 1;
			sums->unseen += (double)row->weight;
		}
		sums->blocked[class] += (double)row->weight;
		sums->looked[class] |= !(row->flags & SAMPLES_OFF_RECORDED);
	}
}

/* To all rows of the region, and of those that it lies in. */
static void sums_gather(struct splitter *s, const struct samples_row *rows, u32 n, bool off)
{
	u32 i, k, region;

	for (i = 0; i < n; i++)
		for (region = rows[i].region;; region = s->samples->regions[region].parent) {
			for (k = s->first[region + 1]; k; k = s->next[k - 1]) {
				const struct report_row *row = &s->report->rows[k - 1];

				if ((!row->process || row->process == rows[i].process) && (!row->tid || row->tid == rows[i].tid))
					sums_add(&s->sums[k - 1], &rows[i], off);
			}
			if (region == SAMPLES_NONE)
				break;
		}
}

/* ---- a row ----------------------------------------------------------------------------------------- */

/* The lives of the threads of a root. */
static struct samples_thread threads_sum(const struct splitter *s, const struct report_row *row, bool *woken_known)
{
	struct samples_thread sum = { .disk_known = SAMPLES_DELAY_WHOLE };
	u32 i;

	*woken_known = true;
	for (i = 0; i < s->samples->nthreads; i++) {
		const struct samples_thread *t = &s->samples->threads[i];

		if ((row->process && row->process != t->process) || (row->tid && row->tid != t->tid))
			continue;
		sum.life_ns += t->life_ns;
		sum.running_ns += t->running_ns;
		sum.unknown_ns += t->unknown_ns;
		samples_delay_add(&sum, t);
		*woken_known &= t->woken_known || !t->blocked || s->samples->off_polled;
	}
	return sum;
}

/* How much of the time on a CPU was in the kernel, 0 to 1, by the samples or by what the kernel says of the process. */
static double kernel_share(const struct splitter *s, const struct report_row *row, const struct split_sums *sums,
			   bool kernel_seen, const char **source)
{
	u32 first = source_first_cell(SOURCE_ALL, SOURCE_rusage);
	double user = 0, kernel = 0;
	size_t i;

	*source = "samples";
	if (kernel_seen && sums->user + sums->kernel > 0)
		return sums->kernel / (sums->user + sums->kernel);
	*source = "rusage of the process";
	for (i = 0; i < s->report->facts->nprocesses; i++) {
		const struct process_facts *process = &s->report->facts->processes[i];

		if (row->process && row->process != process->id)
			continue;
		user += cell_has_value(&process->usage.cell[first + RUSAGE_UTIME]) ? process->usage.cell[first + RUSAGE_UTIME].value : 0;
		kernel += cell_has_value(&process->usage.cell[first + RUSAGE_STIME]) ?
			  process->usage.cell[first + RUSAGE_STIME].value : 0;
	}
	return user + kernel > 0 ? kernel / (user + kernel) : -1;
}

/* Of a run in which no switch was recorded. */
static void split_polled(struct report_split *split)
{
	u32 k;

	for (k = REPORT_RUNNABLE; k < REPORT_RESIDUAL; k++)
		split->part[k] = (struct report_value){ { split->part[k].cell.value, CELL_ESTIMATE, NULL },
							k == REPORT_RUNNABLE ? split_schedstat :
							"/proc, looked at each 10 ms" };
	split->part[REPORT_RESIDUAL].cell.state = CELL_ESTIMATE;
}

static void split_set(struct report_split *split, u32 part, double ns, enum cell_state state, const char *source,
		      const char *note)
{
	split->part[part] = (struct report_value){ { ns, state, note }, source };
}

static void split_on(const struct splitter *s, const struct report_row *row, const struct split_sums *sums, double on,
		     bool kernel_seen)
{
	const char *source;
	double share = kernel_share(s, row, sums, kernel_seen, &source);

	if (share < 0 && on > 0) {
		split_set(row->split, REPORT_USER, on, CELL_ESTIMATE, s->samples->off_polled ? split_schedstat : "switch records",
			  "of user and kernel together");
		split_set(row->split, REPORT_KERNEL, 0, CELL_UNAVAILABLE, source, "how much was in the kernel is not known");
		return;
	}
	split_set(row->split, REPORT_USER, on * (1 - share), CELL_ESTIMATE, source, NULL);
	split_set(row->split, REPORT_KERNEL, on * share, CELL_ESTIMATE, source, NULL);
}

/* Whether some of the waits are known by looks alone: then each class is an estimate, also those that none was seen of. */
static bool waits_looked(const struct split_sums *sums)
{
	bool looked = false;

	for (u32 k = 0; k < ARRAY_SIZE(sums->blocked); k++)
		looked |= sums->looked[k];
	return looked;
}

static void split_delay(const struct splitter *s, struct report_split *split, const struct samples_thread *threads)
{
	struct report_value *delay = &split->disk_delay;

	delay->source = "delay accounting";
	if (s->samples->off_no_delay)
		delay->cell = cell_absent(CELL_UNAVAILABLE, s->samples->off_no_delay);
	else if (threads->disk_known == SAMPLES_DELAY_UNKNOWN)
		delay->cell = cell_absent(CELL_UNAVAILABLE, split_undelayed);
	else if (threads->disk_known == SAMPLES_DELAY_EXCESS)
		delay->cell = cell_absent(CELL_UNAVAILABLE, split_excess);
	else
		delay->cell = (struct cell){ (double)threads->disk_ns, CELL_ESTIMATE,
					     threads->disk_known == SAMPLES_DELAY_LEAST ? split_least : NULL };
}

static void split_waits(const struct splitter *s, struct report_split *split, const struct split_sums *sums, double blocked)
{
	const char *source = s->samples->off_waker ? "switch records, sched_waking" : "switch records";
	const char *looked = s->samples->off_waker ? "switch records, sched_waking, /proc" : "switch records, /proc";
	enum cell_state exact = split->scale < 0.99 ? CELL_ESTIMATE : CELL_COUNTED;
	bool any = waits_looked(sums);
	u32 k;

	for (k = 0; k < ARRAY_SIZE(sums->blocked); k++) {
		bool split_off = sums->shared_out && sums->blocked[k] > 0;
		bool estimate = any || split_off || (s->samples->off_unwoken && sums->blocked[k] > 0);

		if (sums->unseen > 0 && sums->unseen == blocked && REPORT_DISK + k != REPORT_OTHER)
			split_set(split, REPORT_DISK + k, 0, CELL_UNAVAILABLE, looked, split_unseen);
		else
			split_set(split, REPORT_DISK + k, split->scale * sums->blocked[k], estimate ? CELL_ESTIMATE : exact,
				  any ? looked : split_off ? "switch records, schedstat" : source, NULL);
	}
	if (sums->unseen > 0)
		split->part[REPORT_OTHER].cell.note = sums->unseen == blocked ? split_unseen : split_partly;
}

static void split_row(const struct splitter *s, struct report_row *row, const struct split_sums *sums, bool kernel_seen)
{
	struct report_split *split = row->split;
	bool woken_known;
	struct samples_thread threads = threads_sum(s, row, &woken_known);
	enum cell_state exact;
	const struct cell *wall = &row->cells[s->wall], *cpu = &row->cells[s->cpu];
	double blocked = 0, off, on, scale, left;
	const char *unwoken = s->samples->off_unwoken ? split_unwoken : NULL;
	const char *source = s->samples->off_waker ? "switch records, sched_waking" : "switch records";
	bool lost = row->root ? threads.unknown_ns > 0 : s->samples->off_lost > 0;
	u32 k;

	for (k = 0; k < ARRAY_SIZE(sums->blocked); k++)
		blocked += sums->blocked[k];
	off = sums->preempted + sums->woken + blocked;
	split->whole = row->root ? (double)threads.life_ns : cell_has_value(wall) ? wall->value : 0;
	on = row->root ? (double)threads.running_ns : cell_has_value(cpu) ? cpu->value : split->whole - off;
	scale = split->scale = off > split->whole ? split->whole / off : 1;
	exact = scale < 0.99 ? CELL_ESTIMATE : CELL_COUNTED;
	/* The thread's own clock runs while it is switched, when the records have it off the CPU already. */
	on = MIN(MAX(on, 0), split->whole - scale * off);
	split_on(s, row, sums, on, kernel_seen);
	split_set(split, REPORT_RUNNABLE, scale * (sums->preempted + sums->woken),
		  sums->shared_out || !woken_known || unwoken ? CELL_ESTIMATE : exact,
		  sums->shared_out ? "switch records, schedstat" : source, woken_known ? unwoken : split_unread);
	split_waits(s, split, sums, blocked);
	split_delay(s, split, &threads);
	left = split->whole - on - scale * off;
	split_set(split, REPORT_RESIDUAL, MAX(left, 0), lost || scale < 0.99 ? CELL_ESTIMATE : CELL_COUNTED, "wall",
		  lost ? split_lost : scale < 0.99 ? split_over : NULL);
	/* What ran on another CPU while its records were lost looks like waiting. */
	for (k = 0; s->samples->off_lost && k < REPORT_PARTS; k++)
		if (split->part[k].cell.state == CELL_COUNTED)
			split->part[k].cell = (struct cell){ split->part[k].cell.value, CELL_ESTIMATE, split_lost };
	if (s->samples->off_polled)
		split_polled(split);
}

/* Of threads beyond those that have rows of their own. */
static bool split_further(const struct splitter *s, const struct report_row *row)
{
	while (!row->root)
		row = &s->report->rows[row->parent];
	return s->report->group == PROFILE_BY_THREAD && !row->tid && row->parent != PROFILE_NONE;
}

/* Of a thread with a row of its own which the samples have among others of its process (samples_fold()). */
static bool split_folded(const struct splitter *s, const struct report_row *row)
{
	bool known = !row->tid, folded = false;
	u32 i;

	for (i = 0; !known && i < s->samples->nthreads; i++) {
		const struct samples_thread *t = &s->samples->threads[i];

		known = t->process == row->process && t->tid == row->tid;
		folded |= t->process == row->process && !t->tid;
	}
	return !known && folded;
}

/* Nothing is known of a row whose threads were not followed, or of which the samples know no region. */
static void split_absent(struct report_row *row, const char *why)
{
	u32 k;

	row->split->absent = why;
	row->split->disk_delay.cell = cell_absent(CELL_UNAVAILABLE, why);
	for (k = 0; k < REPORT_PARTS; k++)
		row->split->part[k] = (struct report_value){ cell_absent(CELL_UNAVAILABLE, why), NULL };
}

static void split_rows(struct splitter *s)
{
	bool kernel_seen = false, known;
	size_t i;

	for (i = 0; i < s->samples->nrows; i++)
		kernel_seen |= (s->samples->rows[i].flags & SAMPLES_IN_KERNEL) != 0;
	for (i = 0; i < s->report->nrows; i++) {
		struct report_row *row = &s->report->rows[i];

		if (split_further(s, row) || split_folded(s, row))
			split_absent(row, "waits of threads without rows of their own are not told apart");
		else if (row->root && !threads_sum(s, row, &known).life_ns)
			split_absent(row, "no switch of its threads was recorded");
		else if (!row->root && row->origin && row->origin->probed)
			split_absent(row, "its calls are seen from outside: threads do not say where they are");
		else
			split_row(s, row, &s->sums[i], kernel_seen);
	}
}

/* The rows with most time, of which a table tells where. */
static int split_tell(struct splitter *s)
{
	size_t told, i, best;

	for (told = 0; told < SPLITS_TOLD; told++) {
		best = s->report->nrows;
		for (i = 0; i < s->report->nrows; i++) {
			const struct report_split *split = s->report->rows[i].split;

			if (!split->causes && split->whole > 0 && (best == s->report->nrows ||
			    split->whole > s->report->rows[best].split->whole))
				best = i;
		}
		if (best == s->report->nrows)
			break;
		if (report_add_causes(s->report, &s->report->rows[best]) != 0)
			return -1;
	}
	return 0;
}

int report_add_splits(struct report *report)
{
	struct splitter s = { .report = report, .samples = report->facts->samples };
	int err;

	if (!s.samples || !s.samples->off || report->options.totals_only)
		return 0;
	s.sums = calloc(report->nrows + 1, sizeof(*s.sums));
	s.first = calloc((size_t)s.samples->nregions + 1, sizeof(*s.first));
	s.next = calloc(report->nrows + 1, sizeof(*s.next));
	s.wall = column_named(report, "wall");
	s.cpu = column_named(report, "cpu");
	err = !s.sums || !s.first || !s.next ? -1 : rows_prepare(&s);
	if (!err) {
		sums_gather(&s, s.samples->off_rows, s.samples->noff_rows, true);
		if (!report->options.profile.off)
			sums_gather(&s, s.samples->rows, s.samples->nrows, false);
		split_rows(&s);
		err = split_tell(&s) || report_add_wakers(report, s.first, s.next) ? -1 : 0;
	}
	free(s.sums);
	free(s.first);
	free(s.next);
	return err;
}

void report_free_splits(struct report *report)
{
	size_t i;

	for (i = 0; i < report->nrows; i++) {
		if (report->rows[i].split) {
			free(report->rows[i].split->causes);
			free(report->rows[i].split->wakers);
		}
		free(report->rows[i].split);
	}
}
