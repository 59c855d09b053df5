/* SPDX-License-Identifier: MIT */
/*
 * Issue and end of requests, paired by device, direction and sector; see block.h. Where it is not certain which end
 * belongs to which issue nothing is paired, and both count as left.
 */
#include "cli/analyze/block.h"

#include <stdlib.h>
#include <string.h>

#define OPEN_MOST 16384u             /* devices take some thousand at a time at most */
#define BUCKETS 16384u

struct request {
	u32 next;                    /* in its bucket, or among the free ones: number + 1 */
	u32 major, minor;
	u32 sectors;                 /* that have not ended yet */
	u64 sector;                  /* the first of them */
	u64 issue_ns;
	u32 open;                    /* requests like this */
	u8 direction;
	bool alike, lost, split;
};

struct block_pairs {
	struct block *block;
	u32 buckets[BUCKETS];        /* number of a request + 1; 0: none */
	u32 unused;                  /* the same */
	bool swept;                  /* none has become unsure since */
	struct request list[OPEN_MOST];
};

enum block_direction block_letters(const char *rwbs, size_t size)
{
	static const char operations[] = "RWDFNZ";
	size_t at = 0;

	/* An F in front is a flush before it, if another operation follows. */
	if (size > 1 && rwbs[0] == 'F' && rwbs[1] && strchr(operations, rwbs[1]))
		at = 1;
	if (!size)
		return BLOCK_DIRECTIONS;
	switch (rwbs[at]) {
	case 'R':
		return BLOCK_READ;
	case 'W':
		return BLOCK_WRITE;
	case 'D':
		return BLOCK_DISCARD;
	case 'F':
		return BLOCK_FLUSH;
	default:
		return BLOCK_DIRECTIONS;
	}
}

struct block_pairs *block_pairs_new(struct block *block)
{
	struct block_pairs *pairs = calloc(1, sizeof(*pairs));

	if (!pairs)
		return NULL;
	pairs->block = block;
	for (u32 i = 0; i < OPEN_MOST; i++)
		pairs->list[i].next = i + 2 <= OPEN_MOST ? i + 2 : 0;
	pairs->unused = 1;
	return pairs;
}

void block_pairs_free(struct block_pairs *pairs)
{
	free(pairs);
}

/* ---- open requests --------------------------------------------------------------------------------- */

static struct block_latency *latency_of(struct block_pairs *pairs, u32 major, u32 minor, u32 direction)
{
	struct block_traced *traced = block_traced(pairs->block, major, minor);

	return traced ? &traced->latency[direction] : NULL;
}

static void leave(struct block_pairs *pairs, u32 major, u32 minor, u32 direction, enum block_left why, u64 n)
{
	struct block_latency *latency = latency_of(pairs, major, minor, direction);

	if (latency)
		latency->left[why] += n;
}

static u32 bucket_of(u32 major, u32 minor, u32 direction, u64 sector)
{
	u64 h = (sector ^ (u64)major << 48 ^ (u64)minor << 32 ^ (u64)direction << 60) * 0x9e3779b97f4a7c15ull;

	return (u32)(h >> 40) % BUCKETS;
}

/* Where the number of the request stands, or would. */
static u32 *place_of(struct block_pairs *pairs, const struct block_end *end)
{
	u32 *at = &pairs->buckets[bucket_of(end->major, end->minor, end->direction, end->sector)];

	while (*at) {
		struct request *r = &pairs->list[*at - 1];

		if (r->sector == end->sector && r->major == end->major && r->minor == end->minor && r->direction == end->direction)
			break;
		at = &r->next;
	}
	return at;
}

static void take_out(struct block_pairs *pairs, u32 *place)
{
	u32 number = *place;

	*place = pairs->list[number - 1].next;
	pairs->list[number - 1].next = pairs->unused;
	pairs->unused = number;
}

static enum block_left why_unsure(const struct request *r)
{
	return r->lost ? BLOCK_LEFT_LOST : r->alike ? BLOCK_LEFT_ALIKE : BLOCK_LEFT_OPEN;
}

/* All whose end may never come, when there is no room. */
static void sweep(struct block_pairs *pairs, bool all)
{
	for (u32 i = 0; i < BUCKETS; i++)
		for (u32 *at = &pairs->buckets[i]; *at;) {
			struct request *r = &pairs->list[*at - 1];

			if (all || r->lost || r->alike) {
				leave(pairs, r->major, r->minor, r->direction, why_unsure(r), r->open);
				take_out(pairs, at);
			} else {
				at = &r->next;
			}
		}
	pairs->swept = true;
}

/* One of a pair of unlike or unsure ones has ended. */
static void end_unsure(struct block_pairs *pairs, u32 *place, enum block_left why)
{
	struct request *r = &pairs->list[*place - 1];

	leave(pairs, r->major, r->minor, r->direction, why, 1);
	if (!--r->open)
		take_out(pairs, place);
}

static void put_in(struct block_pairs *pairs, const struct block_end *end, u64 issue_ns, bool split)
{
	u32 *place = place_of(pairs, end);
	struct request *r;

	if (*place) {
		r = &pairs->list[*place - 1];
		r->open++;
		r->alike = true;
		pairs->swept = false;
		return;
	}
	if (!pairs->unused && !pairs->swept)
		sweep(pairs, false);
	if (!pairs->unused) {
		leave(pairs, end->major, end->minor, end->direction, BLOCK_LEFT_OPEN, 1);
		return;
	}
	place = place_of(pairs, end);
	*place = pairs->unused;
	r = &pairs->list[*place - 1];
	pairs->unused = r->next;
	*r = (struct request){ .major = end->major, .minor = end->minor, .sectors = end->sectors, .sector = end->sector,
			       .issue_ns = issue_ns, .open = 1, .direction = (u8)end->direction, .split = split };
}

/* ---- records --------------------------------------------------------------------------------------- */

void block_issue(struct block_pairs *pairs, const struct block_end *end)
{
	put_in(pairs, end, end->time_ns, false);
}

/* A piece of it has ended: what is left begins behind. */
static void end_piece(struct block_pairs *pairs, u32 *place, const struct block_end *end)
{
	const struct request r = pairs->list[*place - 1];
	struct block_end rest = *end;

	take_out(pairs, place);
	rest.sector += end->sectors;
	rest.sectors = r.sectors - end->sectors;
	put_in(pairs, &rest, r.issue_ns, true);
}

static void end_whole(struct block_pairs *pairs, u32 *place, const struct block_end *end)
{
	const struct request r = pairs->list[*place - 1];
	struct block_latency *latency = latency_of(pairs, r.major, r.minor, r.direction);

	take_out(pairs, place);
	if (!latency)
		return;
	if (end->time_ns < r.issue_ns || !block_latency_add(latency, end->time_ns - r.issue_ns))
		latency->left[BLOCK_LEFT_LOST]++;
	else
		latency->split += r.split;
}

void block_complete(struct block_pairs *pairs, const struct block_end *end)
{
	u32 *place = place_of(pairs, end);
	struct request *r = *place ? &pairs->list[*place - 1] : NULL;

	/* The kernel's own end of a flush with what it was before or behind; the device has ended that already. */
	if (!end->sectors && end->direction != BLOCK_FLUSH)
		return;
	if (!r)
		leave(pairs, end->major, end->minor, end->direction, BLOCK_LEFT_BEGUN, 1);
	else if (r->lost || r->alike)
		end_unsure(pairs, place, why_unsure(r));
	else if (end->error)
		end_unsure(pairs, place, BLOCK_LEFT_FAILED);
	else if (end->sectors == r->sectors)
		end_whole(pairs, place, end);
	else if (end->sectors && end->sectors < r->sectors)
		end_piece(pairs, place, end);
	else
		end_unsure(pairs, place, BLOCK_LEFT_RESIZED);
}

void block_requeue(struct block_pairs *pairs, const struct block_end *end)
{
	u32 *place = place_of(pairs, end);

	if (*place)
		end_unsure(pairs, place, BLOCK_LEFT_REQUEUED);
}

void block_lose(struct block_pairs *pairs)
{
	for (u32 i = 0; i < BUCKETS; i++)
		for (u32 at = pairs->buckets[i]; at; at = pairs->list[at - 1].next)
			pairs->list[at - 1].lost = true;
	pairs->swept = false;
}

void block_pairs_end(struct block_pairs *pairs)
{
	sweep(pairs, true);
}
