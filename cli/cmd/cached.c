/* SPDX-License-Identifier: MIT */
/* The page cache that a command finds; see cached.h. */
#include "cli/cmd/cached.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/log.h"

bool cached_given(const struct cached *c)
{
	return c->asked != CACHED_NOT_GIVEN || c->names.n || c->drop || c->io_model;
}

int cached_parse(struct cached *c, const struct command *command)
{
	bool moves = c->asked == CACHE_ASKED_COLD || c->asked == CACHE_ASKED_WARM;
	struct stat stat_of;

	if (c->io_model && !c->io_model[0])
		return command_misused(command, "needs words for --io-model, not an empty text", NULL);
	if (c->drop && c->asked != CACHE_ASKED_COLD)
		return command_misused(command, "takes --cache-drop with --cache=cold alone", NULL);
	if (moves && !c->names.n && !c->drop)
		return command_misused(command, "needs --cache-files to know which files are to be", cache_asked_words[c->asked]);
	/* What is not there by a mistake would leave all as it was. */
	for (size_t i = 0; i < c->names.n; i++)
		if (stat(c->names.item[i], &stat_of)) {
			error("cannot look at %s of --cache-files: %s", c->names.item[i], strerror(errno));
			return STATUS_USAGE;
		}
	return 0;
}

const struct storage_asked *cached_storage(struct cached *c)
{
	c->storage.io_model = c->io_model;
	return &c->storage;
}

const struct cache_options *cached_cache(struct cached *c)
{
	if (c->asked == CACHED_NOT_GIVEN && !c->names.n)
		return NULL;
	c->cache = (struct cache_options){
		.asked = c->asked == CACHED_NOT_GIVEN ? CACHE_ASKED_STEADY : (enum cache_asked)c->asked,
		.names = c->names.item, .nnames = c->names.n, .drop = c->drop,
	};
	return &c->cache;
}

void cached_free(struct cached *c)
{
	opt_list_free(&c->names);
}
