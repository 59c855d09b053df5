/* SPDX-License-Identifier: MIT */
/*
 * libspark-markers.so: other tools' markers as regions. It knows the agent by the public markers of spark/spark.h
 * alone, so that without one it only passes calls on. Each adapter is a file, NAME.c, and a row of common/markers.def.
 *
 * An adapter that interposes functions exports them, and calls the real one whatever is wanted: first at a begin and
 * last at an end, so that the region has nothing of the other tool's own work.
 */
#ifndef MARKERS_MARKERS_H
#define MARKERS_MARKERS_H

#include <spark/spark.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/markers.h"

#define MARKER_EXPORT __attribute__((visibility("default")))

/* A function behind ours. Starts as { .name = "..." }. */
struct next {
	const char *name;
	void *found;
	unsigned long long tried;    /* objects that had been loaded, and one, when it was not found; 0: never looked for */
};

/* Whether sparkctl wants this adapter's markers to be regions. From any thread, and before our constructor. */
bool marker_wanted(enum marker_id id);

/*
 * The function itself; NULL: nobody has it. Also where the library that has it was opened for the caller alone, with
 * RTLD_LOCAL. An object that was found is never unloaded.
 */
void *next_find(struct next *next);

/* Opens what the program's own user wanted in the place that a row's variable now leads to us; NULL: nothing. */
void *next_open(const char *environment);

#endif
