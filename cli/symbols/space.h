/* SPDX-License-Identifier: MIT */
/*
 * What lies where in the memory of all processes of a run, over time: from the records that the kernel writes when
 * something is mapped, and from /proc where there were none. Times are of the clock that the records have.
 *
 * Records of several CPUs may come a little out of order. Nothing tells when something is unmapped: the newest
 * mapping at an address is the one that is there. Descriptors are few and memory is bounded whatever the records say.
 */
#ifndef CLI_SYMBOLS_SPACE_H
#define CLI_SYMBOLS_SPACE_H

#include "cli/symbols/object.h"
#include "common/base.h"

struct spaces;

/* PERF_RECORD_MMAP2 (perf_event_open(2)). */
struct space_map {
	u32 pid;
	u64 time_ns;
	u64 start, length;
	u64 offset;                  /* of the file, in bytes */
	u32 protection;              /* PROT_ */
	u32 flags;                   /* MAP_ */
	const char *name;            /* as the record has it */
	const u8 *build_id;          /* NULL: the three below */
	size_t build_id_size;
	u32 major, minor;
	u64 inode;
};

/* Where an address lies. */
struct space_place {
	struct object *object;       /* as long as the spaces */
	u64 address;                 /* an ELF virtual address in the object's file; as it is, where there is none */
	u64 start, end;              /* of the mapping */
	u64 offset;                  /* in the file, of its start */
};

/* NULL: no memory. */
struct spaces *spaces_new(void);
void spaces_free(struct spaces *spaces);

/* The mappings of /proc/PID/maps that can be executed, now. What is known already stays. 0, or -errno. */
int spaces_snapshot(struct spaces *spaces, u32 pid, u64 time_ns);

/*
 * A record. Mappings without PROT_EXEC are left out; protection 0 is "not known". 0, or -ENOMEM, -EINVAL for what
 * cannot be one.
 */
int spaces_map(struct spaces *spaces, const struct space_map *map);

/* The lives of processes: a child has the memory of its parent, an exec none, and pids come again. 0, or -ENOMEM. */
int spaces_fork(struct spaces *spaces, u32 pid, u32 parent, u64 time_ns);
int spaces_exec(struct spaces *spaces, u32 pid, u64 time_ns);
int spaces_exit(struct spaces *spaces, u32 pid, u64 time_ns);

/* False: nothing is known to be mapped there then. A place of the kernel is never found: spaces_kernel(). */
bool spaces_find(struct spaces *spaces, u32 pid, u64 time_ns, u64 address, struct space_place *place);

/*
 * The kernel and its modules. Always found; where the kernel hides its addresses in an object whose addresses are
 * all 0, so that nothing of them is kept.
 */
void spaces_kernel(struct spaces *spaces, u64 address, struct space_place *place);

/* Reads once more what JIT compilers of living processes have written (/tmp/perf-PID.map); at the end of a run. */
void spaces_refresh(struct spaces *spaces);

/* All objects that were met, by number; NULL behind the last. */
struct object *spaces_object(struct spaces *spaces, size_t i);

#endif
