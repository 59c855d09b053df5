/* SPDX-License-Identifier: MIT */
/*
 * What symbols/ reads of strangers: ELF files with debug info, symbol tables, what the loader reads of them and its
 * cache, perf maps, jitdump files, rows of /proc/PID/maps, mangled names, and what a child tells that such a file has
 * taken over. Nothing is read beyond the
 * input, each address is told of once, and a child dies of a library's fault alone, or by its limits.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "cli/symbols/closure.h"
#include "cli/symbols/demangle.h"
#include "cli/symbols/jit_names.h"
#include "cli/symbols/maps.h"
#include "cli/symbols/resolve_build.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/built.h"

#define ROOM (64u << 10)
#define ADDRESSES 16u

static u8 elf_seed[ROOM];
static size_t elf_size;
static u64 elf_address;

/* ---- ELF and DWARF ---- */

pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);

/* Sanitizers end a program with a status of their own. */
pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	pid_t got = __real_waitpid(pid, status, options);

	fuzz_check(got <= 0 || !status || !WIFEXITED(*status) || WEXITSTATUS(*status) == 0,
		"a child ends well, or by a signal");
	return got;
}

struct told {
	u32 calls[ADDRESSES];
};

static void told_found(void *data, const struct resolve_request *request, size_t address, enum resolve_reason reason,
	const struct resolve_line *lines, size_t n)
{
	struct told *told = data;

	fuzz_check(address < request->n && reason <= RESOLVE_OUT_OF_TIME, "an address of the request");
	fuzz_check(reason != RESOLVE_NAMED || n, "what is named has lines");
	told->calls[address]++;
	for (size_t i = 0; i < n; i++)
		fuzz_check((!lines[i].function || strlen(lines[i].function) < RESOLVE_NAME_MOST) &&
				   (!lines[i].file || strlen(lines[i].file) < RESOLVE_NAME_MOST),
			"names are short");
}

static void run_dwarf(const u8 *input, size_t size)
{
	struct resolve_options options = { .file_ns = NSEC_PER_SEC };
	struct spaces *spaces = spaces_new();
	u64 addresses[ADDRESSES];
	struct told told = { .calls = { 0 } };
	struct resolve_request request = { .addresses = addresses, .n = ADDRESSES };
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/x", built_dir);
	file = fopen(path, "we");
	if (!spaces || !file || fwrite(input, 1, size, file) != size || fclose(file))
		abort();
	for (u32 i = 0; i < ADDRESSES; i++)
		addresses[i] = elf_address + 2 * i;
	request.object = built_object(spaces, "x");
	if (resolve_objects(&request, 1, &options, told_found, &told))
		abort();
	for (u32 i = 0; i < ADDRESSES; i++)
		fuzz_check(told.calls[i] == 1, "each address is told of once");
	object_image(request.object, &size);
	spaces_free(spaces);
}

static void run_dynamic(const struct elf_file *elf)
{
	struct elf_dynamic dynamic;

	if (elf_dynamic_read(&dynamic, elf))
		return;
	for (size_t i = 0; i < dynamic.nfunctions; i++)
		fuzz_check(strlen(dynamic.functions[i].name), "a function has a name");
	for (size_t i = 0; i < dynamic.nslots; i++)
		fuzz_check(strlen(dynamic.slots[i].name) && dynamic.slots[i].kinds, "a slot has a name and a kind");
	for (size_t i = 0; i < dynamic.nneeded; i++)
		fuzz_check(strlen(dynamic.needed[i]) <= elf->size, "a name ends in the file");
	elf_dynamic_free(&dynamic);
}

static void run_elf(const u8 *input, size_t size)
{
	struct elf_symbols symbols = { .n = 0 };
	char id[2 * ELF_FILE_ID_MOST + 1];
	struct elf_file elf;

	if (elf_file_open_bytes(&elf, input, size))
		return;
	elf_file_build_id(&elf, id);
	fuzz_check(strlen(id) < sizeof(id), "an id has room");
	for (u64 offset = 0; offset < 0x8000; offset += 0x800)
		elf_file_segment(&elf, offset);
	elf_symbols_add(&symbols, &elf);
	elf_symbols_sort(&symbols);
	elf_symbols_add_plt(&symbols, &elf);
	for (u32 i = 0; i < 64; i++) {
		const char *name = elf_symbols_find(&symbols, elf_address + i);

		fuzz_check(!name || strlen(name), "a name is one");
	}
	elf_symbols_free(&symbols);
	run_dynamic(&elf);
	/* The same file as if it had no sections. */
	elf.nsections = 0;
	run_dynamic(&elf);
	elf_file_close(&elf);
}

static void run_cache(const u8 *input, size_t size)
{
	char path[64];
	u32 at = 0;

	while (loader_cache_find(input, size, "libz.so.1", &at, path, sizeof(path)))
		fuzz_check(strlen(path) < sizeof(path), "a path has room");
}

/* ---- what a child tells ---- */

static void run_rows(const u8 *input, size_t size)
{
	struct spaces *spaces = spaces_new();
	struct told told = { .calls = { 0 } };
	u64 addresses[ADDRESSES] = { 0 };
	bool seen[ADDRESSES] = { false };
	struct resolve_request request = { .addresses = addresses, .n = ADDRESSES };
	struct space_place place;

	if (!spaces)
		abort();
	spaces_kernel(spaces, 0, &place);
	request.object = place.object;
	resolve_rows(input, size, &request, seen, told_found, &told);
	for (u32 i = 0; i < ADDRESSES; i++)
		fuzz_check(told.calls[i] == seen[i], "each address is told of once");
	spaces_free(spaces);
}

/* ---- JIT code, mappings, names ---- */

static void run_jit(const u8 *input, size_t size, bool dump)
{
	u64 addresses[ADDRESSES];
	struct jit_name rows[ADDRESSES] = { { .line = 0 } };
	struct jit_names names = { addresses, rows, ADDRESSES };

	for (u32 i = 0; i < ADDRESSES; i++)
		addresses[i] = 0x1000 + 8 * i;
	if (dump)
		jit_dump_take(&names, input, size);
	else
		fuzz_check(jit_map_take(&names, (const char *)input, size) <= size, "no more than there is");
	jit_names_free(&names);
}

static void run_map(const u8 *input, size_t size)
{
	run_jit(input, size, false);
}

static void run_dump(const u8 *input, size_t size)
{
	run_jit(input, size, true);
}

static char *text_copy(const u8 *input, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, input, size);
	text[size] = '\0';
	return text;
}

static void run_maps(const u8 *input, size_t size)
{
	char *text = text_copy(input, size);
	struct space_map map;

	if (maps_parse(text, &map))
		fuzz_check(map.length && map.name >= text && map.name <= text + size, "a row has a range and a name");
	free(text);
}

static void run_name(const u8 *input, size_t size)
{
	char *text = text_copy(input, size), buffer[DEMANGLE_MOST];
	const char *plain = demangle(text, buffer, sizeof(buffer));

	fuzz_check(plain == text || strlen(plain) < sizeof(buffer), "a name has room");
	free(text);
}

/* ---- the rows ---- */

static const u32 dump_seed[] = {
	0x4a695444, 1, 40, 62, 0, 1, 0, 0, 0, 0,                                  /* header */
	2, 16 + 16 + 16 + 4, 0, 0, 0x1000, 0, 1, 0, 0x1000, 0, 7, 0, 0x006a2e66,  /* a line, "f.j" */
	0, 16 + 40 + 8, 0, 0, 1, 1, 0, 0, 0x1000, 0, 16, 0, 1, 0, 0x636e7566, 0,  /* code, "func" */
	1, 16 + 48, 0, 0, 1, 1, 0, 0, 0x1000, 0, 0x1020, 0, 16, 0, 1, 0,          /* moved */
};

static const u32 rows_seed[] = {
	2, 0, 0, 4, 0x0062611b,                                     /* a note */
	1, 3, 0, 2, 4, 4, 7, 0, 0x00636261, 0x00632e78, 2, 0, 9, 0, 0x0062,
};

static const char cache_seed[] = "glibc-ld.so.cache1.1\2\0\0\0\14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
	"\3\3\0\0\x60\0\0\0\x6a\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\3\3\0\0\x60\0\0\0\x6a\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
	"libz.so.1\0/lib/libz.so.1";
static const char map_seed[] = "1000 10 first\n0x1008 0x20 a b c\n1040 ffffffffffffffff all\r\n";
static const char maps_seed[] = "7f00-8f00 r-xp 00001000 fd:01 1234   /usr/lib/a b\\012c (deleted)\n";
static const char name_seed[] = "_ZNSt6vectorIiSaIiEE9push_backERKi";
static const char rust_seed[] =
	"_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8iterator8Iterator9rpositionE";

static const struct reader {
	void (*run)(const u8 *input, size_t size);
	const void *bytes;
	size_t size;                 /* 0: the ELF file's */
	u32 weight;
} readers[] = {
	{ run_dwarf, elf_seed, 0, 4 },
	{ run_elf, elf_seed, 0, 4 },
	{ run_cache, cache_seed, sizeof(cache_seed), 2 },
	{ run_rows, rows_seed, sizeof(rows_seed), 4 },
	{ run_map, map_seed, sizeof(map_seed) - 1, 4 },
	{ run_dump, dump_seed, sizeof(dump_seed), 4 },
	{ run_maps, maps_seed, sizeof(maps_seed) - 1, 2 },
	{ run_name, name_seed, sizeof(name_seed) - 1, 2 },
	{ run_name, rust_seed, sizeof(rust_seed) - 1, 2 },
};

static void symbols_open(char **argv)
{
	char path[64];
	FILE *file;

	(void)argv;
	built_open();
	atexit(built_close);
	built_write("seed.c", "static inline __attribute__((always_inline)) int leaf(int x) { return x * 3; }\n"
			      "int other(int x);\nint outer(int x) { return leaf(x + 1) + other(x); }\n");
	if (!built_try("${CC:-cc} -O2 -g -nostdlib -shared -fPIC -Wl,-z,noseparate-code,-z,lazy -o seed seed.c"))
		abort();
	elf_address = built_symbol("seed", "outer");
	snprintf(path, sizeof(path), "%s/seed", built_dir);
	file = fopen(path, "re");
	elf_size = file ? fread(elf_seed, 1, sizeof(elf_seed) / 2, file) : 0;
	if (!elf_size)
		abort();
	fclose(file);
}

static size_t symbols_make(u8 *input)
{
	u64 which, weights = 0, i;

	for (i = 0; i < ARRAY_SIZE(readers); i++)
		weights += readers[i].weight;
	weights = fuzz_below(weights);
	for (which = 0; weights >= readers[which].weight; which++)
		weights -= readers[which].weight;
	input[0] = (u8)which;
	i = readers[which].size ? readers[which].size : elf_size;
	memcpy(input + 1, readers[which].bytes, i);
	return 1 + i;
}

static size_t symbols_mutate(u8 *input, size_t size)
{
	const struct reader *reader = &readers[input[0] % ARRAY_SIZE(readers)];

	if (reader->run == run_map || reader->run == run_maps || reader->run == run_name)
		return 1 + fuzz_mutate_text(input + 1, size - 1, ROOM - 1);
	return 1 + fuzz_mutate_bytes(input + 1, size - 1, ROOM - 1);
}

static void symbols_run(const u8 *input, size_t size)
{
	if (size)
		readers[input[0] % ARRAY_SIZE(readers)].run(input + 1, size - 1);
}

const struct fuzz fuzz_target = {
	.name = "symbols",
	.room = ROOM,
	.rounds = 3000,
	.open = symbols_open,
	.make = symbols_make,
	.mutate = symbols_mutate,
	.run = symbols_run,
};
