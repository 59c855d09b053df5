/* SPDX-License-Identifier: MIT */
/*
 * Functions that were compiled with -finstrument-functions: the compiler calls two hooks with the
 * address of the function. What it is called is for sparkctl to find out: here it is an offset in an
 * object, of which the path and the build id are known.
 *
 * Two tables by address, as those of names: private to the process, inherited by fork, entered by
 * compare-and-swap and never removed. An object may be unloaded and another one take its addresses;
 * nobody tells. So an entry knows some bytes of its function's code: where it calls the hook, which
 * depends on where the object has its linkage table.
 */
#define _GNU_SOURCE
#include "agent.h"
#include "instrumented.h"

#include "common/wire_calls.h"

#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>

#include "banned.h"

#define LARGE (2 * WIRE_NAMES)
#define WINDOW 16u
#define CODE_REACH 255u            /* of the bytes behind the function's address */
#define ID_MOST 20u                /* bytes of a build id */
#define PATH_ROOM (WIRE_NAME_MAX - 64u) /* in a name: what is before a path is shorter */

struct instrumented instrumented;
struct function functions_small[FUNCTIONS_SMALL];
static struct function *functions_large;
static u32 functions_used;         /* of the large table */

void instrumented_start(bool live)
{
	u32 ref = live ? agent.header->functions : 0;
	const struct wire_functions *w = ref ? segment_ptr(ref) : NULL;
	u32 state = !live || (w && w->flags & WIRE_FUNCTIONS_OFF) ? INSTRUMENTED_OFF : INSTRUMENTED_ON;

	instrumented.depth = w ? w->depth : 0;
	instrumented.chosen = w && w->flags & WIRE_FUNCTIONS_CHOSEN ? w : NULL;
	store_release(&instrumented.state, state);
	store_release(&instrumented.quick, (u32)(state == INSTRUMENTED_ON && !instrumented.depth));
}

static void words_forget(struct function *table, u32 size)
{
	for (u32 i = 0; table && i < size; i++)
		if (load_relaxed(&table[i].address))
			store_relaxed(&table[i].word, 0);
}

void instrumented_forget(void)
{
	words_forget(functions_small, FUNCTIONS_SMALL);
	words_forget(functions_large, LARGE);
}

bool instrumented_ready(void)
{
	/* The first marker of the process may be one of these. */
	if (load_acquire(&instrumented.state) == INSTRUMENTED_UNKNOWN)
		agent_live();
	return load_acquire(&instrumented.state) == INSTRUMENTED_ON;
}

/* ---- what a function is called */

struct place {
	u64 function;
	u64 base;                  /* of the object's addresses */
	const char *path;
	u8 id[ID_MOST];
	u32 id_size;
	bool found;
};

static void notes_read(const struct dl_phdr_info *info, const ElfW(Phdr) *p, struct place *place)
{
	const char *at = (const char *)(info->dlpi_addr + p->p_vaddr), *end = at + p->p_memsz;
	size_t align = p->p_align == 8 ? 8 : 4;

	while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)at;
		size_t name = ALIGN_UP(sizeof(*n) + (size_t)n->n_namesz, align);
		size_t size = ALIGN_UP(name + (size_t)n->n_descsz, align);

		if (size > (size_t)(end - at))
			return;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == sizeof(ELF_NOTE_GNU) &&
		    memcmp(n + 1, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0) {
			place->id_size = MIN(n->n_descsz, ID_MOST);
			memcpy(place->id, at + name, place->id_size);
		}
		at += size;
	}
}

static int object_look(struct dl_phdr_info *info, size_t size, void *data)
{
	struct place *place = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum && !place->found; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		place->found = p->p_type == PT_LOAD && place->function - (info->dlpi_addr + p->p_vaddr) < p->p_memsz;
	}
	if (!place->found)
		return 0;
	place->base = info->dlpi_addr;
	place->path = info->dlpi_name;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			notes_read(info, &info->dlpi_phdr[i], place);
	return 1;
}

/* The loader has no path of the program itself. */
static const char *program_path(void)
{
	static char path[PATH_ROOM];
	static u32 state;          /* 1: being read, 2: there */
	u32 expected = 0;
	long n;

	if (load_acquire(&state) == 2)
		return path;
	if (agent_sealed() || !compare_exchange(&state, &expected, 1))
		return "";
	n = syscall_raw(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)path, sizeof(path) - 1, 0, 0);
	path[MAX(n, 0)] = 0;
	store_release(&state, 2);
	return path;
}

static char *hex_write(char *to, u64 value)
{
	u32 digits = 1;

	while (digits < 16 && value >> 4 * digits)
		digits++;
	while (digits--)
		*to++ = "0123456789abcdef"[value >> 4 * digits & 15];
	return to;
}

/*
 * The object's path, written to its place in the name. One that dlopen(3) was given is made one from the
 * root; the directory may be another by now: then sparkctl finds no file there, or one of another build id.
 */
static void path_write(char *to, const struct place *place)
{
	const char *path = place->found && !*place->path ? program_path() : place->path;
	size_t room = PATH_ROOM, length;
	long n = 0;

	if (*path && *path != '/' && !agent_sealed())
		n = syscall_raw(SYS_getcwd, (long)to, PATH_ROOM / 2, 0, 0, 0, 0);
	if (n > 1 && *to == '/') {
		to[n - 1] = '/';
		to += n;
		room -= (size_t)n;
		while (path[0] == '.' && path[1] == '/')
			path += 2;
	}
	length = MIN(strlen(path), room - 1);
	memcpy(to, path, length);
	to[length] = 0;
}

/* WIRE_FUNCTION_MARK, offset, ":", build id, ":", path (wire_calls.h). Returns where the path begins. */
static const char *name_write(char *to, const struct place *place)
{
	*to++ = WIRE_FUNCTION_MARK;
	to = hex_write(to, place->function - place->base);
	*to++ = ':';
	for (u32 i = 0; i < place->id_size; i++) {
		*to++ = "0123456789abcdef"[place->id[i] >> 4];
		*to++ = "0123456789abcdef"[place->id[i] & 15];
	}
	*to++ = ':';
	path_write(to, place);
	return to;
}

static void origin_add(u32 name, const char *library)
{
	u32 ref = name_record(sizeof(struct wire_origin));
	struct wire_origin *o;

	if (!ref)
		return;
	o = segment_ptr(ref);
	o->name = name;
	o->library = *library ? name_intern(library) : 0;
	o->caller = 0;
	o->kind = WIRE_ORIGIN_INSTRUMENTED;
	o->slots = 0;
	o->next = load_relaxed(&agent.header->origins);
	while (!compare_exchange(&agent.header->origins, &o->next, ref))
		;
}

static u32 function_name(u64 function)
{
	struct place place = { .function = function, .path = "" };
	char text[WIRE_NAME_MAX];
	const char *path;
	u32 name;

	dl_iterate_phdr(object_look, &place);
	path = name_write(text, &place);
	name = name_intern(text);
	if (name != name_other())
		origin_add(name, path);
	return name;
}

/* ---- the tables */

static bool function_chosen(u64 function)
{
	const struct wire_functions *w = instrumented.chosen;
	u32 low = 0, high = w ? w->n : 0;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (w->function[middle] == function)
			return true;
		if (w->function[middle] < function)
			low = middle + 1;
		else
			high = middle;
	}
	return !w;
}

static u64 function_word(u64 function, u64 call, u32 name)
{
	u64 at = call - sizeof(u32) - function; /* the last bytes of the instruction that calls the hook */
	u32 bytes;

	/* Of a copy inlined elsewhere there is no such place. Nothing beyond the page: it may be the last. */
	if (call - sizeof(u32) < function || at > CODE_REACH || (function & (WIRE_PAGE - 1)) + at + sizeof(u32) > WIRE_PAGE)
		at = 0;
	memcpy(&bytes, (const char *)(uintptr_t)function + at, sizeof(bytes));
	return (u64)bytes << 32 | at << 24 | name;
}

/* The function's entry in a table, or the free one for it; NULL: there is no room. */
static struct function *table_look(struct function *table, u32 size, u32 window, u64 function)
{
	for (u32 i = 0, at = function_hash(function); i < window; i++, at++) {
		struct function *f = &table[at % size];
		u64 address = load_acquire(&f->address);

		if (address == function || !address)
			return f;
	}
	return NULL;
}

static struct function *function_find(u64 function)
{
	struct function *large = load_acquire(&functions_large);
	struct function *f = table_look(functions_small, FUNCTIONS_SMALL, WINDOW, function);

	if (!f && large)
		f = table_look(large, LARGE, LARGE, function);
	return f && load_acquire(&f->address) == function ? f : NULL;
}

static bool table_take(struct function *table, u32 size, u32 window, u64 function, u64 word)
{
	struct function *f;
	u64 expected;

	do {
		f = table_look(table, size, window, function);
		expected = 0;
		if (!f)
			return false;
	} while (load_acquire(&f->address) != function && !compare_exchange(&f->address, &expected, function));
	store_release(&f->word, word);
	return true;
}

static struct function *large_ready(void)
{
	struct function *table = load_acquire(&functions_large), *expected = NULL;

	if (table)
		return table;
	table = segment_private(LARGE * sizeof(*table), PRIVATE_INHERITED);
	if (table && !compare_exchange(&functions_large, &expected, table))
		segment_private_drop(table, LARGE * sizeof(*table));
	return load_acquire(&functions_large);
}

/* What finds no room is looked up each time: there are more functions than names. */
static void function_put(u64 function, u64 word)
{
	struct function *large;

	if (table_take(functions_small, FUNCTIONS_SMALL, WINDOW, function, word))
		return;
	large = large_ready();
	if (large && load_relaxed(&functions_used) < WIRE_NAMES && table_take(large, LARGE, LARGE, function, word))
		fetch_add(&functions_used, 1);
}

u32 instrumented_enter(u64 function, const void *call)
{
	const struct function *f = function_find(function);
	u64 word = f ? load_acquire(&f->word) : 0;
	u32 name;

	if (word && function_is(function, word))
		return (u32)word & FUNCTION_NAME_MASK;
	if (!agent_live())
		return 0;
	name = function_chosen(function) ? function_name(function) : 0;
	function_put(function, function_word(function, (u64)(uintptr_t)call, name));
	return name;
}

u32 instrumented_known(u64 function)
{
	const struct function *f = function_find(function);

	return f ? (u32)load_acquire(&f->word) & FUNCTION_NAME_MASK : 0;
}

/* ---- depth */

/*
 * Of the functions that are too deep the outermost is kept, and how many are within it: what is on
 * its stack, or above it. What comes from below has left them all, by longjmp(3) if need be.
 */
bool instrumented_begins_deep(struct thread *t, u64 function, u64 caller, u64 sp)
{
	if (t->deep && sp > t->deep_sp)
		t->deep = 0;
	if (!t->deep) {
		if (!t->lane.w || t->lane.w->depth < instrumented.depth)
			return false;
		t->deep_sp = sp;
		t->deep_function = function;
		t->deep_caller = caller;
	}
	t->deep++;
	return true;
}

bool instrumented_ends_deep(struct thread *t, u64 function, u64 caller, u64 sp)
{
	if (!t->deep)
		return false;
	/* Its own end may be a jump, when its frame has been taken down. */
	if (sp > t->deep_sp && (function != t->deep_function || caller != t->deep_caller)) {
		t->deep = 0;
		return false;
	}
	t->deep--;
	return true;
}
