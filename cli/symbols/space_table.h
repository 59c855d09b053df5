/* SPDX-License-Identifier: MIT */
/*
 * The mappings of one address space over time. Memory is cut into pieces at the edges of all mappings, so that each
 * piece has a plain list of what lay there, the newest first, and a look-up is one binary search. A forked child
 * shares its parent's table until one of them changes.
 */
#ifndef CLI_SYMBOLS_SPACE_TABLE_H
#define CLI_SYMBOLS_SPACE_TABLE_H

#include "cli/symbols/object.h"
#include "common/base.h"

struct mapping {
	u64 start, end, offset;
	u64 from;                    /* when it was made, or first seen */
	bool seen_late;              /* first seen in /proc: it may be older */
	struct object *object;
	u64 delta;                   /* from an address to that in the object, where cached */
	bool cached;
};

struct piece {
	u64 start, end;
	u32 newest;                  /* in versions */
};

struct version {
	struct mapping mapping;
	u32 older;                   /* TABLE_NONE: none, or the next that is free */
};

#define TABLE_NONE (~0u)

struct space_table {
	u32 references;
	u32 npieces, pieces_room;
	u32 nversions, versions_room, free_version;
	struct piece *pieces;
	struct version *versions;
};

/* NULL: no memory. */
struct space_table *space_table_new(void);
struct space_table *space_table_share(struct space_table *table);
void space_table_free(struct space_table *table);
/* A copy where others share it; NULL, and the table as it was, when memory is short. */
struct space_table *space_table_own(struct space_table *table);

/* Adds to a table that nobody shares. 0, or -ENOMEM: also where a process has more than 32,768 pieces. */
int space_table_add(struct space_table *table, const struct mapping *mapping);

/* The piece of an address, or NULL. */
const struct piece *space_table_piece(const struct space_table *table, u64 address);
/* What lay in it then; NULL: nothing. */
struct mapping *space_table_at(const struct space_table *table, const struct piece *piece, u64 time_ns);

/* Adds all mappings that are not older than that to another table: made after an exec that was told of late. */
int space_table_move(const struct space_table *from, u64 since_ns, struct space_table *to);

#endif
