/* SPDX-License-Identifier: MIT */
/* Call chains of samples: the kernel's part as it is recorded, the program's by frame pointers or by unwinding. */
#ifndef CLI_SESSION_CHAIN_H
#define CLI_SESSION_CHAIN_H

#include "common/base.h"

struct sampling;
struct record;
struct chains;
struct object;

struct chains *chains_new(void);
void chains_free(struct chains *chains);
/* The registers that unwinding needs; 0: it does not work here. */
u64 chains_registers(void);
/* What is mapped there in the process is not what it was. */
void chains_changed(struct chains *chains, u32 pid, u64 start, u64 end);
/* The process has ended, or its first thread. */
void chains_ended(struct chains *chains, u32 pid);

/* Where the function at an address of the object begins, by its call frame information. False: it has none there. */
bool chain_function(struct chains *chains, struct object *object, u64 address, u64 *start);

/* The chain of a sample, in sampling->samples; SAMPLES_NONE: no frame. Adds to flags (enum samples_flags). */
u32 chain_take(struct sampling *sampling, const struct record *record, u32 *flags);

#endif
