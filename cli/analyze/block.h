/* SPDX-License-Identifier: MIT */
/*
 * What devices did in a time: the differences of /proc/diskstats, and, where the kernel's records of requests can be
 * read, how long each took. Of all processes: a request knows no region.
 */
#ifndef CLI_ANALYZE_BLOCK_H
#define CLI_ANALYZE_BLOCK_H

#include "cli/analyze/cell.h"
#include "common/hist.h"

#define BLOCK_NAME 64
#define BLOCK_FIELDS 17              /* of Documentation/admin-guide/iostats.rst */
#define BLOCK_DEVICES 4096u          /* lines that are read */

enum block_direction { BLOCK_READ, BLOCK_WRITE, BLOCK_DISCARD, BLOCK_FLUSH, BLOCK_DIRECTIONS };

enum block_kind {
	BLOCK_DISK,                  /* whole: these alone may be added up */
	BLOCK_PARTITION,             /* a disk's requests once more */
	BLOCK_STACKED,               /* others do its work: dm, md */
	BLOCK_LOOP,                  /* a file does */
	BLOCK_MEMORY,
	BLOCK_UNKNOWN,
	BLOCK_KINDS
};

/* By direction. */
enum block_side_cell { BLOCK_REQUESTS, BLOCK_MERGED, BLOCK_BYTES, BLOCK_RATE, BLOCK_MEAN, BLOCK_SIDE_CELLS };
/* Of the device. */
enum block_cell { BLOCK_BUSY, BLOCK_IN_FLIGHT, BLOCK_CELLS };

extern const char *const block_direction_names[BLOCK_DIRECTIONS];
extern const char *const block_kind_names[BLOCK_KINDS];
extern const struct block_cell_name {
	const char *name, *unit;
} block_side_cells[BLOCK_SIDE_CELLS], block_cells[BLOCK_CELLS];

/* Why a request, or an end of one, has no latency. */
enum block_left {
	BLOCK_LEFT_BEGUN,            /* it ended, and its issue was not seen */
	BLOCK_LEFT_OPEN,             /* its end was not seen */
	BLOCK_LEFT_ALIKE,            /* two of one device, sector and direction were open at a time */
	BLOCK_LEFT_RESIZED,          /* it ended longer than it was issued */
	BLOCK_LEFT_REQUEUED,         /* the device gave it back: issued again, it is another one */
	BLOCK_LEFT_FAILED,
	BLOCK_LEFT_LOST,             /* records were lost while it was open */
	BLOCK_LEFT_REASONS
};

extern const char *const block_left_names[BLOCK_LEFT_REASONS];

struct block_latency {
	u64 paired;                  /* requests whose issue and end were seen */
	u64 split;                   /* of them, those that ended in pieces: with the last one */
	u64 least, greatest;         /* ns */
	double sum;
	struct hist hist;
	u64 left[BLOCK_LEFT_REASONS];
};

/* A device that requests were seen of. */
struct block_traced {
	u32 major, minor;
	struct block_latency latency[BLOCK_DIRECTIONS];
};

struct block_device {
	char name[BLOCK_NAME];
	u32 major, minor;
	enum block_kind kind;
	struct cell cell[BLOCK_CELLS];
	struct cell side[BLOCK_DIRECTIONS][BLOCK_SIDE_CELLS];
};

struct block {
	u64 duration_ns;             /* between the two readings */
	struct block_device *devices;
	u32 ndevices;
	char floor[400];             /* why there are none; "": there are */
	bool records;                /* latencies of requests could be had */
	char why[400];               /* why not */
	struct block_traced *traced; /* by these, in the order in which they were met */
	u32 ntraced;
	u64 lost;                    /* records, of whatever device */
	bool no_memory;
};

void block_fini(struct block *block);
/* Finds or adds the device; NULL: no memory. */
struct block_traced *block_traced(struct block *block, u32 major, u32 minor);
/* NULL: no request of it was seen. */
const struct block_traced *block_traced_of(const struct block *block, const struct block_device *device);
/* Counts a request. False: no memory. */
bool block_latency_add(struct block_latency *latency, u64 ns);
/* The value below which per_mille / 1000 of them lie, in ns; not counted where there were none. */
struct cell block_quantile(const struct block_latency *latency, u32 per_mille);
/* It did something, by either source. */
bool block_active(const struct block *block, const struct block_device *device);

/* ---- block_stats.c: /proc/diskstats */

struct block_stat {
	char name[BLOCK_NAME];
	u32 major, minor;
	u32 nfields;                 /* that the line has, at most BLOCK_FIELDS */
	u64 field[BLOCK_FIELDS];
};

struct block_stats {
	struct block_stat *list;
	u32 n;
	u64 time_ns;
};

/* The whole lines of the text; what makes no sense is left out. 0, or -1: no memory. */
int block_stats_parse(struct block_stats *stats, const char *text, size_t size);
void block_stats_free(struct block_stats *stats);
/*
 * Fills the devices and the duration from what was read before and now, asking for the kind of each. 0, or -1: no
 * memory.
 */
int block_between(struct block *block, const struct block_stats *before, const struct block_stats *now,
		  enum block_kind (*kind)(const struct block_stat *stat));

/* ---- block_pairs.c: issue and end of requests, by device, direction and sector */

/* One end of a request, as a tracepoint told it. */
struct block_end {
	u64 time_ns;
	u32 major, minor;
	enum block_direction direction;
	u64 sector;
	u32 sectors;
	int error;
};

/* What a request does by the letters of a tracepoint ("WS", "FF", "RA"); BLOCK_DIRECTIONS: nothing of these. */
enum block_direction block_letters(const char *rwbs, size_t size);

struct block_pairs;

/* Memory that does not grow; NULL: there is none. */
struct block_pairs *block_pairs_new(struct block *block);
void block_pairs_free(struct block_pairs *pairs);
/* In the order of time. */
void block_issue(struct block_pairs *pairs, const struct block_end *end);
void block_complete(struct block_pairs *pairs, const struct block_end *end);
void block_requeue(struct block_pairs *pairs, const struct block_end *end);
/* Records may be missing here: what is open is not paired any more. */
void block_lose(struct block_pairs *pairs);
/* No more come. */
void block_pairs_end(struct block_pairs *pairs);

#endif
