/* SPDX-License-Identifier: MIT */
/* What the files of address spaces share; see space.h. */
#ifndef CLI_SYMBOLS_SPACE_BUILD_H
#define CLI_SYMBOLS_SPACE_BUILD_H

#include "cli/symbols/maps.h"
#include "cli/symbols/object_build.h"
#include "cli/symbols/space.h"
#include "cli/symbols/space_table.h"

#define SPACES_BUCKETS 4096u         /* a power of two */

/* One life of a process between two execs. */
struct space {
	u32 pid;
	bool implied;                /* nobody told of its beginning yet: it was met by what it maps */
	u64 born, died;              /* died 0: not yet */
	struct space *older;         /* of the same pid */
	struct space *next;          /* in the bucket; of the newest of a pid alone */
	struct space_table *table;
	struct object *jit;          /* NULL: no memory without a file was met */
	/* The piece of the last look-up. */
	u64 hit_start, hit_end;
	struct mapping *hit;         /* NULL: none, or several lay there */
};

struct spaces {
	struct space *buckets[SPACES_BUCKETS];
	struct space *last;          /* of the last look-up, the newest life of its pid; NULL */
	struct objects objects;
	u32 nspaces;                 /* lives that are kept */
	u64 latest_ns;               /* of all records */
	u64 swept_ns;                /* when the dead were last looked for */
	struct object *kernel;
	bool kernel_hidden;
};

/* The life of a pid at that time; NULL: none. */
struct space *spaces_life(struct spaces *spaces, u32 pid, u64 time_ns);

#endif
