/* SPDX-License-Identifier: MIT */
/*
 * Sound segments, from which hostile ones are made, and where things lie in them: some
 * made by hand, with a bit of everything, and some that the agent itself wrote.
 */
#ifndef TESTS_FUZZ_SEEDS_H
#define TESTS_FUZZ_SEEDS_H

#include "common/wire.h"

/* What a place means, and with that which values may do harm there. */
enum place_kind {
	PLACE_LINK,                  /* to a record of the same type, or none */
	PLACE_REF,                   /* of another record, or none */
	PLACE_REGION,                /* kind and ref of a name */
	PLACE_SMALL,                 /* a state, a kind, a mask, a number of items */
	PLACE_LONG,                  /* a sum, a time */
	PLACE_BYTES,
};

struct seed_place {
	u32 offset;
	u16 size;
	u8 kind;
	u8 record;                   /* enum record_type of the record that it lies in */
};

enum record_type {
	RECORD_HEADER, RECORD_PROCESS, RECORD_SLOT, RECORD_LANE, RECORD_PAGE, RECORD_NODE, RECORD_HIST, RECORD_CHUNK,
	RECORD_NAME, RECORD_WINDOW, RECORD_SNAPSHOT, RECORD_ORIGIN, RECORD_TYPES
};

struct record {
	u32 ref;
	u32 type;
	u32 size;
};

struct seed {
	u8 *bytes;
	size_t size;
	struct seed_place *places;
	u32 nplaces, places_room;
	struct record *records;      /* in no order; [0] is the header */
	u32 nrecords, records_room;
};

/* Finds records and places of a sound segment; keeps bytes. */
void seed_init(struct seed *seed, u8 *bytes, size_t size);

/*
 * For the frame's members. No reader looks at the header's arena and free_slots, which are the
 * agent's: here they say which sound segment an input was, and, at random, how it is to be read.
 */
#define SEGMENTS_ROOM (1u << 19)
void segments_open(char **argv);
size_t segments_make(u8 *bytes);
size_t segments_mutate(u8 *bytes, size_t size);

/* A copy of what the agent writes; argv is the program's own: it is executed anew for that. */
u8 *seed_from_agent(char **argv, size_t *size);

#endif
