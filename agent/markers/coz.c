/* SPDX-License-Identifier: MIT */
/*
 * coz's progress points and latency pairs (coz.h of github.com/plasma-umass/coz). A program looks up _coz_get_counter
 * once for each place and adds to the counter itself, without a call: nobody sees when, nor on which thread. So what is
 * known are counts, told at the end of the process: metrics of its root.
 *
 * Where coz itself is loaded, counters are its own, and are only read.
 */
#include "agent/markers/markers.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST 128

enum { THROUGHPUT = 1, BEGIN, END };

struct coz_counter {
	size_t count, backoff;
};

struct point {
	struct point *next;
	struct coz_counter *counter, own;
	size_t before;               /* counted by the process that this one was forked from */
	int type;
	char name[];
};

MARKER_EXPORT struct coz_counter *_coz_get_counter(int type, const char *name);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct point *points;

static size_t point_count(const struct point *point)
{
	return __atomic_load_n(&point->counter->count, __ATOMIC_RELAXED);
}

static void fork_prepare(void)
{
	pthread_mutex_lock(&lock);
}

static void fork_parent(void)
{
	pthread_mutex_unlock(&lock);
}

static void fork_child(void)
{
	for (struct point *point = points; point; point = point->next)
		point->before = point_count(point);
	pthread_mutex_unlock(&lock);
}

static struct coz_counter *point_get(int type, const char *name, struct coz_counter *real)
{
	static bool forks;
	struct point *point;
	size_t size = strlen(name) + 1;

	pthread_mutex_lock(&lock);
	for (point = points; point; point = point->next)
		if (point->type == type && !strcmp(point->name, name) && (!real || point->counter == real))
			break;
	if (!point && (point = calloc(1, sizeof(*point) + size))) {
		point->type = type;
		point->counter = real ? real : &point->own;
		memcpy(point->name, name, size);
		point->next = points;
		points = point;
	}
	if (!forks)
		forks = !pthread_atfork(fork_prepare, fork_parent, fork_child);
	pthread_mutex_unlock(&lock);
	return real ? real : point ? point->counter : NULL;
}

struct coz_counter *_coz_get_counter(int type, const char *name)
{
	static struct next next = { .name = "_coz_get_counter" };
	struct coz_counter *(*find)(int, const char *) = (struct coz_counter *(*)(int, const char *))next_find(&next);
	struct coz_counter *real = find ? find(type, name) : NULL;
	int saved = errno;

	if (!name || (find && !real) || type < THROUGHPUT || type > END || !marker_wanted(MARKER_coz))
		return real;
	real = point_get(type, name, real);
	errno = saved;
	return real;
}

__attribute__((destructor)) static void points_tell(void)
{
	static const char *const suffixes[] = { [THROUGHPUT] = "", [BEGIN] = " begin", [END] = " end" };
	char name[NAME_MOST];

	/* Held: a thread that is gone with a fork has it, or this one is a signal's. */
	if (pthread_mutex_trylock(&lock))
		return;
	for (struct point *point = points; point; point = point->next) {
		size_t n = point_count(point) - point->before;

		snprintf(name, sizeof(name), "%s%s", point->name, suffixes[point->type]);
		if (n)
			spark_metric(name, (double)n);
	}
	pthread_mutex_unlock(&lock);
}
