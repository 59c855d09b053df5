/* SPDX-License-Identifier: MIT */
/* Which adapters sparkctl wants; see markers.h. */
#define _GNU_SOURCE
#include "agent/markers/markers.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KNOWN (1u << 31)

static unsigned wanted;

static const char *const names[] = {
#define MARKER(name, environment, symbols, meaning) #name,
#include "common/markers.def"
#undef MARKER
};

static unsigned wanted_read(void)
{
	const char *list = secure_getenv(MARKERS_ENV);
	unsigned mask = KNOWN;
	size_t length;

	for (list = list ? list + (*list == MARKERS_ALONE) : ""; *list; list += length + (list[length] != 0)) {
		length = strcspn(list, ",");
		for (unsigned i = 0; i < MARKERS; i++)
			if (strlen(names[i]) == length && !strncmp(names[i], list, length))
				mask |= 1u << i;
	}
	return mask;
}

bool marker_wanted(enum marker_id id)
{
	unsigned mask = __atomic_load_n(&wanted, __ATOMIC_RELAXED);

	if (!mask) {
		mask = wanted_read();
		__atomic_store_n(&wanted, mask, __ATOMIC_RELAXED);
	}
	return mask & 1u << id;
}

/* Takes the first entry of this library out of a list of ld.so's, in its place. */
static void entry_remove(char *list)
{
	static const char file[] = "/" MARKERS_LIBRARY;
	char *at = strstr(list, file), *end;

	if (!at)
		return;
	end = at + sizeof(file) - 1;
	while (at > list && !strchr(": ", at[-1]))
		at--;
	if (*end)
		end++;
	else if (at > list)
		at--;
	memmove(at, end, strlen(end) + 1);
}

/* What children of a program that is measured alone would have without us. */
static void environment_restore(void)
{
	char *list = getenv("LD_PRELOAD");

	if (list)
		entry_remove(list);
	if (list && !*list)
		unsetenv("LD_PRELOAD");
	unsetenv(MARKERS_ENV);
}

__attribute__((constructor)) static void wanted_constructor(void)
{
	const char *list = secure_getenv(MARKERS_ENV);

	wanted = wanted_read();
	if (list && *list == MARKERS_ALONE)
		environment_restore();
}
