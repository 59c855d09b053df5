/* SPDX-License-Identifier: MIT */
/* Brings files into the page-cache regime that was asked for, and looks at what came of it; see cli/analyze/cache.h. */
#ifndef CLI_SESSION_CACHE_H
#define CLI_SESSION_CACHE_H

#include "cli/analyze/cache.h"
#include "cli/session/storage.h"

/* What is asked of a run. It outlives the session. */
struct cache_options {
	enum cache_asked asked;
	char *const *names;          /* of files and folders */
	size_t nnames;
	bool drop;                   /* all of the cache, too */
};

struct cache;

/*
 * Makes files cold or warm, and looks at them: before anything is done and afterwards. Their storage is added to
 * storage, which may be NULL and outlives it. stop() says whether to end early. NULL: no memory.
 */
struct cache *cache_prepare(const struct cache_options *options, struct storage *storage, bool (*stop)(void));
/* The same in two steps, of which the second may be repeated, before each of many runs. */
struct cache *cache_new(const struct cache_options *options, struct storage *storage);
void cache_bring(struct cache *cache, bool (*stop)(void));
/* The command has ended. */
void cache_end(struct cache *cache);
/* A further run was under what other is. */
void cache_add(struct cache *cache, const struct cache *other);
const struct cache_fact *cache_facts(const struct cache *cache);
void cache_free(struct cache *cache);

#endif
