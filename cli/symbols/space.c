/* SPDX-License-Identifier: MIT */
/* Lives of processes and look-ups in them; see space.h. */
#include "cli/symbols/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cli/symbols/space_build.h"

#define SPACES_MOST (1u << 20)       /* lives */
#define LINGER_NS (10 * NSEC_PER_SEC) /* a dead process is kept for records that come late */

struct spaces *spaces_new(void)
{
	struct spaces *spaces = calloc(1, sizeof(*spaces));

	if (!spaces)
		return NULL;
	objects_init(&spaces->objects);
	spaces->kernel = objects_kernel(&spaces->objects);
	spaces->kernel_hidden = object_kernel_hidden();
	if (spaces->kernel)
		return spaces;
	spaces_free(spaces);
	return NULL;
}

static void space_free(struct spaces *spaces, struct space *space)
{
	if (spaces->last == space)
		spaces->last = NULL;
	space_table_free(space->table);
	free(space);
	spaces->nspaces--;
}

void spaces_free(struct spaces *spaces)
{
	struct space *space, *older;
	size_t i;

	if (!spaces)
		return;
	for (i = 0; i < SPACES_BUCKETS; i++)
		while ((space = spaces->buckets[i])) {
			spaces->buckets[i] = space->next;
			for (; space; space = older) {
				older = space->older;
				space_free(spaces, space);
			}
		}
	objects_fini(&spaces->objects);
	free(spaces);
}

/* Where the newest life of a pid is linked. */
static struct space **space_link(struct spaces *spaces, u32 pid)
{
	struct space **link = &spaces->buckets[(pid * 2654435761u >> 8) & (SPACES_BUCKETS - 1)];

	while (*link && (*link)->pid != pid)
		link = &(*link)->next;
	return link;
}

struct space *spaces_life(struct spaces *spaces, u32 pid, u64 time_ns)
{
	struct space *space = spaces->last;

	if (!space || space->pid != pid)
		space = *space_link(spaces, pid);
	spaces->last = space;
	while (space && space->born > time_ns && space->older)
		space = space->older;
	return space;
}

/* Takes lives that ended long ago out of a list. */
static void space_sweep_list(struct spaces *spaces, struct space **link)
{
	struct space *space = *link, *next = space->next, *older;
	struct space **at = &space->older;

	while ((older = *at)) {
		if (older->died && older->died + LINGER_NS < spaces->latest_ns) {
			*at = older->older;
			space_free(spaces, older);
		} else {
			at = &older->older;
		}
	}
	if (!space->older && space->died && space->died + LINGER_NS < spaces->latest_ns) {
		*link = next;
		space_free(spaces, space);
	}
}

static void spaces_sweep(struct spaces *spaces, u64 time_ns)
{
	struct space **link, *before;
	size_t i;

	spaces->latest_ns = MAX(spaces->latest_ns, time_ns);
	if (spaces->latest_ns - spaces->swept_ns < LINGER_NS)
		return;
	spaces->swept_ns = spaces->latest_ns;
	for (i = 0; i < SPACES_BUCKETS; i++)
		for (link = &spaces->buckets[i]; *link;) {
			before = *link;
			space_sweep_list(spaces, link);
			if (*link == before)
				link = &before->next;
		}
}

/* A life that begins then, in its place among the others of the pid. The table becomes its own. */
static struct space *space_begin(struct spaces *spaces, u32 pid, u64 born, struct space_table *table)
{
	struct space **link = space_link(spaces, pid), **at = link, *space;

	space = table && spaces->nspaces < SPACES_MOST ? calloc(1, sizeof(*space)) : NULL;
	if (!space) {
		space_table_free(table);
		return NULL;
	}
	spaces->nspaces++;
	*space = (struct space){ .pid = pid, .born = born, .table = table };
	while (*at && (*at)->born > born)
		at = &(*at)->older;
	space->older = *at;
	spaces->last = NULL;
	if (at == link) {
		/* It takes the place of the newest in the bucket. */
		space->next = *link ? (*link)->next : NULL;
		if (*link)
			(*link)->next = NULL;
	} else {
		space->died = born;
	}
	if (space->older && !space->older->died)
		space->older->died = born;
	*at = space;
	return space;
}

/* The table of a life, to be changed. */
static struct space_table *space_change(struct space *space)
{
	struct space_table *own = space_table_own(space->table);

	if (own)
		space->table = own;
	space->hit = NULL;
	space->hit_end = 0;
	return own;
}

int spaces_fork(struct spaces *spaces, u32 pid, u32 parent, u64 time_ns)
{
	struct space_table *table;
	struct space *from, *space;

	if (pid == parent)
		return 0;
	spaces_sweep(spaces, time_ns);
	from = spaces_life(spaces, parent, time_ns);
	space = *space_link(spaces, pid);
	if (space && space->implied && space->born >= time_ns) {
		/* What it mapped came before word of its birth. */
		space->born = time_ns;
		space->implied = false;
		table = space_change(space);
		return table && (!from || !space_table_move(from->table, 0, table)) ? 0 : -ENOMEM;
	}
	table = from ? space_table_share(from->table) : space_table_new();
	space = space_begin(spaces, pid, time_ns, table);
	return space ? 0 : -ENOMEM;
}

int spaces_exec(struct spaces *spaces, u32 pid, u64 time_ns)
{
	struct space *before, *space;

	spaces_sweep(spaces, time_ns);
	before = spaces_life(spaces, pid, time_ns);
	if (before && before->implied && before->born >= time_ns) {
		before->born = time_ns;
		before->implied = false;
		return 0;
	}
	space = space_begin(spaces, pid, time_ns, space_table_new());
	if (!space)
		return -ENOMEM;
	return before ? space_table_move(before->table, time_ns, space->table) : 0;
}

int spaces_exit(struct spaces *spaces, u32 pid, u64 time_ns)
{
	struct space *space;

	spaces_sweep(spaces, time_ns);
	space = spaces_life(spaces, pid, time_ns);
	if (space && !space->died) {
		space->died = MAX(time_ns, 1);
		if (space->jit)
			object_jit_look(space->jit);
	}
	return 0;
}

static struct object *space_jit(struct spaces *spaces, struct space *space)
{
	if (!space->jit)
		space->jit = objects_jit(&spaces->objects, space->pid);
	if (space->jit)
		object_jit_look(space->jit);
	return space->jit;
}

static bool map_has_code(const struct space_map *map)
{
	if (map->protection && !(map->protection & PROT_EXEC))
		return false;
	/* The kernel's, and the same in all processes. */
	return !map->name || strcmp(map->name, "[vsyscall]") != 0;
}

static struct object *space_object(struct spaces *spaces, struct space *space, const struct space_map *map)
{
	const char *name = map->name ? map->name : "";
	struct object *object;

	if (!strcmp(name, "[vdso]"))
		return objects_vdso(&spaces->objects, map);
	if (object_is_jitdump(name)) {
		/* Mapped as a sign of where it is; there is no code in it. */
		if (space_jit(spaces, space))
			object_jitdump(space->jit, map);
		return NULL;
	}
	object = objects_file(&spaces->objects, map);
	return object ? object : space_jit(spaces, space);
}

static int space_add(struct spaces *spaces, const struct space_map *map, bool seen_late)
{
	struct space *space;
	struct mapping mapping = { .start = map->start, .end = map->start + map->length, .offset = map->offset,
				   .from = map->time_ns, .seen_late = seen_late };

	if (!map->length || mapping.end < map->start || (s32)map->pid <= 0)
		return -EINVAL;
	if (!map_has_code(map))
		return 0;
	spaces_sweep(spaces, map->time_ns);
	space = spaces_life(spaces, map->pid, map->time_ns);
	if (!space) {
		space = space_begin(spaces, map->pid, map->time_ns, space_table_new());
		if (!space)
			return -ENOMEM;
		space->implied = true;
	}
	mapping.object = space_object(spaces, space, map);
	if (!mapping.object)
		return object_is_jitdump(map->name ? map->name : "") ? 0 : -ENOMEM;
	return space_change(space) ? space_table_add(space->table, &mapping) : -ENOMEM;
}

int spaces_map(struct spaces *spaces, const struct space_map *map)
{
	return space_add(spaces, map, false);
}

int spaces_snapshot(struct spaces *spaces, u32 pid, u64 time_ns)
{
	struct space_map map;
	struct maps maps;
	int status = maps_open(&maps, pid);

	if (status)
		return status;
	while (!status && maps_next(&maps, &map)) {
		map.pid = pid;
		map.time_ns = time_ns;
		if (map.protection & PROT_EXEC)
			status = space_add(spaces, &map, true);
	}
	maps_close(&maps);
	return status;
}

static void mapping_place(struct mapping *mapping, u64 address, struct space_place *place)
{
	struct space_map map = { .start = mapping->start, .length = mapping->end - mapping->start,
				 .offset = mapping->offset };

	if (!mapping->cached)
		mapping->delta = object_delta(mapping->object, &map, address, &mapping->cached);
	*place = (struct space_place){ .object = mapping->object, .address = address + mapping->delta,
				       .start = mapping->start, .end = mapping->end, .offset = mapping->offset };
}

bool spaces_find(struct spaces *spaces, u32 pid, u64 time_ns, u64 address, struct space_place *place)
{
	struct space *space = spaces_life(spaces, pid, time_ns);
	const struct piece *piece;
	struct mapping *mapping;

	if (!space)
		return false;
	/* Its first thread has ended, others have not. */
	if (space->died && time_ns > space->died)
		space->died = 0;
	if (space->hit && address >= space->hit_start && address < space->hit_end && time_ns >= space->hit->from) {
		mapping_place(space->hit, address, place);
		return true;
	}
	piece = space_table_piece(space->table, address);
	mapping = piece ? space_table_at(space->table, piece, time_ns) : NULL;
	if (!mapping)
		return false;
	space->hit = mapping == &space->table->versions[piece->newest].mapping ? mapping : NULL;
	space->hit_start = piece->start;
	space->hit_end = piece->end;
	mapping_place(mapping, address, place);
	return true;
}

void spaces_kernel(struct spaces *spaces, u64 address, struct space_place *place)
{
	*place = (struct space_place){ .object = spaces->kernel, .address = spaces->kernel_hidden ? 0 : address,
				       .end = UINT64_MAX };
}

void spaces_refresh(struct spaces *spaces)
{
	struct object *object;
	size_t i;

	for (i = 0; (object = spaces_object(spaces, i)); i++)
		if (object_kind(object) == OBJECT_JIT) {
			object->jit.looked_ns = 0;
			object_jit_look(object);
		}
}

struct object *spaces_object(struct spaces *spaces, size_t i)
{
	return i < spaces->objects.n ? spaces->objects.list[i] : NULL;
}
