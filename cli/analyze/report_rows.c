/* SPDX-License-Identifier: MIT */
/*
 * The rows of a report: roots from the session's facts, regions from the profile, in tree order,
 * filtered by --regions and sorted by --sort-by.
 *
 * In the profile a parent always stands before its children, so that sums over children take one
 * pass from the end.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/calls.h"
#include "cli/analyze/profile_build.h"
#include "cli/analyze/report_build.h"

/* cpu of a row whose open calls have more than this part of its wall unknown is not shown. */
static const double report_unsure_share = 0.01;

/* What is worked out for each row of the profile before any is shown. */
struct row_plan {
	struct cell wall, cpu, off;
	struct cell child_wall, child_cpu;
	double key;                  /* to sort by, greatest first */
	u32 first, count;            /* children in builder.order */
	bool matched, kept;          /* by --regions: itself; itself or something below */
};

struct row_builder {
	struct report *report;
	const struct profile *profile;
	struct row_plan *plans;
	u32 *order;                  /* all rows, grouped by parent, sorted */
	size_t sort;                 /* column */
	struct cell *cells;          /* of a row, as far as the order needs them */
	u32 first_root;              /* in order: roots have no parent and stand last */
};

/* ---- one row --------------------------------------------------------------------------------------- */

/* cpu and off of a region's own calls, inner regions included. */
static void report_plan_cpu(const struct profile_row *row, struct row_plan *plan, double slope)
{
	double wall = (double)row->wall, off = (double)(s64)row->off;

	off = MIN(MAX(off, 0), wall);
	plan->off = cell_counted(off * slope);
	plan->off.state = row->cpu_state;
	plan->off.note = row->cpu_note;
	if (row->unsure && (double)row->unsure > wall * report_unsure_share)
		plan->off = cell_absent(CELL_UNAVAILABLE,
			"open: switches since the thread's last marker are not known");
	else if (row->unsure && plan->off.state < CELL_ESTIMATE)
		plan->off = (struct cell){ plan->off.value, CELL_ESTIMATE,
			"open: switches since the thread's last marker are not known" };
	plan->cpu = cell_subtract(plan->wall, plan->off);
}

static void report_plan_row(const struct row_builder *builder, u32 i)
{
	const struct profile_row *row = &builder->profile->rows[i];
	struct row_plan *plan = &builder->plans[i], *parent;
	const struct clock_map *clock = builder->report->facts->clock_map;
	double slope = clock_map_duration(clock, 1);

	plan->wall = cell_counted((double)row->wall * slope);
	report_plan_cpu(row, plan, slope);
	/* A part of a run may have time of a call that neither began nor ended in it. */
	if (!row->calls && !row->open && !row->wall) {
		plan->wall = cell_absent(CELL_NOT_COUNTED, "no call was seen");
		plan->cpu = plan->off = plan->wall;
	}
	/* What is seen from outside runs beside the regions of the same thread, not in its root's time of its own. */
	if (row->parent == PROFILE_NONE || calls_is_root(builder->profile, i))
		return;
	parent = &builder->plans[row->parent];
	if (cell_has_value(&plan->wall)) {
		parent->child_wall = cell_add(parent->child_wall, plan->wall);
		parent->child_cpu = cell_add(parent->child_cpu, plan->cpu);
	} else {
		parent->child_wall = cell_add(parent->child_wall, plan->child_wall);
		parent->child_cpu = cell_add(parent->child_cpu, plan->child_cpu);
	}
}

/* a - b; what is cut off at 0 is said. */
static struct cell report_exclusive(struct report *report, struct cell all, struct cell inner)
{
	struct cell cell = cell_subtract(all, inner);

	if (cell_has_value(&cell) && inner.value > all.value * 1.000001 + 1) {
		cell.state = CELL_ESTIMATE;
		cell.note = report_text(report, "inner regions exceed it by %.0f ns: set to 0",
					inner.value - all.value);
	}
	return cell;
}

static struct metric_input report_region_input(const struct row_builder *builder, u32 i)
{
	const struct profile_row *row = &builder->profile->rows[i];
	const struct row_plan *plan = &builder->plans[i];

	return (struct metric_input){
		.scope = METRIC_REGION, .profile = builder->profile, .row = row,
		.clock = builder->report->facts->clock_map,
		.calls = row->calls + row->open, .open = row->open + row->left,
		.wall = plan->wall, .cpu = plan->cpu, .off = plan->off,
		.wall_excl = report_exclusive(builder->report, plan->wall, plan->child_wall),
		.cpu_excl = report_exclusive(builder->report, plan->cpu, plan->child_cpu),
	};
}

int report_fill_cells(struct report *report, struct report_row *row, const struct metric_input *in)
{
	size_t c;

	row->cells = calloc(report->ncolumns, sizeof(*row->cells));
	if (!row->cells)
		return -1;
	for (c = 0; c < report->ncolumns; c++)
		row->cells[c] = report_cell(report, c, row->cells, in);
	row->calls = in->calls;
	row->open = in->open;
	row->cpu_share = cell_divide(in->cpu, in->wall, 100);
	row->off_share = cell_divide(in->off, in->wall, 100);
	return 0;
}

static struct report_row *report_new_row(struct report *report)
{
	struct report_row *rows = report_grow(report->rows, report->nrows, sizeof(*rows));

	if (!rows)
		return NULL;
	report->rows = rows;
	return &rows[report->nrows++];
}

/* ---- order and choice ------------------------------------------------------------------------------ */

static int report_compare(const void *a, const void *b, void *context)
{
	const struct row_builder *builder = context;
	const struct profile_row *rows = builder->profile->rows;
	u32 i = *(const u32 *)a, k = *(const u32 *)b;

	if (rows[i].parent != rows[k].parent)
		return rows[i].parent < rows[k].parent ? -1 : 1;
	if (builder->plans[i].key != builder->plans[k].key)
		return builder->plans[i].key > builder->plans[k].key ? -1 : 1;
	return i < k ? -1 : i > k;
}

static int report_order(struct row_builder *builder)
{
	const struct profile *profile = builder->profile;
	u32 i, parent;

	builder->order = calloc((size_t)profile->nrows + 1, sizeof(*builder->order));
	if (!builder->order)
		return -1;
	for (i = 0; i < profile->nrows; i++)
		builder->order[i] = i;
	qsort_r(builder->order, profile->nrows, sizeof(*builder->order), report_compare, builder);
	for (i = 0; i < profile->nrows; i++) {
		parent = profile->rows[builder->order[i]].parent;
		if (parent == PROFILE_NONE)
			break;
		if (!builder->plans[parent].count++)
			builder->plans[parent].first = i;
	}
	builder->first_root = i;
	return 0;
}

static int report_match(struct row_builder *builder, u32 i)
{
	const struct profile_row *row = &builder->profile->rows[i];
	struct row_plan *plan = &builder->plans[i];
	const char *globs = builder->report->options.regions;
	char *path;

	if (row->parent == PROFILE_NONE)
		return 0;
	plan->matched = !globs || metric_glob(globs, builder->profile->names[row->name].bytes);
	if (!plan->matched) {
		path = report_path(builder->profile, i);
		if (!path)
			return -1;
		plan->matched = metric_glob(globs, path);
		free(path);
	}
	plan->kept = plan->kept || plan->matched;
	if (plan->kept)
		builder->plans[row->parent].kept = true;
	return 0;
}

/* What a row is sorted by; a derived column needs all before it. */
static double report_key(struct row_builder *builder, u32 i)
{
	struct metric_input in = report_region_input(builder, i);
	struct report *report = builder->report;
	size_t c = report->columns[builder->sort].derived ? 0 : builder->sort;

	for (; c <= builder->sort; c++)
		builder->cells[c] = report_cell(report, c, builder->cells, &in);
	return cell_has_value(&builder->cells[builder->sort]) ? builder->cells[builder->sort].value : -1;
}

static int report_plan(struct row_builder *builder)
{
	u32 i;

	builder->plans = calloc((size_t)builder->profile->nrows + 1, sizeof(*builder->plans));
	builder->cells = calloc(builder->report->ncolumns, sizeof(*builder->cells));
	if (!builder->plans || !builder->cells)
		return -1;
	for (i = builder->profile->nrows; i--;) {
		report_plan_row(builder, i);
		if (report_match(builder, i) != 0)
			return -1;
		builder->plans[i].key = report_key(builder, i);
	}
	return report_order(builder);
}

/* ---- regions --------------------------------------------------------------------------------------- */

static int report_emit_region(struct row_builder *builder, u32 i, u32 parent, double root_wall)
{
	const struct profile_row *row = &builder->profile->rows[i];
	struct metric_input in = report_region_input(builder, i);
	struct report_row *out = report_new_row(builder->report);

	if (!out)
		return -1;
	if (row->open && in.wall.state == CELL_COUNTED)
		in.wall.note = row->open == 1 ? "one call was still open" : "some calls were still open";
	out->parent = parent;
	out->depth = builder->report->rows[parent].depth + 1;
	out->process = row->process;
	out->pid = row->pid;
	out->tid = row->tid;
	out->context = !builder->plans[i].matched;
	out->name = builder->profile->names[row->name].bytes;
	out->len = builder->profile->names[row->name].len;
	out->origin = report_origin_of(builder->report, row->name, calls_lack(builder->profile, row));
	out->wall_share = cell_divide(in.wall, cell_counted(root_wall), 100);
	builder->report->has_regions = true;
	return report_fill_cells(builder->report, out, &in);
}

/* The rows below a row, depth first; at most PROFILE_DEPTH_MAX deep. */
static int report_emit_children(struct row_builder *builder, u32 i, u32 parent, double root_wall)
{
	const struct row_plan *plan = &builder->plans[i];
	u32 k, child, self;

	for (k = plan->first; k < plan->first + plan->count; k++) {
		child = builder->order[k];
		if (!builder->plans[child].kept)
			continue;
		self = (u32)builder->report->nrows;
		if (report_emit_region(builder, child, parent, root_wall) != 0 ||
		    report_emit_children(builder, child, self, root_wall) != 0)
			return -1;
	}
	return 0;
}

/* ---- roots ----------------------------------------------------------------------------------------- */

/* Sums over the facts of the processes (and profile rows) that a root stands for. */
struct root_sum {
	u32 process, pid, tid;
	const char *name;
	u64 calls, open, threads;
	bool threads_known;
	struct cell wall;
	struct usage usage;
	u32 row;                     /* in the profile; PROFILE_NONE: no markers */
};

static u64 report_marker_threads(const struct profile *profile, u32 process)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < profile->nthreads; i++)
		if (profile->threads[i].process == process)
			n += profile->threads[i].threads;
	return n;
}

static void report_sum_process(const struct row_builder *builder, struct root_sum *sum,
			       const struct process_facts *process)
{
	const struct session_facts *facts = builder->report->facts;
	u64 wall = process->end_ns > process->start_ns ? process->end_ns - process->start_ns : 0;
	u64 markers = report_marker_threads(builder->profile, process->id);

	if (facts->partial)
		wall = spans_overlap(facts->spans, facts->nspans, process->start_ns, process->end_ns);
	sum->threads_known = process->threads && (!sum->calls || sum->threads_known);
	sum->threads += MAX(process->threads, MAX(markers, 1));
	sum->calls++;
	sum->open += process->ended == PROCESS_ALIVE;
	sum->wall = cell_add(sum->wall, cell_counted((double)wall));
	usage_add(&sum->usage, &process->usage);
}

/* With --roi the time of a process or thread, all: of the run, is that of the outermost regions that were kept. */
static void report_sum_inside(const struct row_builder *builder, struct root_sum *sum, bool all)
{
	const struct profile *profile = builder->profile;
	u32 i;

	if (!builder->report->facts->ninside)
		return;
	usage_fill_absent(&sum->usage, "it is known of the whole thread, not of the regions of --roi");
	sum->wall = sum->usage.cpu = cell_counted(0);
	for (i = builder->first_root; i < profile->nrows; i++) {
		const struct profile_row *row = &profile->rows[builder->order[i]];

		if (!all && (row->process != sum->process || (sum->tid && row->tid != sum->tid)))
			continue;
		sum->wall = cell_add(sum->wall, builder->plans[builder->order[i]].child_wall);
		sum->usage.cpu = cell_add(sum->usage.cpu, builder->plans[builder->order[i]].child_cpu);
	}
}

static struct metric_input report_root_input(struct row_builder *builder, const struct root_sum *sum)
{
	static const char several[] = "several threads ran at once";
	static const char unknown[] = "how many threads it had is not known";
	struct metric_input in = {
		.scope = METRIC_ROOT, .profile = builder->profile,
		.row = sum->row == PROFILE_NONE ? NULL : &builder->profile->rows[sum->row],
		.clock = builder->report->facts->clock_map, .calls = sum->calls, .open = sum->open,
		.wall = sum->wall, .cpu = sum->usage.cpu, .usage = &sum->usage,
	};
	const struct row_plan *plan = sum->row == PROFILE_NONE ? NULL : &builder->plans[sum->row];
	struct cell zero = cell_counted(0);

	in.wall_excl = report_exclusive(builder->report, in.wall, plan ? plan->child_wall : zero);
	in.cpu_excl = report_exclusive(builder->report, in.cpu, plan ? plan->child_cpu : zero);
	in.off = cell_subtract(in.wall, in.cpu);
	if (sum->threads > sum->calls && !sum->tid)
		in.wall_excl = in.off = cell_absent(CELL_UNAVAILABLE, several);
	else if (!sum->threads_known && in.off.state < CELL_ESTIMATE)
		in.off = (struct cell){ in.off.value, CELL_ESTIMATE, unknown };
	return in;
}

/* Without the folders of its first word. */
static const char *report_base_name(const char *command)
{
	const char *end = command + strcspn(command, " "), *at = end;

	while (at > command && at[-1] != '/')
		at--;
	return at < end ? at : command;
}

/* Emits a root; *self is its row. */
static int report_emit_root(struct row_builder *builder, const struct root_sum *sum, u32 parent,
			    double outer_wall, u32 *self)
{
	struct metric_input in = report_root_input(builder, sum);
	struct report_row *out = report_new_row(builder->report);

	if (!out)
		return -1;
	*self = (u32)builder->report->nrows - 1;
	out->parent = parent;
	out->depth = parent == PROFILE_NONE ? 0 : builder->report->rows[parent].depth + 1;
	out->process = sum->process;
	out->pid = sum->pid;
	out->tid = sum->tid;
	out->root = true;
	out->context = builder->report->options.regions != NULL;
	out->name = sum->name ? report_base_name(sum->name) : "?";
	out->len = strlen(out->name);
	out->wall_share = cell_divide(in.wall, cell_counted(outer_wall), 100);
	return report_fill_cells(builder->report, out, &in);
}

static void report_sum_thread(const struct row_builder *builder, struct root_sum *sum, u32 row)
{
	const struct profile *profile = builder->profile;
	const struct clock_map *clock = builder->report->facts->clock_map;
	u32 i;

	*sum = (struct root_sum){ .process = profile->rows[row].process, .pid = profile->rows[row].pid,
				  .tid = profile->rows[row].tid, .row = row,
				  .name = profile->rows[row].tid ? "thread" : "further-threads",
				  .threads_known = true };
	for (i = 0; i < profile->nthreads; i++) {
		const struct profile_thread *thread = &profile->threads[i];

		if (thread->process != sum->process || thread->tid != sum->tid)
			continue;
		sum->calls++;
		sum->threads += thread->threads;
		sum->wall = cell_add(sum->wall, cell_counted(clock_map_duration(clock,
							(double)thread->wall)));
		usage_add(&sum->usage, &thread->usage);
	}
	report_sum_inside(builder, sum, false);
}

static int report_emit_threads(struct row_builder *builder, u32 process, u32 parent, double outer_wall)
{
	const struct profile *profile = builder->profile;
	struct root_sum sum;
	u32 i, k, self;

	for (i = builder->first_root; i < profile->nrows; i++) {
		k = builder->order[i];
		if (profile->rows[k].process != process)
			continue;
		report_sum_thread(builder, &sum, k);
		if (report_emit_root(builder, &sum, parent, outer_wall, &self) != 0 ||
		    report_emit_children(builder, k, self, sum.wall.value) != 0)
			return -1;
	}
	return 0;
}

static int report_emit_process(struct row_builder *builder, const struct process_facts *process)
{
	bool by_thread = builder->profile->group == PROFILE_BY_THREAD;
	struct root_sum sum = { .process = process->id, .pid = process->pid, .name = process->command };
	u32 self;

	sum.row = by_thread ? PROFILE_NONE
			    : profile_find_row(builder->profile, process->id, 0, NULL, 0);
	report_sum_process(builder, &sum, process);
	report_sum_inside(builder, &sum, false);
	if (report_emit_root(builder, &sum, PROFILE_NONE, sum.wall.value, &self) != 0)
		return -1;
	if (by_thread)
		return report_emit_threads(builder, process->id, self, sum.wall.value);
	return sum.row == PROFILE_NONE ? 0
		: report_emit_children(builder, sum.row, self, sum.wall.value);
}

/* --group-by region: one root for all processes. */
static int report_emit_merged(struct row_builder *builder)
{
	const struct session_facts *facts = builder->report->facts;
	struct root_sum sum = { .name = facts->nprocesses ? facts->processes[0].command : NULL };
	size_t i;
	u32 self;

	sum.row = profile_find_row(builder->profile, 0, 0, NULL, 0);
	for (i = 0; i < facts->nprocesses; i++)
		report_sum_process(builder, &sum, &facts->processes[i]);
	report_sum_inside(builder, &sum, true);
	if (report_emit_root(builder, &sum, PROFILE_NONE, sum.wall.value, &self) != 0)
		return -1;
	return sum.row == PROFILE_NONE ? 0
		: report_emit_children(builder, sum.row, self, sum.wall.value);
}

static size_t report_find_column(const struct report *report, const char *name)
{
	size_t i = 0;

	while (i < report->ncolumns && strcmp(report->columns[i].metric->name, name) != 0)
		i++;
	return i;
}

static size_t report_sort_column(struct report *report)
{
	const char *name = report->options.sort_by ? report->options.sort_by : "wall";
	size_t i = report_find_column(report, name);

	if (i < report->ncolumns)
		return i;
	report_add_unknown(report, report_text(report, "--sort-by %s: no metric has such a name; sorted by wall", name));
	return report_find_column(report, "wall");
}

int report_add_rows(struct report *report, const struct profile *profile)
{
	struct row_builder builder = { .report = report, .profile = profile };
	size_t i;
	int err;

	builder.sort = report_sort_column(report);
	err = report_plan(&builder);
	if (!err && profile->group == PROFILE_BY_REGION)
		err = report_emit_merged(&builder);
	for (i = 0; !err && profile->group != PROFILE_BY_REGION && i < report->facts->nprocesses; i++)
		err = report_emit_process(&builder, &report->facts->processes[i]);
	if (!err && report->options.regions && !report->has_regions)
		err = report_add_unknown(report, report_text(report,
			"--regions %s: no region has such a name", report->options.regions));
	free(builder.plans);
	free(builder.cells);
	free(builder.order);
	return err;
}
