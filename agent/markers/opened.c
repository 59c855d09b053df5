/* SPDX-License-Identifier: MIT */
/* What a thread has begun; see opened.h. Names are copied, as callers' may be gone at the end. */
#include "agent/markers/opened.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BELOW 1024                 /* bytes of stack, more than the functions of a begin have */
#define OPEN_MOST 256              /* of a thread at a time; one more ends the oldest, which may never be ended */

struct open {
	const void *kind;
	uint64_t id;
	char *name;
};

struct opened {
	size_t n;
	struct open list[OPEN_MOST];
};

static __thread struct opened *opened;
static pthread_key_t key;
static bool key_made;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void opened_free(void *block)
{
	struct opened *mine = block;

	for (size_t i = 0; i < mine->n; i++)
		free(mine->list[i].name);
	opened = NULL;
	free(mine);
}

static void key_make(void)
{
	key_made = !pthread_key_create(&key, opened_free);
}

static struct opened *opened_get(void)
{
	if (!opened) {
		pthread_once(&once, key_make);
		opened = key_made ? calloc(1, sizeof(*opened)) : NULL;
		if (opened)
			pthread_setspecific(key, opened);
	}
	return opened;
}

__attribute__((noinline)) static void open_remove(struct opened *mine, size_t at)
{
	char *name = mine->list[at].name;

	memmove(&mine->list[at], &mine->list[at + 1], (--mine->n - at) * sizeof(mine->list[at]));
	if (name)
		spark_region_end(name);
	free(name);
}

void opened_begin(const void *kind, uint64_t id, const char *name)
{
	struct opened *mine = opened_get();
	char *copy;

	if (!mine)
		return;
	if (mine->n == OPEN_MOST)
		open_remove(mine, 0);
	copy = name ? strdup(name) : NULL;
	mine->list[mine->n++] = (struct open){ .kind = kind, .id = id, .name = copy };
	if (copy)
		spark_region_begin(copy);
}

bool opened_end(const void *kind, uint64_t id)
{
	/* A region that was begun further down the stack than another one's end would have been left by a return. */
	char below[BELOW];

	__asm__ volatile("" : : "r"(below) : "memory");
	for (size_t i = opened ? opened->n : 0; i-- > 0;) {
		if (opened->list[i].kind == kind && opened->list[i].id == id) {
			open_remove(opened, i);
			return true;
		}
	}
	return false;
}
