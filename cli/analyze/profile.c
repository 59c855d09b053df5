/* SPDX-License-Identifier: MIT */
/* The profile's tables: names, rows, client values, and the words for losses.  See profile.h. */
#include "cli/analyze/profile.h"

#include <stdlib.h>
#include <string.h>

#include "cli/analyze/profile_build.h"

const char *const profile_group_words[] = { "process", "thread", "region", NULL };

static const struct loss_row {
	const char *name, *text;
} profile_losses[PROFILE_LOSS_COUNT] = {
	[WIRE_LOSS_NAMES] = { "names", "calls charged to [other]: the table of names was full" },
	[WIRE_LOSS_NODES] = { "nodes", "calls charged to [other]: no memory for another region path" },
	[WIRE_LOSS_HIST] = { "histogram", "durations missing from percentiles: no memory for a histogram" },
	[WIRE_LOSS_SLOTS] = { "threads", "markers dropped: no memory for another thread" },
	[WIRE_LOSS_EARLY] = { "early", "markers dropped: they came while the agent was starting" },
	[WIRE_LOSS_LANES] = { "lanes", "markers dropped: too many signal handlers within each other" },
	[WIRE_LOSS_WINDOWS] = { "windows", "edges of windows dropped: no room for another window" },
	[WIRE_LOSS_METRICS] = { "metrics", "values and units dropped: no memory for them" },
	[WIRE_LOSS_NULL_NAMES] = { "null-names", "markers ignored: a null pointer for a name" },
	[WIRE_LOSS_NO_CLOCK] = { "no-clock", "markers dropped: strict seccomp or PR_SET_TSC forbids the time stamp counter" },
	[WIRE_LOSS_UNTRACED] = { "untraced", "threads missing in the trace: too many at a time in one process" },
	[WIRE_LOSS_CALLS] = { "calls", "slots of calls left alone: more than 4096 functions" },
	[PROFILE_LOSS_DAMAGED] = { "damaged", "records damaged in the program's memory, left out" },
	[PROFILE_LOSS_ROWS] = { "rows", "region paths charged to [other]: more than a report can hold" },
	[PROFILE_LOSS_ORIGINS] = { "origins", "callers of functions left out: more than a report can hold" },
};

const char *profile_loss_name(u32 loss)
{
	return loss < PROFILE_LOSS_COUNT ? profile_losses[loss].name : NULL;
}

const char *profile_loss_text(u32 loss)
{
	return loss < PROFILE_LOSS_COUNT ? profile_losses[loss].text : NULL;
}

void profile_init(struct profile *profile, enum profile_group group)
{
	*profile = (struct profile){ .group = group };
}

void profile_fini(struct profile *profile)
{
	u32 i, k;

	for (i = 0; i < profile->nrows; i++) {
		for (k = 0; k < WIRE_HIST_OCTAVES; k++)
			free(profile->rows[i].hist.octave[k]);
		free(profile->rows[i].cells);
	}
	for (i = 0; i < profile->nnames; i++)
		free(profile->names[i].bytes);
	free(profile->rows);
	free(profile->names);
	free(profile->values);
	free(profile->threads);
	free(profile->diags);
	free(profile->opens);
	free(profile->windows);
	free(profile->origins);
	free(profile->row_index.slots);
	free(profile->name_index.slots);
	free(profile->value_index.slots);
	free(profile->window_index.slots);
	*profile = (struct profile){ .group = profile->group };
}

void *profile_grow(struct profile *profile, void *array, u32 count, u32 *room, size_t size)
{
	u32 more = *room ? *room * 2 : 16;
	void *grown;

	if (count < *room)
		return array;
	grown = more > *room ? realloc(array, more * size) : NULL;
	if (!grown) {
		profile->no_memory = true;
		return NULL;
	}
	*room = more;
	return grown;
}

/* ---- hashed indices: open addressing over item numbers + 1 ----------------------------------------- */

static u64 profile_mix(u64 a, u64 b)
{
	u64 x = (a ^ b * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL;

	return x ^ x >> 32;
}

static u64 profile_hash_bytes(const char *bytes, size_t len)
{
	u64 hash = 0xcbf29ce484222325ULL;
	size_t i;

	for (i = 0; i < len; i++)
		hash = (hash ^ (u8)bytes[i]) * 0x100000001b3ULL;
	return profile_mix(hash, len);
}

static void profile_index_put(struct profile_index *index, u64 hash, u32 item)
{
	u32 i = (u32)hash & (index->size - 1);

	while (index->slots[i])
		i = (i + 1) & (index->size - 1);
	index->slots[i] = item + 1;
}

/* Keeps the index at most half full; hash_of gives the hash of an item that is in it already. */
static bool profile_index_room(struct profile *profile, struct profile_index *index,
			       u64 (*hash_of)(const struct profile *profile, u32 item))
{
	struct profile_index grown = { .count = index->count };
	u32 i;

	if (index->count * 2 < index->size)
		return true;
	grown.size = index->size ? index->size * 2 : 64;
	grown.slots = calloc(grown.size, sizeof(*grown.slots));
	if (!grown.slots) {
		profile->no_memory = true;
		return false;
	}
	for (i = 0; i < index->size; i++)
		if (index->slots[i])
			profile_index_put(&grown, hash_of(profile, index->slots[i] - 1),
					  index->slots[i] - 1);
	free(index->slots);
	*index = grown;
	return true;
}

/* Steps through the items that may have a hash: *at starts as the hash; PROFILE_NONE at the end. */
static u32 profile_index_next(const struct profile_index *index, u64 *at)
{
	u32 item;

	if (!index->size)
		return PROFILE_NONE;
	*at &= index->size - 1;
	item = index->slots[*at];
	*at += 1;
	return item - 1;
}

/* ---- names ----------------------------------------------------------------------------------------- */

static u64 profile_name_hash(const struct profile *profile, u32 item)
{
	return profile->names[item].hash;
}

static u32 profile_name_find(const struct profile *profile, const char *bytes, size_t len, u64 hash)
{
	u64 at = hash;
	u32 i;

	while ((i = profile_index_next(&profile->name_index, &at)) != PROFILE_NONE) {
		const struct profile_name *name = &profile->names[i];

		if (name->hash == hash && name->len == len && !memcmp(name->bytes, bytes, len))
			break;
	}
	return i;
}

u32 profile_intern(struct profile *profile, const char *bytes, size_t len)
{
	u64 hash = profile_hash_bytes(bytes, len);
	u32 i = profile_name_find(profile, bytes, len, hash);
	struct profile_name *names, *name;

	if (i != PROFILE_NONE)
		return i;
	names = profile_grow(profile, profile->names, profile->nnames, &profile->names_room,
			     sizeof(*names));
	if (!names)
		return PROFILE_NONE;
	profile->names = names;
	if (!profile_index_room(profile, &profile->name_index, profile_name_hash))
		return PROFILE_NONE;
	name = &names[profile->nnames];
	*name = (struct profile_name){ .hash = hash, .len = (u32)len, .bytes = malloc(len + 1) };
	if (!name->bytes) {
		profile->no_memory = true;
		return PROFILE_NONE;
	}
	memcpy(name->bytes, bytes, len);
	name->bytes[len] = '\0';
	profile_index_put(&profile->name_index, hash, profile->nnames);
	profile->name_index.count++;
	return profile->nnames++;
}

/* ---- rows ------------------------------------------------------------------------------------------ */

/* A root is known by process and thread, a region by its parent and name. */
static u64 profile_row_key(u32 parent, u32 name, u32 process, u32 tid)
{
	if (parent == PROFILE_NONE)
		return profile_mix((u64)process << 32 | tid, 1);
	return profile_mix((u64)parent << 32 | name, 2);
}

static u64 profile_row_hash(const struct profile *profile, u32 item)
{
	const struct profile_row *row = &profile->rows[item];

	return profile_row_key(row->parent, row->name, row->process, row->tid);
}

static u32 profile_row_find(const struct profile *profile, u32 parent, u32 name, u32 process, u32 tid)
{
	u64 at = profile_row_key(parent, name, process, tid);
	u32 i;

	while ((i = profile_index_next(&profile->row_index, &at)) != PROFILE_NONE) {
		const struct profile_row *row = &profile->rows[i];

		if (row->parent != parent || row->name != name)
			continue;
		if (parent != PROFILE_NONE || (row->process == process && row->tid == tid))
			break;
	}
	return i;
}

static u32 profile_row_add(struct profile *profile, const struct profile_row *row)
{
	struct profile_row *rows = profile_grow(profile, profile->rows, profile->nrows,
						&profile->rows_room, sizeof(*rows));

	if (!rows)
		return PROFILE_NONE;
	profile->rows = rows;
	if (!profile_index_room(profile, &profile->row_index, profile_row_hash))
		return PROFILE_NONE;
	rows[profile->nrows] = *row;
	profile_index_put(&profile->row_index, profile_row_hash(profile, profile->nrows),
			  profile->nrows);
	profile->row_index.count++;
	return profile->nrows++;
}

u32 profile_root(struct profile *profile, u32 process, u32 pid, u32 tid)
{
	struct profile_row row = { .parent = PROFILE_NONE, .name = PROFILE_NONE, .min = ~0ULL,
				   .unit = PROFILE_NONE, .values = PROFILE_NONE };
	u32 i;

	if (profile->group != PROFILE_BY_REGION) {
		row.process = process;
		row.pid = pid;
	}
	if (profile->group == PROFILE_BY_THREAD)
		row.tid = tid;
	i = profile_row_find(profile, PROFILE_NONE, PROFILE_NONE, row.process, row.tid);
	if (i == PROFILE_NONE && profile->threads_most && profile->nroots >= profile->threads_most) {
		row.tid = 0;
		i = profile_row_find(profile, PROFILE_NONE, PROFILE_NONE, row.process, 0);
	}
	if (i != PROFILE_NONE)
		return i;
	profile->nroots++;
	return profile_row_add(profile, &row);
}

bool profile_group_alone(struct profile *profile)
{
	u32 i;

	if (profile->nroots != 1 || profile->nwindows || profile->threads_most || !profile->nrows ||
	    !profile_index_room(profile, &profile->row_index, profile_row_hash))
		return false;
	for (i = 0; i < profile->nrows; i++)
		profile->rows[i].process = profile->rows[i].pid = profile->rows[i].tid = 0;
	/* The root, which is the first, is found by what it is now; its former place leads to it still. */
	profile_index_put(&profile->row_index, profile_row_hash(profile, 0), 0);
	profile->row_index.count++;
	profile->group = PROFILE_BY_REGION;
	return true;
}

u32 profile_child(struct profile *profile, u32 parent, u32 name)
{
	u32 i = profile_row_find(profile, parent, name, 0, 0);
	struct profile_row row = { .parent = parent, .name = name, .min = ~0ULL,
				   .unit = PROFILE_NONE, .values = PROFILE_NONE };

	if (i != PROFILE_NONE)
		return i;
	if (profile->nrows >= PROFILE_ROWS_MAX) {
		profile->losses[PROFILE_LOSS_ROWS]++;
		while (profile->rows[parent].parent != PROFILE_NONE)
			parent = profile->rows[parent].parent;
		row.parent = parent;
		row.name = profile_intern(profile, "[other]", 7);
		i = profile_row_find(profile, parent, row.name, 0, 0);
		if (i != PROFILE_NONE || row.name == PROFILE_NONE)
			return i;
	}
	row.process = profile->rows[parent].process;
	row.pid = profile->rows[parent].pid;
	row.tid = profile->rows[parent].tid;
	row.depth = profile->rows[parent].depth + 1;
	return profile_row_add(profile, &row);
}

u32 profile_find_row(const struct profile *profile, u32 process, u32 tid, const char *const *path,
		     size_t depth)
{
	u32 row = profile_row_find(profile, PROFILE_NONE, PROFILE_NONE, process, tid);

	for (size_t i = 0; i < depth; i++)
		row = profile_find_child(profile, row, path[i], strlen(path[i]));
	return row;
}

u32 profile_find_child(const struct profile *profile, u32 row, const char *bytes, size_t len)
{
	u32 name = profile_name_find(profile, bytes, len, profile_hash_bytes(bytes, len));

	if (row == PROFILE_NONE || name == PROFILE_NONE)
		return PROFILE_NONE;
	return profile_row_find(profile, row, name, 0, 0);
}

/* ---- client values, diagnoses ---------------------------------------------------------------------- */

static u64 profile_value_hash(const struct profile *profile, u32 item)
{
	return profile_mix((u64)profile->values[item].row << 32 | profile->values[item].name, 3);
}

struct profile_value *profile_value(struct profile *profile, u32 row, u32 name)
{
	u64 hash = profile_mix((u64)row << 32 | name, 3), at = hash;
	struct profile_value *values;
	u32 i;

	while ((i = profile_index_next(&profile->value_index, &at)) != PROFILE_NONE)
		if (profile->values[i].row == row && profile->values[i].name == name)
			return &profile->values[i];
	values = profile_grow(profile, profile->values, profile->nvalues, &profile->values_room,
			      sizeof(*values));
	if (!values)
		return NULL;
	profile->values = values;
	if (!profile_index_room(profile, &profile->value_index, profile_value_hash))
		return NULL;
	i = profile->nvalues++;
	values[i] = (struct profile_value){ .next = profile->rows[row].values, .row = row, .name = name };
	profile->rows[row].values = i;
	profile_index_put(&profile->value_index, hash, i);
	profile->value_index.count++;
	return &values[i];
}

static u64 profile_window_hash(const struct profile *profile, u32 item)
{
	return profile_mix((u64)profile->windows[item].process << 32 | profile->windows[item].name, 4);
}

/* False: no memory. Some may have been taken out since. */
static bool profile_windows_index(struct profile *profile)
{
	struct profile_index *index = &profile->window_index;

	if (index->count == profile->nwindows)
		return profile_index_room(profile, index, profile_window_hash);
	free(index->slots);
	*index = (struct profile_index){ .count = 0 };
	for (; index->count < profile->nwindows; index->count++) {
		if (!profile_index_room(profile, index, profile_window_hash))
			return false;
		profile_index_put(index, profile_window_hash(profile, index->count), index->count);
	}
	return profile_index_room(profile, index, profile_window_hash);
}

struct profile_window *profile_window(struct profile *profile, u32 process, u32 pid, u32 name)
{
	u64 hash = profile_mix((u64)process << 32 | name, 4), at = hash;
	struct profile_window *windows;
	u32 i;

	if (!profile_windows_index(profile))
		return NULL;
	while ((i = profile_index_next(&profile->window_index, &at)) != PROFILE_NONE)
		if (profile->windows[i].process == process && profile->windows[i].name == name)
			return &profile->windows[i];
	windows = profile_grow(profile, profile->windows, profile->nwindows, &profile->windows_room,
			       sizeof(*windows));
	if (!windows)
		return NULL;
	profile->windows = windows;
	i = profile->nwindows++;
	windows[i] = (struct profile_window){ .process = process, .pid = pid, .name = name };
	profile_index_put(&profile->window_index, hash, i);
	profile->window_index.count++;
	return &windows[i];
}

/* Beyond the limit one entry of a process is the sum of them all; it was added not long ago. */
static bool profile_thread_joined(struct profile *profile, const struct profile_thread *thread)
{
	struct profile_thread *sum;
	u32 i;

	for (i = profile->nthreads; i--;) {
		sum = &profile->threads[i];
		if (sum->process != thread->process || sum->tid)
			continue;
		sum->threads += thread->threads;
		sum->wall += thread->wall;
		usage_add(&sum->usage, &thread->usage);
		return true;
	}
	return false;
}

void profile_add_thread(struct profile *profile, const struct profile_thread *thread)
{
	struct profile_thread *threads;

	if (profile->threads_most && !thread->tid && profile_thread_joined(profile, thread))
		return;
	threads = profile_grow(profile, profile->threads, profile->nthreads, &profile->threads_room,
			       sizeof(*threads));
	if (!threads)
		return;
	profile->threads = threads;
	threads[profile->nthreads++] = *thread;
}

void profile_add_diag(struct profile *profile, const struct profile_diag *diag)
{
	struct profile_diag *diags = profile_grow(profile, profile->diags, profile->ndiags,
						  &profile->diags_room, sizeof(*diags));

	if (!diags)
		return;
	profile->diags = diags;
	diags[profile->ndiags++] = *diag;
}

void profile_add_open(struct profile *profile, const struct profile_diag *open)
{
	struct profile_diag *opens = profile_grow(profile, profile->opens, profile->nopens,
						  &profile->opens_room, sizeof(*opens));

	if (!opens)
		return;
	profile->opens = opens;
	opens[profile->nopens++] = *open;
}
