/* SPDX-License-Identifier: MIT */
/*
 * What the tree has used, from /proc. What a process that was waited for has used is in its parent's sums of
 * children; until then it is there as a zombie. Of those that nobody waits for, and of each thread, what was seen last
 * counts, up to a tenth of a second before the end.
 */
#define _GNU_SOURCE
#include "cli/session/windows.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/log.h"
#include "common/proc.h"

#define TEXT_ROOM (1u << 17)         /* a file of the system */
#define THREADS_EACH_TICK 256        /* of the tree, looked at while a window is open; at its edges all are */

static const char read_children[] = "by /proc; with what its children have used that ended, in clock ticks";
static const char read_lost[] = "by /proc; of processes that ended and that nobody of the tree has waited for, what they had up to 0.1 s "
				"before, if they were seen at all";
static const char read_threads[] = "by /proc; of threads that ended, what they had up to 0.1 s before, if they were seen at all";
static const char read_delay[] = "by the kernel's accounting, in clock ticks; Linux 6.12 and newer may account too much";
static const char read_outside[] = "it is not known of a process from outside";

/* Running totals of one process, with its children that were waited for. */
struct process_use {
	u64 cpu_ns, minflt, majflt, utime, stime;
	u64 children_ns;             /* of cpu_ns, in clock ticks */
	u64 io[PROCIO_CELLS];
};

struct thread_use {
	u32 tid;
	bool seen;
	u64 sched[SCHED_CELLS];
	u64 delay;                   /* clock ticks */
};

struct window_reader {
	struct watched {
		struct process *process;
		struct process_use use;
		u64 children_before; /* of the sums, at the look before */
		bool read;
		bool zombie;         /* it has ended, and nobody had waited for it when it was read last */
		bool gone;
	} *watched;
	size_t nwatched, room;
	size_t known;                /* of the session's list */
	struct process_use gone;     /* of those that nobody has waited for */
	u32 ended, ended_threads;
	struct thread_use past;      /* of threads that are gone */
	struct thread_use *threads;
	size_t nthreads, threads_room;
	bool counts;                 /* the kernel has the scheduler's statistics */
	char *text;                  /* TEXT_ROOM */
};

/* False: it is gone. counts: the kernel counts, so that a thread of which it says nothing has not run yet. */
static bool thread_read(u32 pid, struct thread_use *use, bool counts)
{
	char name[48], text[PROC_SCHEDSTAT_ROOM];
	struct process_stat stat;
	ssize_t n;

	if (!process_thread_stat(pid, use->tid, &stat))
		return false;
	use->delay = stat.delay;
	snprintf(name, sizeof(name), "task/%u/schedstat", use->tid);
	n = process_read_file(pid, name, text, sizeof(text));
	if (n >= 0)
		proc_parse_schedstat(text, (size_t)n, use->sched);
	else
		proc_fill_absent(use->sched, SCHED_CELLS, proc_absent((int)-n));
	if (counts && use->sched[SCHED_RUNTIME] == WIRE_ABSENT(WIRE_ABSENT_OFF))
		memset(use->sched, 0, sizeof(use->sched));
	return true;
}

struct window_reader *window_reader_new(void)
{
	struct window_reader *r = calloc(1, sizeof(*r));
	struct thread_use own = { .tid = (u32)getpid() };

	if (r)
		r->text = malloc(TEXT_ROOM);
	if (r && r->text) {
		r->counts = thread_read((u32)getpid(), &own, false) && !wire_absent(own.sched[SCHED_RUNTIME]);
		return r;
	}
	free(r);
	error("out of memory for the windows");
	return NULL;
}

void window_reader_free(struct window_reader *r)
{
	if (!r)
		return;
	free(r->watched);
	free(r->threads);
	free(r->text);
	free(r);
}

void window_reading_free(struct window_reading *reading)
{
	if (reading) {
		window_marks_free(reading->marks);
		free(reading->disks);
	}
	free(reading);
}

/* ---- processes ------------------------------------------------------------------------------------- */

/* False: it is gone. */
static bool use_read(const struct process *p, struct process_use *use, bool children, u64 *threads)
{
	struct process_stat stat;
	struct timespec ts;
	clockid_t clock;
	char text[PROC_IO_ROOM];
	ssize_t n;

	if (!process_stat(p->facts.pid, &stat))
		return false;
	*threads = stat.threads;
	use->children_ns = children ? process_ticks_ns(stat.children_utime + stat.children_stime) : 0;
	use->utime = process_ticks_ns(stat.utime + (children ? stat.children_utime : 0));
	use->stime = process_ticks_ns(stat.stime + (children ? stat.children_stime : 0));
	use->minflt = stat.minflt + (children ? stat.children_minflt : 0);
	use->majflt = stat.majflt + (children ? stat.children_majflt : 0);
	use->cpu_ns = use->utime + use->stime;
	if (!clock_getcpuclockid((pid_t)p->facts.pid, &clock) && !clock_gettime(clock, &ts))
		use->cpu_ns = (u64)ts.tv_sec * NSEC_PER_SEC + (u64)ts.tv_nsec + use->children_ns;
	n = p->io_fd >= 0 ? pread(p->io_fd, text, sizeof(text), 0) : process_read_file(p->facts.pid, "io", text, sizeof(text));
	if (n > 0)
		proc_parse_io(text, (size_t)n, use->io);
	else
		proc_fill_absent(use->io, PROCIO_CELLS, proc_absent(p->io_fd >= 0 ? errno : (int)-n));
	return true;
}

static void use_add(struct process_use *sum, const struct process_use *use)
{
	sum->cpu_ns += use->cpu_ns;
	sum->children_ns += use->children_ns;
	sum->minflt += use->minflt;
	sum->majflt += use->majflt;
	sum->utime += use->utime;
	sum->stime += use->stime;
	for (u32 i = 0; i < PROCIO_CELLS; i++)
		sum->io[i] = wire_absent(sum->io[i]) || wire_absent(use->io[i]) ?
			     (wire_absent(sum->io[i]) ? sum->io[i] : use->io[i]) : sum->io[i] + use->io[i];
}

/* As the image that it is now; NULL: none of ours. */
static const struct process *parent_of(const struct session *s, const struct process *p)
{
	const struct process *parent = p->facts.parent ? s->processes.list[p->facts.parent - 1] : NULL;

	while (parent && !parent->alive && parent->facts.ended == PROCESS_EXEC) {
		const struct process *next = process_find_at(&s->processes, parent->facts.pid, parent->facts.end_ns);

		if (!next || next == parent)
			break;
		parent = next;
	}
	return parent;
}

/* Then the kernel waits in its place, and adds nothing to its sums. */
static bool ignores_children(u32 pid)
{
	unsigned long long ignored = 0;
	char text[1u << 16], *line; /* it may be in many groups */

	line = process_read_file(pid, "status", text, sizeof(text)) > 0 ? strstr(text, "\nSigIgn:") : NULL;
	return line && sscanf(line, "\nSigIgn: %llx", &ignored) == 1 && ignored >> (SIGCHLD - 1) & 1;
}

static const struct watched *watched_find(const struct window_reader *r, const struct process *p)
{
	for (size_t i = 0; i < r->nwatched; i++)
		if (r->watched[i].process == p)
			return &r->watched[i];
	return NULL;
}

/* Whoever waits for it adds it to his sums, and he is one of ours. */
static bool use_is_inherited(const struct session *s, const struct window_reader *r, const struct watched *w)
{
	const struct process *parent = s->options->no_inherit ? NULL : parent_of(s, w->process);
	const struct watched *of, *heir;
	struct process_stat stat;
	bool there;

	if (!parent || (!parent->alive && parent->facts.end_ns <= w->process->facts.end_ns))
		return false;
	there = parent->alive && process_stat(parent->facts.pid, &stat);
	if (there && stat.state != 'Z')
		return !ignores_children(parent->facts.pid);
	/* Of one who never waits nothing is in his sums. */
	of = watched_find(r, parent);
	if (!w->zombie || (of && of->use.children_ns + process_ticks_ns(2) >= w->use.cpu_ns))
		return true;
	if (!of || there || of->zombie || !use_is_inherited(s, r, of))
		return false;
	/* It may have waited after it was read last: then that came to whoever waited for it, with what it used itself. */
	heir = watched_find(r, parent_of(s, parent));
	return !heir || heir->gone ||
	       heir->use.children_ns - heir->children_before + process_ticks_ns(4) >= of->use.cpu_ns + w->use.cpu_ns;
}

/* It has ended and nobody has waited for it: all that it used is known. */
static bool zombie_read(const struct session *s, struct watched *w)
{
	const struct process *p = w->process, *parent = parent_of(s, p);
	struct process_use use = w->use;
	struct process_stat stat;
	u64 threads;

	if (p->unwatched || p->facts.ended == PROCESS_EXEC || !process_stat(p->facts.pid, &stat) || stat.state != 'Z' ||
	    (parent && parent->alive && stat.parent != parent->facts.pid) ||
	    process_find_at(&s->processes, p->facts.pid, UINT64_MAX) || !use_read(p, &use, !s->options->no_inherit, &threads))
		return false;
	/* Its I/O may be hidden now. */
	if (wire_absent(use.io[PROCIO_RCHAR]))
		memcpy(use.io, w->use.io, sizeof(use.io));
	w->use = use;
	w->read = w->zombie = true;
	return true;
}

/* It has ended; one that became another image goes on under the same number. */
static void watched_gone(const struct session *s, struct window_reader *r, const struct watched *w)
{
	if (w->process->facts.ended == PROCESS_EXEC && !w->process->alive)
		return;
	if (use_is_inherited(s, r, w))
		return;
	/* Of a zombie the last figures were all of them. */
	r->ended += !w->zombie;
	if (w->read)
		use_add(&r->gone, &w->use);
}

static bool watched_add(struct session *s, struct window_reader *r)
{
	for (; r->known < s->processes.count; r->known++) {
		struct process *p = s->processes.list[r->known];

		if (p->unwatched || (s->options->no_inherit && p->facts.parent && !p->exec))
			continue;
		if (r->nwatched == r->room) {
			size_t room = r->room ? 2 * r->room : 32;
			struct watched *list = realloc(r->watched, room * sizeof(*list));

			if (!list)
				return false;
			r->watched = list;
			r->room = room;
		}
		r->watched[r->nwatched++] = (struct watched){ .process = p };
	}
	return true;
}

/* ---- threads --------------------------------------------------------------------------------------- */

/* A number that comes again is another thread's, if it has less. */
static void thread_put(struct window_reader *r, const struct thread_use *now)
{
	for (size_t i = r->nthreads; i--;) {
		struct thread_use *use = &r->threads[i];

		if (use->tid != now->tid)
			continue;
		if (!wire_absent(now->sched[SCHED_RUNTIME]) && now->sched[SCHED_RUNTIME] < use->sched[SCHED_RUNTIME])
			break;
		*use = *now;
		return;
	}
	if (r->nthreads == r->threads_room) {
		size_t room = r->threads_room ? 2 * r->threads_room : 64;
		struct thread_use *list = realloc(r->threads, room * sizeof(*list));

		if (!list)
			return;
		r->threads = list;
		r->threads_room = room;
	}
	r->threads[r->nthreads++] = *now;
}

static void thread_add(struct thread_use *sum, const struct thread_use *use)
{
	sum->delay += use->delay;
	for (u32 k = 0; k < SCHED_CELLS; k++)
		sum->sched[k] = wire_absent(sum->sched[k]) || wire_absent(use->sched[k]) ?
				(wire_absent(sum->sched[k]) ? sum->sched[k] : use->sched[k]) : sum->sched[k] + use->sched[k];
}

static void threads_read(struct window_reader *r, const struct process *p)
{
	char path[64];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", p->facts.pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		struct thread_use now = { .tid = (u32)strtoul(e->d_name, NULL, 10), .seen = true };

		if (isdigit((unsigned char)e->d_name[0]) && thread_read(p->facts.pid, &now, r->counts))
			thread_put(r, &now);
	}
	if (dir)
		closedir(dir);
}

/* Those that are gone become one sum: the list is as long as there are threads. */
static void threads_fold(struct window_reader *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->nthreads; i++) {
		if (r->threads[i].seen) {
			r->threads[n++] = r->threads[i];
			continue;
		}
		r->ended_threads++;
		thread_add(&r->past, &r->threads[i]);
	}
	r->nthreads = n;
}

static void reader_look(struct session *s, struct window_reader *r, bool edge)
{
	size_t n = 0;
	u64 all = 0;

	watched_add(s, r);
	for (size_t i = 0; i < r->nthreads; i++)
		r->threads[i].seen = false;
	for (size_t i = 0; i < r->nwatched; i++) {
		struct watched *w = &r->watched[i];
		u64 threads = 0;

		w->children_before = w->use.children_ns;
		if (!w->process->alive || w->process->unwatched) {
			w->gone = !zombie_read(s, w);
			continue;
		}
		w->read = use_read(w->process, &w->use, !s->options->no_inherit, &threads) || w->read;
		all += threads;
		if (edge || all <= THREADS_EACH_TICK)
			threads_read(r, w->process);
	}
	/* Each is told by others, gone or not. */
	for (size_t i = 0; i < r->nwatched; i++)
		if (r->watched[i].gone)
			watched_gone(s, r, &r->watched[i]);
	for (size_t i = 0; i < r->nwatched; i++)
		if (!r->watched[i].gone)
			r->watched[n++] = r->watched[i];
	r->nwatched = n;
	if (edge || all <= THREADS_EACH_TICK)
		threads_fold(r);
}

void window_reader_look(struct session *s, struct window_reader *r)
{
	reader_look(s, r, false);
}

/* ---- readings -------------------------------------------------------------------------------------- */

static void reading_snapshot(struct session *s, struct window_reader *r, struct window_reading *reading)
{
	for (u32 i = 0; i < SNAPSHOT_FILES; i++) {
		const char *path = s->files ? (const char *)s->files + s->files->path[i] : "";
		FILE *file = *path ? fopen(path, "re") : NULL;
		int opened = errno;
		size_t n = file ? fread(r->text, 1, TEXT_ROOM, file) : 0;

		if (!file) {
			snapshot_absent(reading->snapshot, i, *path ? (u32)proc_absent(opened) : (u32)WIRE_ABSENT_NO_FILE);
			continue;
		}
		if (ferror(file))
			snapshot_absent(reading->snapshot, i, (u32)proc_absent(errno));
		else
			snapshot_parse(reading->snapshot, i, r->text, n, s->disks);
		if (!strcmp(path, "/proc/diskstats") && !reading->disks && (reading->disks = malloc(n + 1))) {
			memcpy(reading->disks, r->text, n);
			reading->disks_size = n;
		}
		fclose(file);
	}
}

static struct cell *usage_of(struct usage *usage, u32 source, u32 cell)
{
	return &usage->cell[source_first_cell(SOURCE_ALL, source) + cell];
}

static void reading_fill(const struct session *s, const struct window_reader *r, struct window_reading *reading)
{
	struct process_use sum = r->gone;
	struct thread_use threads = r->past;
	struct cell absent = cell_absent(CELL_UNAVAILABLE, read_outside);

	for (size_t i = 0; i < r->nwatched; i++)
		if (r->watched[i].read)
			use_add(&sum, &r->watched[i].use);
	for (size_t i = 0; i < r->nthreads; i++)
		thread_add(&threads, &r->threads[i]);
	reading->usage.cpu = cell_counted((double)sum.cpu_ns);
	*usage_of(&reading->usage, SOURCE_rusage, RUSAGE_MINFLT) = cell_counted((double)sum.minflt);
	*usage_of(&reading->usage, SOURCE_rusage, RUSAGE_MAJFLT) = cell_counted((double)sum.majflt);
	*usage_of(&reading->usage, SOURCE_rusage, RUSAGE_NVCSW) = absent;
	*usage_of(&reading->usage, SOURCE_rusage, RUSAGE_NIVCSW) = absent;
	*usage_of(&reading->usage, SOURCE_rusage, RUSAGE_UTIME) = cell_counted((double)sum.utime);
	*usage_of(&reading->usage, SOURCE_rusage, RUSAGE_STIME) = cell_counted((double)sum.stime);
	for (u32 i = 0; i < PROCIO_CELLS; i++)
		*usage_of(&reading->usage, SOURCE_procio, i) = usage_cell(sum.io[i]);
	for (u32 i = 0; i < SCHED_CELLS; i++)
		*usage_of(&reading->usage, SOURCE_sched, i) = usage_cell(threads.sched[i]);
	reading->delay = s->windows->delays ? (struct cell){ (double)process_ticks_ns(threads.delay), CELL_ESTIMATE, read_delay } :
			 cell_absent(CELL_UNAVAILABLE, "the kernel accounts no delays: sysctl kernel.task_delayacct=1");
	reading->children_ns = sum.children_ns;
	reading->ended = r->ended;
	reading->ended_threads = r->ended_threads + s->windows->exits;
}

struct window_reading *window_reading_take(struct session *s, struct window_reader *r)
{
	struct window_reading *reading = calloc(1, sizeof(*reading));

	if (!reading) {
		error("out of memory for the windows");
		return NULL;
	}
	track_drain(s, true);
	reading->marks = window_marks_take(s);
	reading_snapshot(s, r, reading);
	reading->ns = session_now() - s->start_ns;
	reader_look(s, r, true);
	reading_fill(s, r, reading);
	return reading;
}

static void between_note(struct cell *cell, const char *note)
{
	if (cell_has_value(cell))
		*cell = (struct cell){ cell->value, CELL_ESTIMATE, note };
}

void window_reading_between(const struct session *s, const struct window_reading *begin, const struct window_reading *end,
			    struct window_fact *fact, struct usage *usage, struct cell *snapshot)
{
	u32 sched = source_first_cell(SOURCE_ALL, SOURCE_sched);
	bool ended = end->ended != begin->ended, threads = end->ended_threads != begin->ended_threads;

	*usage = end->usage;
	usage->cpu = cell_subtract(end->usage.cpu, begin->usage.cpu);
	for (u32 i = 0; i < source_cells(SOURCE_ALL); i++) {
		usage->cell[i] = cell_subtract(end->usage.cell[i], begin->usage.cell[i]);
		if (i >= sched && i < sched + SCHED_CELLS && threads)
			between_note(&usage->cell[i], read_threads);
		else if (ended)
			between_note(&usage->cell[i], read_lost);
	}
	if (ended || end->children_ns != begin->children_ns)
		between_note(&usage->cpu, ended ? read_lost : read_children);
	snapshot_between(snapshot, begin->snapshot, end->snapshot);
	window_take_usage(fact, usage);
	window_take_snapshot(fact, snapshot);
	window_marks_between(s, begin->marks, end->marks, fact);
	fact->cell[WINDOW_DELAY] = cell_subtract(end->delay, begin->delay);
	if (threads)
		between_note(&fact->cell[WINDOW_DELAY], read_threads);
	fact->from_ns = begin->ns;
	fact->to_ns = end->ns;
	if (begin->disks && end->disks)
		fact->disk = window_disk(begin->disks, begin->disks_size, end->disks, end->disks_size, s->disks, &fact->disk_read,
					 &fact->disk_written);
}
