/* SPDX-License-Identifier: MIT */
/* See space_table.h. */
#include "cli/symbols/space_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PIECES_MOST 32768u
#define VERSIONS_MOST 16             /* in one piece: of what is older, nobody asks any more */

struct space_table *space_table_new(void)
{
	struct space_table *table = calloc(1, sizeof(*table));

	if (table) {
		table->references = 1;
		table->free_version = TABLE_NONE;
	}
	return table;
}

struct space_table *space_table_share(struct space_table *table)
{
	table->references++;
	return table;
}

void space_table_free(struct space_table *table)
{
	if (!table || --table->references)
		return;
	free(table->pieces);
	free(table->versions);
	free(table);
}

static void *copy_of(const void *from, size_t n, size_t size)
{
	void *copy = malloc(n * size + 1);

	if (copy && n)
		memcpy(copy, from, n * size);
	return copy;
}

struct space_table *space_table_own(struct space_table *table)
{
	struct space_table *own;

	if (table->references == 1)
		return table;
	own = space_table_new();
	if (!own)
		return NULL;
	own->pieces = copy_of(table->pieces, table->npieces, sizeof(*own->pieces));
	own->versions = copy_of(table->versions, table->nversions, sizeof(*own->versions));
	if (!own->pieces || !own->versions) {
		space_table_free(own);
		return NULL;
	}
	own->npieces = own->pieces_room = table->npieces;
	own->nversions = own->versions_room = table->nversions;
	own->free_version = table->free_version;
	table->references--;
	return own;
}

static u32 version_new(struct space_table *table, const struct mapping *mapping, u32 older)
{
	u32 i = table->free_version, room = table->versions_room;
	struct version *versions;

	if (i != TABLE_NONE) {
		table->free_version = table->versions[i].older;
	} else {
		if (table->nversions == room) {
			room = room ? 2 * room : 16;
			versions = realloc(table->versions, room * sizeof(*versions));
			if (!versions)
				return TABLE_NONE;
			table->versions = versions;
			table->versions_room = room;
		}
		i = table->nversions++;
	}
	table->versions[i] = (struct version){ *mapping, older };
	return i;
}

static void versions_free(struct space_table *table, u32 first)
{
	u32 next;

	for (; first != TABLE_NONE; first = next) {
		next = table->versions[first].older;
		table->versions[first].older = table->free_version;
		table->free_version = first;
	}
}

/* A copy of a list; TABLE_NONE when memory is short. */
static u32 versions_copy(struct space_table *table, u32 from)
{
	u32 first = TABLE_NONE, last = TABLE_NONE, i;
	struct mapping mapping;

	for (; from != TABLE_NONE; from = table->versions[from].older) {
		mapping = table->versions[from].mapping;
		i = version_new(table, &mapping, TABLE_NONE);
		if (i == TABLE_NONE)
			break;
		if (last == TABLE_NONE)
			first = i;
		else
			table->versions[last].older = i;
		last = i;
	}
	return first;
}

/* Makes room for one more piece at a place. */
static bool piece_insert(struct space_table *table, u32 at, const struct piece *piece)
{
	u32 room = table->pieces_room;
	struct piece *pieces;

	if (table->npieces >= PIECES_MOST)
		return false;
	if (table->npieces == room) {
		room = room ? 2 * room : 16;
		pieces = realloc(table->pieces, room * sizeof(*pieces));
		if (!pieces)
			return false;
		table->pieces = pieces;
		table->pieces_room = room;
	}
	memmove(&table->pieces[at + 1], &table->pieces[at], (table->npieces - at) * sizeof(*table->pieces));
	table->pieces[at] = *piece;
	table->npieces++;
	return true;
}

/* The first piece that ends behind an address. */
static u32 piece_behind(const struct space_table *table, u64 address)
{
	u32 low = 0, high = table->npieces, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (table->pieces[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Cuts the piece in which an address lies, if it is not an edge already. */
static bool piece_cut(struct space_table *table, u64 address)
{
	u32 at = piece_behind(table, address);
	struct piece upper;

	if (at == table->npieces || table->pieces[at].start >= address)
		return true;
	upper = (struct piece){ address, table->pieces[at].end, versions_copy(table, table->pieces[at].newest) };
	if (upper.newest == TABLE_NONE)
		return false;
	if (!piece_insert(table, at + 1, &upper)) {
		versions_free(table, upper.newest);
		return false;
	}
	table->pieces[at].end = address;
	return true;
}

static bool mapping_same(const struct mapping *a, const struct mapping *b)
{
	return a->object == b->object && a->start - a->offset == b->start - b->offset;
}

/* Puts a mapping into a piece's list by its time; one of the same there stays, from the earlier time. */
static bool piece_add(struct space_table *table, u32 at, const struct mapping *mapping)
{
	u32 next = table->pieces[at].newest, last = TABLE_NONE, i, n = 0;

	while (next != TABLE_NONE && table->versions[next].mapping.from > mapping->from) {
		last = next;
		next = table->versions[next].older;
		n++;
	}
	if (next != TABLE_NONE && mapping_same(&table->versions[next].mapping, mapping))
		return true;
	if (last != TABLE_NONE && mapping_same(&table->versions[last].mapping, mapping)) {
		table->versions[last].mapping.from = mapping->from;
		return true;
	}
	if (n >= VERSIONS_MOST)
		return true;
	i = version_new(table, mapping, next);
	if (i == TABLE_NONE)
		return false;
	if (last == TABLE_NONE)
		table->pieces[at].newest = i;
	else
		table->versions[last].older = i;
	for (last = i; next != TABLE_NONE && ++n < VERSIONS_MOST; next = table->versions[next].older)
		last = next;
	versions_free(table, table->versions[last].older);
	table->versions[last].older = TABLE_NONE;
	return true;
}

int space_table_add(struct space_table *table, const struct mapping *mapping)
{
	u64 from = mapping->start;
	struct piece piece;
	u32 at;

	if (!piece_cut(table, mapping->start) || !piece_cut(table, mapping->end))
		return -ENOMEM;
	for (at = piece_behind(table, from); from < mapping->end; at++) {
		if (at < table->npieces && table->pieces[at].start <= from) {
			if (!piece_add(table, at, mapping))
				return -ENOMEM;
		} else {
			piece = (struct piece){ from, mapping->end, version_new(table, mapping, TABLE_NONE) };
			if (at < table->npieces && table->pieces[at].start < piece.end)
				piece.end = table->pieces[at].start;
			if (piece.newest == TABLE_NONE)
				return -ENOMEM;
			if (!piece_insert(table, at, &piece)) {
				versions_free(table, piece.newest);
				return -ENOMEM;
			}
		}
		from = table->pieces[at].end;
	}
	return 0;
}

const struct piece *space_table_piece(const struct space_table *table, u64 address)
{
	u32 at = piece_behind(table, address);

	return at < table->npieces && table->pieces[at].start <= address ? &table->pieces[at] : NULL;
}

struct mapping *space_table_at(const struct space_table *table, const struct piece *piece, u64 time_ns)
{
	u32 i = piece->newest;

	while (table->versions[i].mapping.from > time_ns) {
		/* Before the first there was nothing, unless it is older than what is known of it. */
		if (table->versions[i].older == TABLE_NONE)
			return table->versions[i].mapping.seen_late ? &table->versions[i].mapping : NULL;
		i = table->versions[i].older;
	}
	return &table->versions[i].mapping;
}

int space_table_move(const struct space_table *from, u64 since_ns, struct space_table *to)
{
	int status = 0;
	u32 i, v;

	for (i = 0; i < from->npieces && !status; i++)
		for (v = from->pieces[i].newest; v != TABLE_NONE && !status; v = from->versions[v].older)
			if (from->versions[v].mapping.from >= since_ns)
				status = space_table_add(to, &from->versions[v].mapping);
	return status;
}
