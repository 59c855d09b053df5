/* SPDX-License-Identifier: MIT */
/*
 * t_fork HOW PAIRS [PROGRAM...]: makes processes in the way HOW says, with markers on both sides,
 * and waits for them (except for a daemon). Each process claims its own regions.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "target.h"

extern char **environ;

struct how {
	const char *name;
	void (*run)(int64_t pairs, char **program);
};

static void loop(const char *name, int64_t n)
{
	while (n-- > 0) {
		spark_region_begin(name);
		spark_region_end(name);
	}
}

/* One that must not be done at the caller's end if it fails. */
static void must(int result, const char *what)
{
	if (result < 0)
		target_die(what);
}

static void child_end(int64_t n)
{
	loop("child", n);
	target_region("child", n);
	_exit(0);
}

static void wait_for(pid_t pid)
{
	int status;

	must(pid, "fork");
	must(waitpid(pid, &status, 0), "waitpid");
	if (status) {
		dprintf(2, "t_fork: child ended with status 0x%x\n", (unsigned int)status);
		_exit(98);
	}
}

static void run_plain(int64_t n, char **program)
{
	pid_t pid[3];
	int i;

	(void)program;
	for (i = 0; i < 3; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			child_end(n + i + 1);
	}
	for (i = 0; i < 3; i++)
		wait_for(pid[i]);
}

/* The child ends by exit(), so that every exit handler it inherited runs there too. */
static void run_exit(int64_t n, char **program)
{
	pid_t pid = fork();

	(void)program;
	if (pid == 0) {
		loop("child", n);
		target_region("child", n);
		exit(0);
	}
	wait_for(pid);
}

/* A fork inside a region: the region is the parent's alone. */
static void run_inside(int64_t n, char **program)
{
	pid_t pid;

	(void)program;
	spark_region_begin("around");
	pid = fork();
	if (pid == 0)
		child_end(n);
	wait_for(pid);
	spark_region_end("around");
	target_region("around", 1);
}

static void run_chroot(int64_t n, char **program)
{
	pid_t pid;

	(void)program;
	must(mkdir("root", 0755) < 0 && errno != EEXIST ? -1 : 0, "mkdir");
	pid = fork();
	if (pid == 0) {
		must(chroot("root"), "chroot");
		must(chdir("/"), "chdir");
		child_end(n);
	}
	wait_for(pid);
}

static void run_setuid(int64_t n, char **program)
{
	pid_t pid = fork();

	(void)program;
	if (pid == 0) {
		must(setgid(65534), "setgid");
		must(setuid(65534), "setuid");
		child_end(n);
	}
	wait_for(pid);
}

static void run_vfork(int64_t n, char **program)
{
	pid_t pid = vfork();

	(void)n;
	if (pid == 0) {
		execv(program[0], program);
		_exit(127);
	}
	wait_for(pid);
}

/* Markers of a vfork child write the parent's memory: they are counted for the parent. */
static void run_vfork_marker(int64_t n, char **program)
{
	pid_t pid = vfork();

	(void)program;
	if (pid == 0) {
		loop("borrowed", n);
		_exit(0);
	}
	wait_for(pid);
	target_region("borrowed", n);
}

static void run_spawn(int64_t n, char **program)
{
	pid_t pid;

	(void)n;
	if (posix_spawn(&pid, program[0], NULL, NULL, program, environ))
		target_die("posix_spawn");
	wait_for(pid);
}

static void run_exec(int64_t n, char **program)
{
	pid_t pid = fork();

	if (pid == 0) {
		loop("child", n);
		target_region("child", n);
		execv(program[0], program);
		_exit(127);
	}
	wait_for(pid);
}

/* No fork handlers of the C library run in this child. */
static void run_rawfork(int64_t n, char **program)
{
	pid_t pid = (pid_t)syscall(SYS_clone, 17L, 0L, 0L, 0L, 0L);

	(void)program;
	if (pid == 0)
		child_end(n);
	wait_for(pid);
}

static int raw_thread(void *arg)
{
	loop("raw", *(int64_t *)arg);
	return 0;
}

/* A thread that the C library knows nothing about and that has no thread-local storage. */
static void run_rawclone(int64_t n, char **program)
{
	static char stack[256 * 1024] __attribute__((aligned(64)));
	static volatile int tid = -1;
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
		    CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
	int seen;

	(void)program;
	must(clone(raw_thread, stack + sizeof(stack), flags, &n, NULL, NULL, &tid), "clone");
	while ((seen = tid) != 0)
		syscall(SYS_futex, &tid, FUTEX_WAIT, seen, NULL, NULL, 0);
	target_region("raw", n);
}

static void run_double(int64_t n, char **program)
{
	int end[2];
	char byte;
	pid_t pid;

	(void)program;
	must(pipe(end), "pipe");
	pid = fork();
	if (pid == 0) {
		close(end[0]);
		if (fork() == 0)
			child_end(n);
		_exit(0);
	}
	wait_for(pid);
	close(end[1]);
	/* The pipe ends when the orphan does. */
	must((int)read(end[0], &byte, 1), "read");
}

static void worker_run(int jobs)
{
	int64_t done = 0;
	char job;

	while (read(jobs, &job, 1) == 1) {
		spark_region_begin("request");
		target_spin(20000);
		spark_region_end("request");
		done++;
	}
	if (done)
		target_region("request", done);
	_exit(0);
}

/* Workers made in advance share a queue; the idle parent ends last. */
static void run_prefork(int64_t n, char **program)
{
	pid_t pid[4];
	int jobs[2], i;

	(void)program;
	must(pipe(jobs), "pipe");
	for (i = 0; i < 4; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			close(jobs[1]);
			worker_run(jobs[0]);
		}
	}
	while (n-- > 0)
		must((int)write(jobs[1], "j", 1), "write");
	close(jobs[1]);
	for (i = 0; i < 4; i++)
		wait_for(pid[i]);
}

static volatile int threads_stop;

static void *thread_loop(void *arg)
{
	int64_t *n = arg;

	while (!threads_stop) {
		loop("thread", 100);
		*n += 100;
	}
	return NULL;
}

/* Many forks while other threads are inside markers; children end by exit. */
static void run_threads(int64_t n, char **program)
{
	int64_t count[8] = { 0 }, sum = 0;
	pthread_t id[8];
	pid_t pid;
	int i;

	(void)program;
	for (i = 0; i < 8; i++)
		if (pthread_create(&id[i], NULL, thread_loop, &count[i]))
			target_die("pthread_create");
	while (n-- > 0) {
		pid = fork();
		if (pid == 0) {
			loop("child", 1);
			target_region("child", 1);
			exit(0);
		}
		wait_for(pid);
	}
	threads_stop = 1;
	for (i = 0; i < 8; i++) {
		pthread_join(id[i], NULL);
		sum += count[i];
	}
	target_region("thread", sum);
}

/*
 * PROGRAM here is the time in ms that the daemon stays; it has done its pairs when main ends, and
 * does as many once more at its own end.
 */
static void run_daemon(int64_t n, char **program)
{
	int ready[2];
	char byte;
	pid_t pid;

	must(pipe(ready), "pipe");
	pid = fork();
	if (pid == 0) {
		setsid();
		if (fork())
			_exit(0);
		must(dup2(open("/dev/null", O_RDWR), 0), "dup2");
		dup2(0, 1);
		dup2(0, 2);
		loop("early", n);
		target_region("early", n);
		target_value("daemon", getpid());
		must((int)write(ready[1], "r", 1), "write");
		close(ready[0]);
		close(ready[1]);
		target_sleep(strtoll(program[0], NULL, 0) * 1000000);
		loop("late", n);
		target_region("late", n);
		_exit(0);
	}
	wait_for(pid);
	must(read(ready[0], &byte, 1) == 1 ? 0 : -1, "read");
}

static const struct how hows[] = {
	{ "plain", run_plain },		{ "exit", run_exit },
	{ "inside", run_inside },	{ "chroot", run_chroot },
	{ "setuid", run_setuid },	{ "vfork", run_vfork },
	{ "vfork-marker", run_vfork_marker }, { "spawn", run_spawn },
	{ "exec", run_exec },		{ "rawfork", run_rawfork },
	{ "rawclone", run_rawclone },	{ "double", run_double },
	{ "prefork", run_prefork },	{ "threads", run_threads },
	{ "daemon", run_daemon },
};

int main(int argc, char **argv)
{
	int64_t pairs = target_arg(argc, argv, 2, 100);
	size_t i;

	target_open();
	loop("parent", pairs);
	for (i = 0; argc > 1 && i < sizeof(hows) / sizeof(hows[0]); i++) {
		if (strcmp(argv[1], hows[i].name))
			continue;
		hows[i].run(pairs, argv + 3);
		loop("parent", pairs);
		target_region("parent", 2 * pairs);
		return 0;
	}
	return 2;
}
