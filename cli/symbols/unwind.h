/* SPDX-License-Identifier: MIT */
/*
 * Stacks of samples by call frame information: from the registers and the copy of the stack that the kernel took with
 * a sample (PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER) to the chain of callers.
 *
 * A process is a struct unwind, which keeps the rules of the places that it met. What a sample holds and what files say
 * is a stranger's: chains are bounded, each frame lies above the one before it, and instructions have a budget.
 */
#ifndef CLI_SYMBOLS_UNWIND_H
#define CLI_SYMBOLS_UNWIND_H

#include "cli/symbols/cfi.h"

/* Of a chain. A call graph that is deeper is cut off at its outer end. */
#define UNWIND_FRAMES 256u

/* What is mapped at an address of a process at the time of a sample. */
struct unwind_object {
	u64 start, end;              /* of the mapping */
	u64 offset;                  /* of its start in the file; 0 for the vDSO */
	void *identity;              /* the caller's, given back with each frame */
	struct cfi *cfi;             /* of the file, by cfi_new(); NULL: its bytes are not known, or it is no file */
};

struct unwind_source {
	void *context;
	/* False: nothing that can be executed is mapped there. */
	bool (*find)(void *context, u64 address, struct unwind_object *object);
};

struct unwind_sample {
	u64 abi;                     /* PERF_SAMPLE_REGS_ABI_... */
	const u64 *regs;             /* in the order of unwind_regs_mask() */
	const u8 *stack;             /* from the stack pointer on */
	size_t size;                 /* dyn_size of the record */
	/* Addresses of the user side that the kernel found by frame pointers, innermost first, without PERF_CONTEXT_... */
	const u64 *callchain;
	size_t ncallchain;
};

struct unwind_frame {
	u64 pc;
	/*
	 * pc is a return address: the call, with its line and inlined functions, lies before it, at pc - 1. Not so in
	 * the innermost frame, unless that is behind the last instruction of its function, a system call; nor in one that
	 * a signal interrupted, nor in a handler's trampoline.
	 */
	bool call;
	void *identity;              /* of the object; NULL: nothing is mapped there */
	u64 address;                 /* pc as in the object's file: ELF's address, else the offset */
};

enum unwind_end {
	UNWIND_COMPLETE,             /* up to the outermost function of the thread */
	UNWIND_SHORT,                /* the copy of the stack ends */
	UNWIND_OTHER_STACK,          /* a signal handler's stack: that of the interrupted function was not copied */
	UNWIND_NO_CFI,               /* a function without call frame information, nor a frame pointer that leads on */
	UNWIND_BAD_CFI,              /* broken, or it leads nowhere */
	UNWIND_UNMAPPED,             /* a return address where nothing can be executed */
	UNWIND_REMOTE,               /* expressions, and libunwind is not there */
	UNWIND_MOST,                 /* more than UNWIND_FRAMES, or than there was room for */
	UNWIND_ABI,                  /* registers of a 32-bit program, none, or none of this machine */
	UNWIND_ENDS
};

struct unwind_chain {
	struct unwind_frame frames[UNWIND_FRAMES]; /* innermost first */
	u32 n;
	enum unwind_end end;         /* anything but UNWIND_COMPLETE: truncated */
	bool sure;                   /* complete, by call frame information alone, which names the outermost function */
	u32 spliced;                 /* of them the last so many are from the sample's callchain */
};

/* Stacks can be had on this machine. */
bool unwind_available(void);
/* Unusual information can be followed, too: libunwind was there at the build, and it loads. */
bool unwind_remote_available(void);
/* The registers to ask the kernel for (sample_regs_user); 0 where there are no stacks. */
u64 unwind_regs_mask(void);
/*
 * Such registers where only these two are known, the others being 0: room for 64. False: there are no stacks.
 */
bool unwind_regs_make(u64 sp, u64 pc, u64 *regs);
/* Why a stack was truncated, for people: "stack copy too small". */
const char *unwind_end_name(enum unwind_end end);

struct unwind *unwind_new(void);
void unwind_free(struct unwind *unwind);
/* Forgets what it knows of [start, end): something else is mapped there now. An exec: (0, UINT64_MAX). */
void unwind_flush(struct unwind *unwind, u64 start, u64 end);

/* Fills the chain; without registers or memory it has the sample's callchain alone. */
void unwind_sample_chain(struct unwind *unwind, const struct unwind_source *source, const struct unwind_sample *sample,
	struct unwind_chain *chain);

#endif
