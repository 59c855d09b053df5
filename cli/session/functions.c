/* SPDX-License-Identifier: MIT */
/*
 * See functions.h. Functions are looked up by symbols alone, which is quick; where several of one file
 * have the same name, debug info is asked for the source files that tell them apart.
 */
#define _GNU_SOURCE
#include "cli/session/functions.h"
#include "cli/session/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/symbols/resolve.h"
#include "cli/symbols/space.h"

#define SPACE_STEP (1ull << 33)      /* each file as if it were mapped there: no two meet */
#define ID_MOST 20u

struct function {
	char *key;                   /* the region's name as the agent has it */
	char *object;                /* path and build id: those of one file are beside each other */
	const char *path;            /* in the key */
	u64 address;
	bool asked, asked_file;
	bool twin;                   /* another one of the file has its name */
	char *name, *file;           /* of the function, and of its source; NULL: not known */
	char *text;                  /* what the region is called */
};

struct functions {
	struct function *list;       /* by object and address */
	size_t n, room;
	struct function **by_key;
};

static int place_order(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	int order = strcmp(x->object, y->object);

	return order ? order : x->address < y->address ? -1 : x->address > y->address;
}

static int key_order(const void *a, const void *b)
{
	const struct function *const *x = a, *const *y = b;

	return strcmp((*x)->key, (*y)->key);
}

static struct function *function_find(const struct functions *f, const char *key)
{
	struct function wanted = { .key = (char *)(uintptr_t)key }, *at = &wanted, **found;

	found = f->n && f->by_key ? bsearch(&at, f->by_key, f->n, sizeof(struct function *), key_order) : NULL;
	return found ? *found : NULL;
}

/* ---- what there is */

/* A stranger wrote it: address in digits, ":", build id, ":", path. */
static bool function_parse(struct function *f)
{
	char *end, *colon;

	f->address = strtoull(f->key + 1, &end, 16);
	colon = *end == ':' && end > f->key + 1 ? strchr(end + 1, ':') : NULL;
	if (!colon)
		return false;
	f->path = colon + 1;
	f->object = strdup(end + 1);
	return f->object != NULL;
}

static bool function_add(struct functions *f, const struct profile_name *name)
{
	struct function *list = f->list, new = { .address = 0 };

	if (f->n == f->room) {
		list = realloc(list, (f->room ? 2 * f->room : 64) * sizeof(*list));
		if (!list)
			return false;
		f->list = list;
		f->room = f->room ? 2 * f->room : 64;
	}
	new.key = strndup(name->bytes, name->len);
	if (!new.key || !function_parse(&new)) {
		free(new.key);
		return false;
	}
	list[f->n++] = new;
	return true;
}

static bool is_place(const struct profile *profile, const struct profile_origin *origin)
{
	return origin->kind == WIRE_ORIGIN_INSTRUMENTED && *profile->names[origin->name].bytes == WIRE_FUNCTION_MARK;
}

/* Adds what is new; true: there was something. */
static bool functions_gather(struct functions *f, const struct profile *profile)
{
	size_t before = f->n;

	/* The index is of those before. */
	for (u32 i = 0; i < profile->norigins; i++)
		if (is_place(profile, &profile->origins[i]) && f->n < PROFILE_ORIGINS_MAX &&
		    (!before || !function_find(f, profile->names[profile->origins[i].name].bytes)))
			function_add(f, &profile->names[profile->origins[i].name]);
	return f->n > before;
}

static void functions_index(struct functions *f)
{
	size_t n = 0;

	qsort(f->list, f->n, sizeof(*f->list), place_order);
	/* Origins of several callers, or of several processes, have one function. */
	for (size_t i = 0; i < f->n; i++) {
		if (n && !strcmp(f->list[n - 1].key, f->list[i].key)) {
			free(f->list[i].key);
			free(f->list[i].object);
			continue;
		}
		f->list[n++] = f->list[i];
	}
	f->n = n;
	free(f->by_key);
	f->by_key = calloc(n + 1, sizeof(struct function *));
	for (size_t i = 0; f->by_key && i < n; i++)
		f->by_key[i] = &f->list[i];
	if (f->by_key)
		qsort(f->by_key, n, sizeof(struct function *), key_order);
}

/* ---- asking */

struct asking {
	struct resolve_request *requests;
	struct function **of;        /* of the addresses of all requests, one after the other */
	u64 *addresses;
	size_t nrequests, n;
	bool for_files;
};

static size_t id_bytes(const char *text, u8 id[ID_MOST])
{
	size_t n = 0;
	unsigned int byte;

	while (n < ID_MOST && sscanf(text + 2 * n, "%2x", &byte) == 1 && text[2 * n] != ':')
		id[n++] = (u8)byte;
	return text[2 * n] == ':' ? n : 0;
}

/* The file, if it is the one that was mapped, by its build id. */
static struct object *object_of(struct spaces *spaces, const struct function *f, u64 start)
{
	u8 id[ID_MOST];
	struct space_map map = { .pid = (u32)getpid(), .time_ns = 1, .start = start, .length = SPACE_STEP / 2, .name = f->path,
				 .flags = MAP_PRIVATE, .protection = PROT_READ | PROT_EXEC, .build_id = id };
	struct space_place place;

	map.build_id_size = id_bytes(f->object, id);
	if (!map.build_id_size)
		map.build_id = NULL;
	if (!*f->path || spaces_map(spaces, &map) || !spaces_find(spaces, map.pid, UINT64_MAX, start, &place))
		return NULL;
	return object_kind(place.object) == OBJECT_FILE ? place.object : NULL;
}

static void found(void *data, const struct resolve_request *request, size_t address, enum resolve_reason reason,
		  const struct resolve_line *lines, size_t n)
{
	struct asking *asking = data;
	struct function *f = asking->of[(size_t)(request->addresses - asking->addresses) + address];
	const char *name = n ? lines[n - 1].function : NULL, *file = n ? lines[n - 1].file : NULL;
	const char *slash = file ? strrchr(file, '/') : NULL;

	(void)reason;
	if (asking->for_files && file && !f->file)
		f->file = strdup(slash ? slash + 1 : file);
	if (!asking->for_files && name && !f->name)
		f->name = strdup(name);
}

static bool wanted(const struct function *f, bool for_files)
{
	return for_files ? f->twin && !f->asked_file : !f->asked;
}

/* A request for each file. */
static void requests_make(struct functions *f, struct asking *asking, struct spaces *spaces)
{
	struct resolve_request *r = NULL;
	const char *object = "";

	for (size_t i = 0; i < f->n; i++) {
		bool again = r && !strcmp(object, f->list[i].object) && r->addresses[r->n - 1] == f->list[i].address;

		if (!wanted(&f->list[i], asking->for_files) || again)
			continue;
		f->list[i].asked = true;
		f->list[i].asked_file = asking->for_files;
		if (!r || strcmp(object, f->list[i].object) != 0) {
			object = f->list[i].object;
			r = &asking->requests[asking->nrequests];
			*r = (struct resolve_request){ object_of(spaces, &f->list[i], (asking->nrequests + 1) * SPACE_STEP),
						       asking->addresses + asking->n, 0 };
			asking->nrequests++;
		}
		asking->of[asking->n] = &f->list[i];
		asking->addresses[asking->n++] = f->list[i].address;
		r->n++;
	}
}

static void requests_drop_unknown(struct asking *asking)
{
	size_t n = 0;

	for (size_t i = 0; i < asking->nrequests; i++)
		if (asking->requests[i].object)
			asking->requests[n++] = asking->requests[i];
	asking->nrequests = n;
}

static void functions_ask(struct session *s, struct functions *f, bool for_files)
{
	struct resolve_options options = { .no_debug = !for_files, .raw_names = s->options->raw_names };
	struct asking asking = { .for_files = for_files };
	struct spaces *spaces = spaces_new();

	asking.requests = calloc(f->n + 1, sizeof(*asking.requests));
	asking.of = calloc(f->n + 1, sizeof(*asking.of));
	asking.addresses = calloc(f->n + 1, sizeof(*asking.addresses));
	if (spaces && asking.requests && asking.of && asking.addresses) {
		requests_make(f, &asking, spaces);
		requests_drop_unknown(&asking);
	}
	if (asking.nrequests && resolve_objects(asking.requests, asking.nrequests, &options, found, &asking))
		warning("names of instrumented functions are missing: out of memory");
	free(asking.requests);
	free(asking.of);
	free(asking.addresses);
	if (spaces)
		spaces_free(spaces);
}

/* ---- what they are called */

static int text_order(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int twin_order(const void *a, const void *b)
{
	const struct function *const *x = a, *const *y = b;
	int order = strcmp((*x)->object, (*y)->object);

	if (!order)
		order = text_order((*x)->name, (*y)->name);
	if (!order)
		order = text_order((*x)->file, (*y)->file);
	return order ? order : (*x)->address < (*y)->address ? -1 : (*x)->address > (*y)->address;
}

static bool are_twins(const struct function *a, const struct function *b)
{
	return a && b && a->name && b->name && !strcmp(a->name, b->name) && !strcmp(a->object, b->object);
}

static bool same_source(const struct function *a, const struct function *b)
{
	return are_twins(a, b) && !text_order(a->file, b->file);
}

/* What a function is called, between those beside it in the order of twins. */
static char *function_text(const struct function *before, const struct function *f, const struct function *after)
{
	const char *slash = strrchr(f->path, '/'), *base = slash ? slash + 1 : f->path;
	unsigned long long address = f->address;
	char *text;
	int n;

	/* Without a name as samples have it. */
	if (!f->name)
		n = asprintf(&text, "%s%s%#llx", base, *base ? "+" : "", address);
	else if (!f->twin)
		n = asprintf(&text, "%s", f->name);
	else if (f->file && !same_source(before, f) && !same_source(f, after))
		n = asprintf(&text, "%s@%s", f->name, f->file);
	else
		n = asprintf(&text, "%s@%#llx", f->name, address);
	return n < 0 ? NULL : text;
}

/* texts: gives all their texts; else only marks those that have twins. */
static void functions_compare(struct functions *f, bool texts)
{
	struct function **all = calloc(f->n + 1, sizeof(*all));

	if (!all)
		return;
	for (size_t i = 0; i < f->n; i++)
		all[i] = &f->list[i];
	qsort(all, f->n, sizeof(*all), twin_order);
	for (size_t i = 0; i < f->n; i++) {
		struct function *before = i ? all[i - 1] : NULL, *after = i + 1 < f->n ? all[i + 1] : NULL;

		all[i]->twin = are_twins(before, all[i]) || are_twins(all[i], after);
		if (!texts)
			continue;
		free(all[i]->text);
		all[i]->text = function_text(before, all[i], after);
	}
	free(all);
}

static const char *text_of(void *context, const char *bytes)
{
	const struct function *f = function_find(context, bytes);

	return f ? f->text : NULL;
}

void functions_name(struct session *s, struct profile *profile)
{
	struct functions *f = s->functions;

	if (!profile->norigins)
		return;
	if (!f)
		f = s->functions = calloc(1, sizeof(*f));
	if (!f)
		return;
	if (functions_gather(f, profile)) {
		functions_index(f);
		functions_ask(s, f, false);
		functions_compare(f, false);
		functions_ask(s, f, true);
		functions_compare(f, true);
	}
	profile_rename(profile, text_of, f);
}

bool functions_name_regions(struct session *s, struct samples *samples)
{
	return s->functions && samples_rename_regions(samples, text_of, s->functions);
}

void functions_free(struct functions *f)
{
	for (size_t i = 0; f && i < f->n; i++) {
		free(f->list[i].key);
		free(f->list[i].object);
		free(f->list[i].name);
		free(f->list[i].file);
		free(f->list[i].text);
	}
	if (f) {
		free(f->list);
		free(f->by_key);
	}
	free(f);
}
