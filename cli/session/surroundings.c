/* SPDX-License-Identifier: MIT */
/* What a run stands on: its storage, and the page cache that the command finds. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/session/cache.h"
#include "cli/session/internal.h"

/* They are blocked while a command is measured, and the loop will deal with them. */
static bool ended_early(void)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	sigset_t pending;

	if (sigpending(&pending))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (sigismember(&pending, signals[i]) == 1)
			return true;
	return false;
}

/* Without memory for it nothing is told. */
void surroundings_look(struct session *s)
{
	char *folder;

	if (!s->options->storage || s->storage)
		return;
	s->storage = storage_new(&s->caps, s->options->storage);
	folder = getcwd(NULL, 0);
	if (s->storage)
		storage_add(s->storage, folder ? folder : ".", "working directory");
	free(folder);
}

int surroundings_prepare(struct session *s)
{
	if (!s->options->cache)
		return 0;
	surroundings_look(s);
	s->cache = cache_prepare(s->options->cache, s->storage, ended_early);
	return s->cache ? 0 : -1;
}

void surroundings_end(struct session *s)
{
	cache_end(s->cache);
}

void surroundings_facts(struct session *s)
{
	s->facts.storage = s->storage ? storage_facts(s->storage) : NULL;
	s->facts.cache = cache_facts(s->cache);
}

void surroundings_add(struct session *s, const struct session *other)
{
	if (s->cache && other->cache)
		cache_add(s->cache, other->cache);
}

void surroundings_free(struct session *s)
{
	cache_free(s->cache);
	storage_free(s->storage);
}
