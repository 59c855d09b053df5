/* SPDX-License-Identifier: MIT */
/*
 * The rule for safe places. To load the agent takes the loader's and the allocator's locks, which are not to be taken
 * twice by a thread, and changes what they guard: so no function of either may be on the thread's stack, nor one that
 * holds what they use. What the stack does not tell to its end is not safe.
 */
#define _GNU_SOURCE
#include "cli/inject/safe.h"

#include <linux/rseq.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "cli/inject/tracee.h"
#include "cli/symbols/unwind.h"

#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#define PTRACE_GET_RSEQ_CONFIGURATION 0x420f
#endif

struct rseq_place {                  /* struct ptrace_rseq_configuration */
	u64 address;
	u32 size, signature, flags, reserved;
};

/* In whatever object: programs bring their own. A last "*" stands for any rest. */
static const char *const unsafe[] = {
	"malloc*", "mallopt", "mallinfo*", "obstack*", "_mid_memalign", "__libc_malloc*", "__libc_calloc*", "__libc_valloc",
	"__libc_pvalloc", "calloc", "realloc*", "free", "cfree", "memalign", "aligned_alloc", "posix_memalign", "valloc", "pvalloc",
	"__libc_malloc", "__libc_calloc", "__libc_realloc", "__libc_free", "__libc_memalign", "_int_malloc", "_int_free*",
	"_Znw*", "_Zna*", "_Zdl*", "_Zda*", "je_*", "tc_*", "mi_*",
	"dl*", "_dl_*", "__libc_dl*", "__tls_get_addr*", "__cxa_thread_atexit*",
	"fork", "_Fork", "__fork", "__libc_fork", "vfork", "__vfork", "posix_spawn*", "__register_atfork", "pthread_atfork",
	"exit", "_exit", "_Exit", "quick_exit", "abort", "__cxa_finalize", "__cxa_atexit", "on_exit", "atexit",
	"pthread_create*", "__pthread_create*", "pthread_exit", "__nptl_*", "thrd_create", "thrd_exit",
	"setenv", "putenv", "unsetenv", "clearenv", "setuid", "seteuid", "setresuid", "setgid", "setegid", "setresgid", "setgroups",
};

static bool name_unsafe(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(unsafe); i++) {
		size_t length = strlen(unsafe[i]);

		if (unsafe[i][length - 1] == '*' ? !strncmp(name, unsafe[i], length - 1) : !strcmp(name, unsafe[i]))
			return true;
	}
	return false;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_loader(const char *path)
{
	const char *name = file_name(path);

	return !strncmp(name, "ld-", 3) || !strncmp(name, "ld64.so", 7) || !strncmp(name, "ld.so", 5);
}

bool safe_is_system(const char *path)
{
	const char *name = file_name(path);

	return !strncmp(name, "libc.so", 7) || !strncmp(name, "libc-2.", 7) || !strncmp(name, "libpthread", 10) ||
	       !strcmp(path, "[vdso]");
}

/*
 * A function of the C library without a name, called from elsewhere: one that had a name has jumped to it, as memalign()
 * does to what takes the allocator's locks. So do functions that wait for other threads; those wait in futex(2).
 */
static bool jumped_to(const struct live_stack *stack, u32 i)
{
	return !stack->frames[i].function && i + 1 < stack->n && safe_is_system(stack->frames[i].path) &&
	       strcmp(stack->frames[i].path, "[vdso]") != 0 && !safe_is_system(stack->frames[i + 1].path);
}

const char *safe_stack(const struct live_stack *stack, bool waits)
{
	bool own = false;

	if (stack->why || !stack->n)
		return "the stack of its threads cannot be followed to the end";
	for (u32 i = 0; i < stack->n; i++) {
		const struct live_frame *f = &stack->frames[i];

		if (f->interrupted)
			return "its threads are in signal handlers";
		if (is_loader(f->path))
			return "its threads are in the loader";
		if ((f->function && name_unsafe(f->function)) || (!waits && !own && jumped_to(stack, i)))
			return "its threads are in the allocator, or load, start or end something";
		/* A thread that begins or ends is in nothing else. */
		own |= !safe_is_system(f->path);
	}
	return own ? NULL : "its threads begin or end";
}

/* In a sequence that the kernel would have to begin anew if the thread were moved elsewhere. */
static bool in_sequence(pid_t pid, pid_t tid, u64 pc)
{
	struct rseq_place place = { 0 };
	struct rseq_cs cs;
	u64 at;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, (void *)sizeof(place), &place) <= 0 || !place.address ||
	    tracee_read(pid, place.address + offsetof(struct rseq, rseq_cs), &at, sizeof(at)) != sizeof(at) || !at)
		return false;
	return tracee_read(pid, at, &cs, sizeof(cs)) == sizeof(cs) && pc - cs.start_ip < cs.post_commit_offset;
}

void safe_take(struct safe_look *look, pid_t pid, pid_t tid, const struct arch_state *state)
{
	arch_unwind_regs(state, look->regs);
	look->size = tracee_read(pid, arch_sp(state), look->stack, sizeof(look->stack));
	look->sequence = in_sequence(pid, tid, arch_pc(state));
	look->waits = arch_call_number(state) == SYS_futex;
}

const char *safe_tell(const struct safe_look *look, struct live *live, struct live_stack *stack)
{
	if (look->sequence)
		return "its threads are in restartable sequences";
	live_unwind(live, look->regs, look->stack, look->size, stack);
	return safe_stack(stack, look->waits);
}
