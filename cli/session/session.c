/* SPDX-License-Identifier: MIT */
/* A run from arming to facts; see session.h. */
#define _GNU_SOURCE
#include "cli/session/blockio.h"
#include "cli/session/functions.h"
#include "cli/session/cgroup_own.h"
#include "cli/session/internal.h"
#include "cli/session/portion.h"
#include "cli/session/probing.h"
#include "cli/session/sampling.h"
#include "cli/session/steer.h"
#include "cli/session/tracing.h"
#include "cli/session/windows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/log.h"

/*
 * Each process of the tree costs us two descriptors, and the segments are files. Each child gets the limits that we
 * were given: those before the first run. They stay raised, since runs that are over have theirs open until all are
 * reported, and recordings are files, too.
 */
static void limits_raise(struct inherited_limits *before)
{
	static struct inherited_limits given;
	static bool known;
	struct rlimit most;

	if (!known) {
		getrlimit(RLIMIT_NOFILE, &given.nofile);
		getrlimit(RLIMIT_FSIZE, &given.fsize);
		known = true;
	}
	*before = given;
	most = (struct rlimit){ before->nofile.rlim_max, before->nofile.rlim_max };
	if (setrlimit(RLIMIT_NOFILE, &most))
		verbose(1, "cannot raise the limit of open files: %s", strerror(errno));
	most = (struct rlimit){ before->fsize.rlim_max, before->fsize.rlim_max };
	if (setrlimit(RLIMIT_FSIZE, &most))
		verbose(1, "cannot raise the limit of file sizes: %s", strerror(errno));
}

int descriptor_keep(int fd, unsigned int spare)
{
	struct rlimit limit;

	if (fd < 0 || getrlimit(RLIMIT_NOFILE, &limit) || (rlim_t)fd + spare < limit.rlim_cur)
		return fd;
	close(fd);
	errno = EMFILE;
	return -1;
}

static int spawn_target(struct session *s, const struct inherited_limits *limits)
{
	struct target *t = &s->target;
	struct outcome loadable;
	char **env;
	int ret;

	target_look(t, s->options->argv[0]);
	if (s->options->outside)
		return spawn_start(&s->spawn, s->options->argv, t->elf ? t->path : NULL, environ, limits, &s->signals);
	if (!s->caps.agent[0])
		return error("the agent libsparkagent.so is not where sparkctl was installed; see sparkctl doctor");
	loadable = preload_check(&s->caps);
	if (loadable.available == CAPS_NO) {
		/* The loader would complain, on the program's standard error. */
		snprintf(t->obstacle, sizeof(t->obstacle), "%s", loadable.because);
		return spawn_start(&s->spawn, s->options->argv, t->elf ? t->path : NULL, environ, limits, &s->signals);
	}
	env = target_environment(s->options, s->caps.agent, s->server.invitation, s->server.place.dir);
	if (!env)
		return -1;
	ret = spawn_start(&s->spawn, s->options->argv, t->elf ? t->path : NULL, env, limits, &s->signals);
	target_environment_free(env);
	return ret;
}

int session_plan(struct session *s)
{
	if (plan_make(s))
		return -1;
	s->profile.events = s->plan.events;
	s->profile.nevents = s->plan.nevents;
	if (s->plan.wire) {
		s->profile.plan_events = s->plan.wire->events;
		s->profile.plan_groups = s->plan.wire->groups;
	}
	return 0;
}

static int session_group_open(struct session *s)
{
	if (!s->options->cgroup)
		return 0;
	s->group = calloc(1, sizeof(*s->group));
	if (!s->group)
		return error("out of memory");
	s->group->portion = s->options->steer || s->options->inside;
	/* What is left of probes would be others in our group. */
	caps_reap(true);
	return cgroup_own_open(s->group, s->options->cgroup, &s->caps);
}

/* While it is held: none of its instructions is outside. */
static int session_group_join(struct session *s)
{
	return s->group ? cgroup_own_join(s->group, s->spawn.pid) : 0;
}

static int session_arm(struct session *s)
{
	struct segment_params params;
	struct inherited_limits limits;

	s->signal_fd = -1;
	caps_init(&s->caps, "");
	session_clock_start(s);
	/* First: with one of a kind open, no other makes the kernel patch its code (static keys). */
	totals_keep(&s->totals);
	if (s->options->trace && tracing_open(s))
		return -1;
	if (portion_open(s) || windows_open(s))
		return -1;
	if (s->options->probe_all)
		session_probe(s);
	if (!s->options->outside && session_plan(s))
		return -1;
	limits_raise(&limits);
	if (s->options->probes && probing_open(s))
		return -1;
	if ((!s->options->outside && server_open(&s->server)) || signals_open(&s->signals, &s->signal_fd))
		return -1;
	/* Those that come from here on are the loop's. */
	s->interrupted = s->options->ended ? *s->options->ended : 0;
	if (s->interrupted)
		return -1;
	s->spawn.relayed = s->windows->phases.own;
	if (session_group_open(s) || spawn_target(s, &limits) || session_group_join(s))
		return -1;
	phases_spawned(&s->windows->phases);
	s->totals.unarmed = s->options->unarmed;
	s->totals.deferred = steer_defers(s->options->steer);
	if (!s->options->count)
		totals_arm(&s->totals, s->spawn.pid, !s->options->no_inherit, s->options->events, s->plan.alone);
	if (s->options->outside && !s->options->count)
		session_forewarn(s);
	if (!s->options->no_inherit)
		track_open(&s->track, s->spawn.pid);
	if (s->options->outside)
		session_forewarn_tree(s);
	if (s->options->sampling || s->options->off_cpu)
		sampling_open(s);
	session_clock_tick(s);
	if (!s->options->outside) {
		params = session_segment_params(s);
		s->ready = segment_new(&params);
		if (!s->ready)
			return -1;
	}
	/* Late, so that nothing undoes it; but what it reads and writes itself is no I/O of the run. */
	if (surroundings_prepare(s))
		return -1;
	if (s->options->block_io)
		blockio_open(s);
	return 0;
}

void session_finish(struct session *s)
{
	u64 over_ns = session_now();

	blockio_end(s);
	hello_left(s);
	/* An agent that says hello now would wait for nothing. */
	server_close(&s->server);
	signals_close(&s->signals);
	/* What is left of a trace may be more than the limit of file sizes allows. */
	signal(SIGXFSZ, SIG_IGN);
	session_clock_tick(s);
	track_drain(s, true);
	sampling_drain(s, true);
	probing_drain(s, true);
	windows_ending(s, true);
	for (struct segment *g = s->segments; g; g = g->next)
		if (!g->closed && g->header && g->live == 0 && segment_in_use(g)) {
			survivors_find(s);
			break;
		}
	for (struct segment *g = s->segments; g; g = g->next)
		harvest_all(s, g);
	s->over = true;
	surroundings_end(s);
	tracing_end(s);
	windows_traced(s);
	probing_end(s);
	sigaction(SIGXFSZ, &s->signals.fsize, NULL);
	portion_cut(s, &s->profile);
	portion_say(s);
	functions_name(s, &s->profile);
	chosen_report(s);
	sampling_name(s);
	if (s->tracing)
		functions_name_regions(s, &s->tracing->trace.regions);
	session_steer_over(s, over_ns);
	session_collect_facts(s);
	steer_end(s->options->steer, s->start_ns + s->facts.duration_ns, &s->facts);
}

static enum session_end session_measure(struct session *s)
{
	struct origin_map map;
	struct process *p;
	int failed;

	p = process_add(&s->processes, (u32)s->spawn.pid, (u32)getpid(), 0);
	if (!p) {
		spawn_drop(&s->spawn);
		return SESSION_FAILED;
	}
	process_keep_open(p);
	windows_start(s);
	s->start_ns = session_now();
	s->start_ticks = session_ticks(s);
	portion_start(s);
	session_steer_start(s);
	failed = spawn_go(&s->spawn);
	if (failed)
		spawn_drop(&s->spawn);
	if (failed)
		return spawn_failed(s->options->argv[0], failed);
	p->threads = p->facts.threads = s->track.count ? 1 : 0;
	p->born = true;
	process_describe(p);
	origin_map(s, p->facts.pid, &map);
	origin_objects(s, &map);
	/* While the program is loaded: that takes longer. */
	if (!s->options->outside) {
		files_choose(s);
		/* The next ones have it from the start. */
		if (s->files && s->ready)
			segment_put_files(s->ready, s->files);
	}
	surroundings_look(s);
	/* It may have ended already. */
	if (!p->command)
		process_name(p, s->options->argv);
	session_loop(s);
	session_finish(s);
	if (s->timed_out)
		return SESSION_TIMEOUT;
	return s->main_ended ? SESSION_ENDED : SESSION_INTERRUPTED;
}

struct session *session_new(const struct session_options *options)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s) {
		error("out of memory");
		return NULL;
	}
	s->options = options;
	s->server.fd[0] = s->server.fd[1] = s->server.place.lock = -1;
	s->spawn.input = s->spawn.output = -1;
	profile_init(&s->profile, options->group);
	s->profile.threads_most = options->threads_most;
	s->watch_ns = options->watcher ? 1 : 0;
	origin_start(s);
	return s;
}

enum session_end session_run(struct session **session, const struct session_options *options)
{
	struct session *s = session_new(options);

	*session = s;
	if (!s)
		return SESSION_FAILED;
	if (session_arm(s)) {
		spawn_drop(&s->spawn);
		/* There may be something to report of runs before. */
		if (s->signal_fd >= 0)
			signals_close(&s->signals);
		return s->interrupted ? SESSION_INTERRUPTED : SESSION_FAILED;
	}
	return session_measure(s);
}

int session_add_pass(struct session *s, struct session *other, const struct pass_notes *note)
{
	totals_add_pass(&s->totals, &other->totals, note);
	surroundings_add(s, other);
	return profile_add_pass(&s->profile, s->plan.events, &other->profile, note);
}

const struct session_facts *session_facts(const struct session *s)
{
	return &s->facts;
}

int session_interrupted(const struct session *s)
{
	return s->interrupted;
}

const struct profile *session_profile(const struct session *s)
{
	return &s->profile;
}

struct trace *session_trace(const struct session *s)
{
	return s->tracing ? &s->tracing->trace : NULL;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	server_close(&s->server);
	totals_close(&s->totals);
	plan_free(&s->plan);
	sampling_free(s);
	tracing_free(s);
	functions_free(s->functions);
	probing_free(s);
	blockio_free(s);
	portion_free(s);
	surroundings_free(s);
	windows_free(s);
	if (s->group)
		cgroup_own_close(s->group);
	free(s->group);
	track_close(&s->track);
	free(s->track.events);
	while (s->segments) {
		struct segment *g = s->segments;

		s->segments = g->next;
		segment_free(g);
	}
	segment_free(s->ready);
	processes_free(&s->processes);
	profile_fini(&s->profile);
	clock_map_fini(&s->clock);
	origin_free(&s->origin);
	free(s->process_facts);
	free(s->files);
	free(s->disks);
	if (s->signal_fd >= 0)
		close(s->signal_fd);
	free(s);
}
