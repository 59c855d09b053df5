/* SPDX-License-Identifier: MIT */
/* What the adapter "ompt" needs of OMPT, the tools interface of OpenMP 5 (omp-tools.h), as its numbers are published. */
#ifndef MARKERS_OMPT_H
#define MARKERS_OMPT_H

#include <stdint.h>

union ompt_data {
	uint64_t value;
	void *ptr;
};

typedef void (*ompt_function)(void);
typedef ompt_function (*ompt_lookup)(const char *name);

struct ompt_tool {
	int (*initialize)(ompt_lookup lookup, int device, union ompt_data *data);
	void (*finalize)(union ompt_data *data);
	union ompt_data data;
};

enum ompt_event {
	OMPT_PARALLEL_BEGIN = 3, OMPT_PARALLEL_END = 4, OMPT_IMPLICIT_TASK = 7, OMPT_SYNC_REGION_WAIT = 16, OMPT_WORK = 20,
	OMPT_EVENTS
};

enum ompt_endpoint { OMPT_BEGIN = 1, OMPT_END = 2 };
enum { OMPT_TASK_INITIAL = 1 };    /* flag of an implicit task: the program's own, outside of parallel regions */
enum { OMPT_SET_ALWAYS = 5 };

#endif
