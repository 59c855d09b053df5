/* SPDX-License-Identifier: MIT */
/*
 * h_refuse CALL EPERM|ENOSYS|EMFILE PROGRAM [ARGS...]: executes the program under a seccomp filter in
 * which that system call fails with that error, and all others work. CALL may be "none". "facts" is the
 * opening of a file as sparkctl opens those of /proc and /sys, which no loader does: filters can't see
 * paths, but they see flags.
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "target.h"

#define NONE (-1)

static const struct call {
	const char *name;
	int number, other; /* of two calls that do the same */
	unsigned int flags; /* of the third argument, or 0: all */
} calls[] = {
	{ "none", NONE, NONE, 0 },
	{ "facts", SYS_openat, NONE, O_RDONLY | O_CLOEXEC | O_NONBLOCK },
	{ "fadvise64", SYS_fadvise64, NONE, 0 },
	{ "get_mempolicy", SYS_get_mempolicy, NONE, 0 },
	{ "getdents64", SYS_getdents64, NONE, 0 },
	{ "memfd_create", SYS_memfd_create, NONE, 0 },
	{ "mincore", SYS_mincore, NONE, 0 },
#ifdef SYS_mkdir
	{ "mkdir", SYS_mkdir, SYS_mkdirat, 0 },
#else
	{ "mkdir", SYS_mkdirat, NONE, 0 },
#endif
	{ "move_pages", SYS_move_pages, NONE, 0 },
	{ "perf_event_open", SYS_perf_event_open, NONE, 0 },
	{ "ptrace", SYS_ptrace, NONE, 0 },
#ifdef SYS_rseq
	{ "rseq", SYS_rseq, NONE, 0 },
#endif
	{ "socket", SYS_socket, NONE, 0 },
};

static const struct {
	const char *name;
	int number;
} errors[] = { { "EPERM", EPERM }, { "ENOSYS", ENOSYS }, { "EMFILE", EMFILE } };

static int refuse(const struct call *call, int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)call->number, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)call->other, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call->flags, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (!call->flags)
		code[4] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JA, 0, 0, 0);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	const struct call *call = NULL;
	int error = 0;
	size_t i;

	if (argc < 4)
		return 2;
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, argv[1]) == 0)
			call = &calls[i];
	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strcmp(errors[i].name, argv[2]) == 0)
			error = errors[i].number;
	if (!call || !error)
		return 2;
	if (refuse(call, error))
		target_die("seccomp");
	execv(argv[3], argv + 3);
	target_die(argv[3]);
	return 99;
}
