/* SPDX-License-Identifier: MIT */
/* The objects that are loaded in the process; see object.c. THREAD, all, where the program loads objects itself. */
#ifndef SPARK_AGENT_OBJECT_H
#define SPARK_AGENT_OBJECT_H

#include "agent.h"

#include <link.h>

#define OBJECTS_MOST 8192
#define OBJECT_CODES 4             /* segments of code; what is beyond them is not called */
#define LISTING_NAMES (2u << 20)   /* bytes of all paths */
#define LISTING_BYTES (OBJECTS_MOST * sizeof(struct object) + LISTING_NAMES)

struct object {
	ElfW(Addr) base;
	const char *path;          /* in listing.names; "": the program */
	const ElfW(Dyn) *dynamic;
	ElfW(Addr) start, end;     /* of all that is loaded */
	ElfW(Addr) relro, relro_end; /* read-only once it is relocated; whole pages */
	struct { ElfW(Addr) start, end; } code[OBJECT_CODES];
	u32 codes;
};

/* Of an object's dynamic section. */
struct tables {
	const ElfW(Sym) *symbols;
	const char *strings;
	const ElfW(Half) *versions;
	const ElfW(Verneed) *needs;
	const ElfW(Rela) *rela[2];
	size_t rela_bytes[2];
};

/*
 * In the loader's order, which is that of its search. It holds no object: but for what is copied here, an object may
 * only be read while it is held (loader.h).
 */
struct listing {
	struct object *objects;    /* room for OBJECTS_MOST, and for the names behind */
	u32 n;
	u32 names;                 /* bytes of them in use */
	u64 adds, subs;            /* how many came and went, ever */
};

void listing_take(struct listing *list);
/* The object that has code at that address; NULL: none, or it is data. */
const struct object *listing_code_at(const struct listing *list, u64 address);
static inline bool object_has(const struct object *o, u64 address)
{
	return address >= o->start && address < o->end;
}
/* What the C library and the loader call each other for is between the two. */
bool object_is_loader(const struct object *o);
/* False: it has no symbols. */
bool object_tables(const struct object *o, struct tables *t);
/* It is held, as for the next two. Where it names folders for what is opened from it (DT_RPATH, without DT_RUNPATH). */
bool object_has_rpath(const struct object *o);
/* The version that an undefined symbol asks for (LSB, "Symbol versioning"); NULL: any. */
const char *tables_version(const struct tables *t, u32 symbol);

#endif
