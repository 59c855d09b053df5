/* SPDX-License-Identifier: MIT */
/* What the files of objects share; see object.h. */
#ifndef CLI_SYMBOLS_OBJECT_BUILD_H
#define CLI_SYMBOLS_OBJECT_BUILD_H

#include <sys/stat.h>

#include "cli/symbols/elf_file.h"
#include "cli/symbols/object.h"
#include "cli/symbols/space.h"

#define OBJECTS_BUCKETS 1024u        /* a power of two */
#define OBJECTS_MOST (1u << 17)
#define OBJECTS_OPEN_MOST 256u       /* descriptors of files */

enum object_state {
	OBJECT_FOUND,                /* it was opened, and may be again */
	OBJECT_GONE,                 /* no file is where it was */
	OBJECT_REPLACED,             /* another one is */
	OBJECT_DENIED,               /* not to be opened */
};

/* What JIT compilers write about their code. */
struct jit {
	int map, dump;               /* descriptors; -1 */
	int folder;                  /* its /tmp, where that is not ours; -1 */
	u64 looked_ns;               /* of CLOCK_MONOTONIC */
	bool known;                  /* it was seen alive, and these are from then: */
	u32 pid;                     /* that it has for itself */
	uid_t owners[2];
};

struct object {
	u32 number, pid;
	enum object_kind kind;
	enum object_state state;
	struct object *next;         /* in the bucket of its path */
	char *path;
	char *build_id;
	bool id_told;                /* by a record, or read from the file: then build_id says all */
	u32 major, minor;
	u64 inode;                   /* as the kernel told; 0: it did not */

	char *open_path;             /* by which it was opened and can be again */
	int fd;                      /* -1 */
	u64 used;                    /* when the descriptor was */
	struct stat about;           /* of the file when it was opened */
	struct elf_file elf;         /* its heads are kept when fd is closed */
	bool is_elf;

	const u8 *bytes;             /* of the vDSO */
	u8 *copied;                  /* those, where they are not our own */
	u8 *image;
	size_t image_size;
	bool image_tried;
	char *note, *debug_file, *debug_tried;
	struct jit jit;
};

struct objects {
	struct object **list;
	u32 n, room;
	struct object *buckets[OBJECTS_BUCKETS];
	struct object *vdso;
};

void objects_init(struct objects *objects);
void objects_fini(struct objects *objects);

/* An object without a path in the buckets; NULL: no memory. */
struct object *objects_add(struct objects *objects, enum object_kind kind, const char *path);

/* A mapped file's; NULL: it is none (memory, a device, a memfd without an ELF file), or no memory. */
struct object *objects_file(struct objects *objects, const struct space_map *map);
struct object *objects_vdso(struct objects *objects, const struct space_map *map);
struct object *objects_jit(struct objects *objects, u32 pid);
struct object *objects_kernel(struct objects *objects);

/* What is to be added to an address in a mapping. *whole: it is the same for all of the mapping. */
u64 object_delta(struct object *object, const struct space_map *map, u64 address, bool *whole);

/* Keeps a descriptor of it, where another may have to be closed for. */
void object_opened(struct object *object, int fd);
void object_close(struct object *object);

/* ---- object_open.c: the right file */

/* Opens it for the first time, through the process that maps it; fills the state. */
void object_open(struct object *object, const struct space_map *map);
/* Opens it again; fills the state. */
void object_reopen(struct object *object);
/* Whether the open file is still as it was when it was found. */
bool object_unchanged(struct object *object);
/* Whether the file of a descriptor has this build id, in digits. */
bool object_file_has_id(int fd, const char *build_id);

/* ---- jit.c */

bool object_is_jitdump(const char *name);
/* Opens the jitdump file that was mapped. */
void object_jitdump(struct object *object, const struct space_map *map);
/* Looks for the perf map of a process, from time to time, while there is none. */
void object_jit_look(struct object *object);
void object_jit_close(struct object *object);

/* ---- kernel.c: /proc/kallsyms */

bool object_kernel_hidden(void);

#endif
