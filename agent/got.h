/* SPDX-License-Identifier: MIT */
/*
 * Entries of global offset tables that the loader fills with addresses of functions: found by the object's relocations,
 * written to, and given back without the loader. THREAD, all but got_restore().
 */
#ifndef SPARK_AGENT_GOT_H
#define SPARK_AGENT_GOT_H

#include "object.h"

/* One object while its entries are looked through; it is held (loader.h). */
struct got {
	const struct object *object;
	struct tables tables;
	bool opened;               /* what is read-only can be written to */
};

/* Its calls are the program's: it is not the loader or the vDSO, which do not call by entries, nor the agent. */
bool got_counts(const struct object *o);
/* Fills the tables, and calls back for each entry with the number and name of its symbol. */
void got_each(struct got *got, void (*look)(struct got *got, u64 *slot, u32 number, const char *name));
/* False: the entry cannot be written to. */
bool got_open(struct got *got, const u64 *slot, bool *read_only);
void got_shut(struct got *got);
/*
 * SAFE. Where the entry is still ours it gets what was there before. It is read and written by the kernel: the object may
 * be unmapped by now.
 */
void got_restore(u64 slot, u64 ours, u64 before, bool read_only);

#endif
