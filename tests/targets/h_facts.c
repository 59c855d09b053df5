/* SPDX-License-Identifier: MIT */
/*
 * h_facts: what the kernel of this machine must do for Spark to be right, tried out, one TAP line each.
 * A fact that cannot be had here, and that Spark does without, is a skip with its capability.
 */
#include <linux/perf_event.h>
#include <linux/rseq.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "target.h"

#define CHUNK 65536

#if defined(__aarch64__)
#define SIGNATURE 0xd428bc00u
#else
#define SIGNATURE 0x53053053u
#endif

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

static int number, failures;

static void fact(int holds, const char *name)
{
	printf("%sok %d - %s\n", holds ? "" : "not ", ++number, name);
	failures += !holds;
}

static void absent(const char *name, const char *capability, const char *reason)
{
	printf("ok %d - %s # SKIP %s: %s\n", ++number, name, capability, reason);
}

static void nap(void)
{
	target_sleep(2000000);
}

/* Runs f in a child; the status as of waitpid(2). */
static int child(void (*f)(void *), void *arg)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		f(arg);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

static int new_memfd(size_t size)
{
	int fd = memfd_create("facts", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, (off_t)size))
		target_die("memfd_create");
	return fd;
}

static char *map(int fd, size_t size)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		target_die("mmap");
	return p;
}

/* ---- switch detectors ------------------------------------------------------------------------------ */

static void rseq_cleared(void)
{
	static const char name[] = "rseq: a section never entered is cleared when the thread is switched out";
	static const unsigned int code[2] = { SIGNATURE, SIGNATURE };
	static const struct rseq_cs section = {
		.start_ip = (uintptr_t)&code[0], .post_commit_offset = 1, .abort_ip = (uintptr_t)&code[1]
	};
	struct rseq *area;

	if (!&__rseq_size || !__rseq_size) {
		absent(name, "switch-detector", "the C library has not registered rseq");
		return;
	}
	area = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
	__atomic_store_n((uint64_t *)&area->rseq_cs, (uint64_t)(uintptr_t)&section, __ATOMIC_RELAXED);
	nap();
	if (__atomic_load_n((uint64_t *)&area->rseq_cs, __ATOMIC_RELAXED) == 0)
		fact(1, name);
	else
		absent(name, "switch-detector", "this kernel leaves it");
}

static int open_event(unsigned long long config, pid_t pid, int on_exec)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = config, .exclude_kernel = 1, .exclude_hv = 1,
		.disabled = on_exec != 0, .inherit = on_exec != 0, .enable_on_exec = on_exec != 0,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void page_steps(void)
{
	static const char name[] = "perf page: its lock word steps when the thread is switched in, after the descriptor is closed";
	int fd = open_event(PERF_COUNT_SW_DUMMY, 0, 0);
	volatile struct perf_event_mmap_page *page;
	unsigned int before;

	if (fd < 0) {
		absent(name, "counting", strerror(errno));
		return;
	}
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (page == MAP_FAILED) {
		absent(name, "counting", strerror(errno));
		return;
	}
	before = page->lock;
	nap();
	fact(page->lock != before, name);
}

static void switches_counted(void)
{
	struct rusage before, after;
	int64_t cpu = target_clock(CLOCK_THREAD_CPUTIME_ID);

	getrusage(RUSAGE_THREAD, &before);
	target_sleep(50000000);
	getrusage(RUSAGE_THREAD, &after);
	fact(after.ru_nvcsw > before.ru_nvcsw, "getrusage: a sleep is a voluntary switch of the thread");
	fact(target_clock(CLOCK_THREAD_CPUTIME_ID) - cpu < 10000000, "the thread's CPU clock stands still in a sleep");
}

static void exec_exact(void)
{
	static const char name[] = "counting from exec: inherit and enable_on_exec leave out what was before";
	uint64_t count = 0;
	int fd, go[2];
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		target_die("pipe2");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		char byte, path[] = "/bin/true", *argv[] = { path, NULL };

		if (read(go[0], &byte, 1) == 1)
			target_spin(50000000);
		execv(path, argv);
		_exit(1);
	}
	fd = open_event(PERF_COUNT_SW_TASK_CLOCK, pid, 1);
	if (write(go[1], "", 1) != 1)
		target_die("write");
	waitpid(pid, NULL, 0);
	if (fd < 0)
		absent(name, "counting", "perf_event_open");
	else
		fact(read(fd, &count, sizeof(count)) == sizeof(count) && count > 0 && count < 40000000, name);
	close(fd);
}

/* ---- the segment ----------------------------------------------------------------------------------- */

static void seals_hold(void)
{
	int fd = new_memfd(2 * CHUNK);
	char *p = map(fd, 2 * CHUNK);
	int held;

	memset(p, 1, 2 * CHUNK);
	held = fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0;
	held = held && ftruncate(fd, CHUNK) < 0 && errno == EPERM && ftruncate(fd, 4 * CHUNK) < 0 && errno == EPERM;
	fact(held, "memfd: seals hold its size");
	fact(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, CHUNK) == 0 && p[0] == 0 && p[CHUNK] == 1,
	     "memfd: holes can still be punched, and read as zeros");
	fact(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) < 0 && errno == EBUSY,
	     "memfd: sealing it against writing is EBUSY while it is mapped to be written");
	munmap(p, 2 * CHUNK);
	fact(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) == 0, "memfd: and succeeds when it no longer is");
	close(fd);
}

static void map_and_die(void *arg)
{
	char *p = map(*(int *)arg, CHUNK);

	p[1] = 7;
	raise(SIGKILL);
}

static void write_survives(void)
{
	int fd = new_memfd(CHUNK);
	char byte = 0;

	child(map_and_die, &fd);
	fact(pread(fd, &byte, 1, 1) == 1 && byte == 7, "memfd: what a killed process wrote is there");
	fact(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) == 0, "memfd: and its mapping is gone");
	close(fd);
}

static void grows_without_descriptor(void)
{
	int fd = new_memfd(4 * CHUNK);
	char *all = map(fd, 4 * CHUNK), *first = map(fd, CHUNK), *more;

	close(fd);
	all[CHUNK + 5] = 42;
	more = mremap(first, 0, 2 * CHUNK, MREMAP_MAYMOVE);
	fact(more != MAP_FAILED && more != first && more[CHUNK + 5] == 42, "mremap: an old size of 0 maps the file again, and further");
	if (more == MAP_FAILED)
		return;
	first[3] = 9;
	fact(more[3] == 9, "mremap: and the old mapping stays");
}

static void touch_limited(void *arg)
{
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_FSIZE, &none);
	memset(arg, 1, 16 * CHUNK);
}

static void truncate_limited(void *arg)
{
	struct rlimit none = { 0, 0 };

	signal(SIGXFSZ, SIG_DFL);
	setrlimit(RLIMIT_FSIZE, &none);
	if (ftruncate(*(int *)arg, 32 * CHUNK))
		_exit(1);
}

static void limits_do_not_hit(void)
{
	int fd = new_memfd(16 * CHUNK), status;
	char *p = map(fd, 16 * CHUNK);

	fact(child(touch_limited, p) == 0 && p[16 * CHUNK - 1] == 1, "RLIMIT_FSIZE: fresh pages of a mapped memfd can be written");
	status = child(truncate_limited, &fd);
	fact(status != 0, "RLIMIT_FSIZE: but a memfd can't be made larger");
	munmap(p, 16 * CHUNK);
	close(fd);
}

static void check_wiped(void *arg)
{
	char **p = arg;

	_exit(p[0][0] == 0 && p[0][CHUNK - 1] == 0 && p[1][0] == 1 ? 0 : 1);
}

static void fork_wipes(void)
{
	char *p[2] = { map(-1, CHUNK), map(-1, CHUNK) };

	memset(p[0], 1, CHUNK);
	memset(p[1], 1, CHUNK);
	if (madvise(p[0], CHUNK, MADV_WIPEONFORK))
		fact(0, "MADV_WIPEONFORK");
	else
		fact(child(check_wiped, p) == 0 && p[0][0] == 1, "MADV_WIPEONFORK: zeros in the child, and only there");
}

/* ---- the hello ------------------------------------------------------------------------------------- */

static void send_descriptor(int to, int fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	char byte = 'x';
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };

	*CMSG_FIRSTHDR(&m) = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &fd, sizeof(fd));
	if (sendmsg(to, &m, 0) != 1)
		target_die("sendmsg");
}

struct receiver {
	int socket, memfd;
	pid_t peer;
};

/* No descriptor is free: the message comes without its own, and the file is reached through /proc. */
static void receive_without_room(void *arg)
{
	struct receiver *r = arg;
	char control[CMSG_SPACE(sizeof(int))], byte, path[64];
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct rlimit four = { 4, 4 };
	int fd;

	if (dup2(r->socket, 3) != 3 || close_range(4, ~0u, 0) || setrlimit(RLIMIT_NOFILE, &four))
		_exit(2);
	if (recvmsg(3, &m, MSG_CMSG_CLOEXEC) != 1 || !(m.msg_flags & MSG_CTRUNC))
		_exit(3);
	close(3);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)r->peer, r->memfd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd != 3)
		_exit(4);
	map(fd, CHUNK)[11] = 13;
}

static void descriptor_limit(void)
{
	struct receiver r = { .memfd = new_memfd(CHUNK), .peer = getpid() };
	int pair[2], status;
	char byte = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		target_die("socketpair");
	send_descriptor(pair[0], r.memfd);
	r.socket = pair[1];
	status = child(receive_without_room, &r);
	fact(status == 0 && pread(r.memfd, &byte, 1, 11) == 1 && byte == 13,
	     "no descriptor is free: the message comes without it, and /proc/PID/fd leads to the file");
	close(pair[0]);
	close(pair[1]);
	close(r.memfd);
}

static int send_to_nobody(int flags)
{
	int pair[2];
	long n;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		target_die("socketpair");
	close(pair[1]);
	n = send(pair[0], "x", 1, flags);
	close(pair[0]);
	return n < 0 && errno == EPIPE;
}

static void pidfd_ends(void)
{
	struct pollfd poller = { .events = POLLIN };
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		nap();
		_exit(0);
	}
	poller.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	fact(poller.fd >= 0 && poll(&poller, 1, 5000) == 1, "pidfd: readable when the process has ended, before it is waited for");
	close(poller.fd);
	waitpid(pid, NULL, 0);
}

/* ---- /proc ------------------------------------------------------------------------------------------ */

/* Its length; -1: there is none, or it may not be read. */
static ssize_t look(int fd, char text[512])
{
	memset(text, 0, 512);
	return fd < 0 ? -1 : pread(fd, text, 511, 0);
}

static void io_counts_itself(void)
{
	static const char name[] = "io: a reading shows all before it, and counts as one call itself";
	unsigned long long rchar[2], syscr[2];
	char text[2][512];
	ssize_t n[2];
	int fd, i;

	for (i = 0; i < 2; i++) {
		fd = open("/proc/thread-self/io", O_RDONLY | O_CLOEXEC);
		n[i] = look(fd, text[i]);
		close(fd);
		if (sscanf(text[i], "rchar: %llu wchar: %*u syscr: %llu", &rchar[i], &syscr[i]) != 2) {
			absent(name, "procio", "no such fields");
			return;
		}
	}
	fact(rchar[1] == rchar[0] + (unsigned long long)n[0] && syscr[1] == syscr[0] + 1, name);
}

static void io_of_a_zombie(void)
{
	static const char name[] = "io: of a zombie it can be read by who had it open, privileged or not";
	char path[64], text[512];
	siginfo_t info;
	pid_t pid;
	int fd;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		nap();
		_exit(0);
	}
	snprintf(path, sizeof(path), "/proc/%d/io", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	if (fd < 0)
		absent(name, "procio", strerror(errno));
	else
		fact(look(fd, text) > 0, name);
	waitpid(pid, NULL, 0);
	close(fd);
}

static void schedstat_is_now(void)
{
	static const char name[] = "schedstat: the runtime is as of now after the CPU clock was read";
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	char text[512];
	int64_t cpu;

	target_spin(1000000);
	cpu = target_clock(CLOCK_THREAD_CPUTIME_ID);
	if (look(fd, text) <= 0 || !strcmp(text, "0 0 0\n"))
		absent(name, "sched", "no such file, or nothing in it");
	else
		fact(strtoll(text, NULL, 10) >= cpu, name);
	close(fd);
}

/* ---- the clock ------------------------------------------------------------------------------------- */

static void tsc_steady(void)
{
	static const char name[] = "time stamp counter: its rate against CLOCK_MONOTONIC_RAW is the same twice";
#if defined(__x86_64__)
	uint64_t tsc[3] = { 0, 0, 0 }, before, after, least;
	int64_t ns[3] = { 0, 0, 0 }, now;
	double rate[2];
	int i, k;

	for (i = 0; i < 3; i++) {
		/* The closest of some pairs: one may be torn apart by a switch. */
		for (k = 0, least = UINT64_MAX; k < 100; k++) {
			before = __builtin_ia32_rdtsc();
			now = target_clock(CLOCK_MONOTONIC_RAW);
			after = __builtin_ia32_rdtsc();
			if (after - before >= least)
				continue;
			least = after - before;
			tsc[i] = before;
			ns[i] = now;
		}
		if (i < 2)
			target_sleep(100000000);
	}
	for (i = 0; i < 2; i++)
		rate[i] = (double)(tsc[i + 1] - tsc[i]) / (double)(ns[i + 1] - ns[i]);
	fact(rate[0] / rate[1] > 0.999 && rate[0] / rate[1] < 1.001, name);
#else
	absent(name, "tsc", "another architecture");
#endif
}

int main(void)
{
	rseq_cleared();
	page_steps();
	switches_counted();
	exec_exact();
	seals_hold();
	write_survives();
	grows_without_descriptor();
	limits_do_not_hit();
	fork_wipes();
	descriptor_limit();
	fact(send_to_nobody(MSG_NOSIGNAL), "MSG_NOSIGNAL: a peer that is gone is EPIPE, without a signal");
	pidfd_ends();
	io_counts_itself();
	io_of_a_zombie();
	schedstat_is_now();
	tsc_steady();
	printf("1..%d\n", number);
	return failures != 0;
}
