/* SPDX-License-Identifier: MIT */
/*
 * A program with the libraries that the loader gives it before it starts (ld.so(8)), and the functions that these
 * objects call in each other. What the program loads later is not known, nor versions of symbols, which the loader
 * compares as well.
 */
#ifndef CLI_SYMBOLS_CLOSURE_H
#define CLI_SYMBOLS_CLOSURE_H

#include <sys/types.h>

#include "cli/symbols/elf_dynamic.h"

struct closure_object {
	char *path;
	char *name;                  /* by which it was asked for; NULL: the program */
	dev_t device;
	ino_t inode;
	size_t from;                 /* the object that asked for it first */
	u16 machine;                 /* EM_ */
	struct elf_dynamic dynamic;
};

/* A function that an object calls through slots and another one has. */
struct closure_call {
	const char *symbol;
	size_t library, caller;      /* objects */
	const struct elf_function *function; /* of the library */
	u8 kinds;                    /* mask of enum elf_slot_kind */
	bool variant;                /* either side says so */
};

struct closure {
	struct closure_object *objects; /* in the order of the loader's search; the program is the first */
	size_t n;
	char **missing;              /* names of libraries that were not found */
	size_t nmissing;
	struct closure_call *calls;  /* by symbol, library and caller */
	size_t ncalls;
};

/* 0; -ENOENT: it has nothing for the loader; -ENOEXEC: it is no 64-bit ELF file, or damaged; or what open(2) says. */
int closure_open(struct closure *closure, const char *path);
void closure_close(struct closure *closure);

/* ---- closure_texts.c: what the files have in them */

#define CLOSURE_TEXT_MOST 64         /* bytes of a text, with its zero */

/*
 * Sets found[] of those of the n texts, with a zero behind them, that are in one of the files; those called skip are
 * left out. 0, or the first error after which some files were not looked at: what is found so far counts.
 */
int closure_texts(const struct closure *closure, const char *const *texts, size_t n, const char *skip, bool *found);

/* ---- closure_find.c: where the loader looks */

/* The descriptor of the file for a name that an object needs, and its path; -1: not found. */
int closure_find(const struct closure *closure, size_t from, const char *name, char *path, size_t size);

/* ---- loader_cache.c: /etc/ld.so.cache, made by ldconfig(8) */

/* The paths that it has for a name, one after the other: starts with *at = 0. False: no more. */
bool loader_cache_find(const u8 *cache, size_t size, const char *name, u32 *at, char *path, size_t room);

#endif
