/* SPDX-License-Identifier: MIT */
/*
 * Where the regions come from that no marker begins: for each name a list of functions' objects and
 * of their callers. Each segment has its own; the profile has each once.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/profile_slot.h"
#include "cli/log.h"

static int origin_order(const void *a, const void *b)
{
	const struct profile_origin *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->library != y->library)
		return x->library < y->library ? -1 : 1;
	return x->caller < y->caller ? -1 : x->caller > y->caller;
}

/* Each once. */
static void origins_sort(struct profile *profile)
{
	u32 n = 0;

	if (profile->norigins)
		qsort(profile->origins, profile->norigins, sizeof(*profile->origins), origin_order);
	for (u32 i = 0; i < profile->norigins; i++) {
		struct profile_origin *last = n ? &profile->origins[n - 1] : NULL;

		if (last && !origin_order(last, &profile->origins[i]))
			last->slots = MAX(last->slots, profile->origins[i].slots);
		else
			profile->origins[n++] = profile->origins[i];
	}
	profile->norigins = n;
}

/* Sorted when room is short: most of them are there already, from another process. Half of it stays free after that. */
static bool origins_room(struct profile *profile)
{
	struct profile_origin *origins;

	if (profile->norigins < profile->origins_room)
		return true;
	origins_sort(profile);
	if (profile->origins_room && profile->norigins <= profile->origins_room / 2)
		return true;
	if (profile->norigins >= PROFILE_ORIGINS_MAX) {
		profile->losses[PROFILE_LOSS_ORIGINS]++;
		return false;
	}
	origins = profile_grow(profile, profile->origins, profile->origins_room, &profile->origins_room, sizeof(*origins));
	if (!origins)
		return false;
	profile->origins = origins;
	return true;
}

void profile_add_origin(struct profile *profile, const struct profile_origin *origin)
{
	if (origins_room(profile))
		profile->origins[profile->norigins++] = *origin;
}

int profile_add_origins(struct profile *profile, struct wire_view *view)
{
	struct slot_reader reader = { .profile = profile, .view = view };
	struct wire_walk walk = wire_walk_origins(view);
	const struct wire_origin *wire;

	while (!profile->no_memory && (wire = wire_next_origin(view, &walk))) {
		struct profile_origin origin = {
			.name = slot_intern(&reader, wire->name), .kind = wire->kind, .slots = wire->slots,
			.library = slot_intern(&reader, wire->library), .caller = slot_intern(&reader, wire->caller),
		};

		if (origin.name != PROFILE_NONE && (wire->kind == WIRE_ORIGIN_CALL || wire->kind == WIRE_ORIGIN_INSTRUMENTED))
			profile_add_origin(profile, &origin);
		else
			profile->losses[PROFILE_LOSS_DAMAGED]++;
	}
	profile->losses[PROFILE_LOSS_DAMAGED] += walk.broken;
	return profile->no_memory ? error("out of memory for the regions") : 0;
}

/* Under the new names rows may be the same that were not before: so the whole is added up once more. */
int profile_rename(struct profile *profile, const char *(*rename)(void *context, const char *name), void *context)
{
	struct profile renamed;
	bool any = false;

	for (u32 i = 0; i < profile->norigins; i++) {
		struct profile_name *name = &profile->names[profile->origins[i].name];
		const char *text = profile->origins[i].kind == WIRE_ORIGIN_INSTRUMENTED ? rename(context, name->bytes) : NULL;
		char *bytes = text ? strdup(text) : NULL;

		if (!bytes)
			continue;
		free(name->bytes);
		name->bytes = bytes;
		name->len = (u32)strlen(bytes);
		any = true;
	}
	if (!any)
		return 0;
	profile_init(&renamed, profile->group);
	renamed.threads_most = profile->threads_most;
	if (profile_merge(&renamed, profile)) {
		profile_fini(&renamed);
		return -1;
	}
	profile_fini(profile);
	*profile = renamed;
	return 0;
}
