/* SPDX-License-Identifier: MIT */
/*
 * What code lies in: a file as it was mapped, the vDSO, the kernel, or memory that a JIT compiler fills. A file is
 * opened when it is met, through the process that maps it, so that it is the one mapped even where its path names
 * nothing here, or another file by now.
 */
#ifndef CLI_SYMBOLS_OBJECT_H
#define CLI_SYMBOLS_OBJECT_H

#include "common/base.h"

enum object_kind {
	OBJECT_FILE,
	OBJECT_KERNEL,
	OBJECT_VDSO,
	OBJECT_JIT,                  /* one for each process, since addresses mean something in it alone */
};

struct object;

enum object_kind object_kind(const struct object *object);
/* As the process saw it, without " (deleted)"; "[kernel]", "[vdso]" or "[jit]". */
const char *object_path(const struct object *object);
/* Hexadecimal digits; NULL: it has none. Of the mapped file, where the record or the file told. */
const char *object_build_id(struct object *object);
/* A number of its own among the objects of its spaces, from 0. */
u32 object_number(const struct object *object);
/* Of a JIT's: its process. 0: of all. */
u32 object_pid(const struct object *object);

/*
 * Why names are missing or may be wrong, in words that end a sentence: "stripped", "replaced during the run",
 * "split debug info not found: PATH". NULL: there is nothing to tell. What resolve_objects() finds adds to it.
 */
const char *object_note(const struct object *object);
/* The file with its debug info, itself or another; NULL: none was found, or nobody has looked. */
const char *object_debug_file(const struct object *object);
/* Where that was looked for last, when there is none; NULL. */
const char *object_debug_tried(const struct object *object);

/*
 * A descriptor of the file; -1: it cannot be had, or is another file now. It is the object's, and good until the next
 * call for any object.
 */
int object_descriptor(struct object *object);

/*
 * The bytes of the file at their offsets, private: a copy, so that nothing happens when the file is cut. Only what
 * unwinding needs is in it, the rest reads as zero: the headers, .dynamic, .eh_frame, .eh_frame_hdr, .debug_frame and
 * the sections' names, and code up to 16 MiB. Made at the first call, as long as the spaces. NULL: not to be had.
 */
const u8 *object_image(struct object *object, size_t *size);

/* Bytes at an address as place.address has it. False: not all of them are in the file. */
bool object_read(struct object *object, u64 address, void *buffer, size_t size);

#endif
