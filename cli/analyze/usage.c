/* SPDX-License-Identifier: MIT */
/* Usage of whole processes, threads and windows; see usage.h. */
#include "cli/analyze/usage.h"

static const char *const usage_reasons[WIRE_ABSENT_REASONS] = {
	[WIRE_ABSENT_SEALED] = "the program had set a seccomp filter: no system call since",
	[WIRE_ABSENT_NO_FILE] = "there is no such file in /proc: the kernel does not count it, "
				"or /proc is out of reach",
	[WIRE_ABSENT_DENIED] = "its file in /proc may not be read: the program changed its user or may not be dumped, "
			       "or a filter forbids it",
	[WIRE_ABSENT_LIMIT] = "the program had no descriptor left to read its file in /proc",
	[WIRE_ABSENT_UNREADABLE] = "its file in /proc could not be read",
	[WIRE_ABSENT_FIELD] = "this kernel does not count it: no such field in /proc",
	[WIRE_ABSENT_OFF] = "the kernel's scheduler statistics are off",
	[WIRE_ABSENT_MANY] = "too many threads to read them all",
	[WIRE_ABSENT_THREADS] = "of several threads only if --metrics asks for it: to look at a thread in /proc "
				"delays its end",
	[WIRE_ABSENT_NOT_ASKED] = "read of single threads only with --group-by thread",
	[WIRE_ABSENT_REGIONS] = "read in regions only",
	[WIRE_ABSENT_NO_COUNTER] = "the kernel had no counter for it in the program",
	[WIRE_ABSENT_EVENT_DENIED] = "the program may not open it: it changed its user, or a filter forbids it",
	[WIRE_ABSENT_EVENT_LIMIT] = "the program had no descriptor or locked memory left for it",
	[WIRE_ABSENT_EVENT_REFUSED] = "the kernel refused it in the program",
	[WIRE_ABSENT_TAKEN] = "the program closed its descriptor, or has a file of its own there",
	[WIRE_ABSENT_PASS] = "the run that counted it did not come there",
};

/* The clock and the files that unseen_ns is made of are read so far apart; a thread takes longer. */
enum { USAGE_UNSEEN_NS = 10000 };

static const char usage_ended[] = "threads ended meanwhile: of those without markers, and of a thread's last moments, "
				  "it is missing";

const char *usage_absent_note(u64 cell)
{
	u64 reason = UINT64_MAX - cell;

	return reason < WIRE_ABSENT_REASONS ? usage_reasons[reason] : "damaged in the program's memory";
}

struct cell usage_cell(u64 cell)
{
	if (wire_absent(cell))
		return cell_absent(CELL_UNAVAILABLE, usage_absent_note(cell));
	return cell_counted((double)cell);
}

void usage_fill_absent(struct usage *usage, const char *note)
{
	u32 i;

	usage->cpu = cell_absent(CELL_UNAVAILABLE, note);
	for (i = 0; i < WIRE_CELLS; i++)
		usage->cell[i] = usage->cpu;
}

void usage_between(struct usage *usage, const struct wire_usage *begin, const struct wire_usage *end)
{
	static const struct wire_usage nothing;
	u32 i, cells = source_cells(SOURCE_ALL);

	if (!begin)
		begin = &nothing;
	*usage = (struct usage){ .cpu = cell_counted((double)end->cpu_ns) };
	usage->cpu = cell_subtract(usage->cpu, cell_counted((double)begin->cpu_ns));
	for (i = 0; i < cells; i++) {
		struct cell *cell = &usage->cell[i];

		*cell = cell_subtract(usage_cell(end->cell[i]), usage_cell(begin->cell[i]));
		if (source_cell_of(i)->flags & SOURCE_BY_THREAD && cell->state < CELL_ESTIMATE &&
		    end->unseen_ns > begin->unseen_ns && end->unseen_ns - begin->unseen_ns > USAGE_UNSEEN_NS)
			*cell = (struct cell){ cell->value, CELL_ESTIMATE, usage_ended };
	}
}

void usage_add(struct usage *sum, const struct usage *part)
{
	u32 i;

	sum->cpu = cell_add(sum->cpu, part->cpu);
	for (i = 0; i < WIRE_CELLS; i++)
		sum->cell[i] = cell_add(sum->cell[i], part->cell[i]);
}
