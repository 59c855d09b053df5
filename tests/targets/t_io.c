/* SPDX-License-Identifier: MIT */
/*
 * t_io MODE FILE CALLS BYTES: first MODE, then known input and output.
 *
 * Region "empty" 1,000 times; then in a window "io" region "write" with CALLS writes of BYTES each to
 * FILE, and region "read" with as many reads, each in a region "inner".
 *
 * MODE is what makes the process's files in /proc unreadable, or how it ends: plain; filter (openat
 * fails with EPERM, by a filter that nobody is told of); chroot (to the current directory); user
 * (65534); undumpable; kill (by SIGKILL, at the end); exec (plain, as another image, at the end).
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "target.h"

#define MOST (1 << 20)

static char buffer[MOST];

/* prctl(2) would tell the agent. */
static long inline_prctl(long option, long a, long b)
{
	long ret;
#if defined(__x86_64__)
	register long r10 __asm__("r10") = 0;
	register long r8 __asm__("r8") = 0;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"((long)SYS_prctl), "D"(option), "S"(a), "d"(b), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
#else
	register long x8 __asm__("x8") = SYS_prctl;
	register long x0 __asm__("x0") = option;
	register long x1 __asm__("x1") = a;
	register long x2 __asm__("x2") = b;
	register long x3 __asm__("x3") = 0;
	register long x4 __asm__("x4") = 0;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
	ret = x0;
#endif
	return ret;
}

static void filter(void)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	static struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (inline_prctl(PR_SET_NO_NEW_PRIVS, 1, 0) ||
	    inline_prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program))
		target_die("seccomp");
}

static void leave(const char *mode)
{
	if (!strcmp(mode, "filter"))
		filter();
	else if (!strcmp(mode, "chroot") && (chroot(".") || chdir("/")))
		target_die(mode);
	else if (!strcmp(mode, "user") && (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)))
		target_die(mode);
	else if (!strcmp(mode, "undumpable") && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		target_die(mode);
}

static void work(int fd, int64_t calls, size_t bytes)
{
	int64_t i;

	for (i = 0; i < 1000; i++) {
		spark_region_begin("empty");
		spark_region_end("empty");
	}
	spark_window_begin("io");
	spark_region_begin("write");
	for (i = 0; i < calls; i++)
		if (write(fd, buffer, bytes) != (ssize_t)bytes)
			target_die("write");
	spark_region_end("write");
	if (lseek(fd, 0, SEEK_SET))
		target_die("lseek");
	spark_region_begin("read");
	for (i = 0; i < calls; i++) {
		spark_region_begin("inner");
		if (read(fd, buffer, bytes) != (ssize_t)bytes)
			target_die("read");
		spark_region_end("inner");
	}
	spark_region_end("read");
	spark_window_end("io");
}

int main(int argc, char **argv)
{
	int64_t calls = target_arg(argc, argv, 3, 0), bytes = target_arg(argc, argv, 4, 0);
	char *again[] = { argv[0], (char *)"plain", argv[2], argv[3], argv[4], NULL };
	int fd;

	if (argc < 5 || bytes > MOST)
		return 2;
	target_open();
	fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		target_die(argv[2]);
	leave(argv[1]);
	work(fd, calls, (size_t)bytes);
	if (!strcmp(argv[1], "exec"))
		execv(again[0], again);
	if (!strcmp(argv[1], "kill"))
		raise(SIGKILL);
	return 0;
}
