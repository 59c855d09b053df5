/* SPDX-License-Identifier: MIT */
/* Lists of samples without duplicates; see samples.h. */
#include "cli/analyze/samples.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists ----------------------------------------------------------------------------------------- */

/* Makes room for n more items; the array, or NULL when memory is short. */
static void *samples_grow(struct samples *samples, void *array, u32 count, u32 n, u32 *room, size_t size)
{
	u64 more = MAX((u64)*room + *room / 2, 64);
	void *grown;

	if (n <= *room - count)
		return array;
	more = MAX(more, (u64)count + n);
	grown = more < SAMPLES_NONE ? realloc(array, (size_t)more * size) : NULL;
	if (!grown) {
		samples->no_memory = true;
		return NULL;
	}
	*room = (u32)more;
	return grown;
}

/* samples_room_LIST(): room for n more items. */
#define SAMPLES_LIST(list) \
	static bool samples_room_##list(struct samples *samples, u32 n) \
	{ \
		void *grown = samples_grow(samples, samples->list, samples->n##list, n, &samples->list##_room, \
					   sizeof(*samples->list)); \
		if (grown) \
			samples->list = grown; \
		return grown != NULL; \
	}

SAMPLES_LIST(objects)
SAMPLES_LIST(frames)
SAMPLES_LIST(lines)
SAMPLES_LIST(chains)
SAMPLES_LIST(regions)
SAMPLES_LIST(rows)
SAMPLES_LIST(off_rows)
SAMPLES_LIST(threads)
SAMPLES_LIST(events)
SAMPLES_LIST(strings)
SAMPLES_LIST(missed)

/* ---- indices: open addressing over numbers + 1 ----------------------------------------------------- */

static u64 samples_mix(u64 a, u64 b)
{
	u64 hash = (a ^ b * 0xff51afd7ed558ccdULL) * 0x9e3779b97f4a7c15ULL;

	hash ^= hash >> 32;
	hash *= 0xc4ceb9fe1a85ec53ULL;
	return hash ^ hash >> 29;
}

static u64 samples_hash(const char *bytes, size_t length)
{
	u64 hash = 0xcbf29ce484222325ULL;
	size_t i;

	for (i = 0; i < length; i++)
		hash = (hash ^ (u8)bytes[i]) * 0x100000001b3ULL;
	return samples_mix(hash, length);
}

/* How the items of a list are told apart. */
struct samples_kind {
	u64 (*hash)(const struct samples *samples, u32 item);
	bool (*equal)(const struct samples *samples, u32 a, u32 b);
};

static void samples_index_put(struct samples_index *index, u64 hash, u32 item)
{
	u32 i = (u32)hash & (index->size - 1);

	while (index->slots[i])
		i = (i + 1) & (index->size - 1);
	index->slots[i] = item + 1;
}

/* Keeps the index at most half full. */
static bool samples_index_room(struct samples *samples, struct samples_index *index, const struct samples_kind *kind)
{
	struct samples_index grown = { .count = index->count, .size = index->size ? index->size * 2 : 256 };
	u32 i;

	if (index->count < index->size / 2)
		return true;
	grown.slots = grown.size ? calloc(grown.size, sizeof(*grown.slots)) : NULL;
	if (!grown.slots) {
		samples->no_memory = true;
		return false;
	}
	for (i = 0; i < index->size; i++)
		if (index->slots[i])
			samples_index_put(&grown, kind->hash(samples, index->slots[i] - 1), index->slots[i] - 1);
	free(index->slots);
	*index = grown;
	return true;
}

/*
 * The number of the item that equals the one behind the end of its list: *count if it is new. Then it
 * is in the list from now on. SAMPLES_NONE when memory is short.
 */
static u32 samples_intern(struct samples *samples, struct samples_index *index, const struct samples_kind *kind,
			  u32 *count)
{
	u64 hash = kind->hash(samples, *count);
	u32 i;

	for (i = (u32)hash; index->size; i++) {
		u32 slot = index->slots[i & (index->size - 1)];

		if (!slot)
			break;
		if (kind->equal(samples, slot - 1, *count))
			return slot - 1;
	}
	if (!samples_index_room(samples, index, kind))
		return SAMPLES_NONE;
	samples_index_put(index, hash, *count);
	index->count++;
	return (*count)++;
}

/* ---- strings, objects ------------------------------------------------------------------------------ */

static u64 samples_string_hash(const struct samples *samples, u32 item)
{
	return samples->strings[item].hash;
}

static bool samples_string_equal(const struct samples *samples, u32 a, u32 b)
{
	const struct samples_string *x = &samples->strings[a], *y = &samples->strings[b];

	return x->hash == y->hash && x->length == y->length && !memcmp(x->bytes, y->bytes, x->length);
}

u32 samples_string(struct samples *samples, const char *bytes, size_t length)
{
	static const struct samples_kind kind = { samples_string_hash, samples_string_equal };
	struct samples_string string = { .length = (u32)length, .bytes = malloc(length + 1) };
	u32 i;

	if (!string.bytes || length >= SAMPLES_NONE || !samples_room_strings(samples, 1)) {
		samples->no_memory = true;
		free(string.bytes);
		return SAMPLES_NONE;
	}
	memcpy(string.bytes, bytes, length);
	string.bytes[length] = '\0';
	string.hash = samples_hash(bytes, length);
	samples->strings[samples->nstrings] = string;
	i = samples_intern(samples, &samples->string_index, &kind, &samples->nstrings);
	if (i == SAMPLES_NONE || samples->strings[i].bytes != string.bytes)
		free(string.bytes);
	return i;
}

static bool samples_text_equal(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static u64 samples_object_hash(const struct samples *samples, u32 item)
{
	const struct samples_object *object = &samples->objects[item];

	return samples_mix(samples_hash(object->path, strlen(object->path)), object->kind);
}

static bool samples_object_equal(const struct samples *samples, u32 a, u32 b)
{
	const struct samples_object *x = &samples->objects[a], *y = &samples->objects[b];

	return x->kind == y->kind && !strcmp(x->path, y->path) && samples_text_equal(x->build_id, y->build_id);
}

u32 samples_object(struct samples *samples, const char *path, const char *build_id, enum samples_object_kind kind)
{
	static const struct samples_kind how = { samples_object_hash, samples_object_equal };
	struct samples_object object = { .path = strdup(path), .build_id = build_id ? strdup(build_id) : NULL, .kind = kind };
	u32 i = SAMPLES_NONE;

	if (!object.path || (build_id && !object.build_id) || !samples_room_objects(samples, 1)) {
		samples->no_memory = true;
	} else {
		samples->objects[samples->nobjects] = object;
		i = samples_intern(samples, &samples->object_index, &how, &samples->nobjects);
	}
	if (i == SAMPLES_NONE || samples->objects[i].path != object.path) {
		free(object.path);
		free(object.build_id);
	}
	return i;
}

/* ---- frames, chains, regions ----------------------------------------------------------------------- */

static u64 samples_frame_hash(const struct samples *samples, u32 item)
{
	return samples_mix(samples->frames[item].address, samples->frames[item].object);
}

static bool samples_frame_equal(const struct samples *samples, u32 a, u32 b)
{
	const struct samples_frame *x = &samples->frames[a], *y = &samples->frames[b];

	return x->address == y->address && x->object == y->object;
}

u32 samples_frame(struct samples *samples, u32 object, u64 address)
{
	static const struct samples_kind kind = { samples_frame_hash, samples_frame_equal };

	if (object == SAMPLES_NONE || !samples_room_frames(samples, 1))
		return SAMPLES_NONE;
	samples->frames[samples->nframes] = (struct samples_frame){
		.object = object, .unresolved = SAMPLES_NOT_ASKED, .address = address };
	return samples_intern(samples, &samples->frame_index, &kind, &samples->nframes);
}

static u64 samples_chain_hash(const struct samples *samples, u32 item)
{
	return samples_mix(samples->chains[item].parent, samples->chains[item].frame);
}

static bool samples_chain_equal(const struct samples *samples, u32 a, u32 b)
{
	const struct samples_chain *x = &samples->chains[a], *y = &samples->chains[b];

	return x->parent == y->parent && x->frame == y->frame;
}

u32 samples_chain(struct samples *samples, u32 parent, u32 frame)
{
	static const struct samples_kind kind = { samples_chain_hash, samples_chain_equal };

	if (frame == SAMPLES_NONE || !samples_room_chains(samples, 1))
		return SAMPLES_NONE;
	samples->chains[samples->nchains] = (struct samples_chain){ parent, frame };
	return samples_intern(samples, &samples->chain_index, &kind, &samples->nchains);
}

static u64 samples_region_hash(const struct samples *samples, u32 item)
{
	return samples_mix(samples->regions[item].parent, samples->regions[item].name);
}

static bool samples_region_equal(const struct samples *samples, u32 a, u32 b)
{
	const struct samples_region *x = &samples->regions[a], *y = &samples->regions[b];

	return x->parent == y->parent && x->name == y->name;
}

u32 samples_region(struct samples *samples, u32 parent, const char *name, size_t length)
{
	static const struct samples_kind kind = { samples_region_hash, samples_region_equal };
	u32 string = samples_string(samples, name, length);

	if (string == SAMPLES_NONE || !samples_room_regions(samples, 1))
		return SAMPLES_NONE;
	samples->regions[samples->nregions] = (struct samples_region){ parent, string };
	return samples_intern(samples, &samples->region_index, &kind, &samples->nregions);
}

void samples_name(struct samples *samples, u32 frame, const struct samples_line *lines, u32 n)
{
	if (!samples_room_lines(samples, n))
		return;
	if (n)
		memcpy(&samples->lines[samples->nlines], lines, n * sizeof(*lines));
	samples->frames[frame].first_line = samples->nlines;
	samples->frames[frame].nlines = n;
	if (n)
		samples->frames[frame].unresolved = SAMPLES_RESOLVED;
	samples->nlines += n;
}

/* ---- rows, events ---------------------------------------------------------------------------------- */

static u64 samples_hash_row(const struct samples_row *row)
{
	return samples_mix((u64)row->tid << 32 | row->chain,
			   samples_mix((u64)row->region << 32 | row->process, (u64)row->pid << 32 | row->flags));
}

static bool samples_same_row(const struct samples_row *x, const struct samples_row *y)
{
	return x->chain == y->chain && x->tid == y->tid && x->region == y->region && x->process == y->process &&
	       x->pid == y->pid && x->flags == y->flags;
}

/* samples_add_LIST(): the row of a list that is like this one, with its count and weight added. */
#define SAMPLES_ROWS(list, index) \
	static u64 samples_##list##_hash(const struct samples *samples, u32 item) \
	{ \
		return samples_hash_row(&samples->list[item]); \
	} \
	static bool samples_##list##_equal(const struct samples *samples, u32 a, u32 b) \
	{ \
		return samples_same_row(&samples->list[a], &samples->list[b]); \
	} \
	static u32 samples_add_##list(struct samples *samples, const struct samples_row *row) \
	{ \
		static const struct samples_kind kind = { samples_##list##_hash, samples_##list##_equal }; \
		u32 i; \
		if (!samples_room_##list(samples, 1)) \
			return SAMPLES_NONE; \
		samples->list[samples->n##list] = *row; \
		samples->list[samples->n##list].count = samples->list[samples->n##list].weight = 0; \
		i = samples_intern(samples, &samples->index, &kind, &samples->n##list); \
		if (i != SAMPLES_NONE) { \
			samples->list[i].count += row->count; \
			samples->list[i].weight += row->weight; \
		} \
		return i; \
	}

SAMPLES_ROWS(rows, row_index)
SAMPLES_ROWS(off_rows, off_index)

u32 samples_row(struct samples *samples, const struct samples_row *row)
{
	return samples_add_rows(samples, row);
}

u32 samples_off(struct samples *samples, const struct samples_row *row)
{
	return samples_add_off_rows(samples, row);
}

void samples_off_sorted(struct samples *samples)
{
	struct samples_index index = { .slots = calloc(samples->off_index.size + 1, sizeof(u32)),
				       .count = samples->noff_rows, .size = samples->off_index.size };

	samples->no_memory |= !index.slots;
	for (u32 i = 0; index.slots && i < samples->noff_rows; i++)
		samples_index_put(&index, samples_off_rows_hash(samples, i), i);
	free(samples->off_index.slots);
	samples->off_index = index.slots ? index : (struct samples_index){ .slots = NULL };
}

int samples_thread(struct samples *samples, const struct samples_thread *thread)
{
	if (!samples_room_threads(samples, 1))
		return -1;
	samples->threads[samples->nthreads++] = *thread;
	return 0;
}

struct samples samples_off_view(const struct samples *samples)
{
	static char event[] = "off-cpu", none[] = "none";
	struct samples view = *samples;

	view.event = event;
	view.stacks = samples->off_stacks ? samples->off_stacks : none;
	view.note = samples->off_note;
	view.clock = true;
	view.frequency = view.throttled = 0;
	view.effective = 0;
	view.lost = samples->off_lost;
	view.rows = samples->off_rows;
	view.nrows = samples->noff_rows;
	view.events = NULL;
	view.nevents = 0;
	return view;
}

int samples_event(struct samples *samples, u32 row, u64 time_ns, u32 cpu)
{
	if (!samples_room_events(samples, 1))
		return -1;
	samples->events[samples->nevents++] = (struct samples_event){ time_ns, row, cpu };
	return 0;
}

int samples_add(struct samples *samples, const struct samples_row *row, u64 period, u64 time_ns, u32 cpu)
{
	struct samples_row one = *row;
	u32 i;

	one.count = 1;
	one.weight = period;
	i = samples_row(samples, &one);
	return i == SAMPLES_NONE ? -1 : samples_event(samples, i, time_ns, cpu);
}

int samples_miss(struct samples *samples, const struct samples_missed *missed)
{
	u32 i = samples->nmissed;

	/* Mostly the newest one's again. */
	while (i && (samples->missed[i - 1].process != missed->process || samples->missed[i - 1].region != missed->region ||
		     samples->missed[i - 1].flags != missed->flags))
		i--;
	if (!i) {
		if (!samples_room_missed(samples, 1))
			return -1;
		i = ++samples->nmissed;
		samples->missed[i - 1] = (struct samples_missed){ missed->process, missed->region, missed->flags, 0, 0 };
	}
	samples->missed[i - 1].lost += missed->lost;
	samples->missed[i - 1].throttled += missed->throttled;
	return 0;
}

static int samples_event_order(const void *a, const void *b)
{
	const struct samples_event *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

void samples_sort(struct samples *samples)
{
	u32 i;

	for (i = 1; i < samples->nevents; i++)
		if (samples->events[i].time_ns < samples->events[i - 1].time_ns)
			break;
	if (i < samples->nevents)
		qsort(samples->events, samples->nevents, sizeof(*samples->events), samples_event_order);
}

/* ---- life ------------------------------------------------------------------------------------------ */

void samples_init(struct samples *samples)
{
	*samples = (struct samples){ .event = NULL };
}

void samples_fini(struct samples *samples)
{
	u32 i;

	for (i = 0; i < samples->nobjects; i++) {
		free(samples->objects[i].path);
		free(samples->objects[i].build_id);
		free(samples->objects[i].note);
	}
	for (i = 0; i < samples->nstrings; i++)
		free(samples->strings[i].bytes);
	free(samples->event);
	free(samples->note);
	free(samples->stacks);
	free(samples->off_note);
	free(samples->off_stacks);
	free(samples->off_rows);
	free(samples->off_waker);
	free(samples->off_no_waker);
	free(samples->off_no_delay);
	free(samples->wakes);
	free(samples->wake_index.slots);
	free(samples->threads);
	free(samples->off_index.slots);
	free(samples->objects);
	free(samples->frames);
	free(samples->lines);
	free(samples->chains);
	free(samples->regions);
	free(samples->rows);
	free(samples->events);
	free(samples->strings);
	free(samples->missed);
	free(samples->object_index.slots);
	free(samples->frame_index.slots);
	free(samples->chain_index.slots);
	free(samples->region_index.slots);
	free(samples->row_index.slots);
	free(samples->string_index.slots);
	samples_init(samples);
}
