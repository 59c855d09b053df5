/* SPDX-License-Identifier: MIT */
/*
 * t_guest: prints what a process can see of itself, before, between and after markers: open
 * descriptors, threads, signal state, limits, ids. With and without the agent it must be the same.
 */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>

#include "target.h"

static void print_dir(const char *path)
{
	char link[300], to[300];
	struct dirent *e;
	DIR *dir = opendir(path);
	ssize_t n;

	if (!dir)
		target_die(path);
	while ((e = readdir(dir))) {
		if (e->d_name[0] == '.' || atoi(e->d_name) == dirfd(dir))
			continue;
		snprintf(link, sizeof(link), "%s/%s", path, e->d_name);
		n = readlink(link, to, sizeof(to) - 1);
		if (n >= 0)
			dprintf(1, "%s -> %.*s\n", e->d_name, (int)n, to);
		else
			dprintf(1, "entry in %s\n", path);
	}
	closedir(dir);
}

/* Lines of /proc/self/status that the program itself decides on. */
static void print_status(void)
{
	static const char *const keep[] = {
		"Name:", "Umask:", "TracerPid:", "Uid:", "Gid:", "Groups:", "Threads:",
		"SigPnd:", "ShdPnd:", "SigBlk:", "SigIgn:", "SigCgt:", "CapInh:", "CapPrm:",
		"CapEff:", "CapBnd:", "CapAmb:", "NoNewPrivs:", "Seccomp:", "Seccomp_filters:",
		"Cpus_allowed_list:", "Mems_allowed_list:", "VmLck:", "VmPin:", "CoreDumping:",
	};
	FILE *f = fopen("/proc/self/status", "re");
	char line[512];
	size_t i;

	if (!f)
		target_die("status");
	while (fgets(line, sizeof(line), f))
		for (i = 0; i < sizeof(keep) / sizeof(keep[0]); i++)
			if (strncmp(line, keep[i], strlen(keep[i])) == 0)
				dprintf(1, "%s", line);
	fclose(f);
}

static void print_process(void)
{
	struct itimerval timer;
	struct rlimit limit;
	int i, death = 0;

	for (i = 0; i < RLIM_NLIMITS; i++) {
		getrlimit(i, &limit);
		dprintf(1, "rlimit %d %llu %llu\n", i, (unsigned long long)limit.rlim_cur,
			(unsigned long long)limit.rlim_max);
	}
	for (i = ITIMER_REAL; i <= ITIMER_PROF; i++) {
		getitimer(i, &timer);
		dprintf(1, "timer %d %ld %ld\n", i, (long)timer.it_value.tv_sec,
			(long)timer.it_value.tv_usec);
	}
	prctl(PR_GET_PDEATHSIG, &death);
	dprintf(1, "pgrp %d sid %d nice %d policy %d dumpable %d subreaper %d death %d\n",
		(int)getpgrp(), (int)getsid(0), getpriority(PRIO_PROCESS, 0),
		sched_getscheduler(0), prctl(PR_GET_DUMPABLE), 0, death);
}

static void print_all(const char *when)
{
	int fd;

	dprintf(1, "-- %s\n", when);
	print_dir("/proc/self/fd");
	print_dir("/proc/self/task");
	print_status();
	print_process();
	fd = open("/dev/null", O_RDONLY);
	dprintf(1, "next descriptor %d\n", fd);
	close(fd);
}

int main(void)
{
	int i;

	print_all("start");
	for (i = 0; i < 1000; i++) {
		spark_region_begin("guest");
		if (i == 500)
			print_all("inside");
		spark_region_end("guest");
	}
	print_all("after");
	return 0;
}
