/* SPDX-License-Identifier: MIT */
/* What a run stands on: its storage, and the page cache that the command finds. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/session/cache.h"
#include "cli/session/internal.h"

/* Without memory for it nothing is told. */
void surroundings_look(struct session *s)
{
	char *folder;

	if (!s->options->storage || s->storage)
		return;
	s->storage = storage_new(&s->caps, s->options->storage);
	folder = getcwd(NULL, 0);
	if (s->storage) {
		storage_add(s->storage, folder ? folder : ".", "working directory");
		storage_opened_given(s->storage);
	}
	free(folder);
}

/* A zombie has none, and its folder is closed to all but root. */
static bool hides_descriptors(const struct process *p)
{
	struct process_stat stat;

	return process_stat(p->facts.pid, &stat) && !strchr("ZXx", stat.state);
}

void surroundings_tick(struct session *s)
{
	enum storage_look look = STORAGE_LOOK_ON;
	struct process **live;
	size_t n;

	if (!s->storage)
		return;
	storage_opened_begin(s->storage);
	live = processes_live(&s->processes, &n);
	for (size_t i = 0; look != STORAGE_LOOK_OVER && i < n; i++) {
		struct process *p = live[s->opened_next % n];

		if (!p->unwatched)
			look = storage_opened_look(s->storage, p->facts.pid, &p->opened_at);
		if (look == STORAGE_LOOK_REFUSED && hides_descriptors(p))
			storage_opened_refused(s->storage);
		/* The next look goes on with the one that this one could not finish. */
		s->opened_next = (s->opened_next + (look != STORAGE_LOOK_OVER)) % n;
	}
}

int surroundings_prepare(struct session *s)
{
	if (!s->options->cache)
		return 0;
	surroundings_look(s);
	s->cache = cache_prepare(s->options->cache, s->storage, signals_ending);
	return s->cache ? 0 : -1;
}

void surroundings_end(struct session *s)
{
	cache_end(s->cache);
}

void surroundings_facts(struct session *s)
{
	if (s->storage)
		storage_opened_describe(s->storage);
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
