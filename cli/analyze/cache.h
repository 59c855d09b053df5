/* SPDX-License-Identifier: MIT */
/*
 * The page-cache regime of a run: what was asked for of some files, what of them was in memory before, at the start
 * and at the end, and what to call that.
 */
#ifndef CLI_ANALYZE_CACHE_H
#define CLI_ANALYZE_CACHE_H

#include "common/base.h"

enum cache_asked { CACHE_ASKED_COLD, CACHE_ASKED_WARM, CACHE_ASKED_STEADY };

/* Their words; NULL ends the list. */
extern const char *const cache_asked_words[];

enum cache_regime {
	CACHE_COLD,                  /* nothing was in memory when the command started */
	CACHE_PARTLY_COLD,           /* less than before, but something was, or a cache behind this one may have it */
	CACHE_PARTLY_WARM,
	CACHE_WARM,                  /* all was in memory */
	CACHE_STEADY,                /* as it was found, or as it cannot but be */
	CACHE_MIXED,                 /* not the same for all files */
	CACHE_UNKNOWN,
};

extern const char *const cache_regime_words[];

/* What was seen of the files below one name at one time. */
struct cache_look {
	u64 files;                   /* regular ones */
	u64 fixed;                   /* of them, files whose pages cannot leave */
	u64 unknown;                 /* of them, files of which the kernel does not tell */
	u64 pages, resident;         /* of the files of which it does */
	u64 dirty;                   /* of resident; 0 where the kernel does not tell that */
	bool uncounted;              /* of some of fixed the kernel does not tell how much is in memory */
	bool more;                   /* there are more files than were looked at */
	char why[200];               /* of the first one that is unknown */
	char fixed_why[200];         /* of the first one that is fixed */
	char missing[200];           /* why there is no file at all; "": the folder has none */
};

/* A name that was given, with all below it. */
struct cache_file {
	const char *path;
	u64 files, pages;            /* at the start */
	s64 found, start, end;       /* pages in memory before anything was done, at the start, and at the end; -1: not known */
	enum cache_regime regime;
	const char *because;         /* NULL: there is nothing to say */
};

struct cache_fact {
	enum cache_asked asked;
	bool dropped;                /* all of the cache was, as asked */
	enum cache_regime regime;
	const char *because;         /* the same */
	const struct cache_file *files;
	size_t nfiles;
};

/* Room for the reason that cache_judge() gives, "" for none. */
#define CACHE_BECAUSE 320

/*
 * What was reached for one name, by what was seen at the start. behind: a cache that this kernel's look does not
 * reach, "" or NULL: there is none.
 */
enum cache_regime cache_judge(enum cache_asked asked, const struct cache_look *start, const char *behind,
			      char because[CACHE_BECAUSE]);

/* The same for all names. */
enum cache_regime cache_sum(enum cache_asked asked, const struct cache_file *files, size_t n, char because[CACHE_BECAUSE]);

#endif
