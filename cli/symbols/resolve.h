/* SPDX-License-Identifier: MIT */
/*
 * Names of addresses: function, file, line, and the functions inlined there. Files are read in children, a few at a
 * time, with limits on time and memory: one that is damaged, or made to do damage, costs its own names and nothing
 * else.
 */
#ifndef CLI_SYMBOLS_RESOLVE_H
#define CLI_SYMBOLS_RESOLVE_H

#include "cli/symbols/object.h"
#include "common/base.h"

enum resolve_reason {
	RESOLVE_NAMED,
	RESOLVE_STRIPPED,            /* no symbol covers it */
	RESOLVE_DELETED,             /* the file is gone, or another one is there */
	RESOLVE_UNREADABLE,          /* not to be opened, not to be decoded, or too much for the limits */
	RESOLVE_NO_MAP,              /* JIT code, and no map tells of it */
	RESOLVE_HIDDEN,              /* the kernel does not show its addresses */
	RESOLVE_OUT_OF_TIME,
};

/* A function that an address belongs to. */
struct resolve_line {
	const char *function;        /* NULL: not known */
	const char *file;            /* NULL: not known */
	u32 line;                    /* 0: not known */
};

/* Addresses of an object as struct space_place has them, ascending, each once. For callers of functions less 1. */
struct resolve_request {
	struct object *object;
	const u64 *addresses;
	size_t n;
};

struct resolve_options {
	bool no_debug;               /* functions by symbols alone: no lines, no inlined functions */
	bool raw_names;              /* as in the file, not demangled */
	bool debuginfod;             /* servers of DEBUGINFOD_URLS may be asked for debug info */
	u64 file_ns;                 /* time for one object; 0: 20 s */
	u64 total_ns;                /* for all; 0: 60 s */
	size_t memory;               /* bytes for one object; 0: 1 GiB */
};

/*
 * Called once for each address, in any order of objects: a chain of n functions, the innermost of those inlined first
 * and last the one that was called, or the reason why there is none. Where the function is not known but the line is,
 * there is a reason and one element. All of it lasts until the return.
 */
typedef void resolve_found(void *data, const struct resolve_request *request, size_t address,
	enum resolve_reason reason, const struct resolve_line *lines, size_t n);

/* 0, or -ENOMEM: then not all addresses were called for. */
int resolve_objects(const struct resolve_request *requests, size_t n, const struct resolve_options *options,
	resolve_found *found, void *data);

/* "stripped", ...: a few words for a reason. */
const char *resolve_reason_text(enum resolve_reason reason);

/* Why this sparkctl can tell neither lines nor inlined functions, in words that end a sentence; NULL: it can. */
const char *resolve_lacks_lines(void);
/* Whether rows of /proc/kallsyms have no addresses: they are hidden from this user. */
bool resolve_kernel_hidden(const char *rows);

#endif
