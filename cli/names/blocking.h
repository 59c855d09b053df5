/* SPDX-License-Identifier: MIT */
/* Calls of the system that a thread may be blocked in, by their number for this kind of processor. */
#ifndef CLI_NAMES_BLOCKING_H
#define CLI_NAMES_BLOCKING_H

#include "common/base.h"

enum blocking_class {
	BLOCKING_OTHER,              /* waiting for a child, a lock of a file, or what is not in the table */
	BLOCKING_FUTEX,
	BLOCKING_SLEEP,
	BLOCKING_IO,                 /* sockets, and waiting for several descriptors */
	BLOCKING_DISK,
	BLOCKING_BY_FILE             /* a disk's or not by the file of its descriptor */
};

struct blocking_call {
	const char *name;
	enum blocking_class class;
	u32 argument;                /* the descriptor, of BLOCKING_BY_FILE */
};

/* NULL: not in the table. */
const struct blocking_call *blocking_call(long number);
/* The same by what the kernel says a thread waits in (/proc/TID/wchan); BLOCKING_OTHER: it tells nothing. */
enum blocking_class blocking_by_place(const char *place);

#endif
