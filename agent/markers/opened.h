/* SPDX-License-Identifier: MIT */
/* What a thread has begun under a number, for interfaces whose ends have no name. */
#ifndef MARKERS_OPENED_H
#define MARKERS_OPENED_H

#include <stdint.h>

#include "agent/markers/markers.h"

/*
 * Begins a region of the calling thread. "kind" keeps numbers apart that have nothing to do with each other. A name of
 * NULL is no region, yet its end is not another one's.
 */
void opened_begin(const void *kind, uint64_t id, const char *name);

/* Ends the newest one of the thread that is open; false: there is none. */
bool opened_end(const void *kind, uint64_t id);

#endif
