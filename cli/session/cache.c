/* SPDX-License-Identifier: MIT */
/* See cache.h. */
#define _GNU_SOURCE
#include "cli/session/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/session/cache_look.h"

enum { CACHE_READ = 1 << 20 };

struct cache {
	const struct cache_options *options;
	struct storage *storage;     /* NULL: not known */
	long *numbers;               /* of its paths that the files are */
	bool numbered;
	bool undroppable;            /* it was said */
	struct cache_fact fact;
	struct cache_file *files;
	struct cache_reason {
		char text[CACHE_BECAUSE];
	} *reasons;                  /* of the files, and one of all */
	struct residency residency;
};

/* What is done with each file of a walk. */
struct cache_step {
	const struct cache *cache;
	struct cache_look *look;     /* NULL: not looked at */
	bool prepare;
	bool (*stop)(void);
};

/* Pages that others have mapped or are writing stay; what has been written back may leave. */
static void file_cool(int fd)
{
	fdatasync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

static bool file_warm(int fd, bool (*stop)(void))
{
	char *room = malloc(CACHE_READ);
	int flags = fcntl(fd, F_GETFL);
	off_t at = 0;
	ssize_t n = 0;
	bool stopped = false;

	/* Where that is allowed, what we read changes nothing of the file. */
	if (flags >= 0)
		(void)!fcntl(fd, F_SETFL, flags | O_NOATIME);
	for (; room && !(stopped = stop()) && (n = pread(fd, room, CACHE_READ, at)) > 0; at += n)
		;
	free(room);
	return !stopped;
}

static bool cache_visit(void *context, int fd, const struct stat *stat)
{
	const struct cache_step *step = context;
	char why[RESIDENCY_WHY];

	if (step->stop())
		return false;
	if (fd < 0) {
		if (step->look)
			residency_add_unopened(step->look, -fd);
		return true;
	}
	if (step->look)
		residency_add(&step->cache->residency, fd, stat, step->look);
	if (!step->prepare || residency_fixed(fd, why, sizeof(why)))
		return true;
	if (step->cache->options->asked == CACHE_ASKED_COLD)
		file_cool(fd);
	else if (step->cache->options->asked == CACHE_ASKED_WARM)
		return file_warm(fd, step->stop);
	return true;
}

static struct cache_look cache_walk(const struct cache *c, const char *name, bool prepare, bool (*stop)(void))
{
	struct cache_look look = { .files = 0 };
	struct cache_step step = { .cache = c, .look = &look, .prepare = prepare, .stop = stop };
	int err = files_walk(name, cache_visit, &step, &look.more);

	look.more = look.more || stop();
	if (err)
		snprintf(look.missing, sizeof(look.missing), "it is not there: %s", strerror(-err));
	return look;
}

/* -1 where part of it is not known. */
static s64 look_resident(const struct cache_look *look)
{
	return !look->files || look->unknown || look->uncounted || look->more ? -1 : (s64)look->resident;
}

/* Nothing is dropped that is dirty, so that all is written back before. */
static void cache_drop(struct cache *c)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		sync();
	c->fact.dropped = fd >= 0 && write(fd, "3", 1) == 1;
	if (!c->fact.dropped) {
		warning("cannot drop all of the page cache: %s", strerror(errno));
		c->undroppable = true;
	}
	if (fd >= 0)
		close(fd);
}

static void cache_judge_one(struct cache *c, size_t i, const struct cache_look *start, const struct storage_path *storage)
{
	char behind[CACHE_BECAUSE] = "", *because = c->reasons[i].text;
	struct cache_file *file = &c->files[i];

	if (storage)
		storage_behind(storage, behind, sizeof(behind));
	file->files = start->files;
	file->pages = start->pages;
	file->start = look_resident(start);
	file->regime = cache_judge(c->options->asked, start, behind, because);
	if (c->options->asked == CACHE_ASKED_STEADY && file->start < 0)
		snprintf(because, CACHE_BECAUSE, "%s", start->unknown ? start->why : start->missing);
	file->because = because[0] ? because : NULL;
}

static void cache_sum_up(struct cache *c)
{
	char *because = c->reasons[c->fact.nfiles].text;

	c->fact.regime = cache_sum(c->fact.asked, c->files, c->fact.nfiles, because);
	c->fact.because = because[0] ? because : NULL;
}

/* Their storage is found once. */
static const struct storage_path *cache_storage(struct cache *c, size_t i)
{
	if (!c->numbered)
		c->numbers[i] = c->storage ? storage_add(c->storage, c->options->names[i], "--cache-files") : -1;
	return c->numbers[i] < 0 ? NULL : &storage_facts(c->storage)->paths[c->numbers[i]];
}

void cache_bring(struct cache *c, bool (*stop)(void))
{
	const struct cache_options *o = c->options;

	for (size_t i = 0; i < o->nnames; i++) {
		struct cache_look found = cache_walk(c, o->names[i], true, stop);

		c->files[i] = (struct cache_file){ .path = o->names[i], .found = look_resident(&found), .start = -1, .end = -1 };
	}
	if (o->drop && !c->undroppable)
		cache_drop(c);
	/* After all of it: what makes one file warm may take the memory of another. */
	for (size_t i = 0; i < o->nnames; i++) {
		struct cache_look start = cache_walk(c, o->names[i], false, stop);

		/* A page that was in use for a moment may go now. */
		if (o->asked == CACHE_ASKED_COLD && start.resident) {
			cache_walk(c, o->names[i], true, stop);
			start = cache_walk(c, o->names[i], false, stop);
		}
		cache_judge_one(c, i, &start, cache_storage(c, i));
	}
	c->numbered = true;
	cache_sum_up(c);
}

struct cache *cache_new(const struct cache_options *options, struct storage *storage)
{
	struct cache *c = calloc(1, sizeof(*c));

	if (c) {
		c->files = calloc(options->nnames + 1, sizeof(*c->files));
		c->reasons = calloc(options->nnames + 1, sizeof(*c->reasons));
		c->numbers = calloc(options->nnames + 1, sizeof(*c->numbers));
	}
	if (!c || !c->files || !c->reasons || !c->numbers) {
		error("out of memory");
		cache_free(c);
		return NULL;
	}
	c->options = options;
	c->storage = storage;
	c->fact.asked = options->asked;
	c->fact.files = c->files;
	c->fact.nfiles = options->nnames;
	residency_try(&c->residency);
	return c;
}

struct cache *cache_prepare(const struct cache_options *options, struct storage *storage, bool (*stop)(void))
{
	struct cache *c = cache_new(options, storage);

	if (c)
		cache_bring(c, stop);
	return c;
}

static bool never(void)
{
	return false;
}

void cache_end(struct cache *c)
{
	for (size_t i = 0; c && i < c->fact.nfiles; i++) {
		struct cache_look end = cache_walk(c, c->files[i].path, false, never);

		c->files[i].end = look_resident(&end);
	}
}

void cache_add(struct cache *c, const struct cache *other)
{
	if (!other || other->fact.regime == c->fact.regime)
		return;
	snprintf(c->reasons[c->fact.nfiles].text, CACHE_BECAUSE, "a further run of the command was %s, the first one %s",
		 cache_regime_words[other->fact.regime], cache_regime_words[c->fact.regime]);
	c->fact.because = c->reasons[c->fact.nfiles].text;
	c->fact.regime = CACHE_MIXED;
}

const struct cache_fact *cache_facts(const struct cache *cache)
{
	return cache ? &cache->fact : NULL;
}

void cache_free(struct cache *c)
{
	if (!c)
		return;
	free(c->files);
	free(c->reasons);
	free(c->numbers);
	free(c);
}
