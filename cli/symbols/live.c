/* SPDX-License-Identifier: MIT */
/* See live.h: the unwinder of samples, on registers and a stack that were read from a thread. */
#include "cli/symbols/live.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "cli/symbols/resolve_build.h"
#include "cli/symbols/space.h"
#include "cli/symbols/unwind.h"

struct live_object {
	bool looked, named;
	struct cfi *cfi;             /* NULL: none */
	struct elf_symbols symbols;
};

struct live {
	u32 pid;
	u64 time_ns;                 /* counts the look-ups: newer mappings go before older ones */
	struct spaces *spaces;
	struct unwind *unwind;
	struct live_object **objects; /* by number */
	u32 nobjects;
	struct unwind_chain chain;
};

struct live *live_new(u32 pid)
{
	struct live *live = calloc(1, sizeof(*live));

	if (!live)
		return NULL;
	live->pid = pid;
	live->spaces = spaces_new();
	live->unwind = unwind_new();
	if (live->spaces && live->unwind)
		return live;
	live_free(live);
	return NULL;
}

void live_free(struct live *live)
{
	if (!live)
		return;
	for (u32 i = 0; i < live->nobjects; i++)
		if (live->objects[i]) {
			cfi_free(live->objects[i]->cfi);
			elf_symbols_free(&live->objects[i]->symbols);
			free(live->objects[i]);
		}
	free(live->objects);
	unwind_free(live->unwind);
	if (live->spaces)
		spaces_free(live->spaces);
	free(live);
}

/* What is known of an object; NULL: no memory. */
static struct live_object *live_object(struct live *live, struct object *object)
{
	u32 number = object_number(object);

	if (number >= live->nobjects) {
		u32 room = MAX(number + 1, 2 * live->nobjects);
		struct live_object **list = realloc(live->objects, room * sizeof(*list));

		if (!list)
			return NULL;
		memset(list + live->nobjects, 0, (room - live->nobjects) * sizeof(*list));
		live->objects = list;
		live->nobjects = room;
	}
	if (!live->objects[number])
		live->objects[number] = calloc(1, sizeof(*live->objects[number]));
	return live->objects[number];
}

static bool live_find(void *context, u64 address, struct unwind_object *found)
{
	struct live *live = context;
	struct live_object *known;
	struct space_place place;
	const u8 *image;
	size_t size;

	if (!spaces_find(live->spaces, live->pid, live->time_ns, address, &place))
		return false;
	known = live_object(live, place.object);
	if (known && !known->looked) {
		known->looked = true;
		image = object_image(place.object, &size);
		known->cfi = image ? cfi_new(image, size) : NULL;
	}
	*found = (struct unwind_object){ place.start, place.end, place.offset, place.object, known ? known->cfi : NULL };
	return true;
}

static const char *live_name(struct live *live, struct object *object, u64 address)
{
	struct live_object *known = live_object(live, object);
	struct elf_file elf;
	int fd;

	if (!known)
		return NULL;
	if (!known->named) {
		known->named = true;
		fd = object_kind(object) == OBJECT_FILE ? object_descriptor(object) : -1;
		if (fd >= 0 && elf_file_open(&elf, fd) == 0) {
			elf_symbols_add(&known->symbols, &elf);
			elf_symbols_sort(&known->symbols);
			elf_file_close(&elf);
		}
	}
	return elf_symbols_find(&known->symbols, address);
}

void live_unwind(struct live *live, const u64 *regs, const u8 *copy, size_t size, struct live_stack *stack)
{
	const struct unwind_source source = { live, live_find };
	const struct unwind_sample sample = { .abi = PERF_SAMPLE_REGS_ABI_64, .regs = regs, .stack = copy, .size = size };

	spaces_snapshot(live->spaces, live->pid, ++live->time_ns);
	unwind_flush(live->unwind, 0, UINT64_MAX);
	unwind_sample_chain(live->unwind, &source, &sample, &live->chain);
	stack->n = MIN(live->chain.n, LIVE_FRAMES);
	stack->sure = live->chain.sure;
	stack->why = live->chain.end == UNWIND_COMPLETE ? NULL : unwind_end_name(live->chain.end);
	for (u32 i = 0; i < stack->n; i++) {
		const struct unwind_frame *f = &live->chain.frames[i];

		stack->frames[i] = (struct live_frame){
			.function = f->identity ? live_name(live, f->identity, f->address - f->call) : NULL,
			.path = f->identity ? object_path(f->identity) : "",
			.interrupted = i && !f->call,
		};
	}
}
