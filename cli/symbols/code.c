/* SPDX-License-Identifier: MIT */
/* See code.h. The file is found as one that this process has mapped, which checks that it is the right one. */
#include "cli/symbols/code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/symbols/cfi.h"
#include "cli/symbols/elf_file.h"
#include "cli/symbols/resolve.h"
#include "cli/symbols/resolve_build.h"
#include "cli/symbols/space.h"

struct code {
	struct spaces *spaces;
	struct object *object;
	struct elf_symbols symbols;
	u16 machine;
	bool looked;                 /* for a file with its debug info */
};

static size_t code_id_bytes(const char *text, u8 bytes[ELF_FILE_ID_MOST])
{
	char digits[3] = "", *end;
	size_t n;

	for (n = 0; n < ELF_FILE_ID_MOST && text[2 * n] && text[2 * n + 1]; n++) {
		memcpy(digits, text + 2 * n, 2);
		bytes[n] = (u8)strtoul(digits, &end, 16);
		if (*end)
			return 0;
	}
	return text[2 * n] ? 0 : n;
}

static struct object *code_object(struct spaces *spaces, const char *path, const char *build_id)
{
	u8 id[ELF_FILE_ID_MOST];
	struct space_map map = { .pid = (u32)getpid(), .start = 1 << 16, .length = 1 << 16, .flags = MAP_PRIVATE,
				 .protection = PROT_READ | PROT_EXEC, .name = path, .build_id = id };

	struct object *object = NULL;
	size_t i = 0;

	map.build_id_size = code_id_bytes(build_id, id);
	if (!map.build_id_size || spaces_map(spaces, &map) != 0)
		return NULL;
	/* The kernel is one of them, too. */
	while ((object = spaces_object(spaces, i)) && object_kind(object) != OBJECT_FILE)
		i++;
	return object;
}

static void code_add_symbols(struct code *code, int fd)
{
	struct elf_file elf;

	if (fd < 0 || elf_file_open(&elf, fd))
		return;
	code->machine = elf.machine;
	elf_symbols_add(&code->symbols, &elf);
	elf_file_close(&elf);
}

struct code *code_open(const char *path, const char *build_id, const char **why)
{
	struct code *code;

	*why = "it has no build id, so nobody can tell whether the file is the one that ran";
	if (!build_id)
		return NULL;
	*why = "out of memory";
	code = calloc(1, sizeof(*code));
	if (!code)
		return NULL;
	*why = "the file is gone, or is not the one that ran";
	code->spaces = spaces_new();
	code->object = code->spaces ? code_object(code->spaces, path, build_id) : NULL;
	if (code->object)
		code_add_symbols(code, object_descriptor(code->object));
	if (code->machine) {
		elf_symbols_sort(&code->symbols);
		return code;
	}
	code_close(code);
	return NULL;
}

void code_close(struct code *code)
{
	elf_symbols_free(&code->symbols);
	if (code->spaces)
		spaces_free(code->spaces);
	free(code);
}

u16 code_machine(const struct code *code)
{
	return code->machine;
}

static bool code_symbol(const struct code *code, u64 address, u64 *start, u64 *size)
{
	const struct elf_symbol *symbol = elf_symbols_covering(&code->symbols, address);

	if (!symbol)
		return false;
	*start = symbol->address;
	*size = symbol->size;
	return true;
}

static void code_ignore(void *data, const struct resolve_request *request, size_t address, enum resolve_reason reason,
	const struct resolve_line *lines, size_t n)
{
	(void)data;
	(void)request;
	(void)address;
	(void)reason;
	(void)lines;
	(void)n;
}

/* Local functions of a stripped file are in the file of its debug info. Who looks up a name finds it. */
static void code_look_for_debug(struct code *code, u64 address)
{
	struct resolve_request request = { .object = code->object, .addresses = &address, .n = 1 };
	struct resolve_options options = { .no_debug = false };
	int fd;

	if (code->looked)
		return;
	code->looked = true;
	resolve_objects(&request, 1, &options, code_ignore, NULL);
	if (!object_debug_file(code->object))
		return;
	fd = open(object_debug_file(code->object), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	code_add_symbols(code, fd);
	elf_symbols_sort(&code->symbols);
	if (fd >= 0)
		close(fd);
}

/* Of a stripped file: call frame information tells how far a function goes, if not what it is called. */
static bool code_frame(struct code *code, u64 address, u64 *start, u64 *size)
{
	struct cfi_function function;
	size_t bytes;
	const u8 *image = object_image(code->object, &bytes);
	struct cfi *cfi = image ? cfi_new(image, bytes) : NULL;
	bool found = cfi && cfi_function(cfi, address, &function);

	cfi_free(cfi);
	if (!found)
		return false;
	*start = function.start;
	*size = function.end - function.start;
	return true;
}

bool code_function(struct code *code, u64 address, u64 *start, u64 *size)
{
	if (code_symbol(code, address, start, size))
		return true;
	code_look_for_debug(code, address);
	return code_symbol(code, address, start, size) || code_frame(code, address, start, size);
}

bool code_read(struct code *code, u64 address, void *buffer, size_t size)
{
	return object_read(code->object, address, buffer, size);
}

struct code_found {
	code_line *found;
	void *data;
};

static void code_found(void *data, const struct resolve_request *request, size_t address, enum resolve_reason reason,
	const struct resolve_line *lines, size_t n)
{
	const struct code_found *to = data;

	(void)request;
	(void)reason;
	if (n && lines[0].file && lines[0].line)
		to->found(to->data, address, lines[0].file, lines[0].line);
}

int code_lines(struct code *code, const u64 *addresses, size_t n, code_line *found, void *data)
{
	struct resolve_request request = { .object = code->object, .addresses = addresses, .n = n };
	struct resolve_options options = { .no_debug = false };
	struct code_found to = { found, data };

	return resolve_objects(&request, 1, &options, code_found, &to);
}
