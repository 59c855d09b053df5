/* SPDX-License-Identifier: MIT */
/*
 * See repeat.h. The events are on sparkctl itself, never enabled there, and go to what it starts, where the exec
 * enables them: they are opened once, and a child need not be held. Who outlives his run would be in the next
 * ones, so that with the first such one, and where else that way is closed, each run has events of its own; those
 * of each kind that stay open meanwhile save the kernel from patching its code for every run.
 *
 * Whether somebody outlives it is known by our children: orphans of the tree become ours. Children that we were
 * started with cannot be told from them, and cost no more than that way.
 */
#define _GNU_SOURCE
#include "cli/session/repeat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/session/internal.h"

#define KILL_AFTER_NS (2 * NSEC_PER_SEC)
#define KILL_AGAIN_NS (20 * NSEC_PER_MSEC) /* who was forked meanwhile */
#define INTERRUPTS_LEAVE 2

struct repeat {
	const struct repeat_options *options;
	struct caps_context caps;
	struct storage *storage;     /* NULL: nobody asked */
	struct cache *cache;         /* the same */
	struct totals totals;
	struct inherited_signals signals;
	struct inherited_limits limits;
	struct spawn spawn;
	bool standing;               /* the events are ours */
	bool survived;               /* there are children left of the runs so far */
	int reaper_before;           /* as we were started: prctl(2), PR_GET_CHILD_SUBREAPER */
	int signal_fd;
	int nothing;                 /* /dev/null; -1: not needed */
	int interrupted;             /* by which signal */
	u32 interrupts;              /* in this run */
	u64 start_ns, end_ns;
	u64 kill_ns;                 /* --timeout: when to kill for good; 0: not yet */
	struct offspring others;     /* with --timeout: who was there before this run */
	struct offspring tree;
};

u64 repeat_now(void)
{
	return session_now();
}

/* 0, or -1 after a message. */
static int surroundings_open(struct repeat *r)
{
	char *folder;

	if (!r->options->storage)
		return 0;
	r->storage = storage_new(&r->caps, r->options->storage);
	folder = getcwd(NULL, 0);
	if (r->storage)
		storage_add(r->storage, folder ? folder : ".", "working directory");
	free(folder);
	if (!r->options->cache)
		return 0;
	r->cache = cache_new(r->options->cache, r->storage);
	return r->cache ? 0 : -1;
}

int repeat_open(struct repeat **repeat, const struct repeat_options *options)
{
	struct repeat *r = calloc(1, sizeof(*r));
	int fd;

	*repeat = r;
	if (!r)
		return error("out of memory");
	r->options = options;
	r->signal_fd = r->nothing = -1;
	caps_init(&r->caps, "");
	r->standing = !options->no_inherit && asked_heritable(options->events);
	/* What cannot know of survivors takes care of them in advance. */
	if (prctl(PR_GET_CHILD_SUBREAPER, &r->reaper_before) || prctl(PR_SET_CHILD_SUBREAPER, 1))
		r->standing = false;
	totals_keep(&r->totals);
	asked_keep(&r->totals.asked, options->events);
	getrlimit(RLIMIT_NOFILE, &r->limits.nofile);
	getrlimit(RLIMIT_FSIZE, &r->limits.fsize);
	if (!options->show_output) {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		/* Not in the place of a standard descriptor that was closed: the child's own would stay closed. */
		r->nothing = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		if (r->nothing < 0)
			return error("cannot hide the command's output in /dev/null: %s", strerror(errno));
		close(fd);
	}
	r->survived = offspring_reap(0);
	if (surroundings_open(r))
		return -1;
	return signals_open(&r->signals, &r->signal_fd);
}

void repeat_close(struct repeat *r)
{
	if (!r)
		return;
	prctl(PR_SET_CHILD_SUBREAPER, r->reaper_before);
	offspring_reap(0);
	totals_close(&r->totals);
	cache_free(r->cache);
	storage_free(r->storage);
	offspring_free(&r->others);
	offspring_free(&r->tree);
	if (r->nothing >= 0)
		close(r->nothing);
	if (r->signal_fd >= 0) {
		close(r->signal_fd);
		signals_close(&r->signals);
	}
	free(r);
}

int repeat_look(struct repeat_program *program, char **argv)
{
	struct target *target = malloc(sizeof(*target));

	*program = (struct repeat_program){ .argv = argv };
	if (!target)
		return error("out of memory");
	target_look(target, argv[0]);
	program->guarded = target->guarded;
	program->elf = target->elf ? strdup(target->path) : NULL;
	free(target);
	return 0;
}

void repeat_forget(struct repeat_program *program)
{
	free(program->elf);
	program->elf = NULL;
}

/*
 * As loop.c has it: from a terminal the whole group got it; from kill(1) only we did, and the command is meant. What the
 * tree sends to its parent or to its group is not.
 */
static void signal_taken(struct repeat *r, const struct signalfd_siginfo *info)
{
	int n = (int)info->ssi_signo;

	if (n == SIGCHLD || (info->ssi_code <= 0 && offspring_includes(info->ssi_pid)))
		return;
	if (r->spawn.pid > 0 && (info->ssi_code <= 0 || (n == SIGHUP && getsid(0) == getpid())))
		kill(r->spawn.pid, n);
	if (n != SIGINT && n != SIGTERM && n != SIGHUP)
		return;
	r->interrupted = n;
	r->interrupts++;
}

static void signals_read(struct repeat *r)
{
	struct signalfd_siginfo info;

	while (read(r->signal_fd, &info, sizeof(info)) == sizeof(info))
		signal_taken(r, &info);
}

int repeat_interrupted(struct repeat *r)
{
	signals_read(r);
	return r->interrupted;
}

static int wait_ms(const struct repeat *r, u64 now)
{
	u64 until = r->kill_ns ? r->kill_ns : r->start_ns + r->options->timeout_ns;

	if (!r->options->timeout_ns)
		return -1;
	return until <= now ? 0 : (int)MIN((until - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC, INT_MAX);
}

static void timeout_look(struct repeat *r, u64 now)
{
	int n = r->kill_ns ? SIGKILL : SIGTERM;

	if (!r->options->timeout_ns || now < (r->kill_ns ? r->kill_ns : r->start_ns + r->options->timeout_ns))
		return;
	offspring_find(&r->tree, getpid(), &r->others);
	offspring_kill(&r->tree, n, r->spawn.pid);
	if (r->spawn.pid > 0) {
		kill(r->spawn.pid, n);
		/* A stopped one would not see it. */
		kill(r->spawn.pid, SIGCONT);
	}
	r->kill_ns = now + (n == SIGKILL ? KILL_AGAIN_NS : KILL_AFTER_NS);
}

/* Those of the tree that the command has left behind end too. */
static void tree_end(struct repeat *r)
{
	struct pollfd fd = { .fd = r->signal_fd, .events = POLLIN };
	u64 now = session_now(), most = r->kill_ns + SESSION_DRAIN_NS;

	r->spawn.pid = 0;
	while (r->interrupts < INTERRUPTS_LEAVE && now < most && offspring_reap(0) &&
	       !offspring_find(&r->tree, getpid(), &r->others) && r->tree.n) {
		poll(&fd, 1, wait_ms(r, now));
		signals_read(r);
		now = session_now();
		timeout_look(r, now);
	}
}

/* Whether the child has ended; it is waited for then. */
static bool child_ended(struct repeat *r, int *status, struct rusage *usage)
{
	pid_t pid = wait4(r->spawn.pid, status, WNOHANG | WUNTRACED, usage);

	if (pid != r->spawn.pid)
		return pid < 0 && errno != EINTR;
	if (!WIFSTOPPED(*status))
		return true;
	signals_stopped(r->spawn.pid, WSTOPSIG(*status));
	return false;
}

static enum session_end child_wait(struct repeat *r, int *status, struct rusage *usage)
{
	struct pollfd fd = { .fd = r->signal_fd, .events = POLLIN };

	r->end_ns = r->start_ns;
	for (;;) {
		poll(&fd, 1, wait_ms(r, r->end_ns));
		r->end_ns = session_now();
		signals_read(r);
		if (child_ended(r, status, usage)) {
			if (r->kill_ns)
				tree_end(r);
			return r->kill_ns ? SESSION_TIMEOUT : SESSION_ENDED;
		}
		offspring_reap(r->spawn.pid);
		if (r->interrupts >= INTERRUPTS_LEAVE)
			return SESSION_INTERRUPTED;
		timeout_look(r, r->end_ns);
	}
}

static void totals_open(struct repeat *r, pid_t whose)
{
	totals_disarm(&r->totals);
	totals_arm(&r->totals, whose, !r->options->no_inherit, r->options->events, NULL);
}

/* The kernel takes the memory that a process had before its exec for its own: with spawn_now() that is ours. */
static void memory_judge(struct repeat *r)
{
	struct rusage own;

	getrusage(RUSAGE_SELF, &own);
	for (size_t i = 0; i < r->totals.nfacts; i++) {
		struct cell *cell = &r->totals.facts[i].cell;

		if (strcmp(r->totals.facts[i].name, "maxrss") || cell->value > (double)own.ru_maxrss * 1024)
			continue;
		cell->state = CELL_ESTIMATE;
		cell->note = "no more than this: it is what sparkctl itself has, and the command had before its exec";
	}
}

/* Starts it with events of its own. As spawn_now() returns. */
static int start_held(struct repeat *r, const struct repeat_program *program, bool count)
{
	if (spawn_start(&r->spawn, program->argv, program->elf, environ, &r->limits, &r->signals))
		return -1;
	if (count)
		totals_open(r, r->spawn.pid);
	r->start_ns = session_now();
	return spawn_go(&r->spawn);
}

static int run_start(struct repeat *r, const struct repeat_program *program, bool count)
{
	if (count && r->standing && !r->totals.events)
		totals_open(r, 0);
	/* What stands between runs may leave servers behind, for one. */
	if (r->standing && (!count || r->survived)) {
		totals_disarm(&r->totals);
		r->standing = false;
	}
	if (!r->standing)
		return start_held(r, program, count);
	totals_mark(&r->totals);
	return spawn_now(&r->spawn, program->argv, program->elf, &r->signals, &r->start_ns);
}

static void run_once(struct repeat *r, const struct repeat_program *program, struct repeat_run *run, bool count)
{
	const struct offspring none = { .list = NULL };
	struct rusage usage = { 0 };
	int failed;

	*run = (struct repeat_run){ .end = SESSION_FAILED };
	r->interrupts = 0;
	r->kill_ns = 0;
	r->others.n = 0;
	if (r->options->timeout_ns && r->survived)
		offspring_find(&r->others, getpid(), &none);
	r->spawn.input = r->spawn.output = r->nothing;
	failed = run_start(r, program, count);
	if (failed < 0) {
		r->spawn.pid = 0; /* -1 would be everybody to kill(2) */
		return;
	}
	run->end = failed ? spawn_failed(program->argv[0], failed) : SESSION_ENDED;
	if (failed)
		waitpid(r->spawn.pid, NULL, 0);
	else
		run->end = child_wait(r, &run->status, &usage);
	r->spawn.pid = 0;
	r->survived = offspring_reap(0);
	run->elapsed_ns = r->end_ns - r->start_ns;
	if (!count || failed || run->end == SESSION_INTERRUPTED)
		return;
	totals_read(&r->totals, &r->caps, r->end_ns - r->start_ns, &usage, true,
		    program->guarded ? TOTALS_HIDDEN : TOTALS_SEEN);
	if (r->standing)
		memory_judge(r);
	run->totals = r->totals.facts;
	run->ntotals = r->totals.nfacts;
}

void repeat_run(struct repeat *r, const struct repeat_program *program, struct repeat_run *run)
{
	bool cached = r->cache && !program->as_found;

	if (cached)
		cache_bring(r->cache, signals_ending);
	if (cached && repeat_interrupted(r)) {
		*run = (struct repeat_run){ .end = SESSION_INTERRUPTED };
		return;
	}
	run_once(r, program, run, true);
	if (cached && run->totals) {
		cache_end(r->cache);
		run->cache = cache_facts(r->cache);
	}
}

const struct storage_fact *repeat_storage(const struct repeat *r)
{
	return r->storage ? storage_facts(r->storage) : NULL;
}

void repeat_between(struct repeat *r, const struct repeat_program *program, struct repeat_run *run)
{
	run_once(r, program, run, false);
}
