/* SPDX-License-Identifier: MIT */
/*
 * t_cpu_sum MS THREADS [compete] [migrate]: each thread spends MS in region mix, with spins,
 * sleeps and many tiny pairs inside; beside a process that takes turns on the same processor,
 * and wandering over all processors, where asked. Claims the sums over its threads of what
 * getrusage says about mix: processor time and context switches.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "target.h"

#define TINY_PAIRS 2000

struct worker {
	pthread_t id;
	int64_t cpu_ns, switches, spins, sleeps, tiny;
};

static int64_t duration_ns;
static cpu_set_t allowed;
static int migrate;

static void cpu_take(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		target_die("sched_setaffinity");
}

static int cpu_next(int cpu)
{
	do
		cpu = (cpu + 1) % CPU_SETSIZE;
	while (!CPU_ISSET(cpu, &allowed));
	return cpu;
}

static void mix_once(struct worker *w)
{
	int i;

	spark_region_begin("spin");
	target_spin(300000 + w->spins % 7 * 100000);
	spark_region_end("spin");
	w->spins++;
	spark_region_begin("sleep");
	target_sleep(200000);
	spark_region_end("sleep");
	w->sleeps++;
	for (i = 0; i < TINY_PAIRS; i++) {
		spark_region_begin("tiny");
		spark_region_end("tiny");
	}
	w->tiny += TINY_PAIRS;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	int cpu = cpu_next(CPU_SETSIZE - 1);
	struct rusage from, to;
	int64_t end;

	getrusage(RUSAGE_THREAD, &from);
	end = target_clock(CLOCK_MONOTONIC) + duration_ns;
	spark_region_begin("mix");
	while (target_clock(CLOCK_MONOTONIC) < end) {
		if (migrate && w->spins % 3 == 0)
			cpu_take(cpu = cpu_next(cpu));
		mix_once(w);
	}
	spark_region_end("mix");
	getrusage(RUSAGE_THREAD, &to);
	w->cpu_ns = target_rusage_ns(&to) - target_rusage_ns(&from);
	w->switches = to.ru_nvcsw + to.ru_nivcsw - from.ru_nvcsw - from.ru_nivcsw;
	return NULL;
}

static pid_t competitor_start(void)
{
	pid_t pid = fork();

	if (pid < 0)
		target_die("fork");
	while (pid == 0)
		target_spin(1000000);
	return pid;
}

static void claim(const struct worker *w, int64_t n)
{
	struct worker sum = { 0, 0, 0, 0, 0, 0 };
	int64_t i;

	for (i = 0; i < n; i++) {
		sum.cpu_ns += w[i].cpu_ns;
		sum.switches += w[i].switches;
		sum.spins += w[i].spins;
		sum.sleeps += w[i].sleeps;
		sum.tiny += w[i].tiny;
	}
	target_value("cpu_ns", sum.cpu_ns);
	target_value("switches", sum.switches);
	target_value("cpus", CPU_COUNT(&allowed));
	target_region("mix", n);
	target_region("mix;spin", sum.spins);
	target_region("mix;sleep", sum.sleeps);
	target_region("mix;tiny", sum.tiny);
}

int main(int argc, char **argv)
{
	int64_t i, n = target_arg(argc, argv, 2, 1);
	struct worker *w = calloc(n, sizeof(*w));
	pid_t competitor = 0;

	duration_ns = target_arg(argc, argv, 1, 1000) * 1000000;
	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (i = 3; i < argc; i++) {
		if (strcmp(argv[i], "compete") == 0) {
			cpu_take(cpu_next(CPU_SETSIZE - 1));
			competitor = competitor_start();
		} else if (strcmp(argv[i], "migrate") == 0) {
			migrate = 1;
		}
	}
	for (i = 1; i < n; i++)
		if (pthread_create(&w[i].id, NULL, work, &w[i]))
			target_die("pthread_create");
	work(&w[0]);
	for (i = 1; i < n; i++)
		pthread_join(w[i].id, NULL);
	if (competitor) {
		kill(competitor, SIGKILL);
		waitpid(competitor, NULL, 0);
	}
	claim(w, n);
	free(w);
	return 0;
}
