/* SPDX-License-Identifier: MIT */
/*
 * What differs between machines when a thread is made to do something for us: its registers, a signal frame that
 * brings them back, system calls by instructions that are there already, and the code that loads the agent.
 */
#ifndef CLI_INJECT_ARCH_H
#define CLI_INJECT_ARCH_H

#include <sys/types.h>

#include "common/base.h"

#define ARCH_EXTENDED (20u << 10)    /* room for vector registers */
#define ARCH_FRAME (24u << 10)       /* room for a signal frame with them */

/* All that a thread has in the processor, and the signals that it blocks. */
struct arch_state {
	u64 before[9];               /* by arch_before() */
	u64 regs[48];
	size_t regs_size;
	u8 extended[ARCH_EXTENDED] __attribute__((aligned(64)));
	size_t extended_size;
	u64 mask;
};

/* Instructions of the C library or the vDSO that are of use. */
struct arch_gadgets {
	u64 system_call;             /* a system call, and back to where arch_call() says */
	u64 back;                    /* rt_sigreturn(2) */
};

/*
 * The memory that the code works on: what it calls, what it is told and what it answers. The code knows it by numbers.
 */
struct arch_data {
	u64 errno_location, open, why, find; /* __errno_location, dlopen, dlerror, dlsym */
	u64 handle;                  /* of the agent */
	u64 error;                   /* address of what dlerror(3) said; 0: nothing */
	s64 result;                  /* of the agent's entry, or of the system call that failed */
	u64 saved_errno;
	u64 soname, path, symbol;    /* addresses of texts */
	u64 frame;                   /* to which the stack pointer is set before rt_sigreturn(2) */
	s32 pair[2];                 /* sockets: the agent's and ours */
	s64 file;                    /* memfd for the agent, if one was made; -1 */
	u64 file_name;               /* 0: none is to be made */
	u64 stage;                   /* enum arch_stage */
	u8 token[16];
};

/* How far the code came. */
enum arch_stage { ARCH_SOCKETS = 1, ARCH_FILE, ARCH_OPEN, ARCH_FIND, ARCH_WAKE, ARCH_DONE };

/* System calls by which the code waits for us: gettid(2), first argument ARCH_MARK, second one of these. */
#define ARCH_MARK 0x5350524bu
enum arch_step { ARCH_STEP_FILE = 1, ARCH_STEP_END };

bool arch_available(void);
/* Before it is asked to stop: what its registers will not tell then. */
void arch_before(pid_t tid, struct arch_state *state);
/*
 * signalled: a handler may have run since then. 0, or -errno; -EOPNOTSUPP: it has a shadow stack, -EBUSY: registers that
 * no frame of ours holds, -EAGAIN: at this very place it cannot be entered.
 */
int arch_read(pid_t tid, struct arch_state *state, bool signalled);
/* It is to be let go with nothing done to it: a system call that our stop alone has ended begins anew. */
void arch_release(pid_t tid, const struct arch_state *state);
/*
 * Before arch_write(): true: that has to be done at the exit of a system call whose first argument is this, and the
 * state is now one of which the kernel, in the next stop, decides whether the interrupted call begins anew.
 */
bool arch_again(struct arch_state *state, u64 *first);
/* Restores all; the registers last: what comes before them does not matter if it ends there. */
int arch_write(pid_t tid, const struct arch_state *state);
u64 arch_pc(const struct arch_state *state);
/* Of the system call that it is in, or about to make; UINT64_MAX: none. */
u64 arch_call_number(const struct arch_state *state);
u64 arch_sp(const struct arch_state *state);
/* Bytes below the stack pointer that are in use. */
u64 arch_red_zone(void);
/* In the order of unwind_regs_mask(). */
void arch_unwind_regs(const struct arch_state *state, u64 *regs);

/* Looks through code, of the C library or the vDSO; true: both were found. */
bool arch_find(struct arch_gadgets *gadgets, const u8 *code, size_t size, u64 address);
/*
 * The signal frame of a state, for its place. Returns its size, 0 if there is no room. Whoever returns to it after a
 * system call goes on as the thread would have: an interrupted call begins anew.
 */
size_t arch_frame(const struct arch_state *state, const struct arch_gadgets *gadgets, u64 at, u8 *frame, size_t room);
/* Sets the thread up for a system call, after which it returns to the frame. 0, or -errno. */
int arch_call(pid_t tid, const struct arch_state *state, const struct arch_gadgets *gadgets, u64 frame, u64 number,
	      const u64 *arguments);
/* What a system call has answered. */
s64 arch_result(pid_t tid);

/* The code: independent of its place, entered with its data and a stack. */
const u8 *arch_code(size_t *size);
int arch_enter(pid_t tid, const struct arch_state *state, u64 code, u64 data, u64 stack);
/* Where the stack pointer has to be for rt_sigreturn(2), of a frame at that address. */
u64 arch_frame_sp(u64 at);

#endif
