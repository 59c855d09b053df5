/* SPDX-License-Identifier: MIT */
/* Options of the page cache that a command finds, and of what is said of its storage. */
#ifndef CLI_CMD_CACHED_H
#define CLI_CMD_CACHED_H

#include "cli/cmd/cmd.h"
#include "cli/session/cache.h"
#include "cli/session/session.h"

struct cached {
	int asked;                   /* enum cache_asked; CACHED_NOT_GIVEN */
	struct opt_list names;
	bool drop;
	const char *io_model;
	struct cache_options cache;
	struct storage_asked storage;
};

#define CACHED_NOT_GIVEN (-1)

/* Rows for a struct with a member of this name: cached. */
#define CACHED_ROWS(type) \
	{ "cache", 0, OPT_ENUM, offsetof(type, cached.asked), NULL, cache_asked_words, \
	  "before the start, have the files of --cache-files leave the page cache, or read them in, or leave it as it is", "steady", \
	  false }, \
	{ "cache-files", 0, OPT_LIST, offsetof(type, cached.names), "FILE", NULL, \
	  "files and folders, separated by commas, of which it is told how much is in the page cache before and after", NULL, false }, \
	{ "cache-drop", 0, OPT_FLAG, offsetof(type, cached.drop), NULL, NULL, \
	  "with --cache=cold, drop all of the system's page cache, too; for root", NULL, false }, \
	{ "io-model", 0, OPT_STRING, offsetof(type, cached.io_model), "TEXT", NULL, \
	  "how the program does its reading and writing, such as buffered, mmap or O_DIRECT, for the report and the recording", NULL, \
	  false }

bool cached_given(const struct cached *cached);
/* 0, or the exit status after a message. */
int cached_parse(struct cached *cached, const struct command *command);
/* What a session or repeated runs are to do, which it must outlive. */
const struct storage_asked *cached_storage(struct cached *cached);
/* NULL: nothing. */
const struct cache_options *cached_cache(struct cached *cached);
void cached_free(struct cached *cached);

#endif
