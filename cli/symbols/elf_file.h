/* SPDX-License-Identifier: MIT */
/*
 * ELF files (elf(5)) of strangers, read by pread(2) and checked at each step: nothing of a file is mapped, so that
 * one that is cut meanwhile is an error and no SIGBUS. For files of this machine's byte order, of 32 and 64 bits.
 */
#ifndef CLI_SYMBOLS_ELF_FILE_H
#define CLI_SYMBOLS_ELF_FILE_H

#include <elf.h>

#include "common/base.h"

#define ELF_FILE_ID_MOST 64          /* bytes of a build id */

struct elf_segment {
	u32 type, flags;             /* PT_, PF_ */
	u64 offset, file_size;
	u64 address, memory_size;
};

struct elf_section {
	u32 type;                    /* SHT_ */
	u32 link;
	u64 flags, address, offset, size;
	const char *name;            /* "" where there is none */
};

struct elf_file {
	int fd;                      /* -1: the bytes */
	const u8 *bytes;
	u64 size;
	bool wide;                   /* of 64 bits */
	u16 type, machine;           /* ET_, EM_ */
	struct elf_segment *segments;
	struct elf_section *sections;
	char *names;
	size_t nsegments, nsections;
};

/* The descriptor or the bytes stay the caller's and have to last. 0, -ENOEXEC, -ENOMEM, or what fstat(2) says. */
int elf_file_open(struct elf_file *elf, int fd);
int elf_file_open_bytes(struct elf_file *elf, const u8 *bytes, size_t size);
void elf_file_close(struct elf_file *elf);

/* All of a part, or false. */
bool elf_file_read(const struct elf_file *elf, u64 offset, void *buffer, size_t size);
/* A part as a block of its own, with a zero behind it; NULL where it is not whole there. */
void *elf_file_part(const struct elf_file *elf, u64 offset, u64 size);

/* NULL: there is none. */
const struct elf_section *elf_file_section(const struct elf_file *elf, const char *name);

/* Fills the digits of its build id, room for 2 * ELF_FILE_ID_MOST + 1. False: it has none. */
bool elf_file_build_id(const struct elf_file *elf, char *text);

/*
 * The segment that the loader maps a byte of the file by. Pages at its ends belong to it as a whole; where two share
 * one, the one that has the byte, and then the one that can be executed, goes first. NULL: none.
 */
const struct elf_segment *elf_file_segment(const struct elf_file *elf, u64 offset);

#endif
