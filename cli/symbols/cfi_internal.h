/* SPDX-License-Identifier: MIT */
/* What the files of cfi.h share: bytes with bounds, and descriptions as they are found. */
#ifndef CLI_SYMBOLS_CFI_INTERNAL_H
#define CLI_SYMBOLS_CFI_INTERNAL_H

#include "cli/symbols/cfi.h"

#define CFI_SEGMENTS 32u

/* Bytes and their address. Reading beyond the end gives 0 and sets bad. */
struct cfi_bytes {
	const u8 *at, *end;
	u64 address;                 /* of at */
	bool bad;
};

struct cfi_segment {
	u64 offset, address, size;   /* size: in the file */
	bool code;
};

/* A description that is known by its start. */
struct cfi_index {
	u64 start, end;
	u64 at;                      /* in its section */
};

struct cfi_section {
	u64 offset, address, size;   /* size 0: there is none */
};

struct cfi {
	const u8 *image;
	size_t size;
	u64 entry;                   /* where a program or loader starts */
	bool has_entry;
	struct cfi_segment segments[CFI_SEGMENTS];
	u32 nsegments;
	/* The search table: pairs of 4 bytes, distances from hdr. table is NULL where it cannot be used. */
	u64 hdr;
	const u8 *table;
	u64 table_rows;
	struct cfi_section eh_frame, debug_frame;
	struct cfi_index *index[2];  /* of .eh_frame where it has no table, of .debug_frame */
	size_t nindex[2];
	bool indexed[2];
};

/* A description (FDE) with what its common part (CIE) says. */
struct cfi_description {
	u64 start, end;
	u64 fde;                     /* its address */
	u64 code_align;
	s64 data_align;
	u64 return_column;
	u8 encoding;                 /* of its pointers */
	bool sized;                  /* augmentation data with a length */
	bool signal;
	struct cfi_bytes initial, program;
};

u64 cfi_get(struct cfi_bytes *bytes, size_t n);
u64 cfi_uleb(struct cfi_bytes *bytes);
s64 cfi_sleb(struct cfi_bytes *bytes);
/* Takes n bytes out of the front. */
struct cfi_bytes cfi_take(struct cfi_bytes *bytes, u64 n);
/* A pointer in an encoding DW_EH_PE_...; data: what distances of that kind count from. */
u64 cfi_pointer(struct cfi_bytes *bytes, u8 encoding, u64 data);

/* The bytes of a file from an address on, to the end of its segment. */
struct cfi_bytes cfi_at(const struct cfi *cfi, u64 address);
struct cfi_bytes cfi_section_bytes(const struct cfi *cfi, const struct cfi_section *section);

/*
 * Reads the description at the front of bytes, which lies in section, and steps behind it. False: it is a common
 * part, an end, or broken (bytes->bad).
 */
bool cfi_describe(const struct cfi *cfi, const struct cfi_section *section, bool debug, struct cfi_bytes *bytes,
	struct cfi_description *d);

/* Finds what describes an address. 1, 0: none, -1: it is broken. */
int cfi_search(struct cfi *cfi, u64 address, struct cfi_description *d);

#endif
