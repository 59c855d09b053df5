/* SPDX-License-Identifier: MIT */
/*
 * h_hostile MODE [ARGS...]: a program that takes from itself what an agent might want to rely on
 * (descriptors, limits, its root, its user), then goes on with markers. It prints what it could see
 * or do: the same with and without Spark. Claims come before the mischief.
 *
 *	plain			nothing
 *	close			closes all descriptors above 2, twice
 *	dup2			puts /dev/null on all descriptors from 3 to 1023
 *	nofile			opens until EMFILE, here and in a child
 *	lowest			relies on the lowest free descriptor
 *	limit NAME VALUE	sets a limit (memlock, as, fsize); as: above what is mapped
 *	mlockall all		locks what is mapped and what will be
 *	mlockall future		with RLIMIT_MEMLOCK 64 KiB, what will be; then 100 threads at a time
 *	chroot DIR [PROGRAM...]	changes the root, forks, then executes the program there
 *	user UID [PROGRAM...]	gives up its ids, forks, then executes the program
 */
#include <pthread.h>
#include <sys/wait.h>

#include "target.h"

#define PAIRS 1000
#define THREAD_PAIRS 100
#define STACK 65536
#define MOST_THREADS 100

static char stacks[MOST_THREADS][STACK] __attribute__((aligned(4096)));
static pthread_barrier_t all_there;

static void work(int64_t n)
{
	static struct spark_region handle = SPARK_REGION("handle");
	char name[16] = "dynamic";
	int64_t i;

	for (i = 0; i < n; i++) {
		spark_region_begin("literal");
		spark_begin(&handle);
		spark_end(&handle);
		spark_region_end("literal");
		spark_region_begin(name);
		spark_region_end(name);
	}
}

static void claim_work(uint64_t n)
{
	target_region("literal", n);
	target_region("literal;handle", n);
	target_region("dynamic", n);
}

static void *thread_work(void *arg)
{
	int i;

	pthread_barrier_wait(arg);
	for (i = 0; i < THREAD_PAIRS; i++) {
		spark_region_begin("thread");
		spark_region_end("thread");
	}
	pthread_barrier_wait(arg);
	return NULL;
}

/* Threads that are all alive at once, on stacks of our own: making them needs no memory. */
static void threads_work(int n)
{
	pthread_t ids[MOST_THREADS];
	pthread_attr_t attr;
	int i, made = 0;

	pthread_barrier_init(&all_there, NULL, (unsigned int)n);
	for (i = 0; i < n; i++) {
		pthread_attr_init(&attr);
		pthread_attr_setstack(&attr, stacks[i], STACK);
		made += pthread_create(&ids[i], &attr, thread_work, &all_there) == 0;
		pthread_attr_destroy(&attr);
	}
	if (made != n)
		target_die("pthread_create");
	for (i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	printf("%d threads\n", made);
}

static void child_work(void)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		work(PAIRS);
		_exit(5);
	}
	waitpid(pid, &status, 0);
	printf("child ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void mode_close(void)
{
	int fd;

	claim_work(2 * PAIRS);
	target_region("thread", 8 * THREAD_PAIRS);
	work(PAIRS);
	close_range(3, ~0u, 0);
	for (fd = 3; fd < 1024; fd++)
		close(fd);
	target_fd = -1;
	work(PAIRS);
	threads_work(8);
	printf("next descriptor %d\n", dup(0));
}

static void mode_dup2(void)
{
	struct stat null, st;
	int fd, same = 0, first;

	claim_work(2 * PAIRS);
	target_region("thread", 8 * THREAD_PAIRS);
	work(PAIRS);
	first = open("/dev/null", O_RDWR);
	fstat(first, &null);
	for (fd = 3; fd < 1024; fd++)
		if (dup2(first, fd) != fd)
			break;
	target_fd = -1;
	work(PAIRS);
	threads_work(8);
	for (fd = 3; fd < 1024; fd++)
		same += fstat(fd, &st) == 0 && st.st_rdev == null.st_rdev;
	printf("%d descriptors are ours\n", same);
}

static int open_all(void)
{
	int n = 0;

	while (open("/dev/null", O_RDONLY) >= 0)
		n++;
	return errno == EMFILE ? n : -1;
}

/* The claims' descriptor is closed first: there may be none left for anything. */
static void mode_nofile(void)
{
	pid_t pid;

	claim_work(2 * PAIRS);
	if (target_fd > 2)
		close(target_fd);
	work(PAIRS);
	printf("%d descriptors\n", open_all());
	work(PAIRS);
	fflush(stdout);
	close_range(3, ~0u, 0);
	pid = fork();
	if (pid == 0) {
		printf("child: %d descriptors\n", open_all());
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void mode_lowest(void)
{
	int i, fds[4];

	claim_work(4 * PAIRS);
	if (target_fd > 2)
		close(target_fd);
	close(0);
	for (i = 0; i < 4; i++) {
		fds[i] = open("/dev/null", O_RDONLY);
		work(PAIRS);
	}
	printf("descriptors %d %d %d %d\n", fds[0], fds[1], fds[2], fds[3]);
}

static void mode_limit(const char *name, int64_t value)
{
	int what = strcmp(name, "as") == 0 ? RLIMIT_AS : strcmp(name, "fsize") == 0 ? RLIMIT_FSIZE : RLIMIT_MEMLOCK;
	int64_t mapped = what == RLIMIT_AS ? target_status("VmSize:") * 1024 : 0;
	struct rlimit limit = { (rlim_t)(value + mapped), (rlim_t)(value + mapped) };
	char many[32];
	int i;

	claim_work(2 * PAIRS);
	target_region("thread", 20 * THREAD_PAIRS);
	target_value("many", 5000);
	work(PAIRS);
	if (setrlimit(what, &limit))
		target_die("setrlimit");
	work(PAIRS);
	threads_work(20);
	for (i = 0; i < 5000; i++) {
		snprintf(many, sizeof(many), "many-%d", i);
		spark_region_begin(many);
		spark_region_end(many);
	}
	printf("limited\n");
}

static void mode_mlockall(const char *what)
{
	struct rlimit limit = { 65536, 65536 };
	int future = strcmp(what, "future") == 0, n = future ? MOST_THREADS : 4;

	claim_work(2 * PAIRS);
	target_region("thread", (uint64_t)n * THREAD_PAIRS);
	work(PAIRS);
	if (future) {
		if (geteuid() == 0 && setresuid(65534, 65534, 65534))
			target_die("setresuid");
		setrlimit(RLIMIT_MEMLOCK, &limit);
	}
	printf("mlockall %d\n", mlockall(future ? MCL_FUTURE : MCL_CURRENT | MCL_FUTURE));
	work(PAIRS);
	threads_work(n);
}

static void mode_leave(int is_chroot, char **argv)
{
	uid_t uid = (uid_t)atoi(argv[2]);

	claim_work(2 * PAIRS);
	work(PAIRS);
	if (is_chroot ? chroot(argv[2]) || chdir("/") : setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		target_die(argv[1]);
	work(PAIRS);
	child_work();
	fflush(stdout);
	if (argv[3]) {
		/* The file of the claims may be out of reach; what is claimed so far is all. */
		setenv("TARGET_OUT", "/dev/null", 1);
		execv(argv[3], argv + 3);
		target_die(argv[3]);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	target_open();
	if (strcmp(mode, "close") == 0)
		mode_close();
	else if (strcmp(mode, "dup2") == 0)
		mode_dup2();
	else if (strcmp(mode, "nofile") == 0)
		mode_nofile();
	else if (strcmp(mode, "lowest") == 0)
		mode_lowest();
	else if (strcmp(mode, "limit") == 0 && argc == 4)
		mode_limit(argv[2], target_arg(argc, argv, 3, 0));
	else if (strcmp(mode, "mlockall") == 0 && argc == 3)
		mode_mlockall(argv[2]);
	else if ((strcmp(mode, "chroot") == 0 || strcmp(mode, "user") == 0) && argc > 2)
		mode_leave(mode[0] == 'c', argv);
	else if (strcmp(mode, "plain") == 0)
		claim_work(PAIRS), work(PAIRS);
	else
		return 2;
	printf("fine\n");
	return 7;
}
