/* SPDX-License-Identifier: MIT */
/* What the files of the adapter "itt" share: its functions, and objects of the interface (ittnotify.h, ittnotify_types.h). */
#ifndef MARKERS_ITT_H
#define MARKERS_ITT_H

#include "agent/markers/markers.h"

struct itt_domain {
	volatile int flags;          /* 0: the program makes no calls for it */
	const char *name;
	void *wide;
	int extra1;
	void *extra2;
	struct itt_domain *next;
};

struct itt_string {
	const char *text;
	void *wide;
	int extra1;
	void *extra2;
	struct itt_string *next;
};

struct itt_id {
	unsigned long long d1, d2, d3;
};

/* A function that we have. */
struct itt_hook {
	const char *name;            /* in the tables of static parts */
	void *ours;
	void *real;                  /* the other collector's; NULL: none */
	bool makes;                  /* objects, which are the other collector's where that makes them */
};

/* Ends with NULL. */
extern struct itt_hook *const itt_hooks[];

#endif
