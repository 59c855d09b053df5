/* SPDX-License-Identifier: MIT */
/*
 * The symbols that Fedora leaves in stripped files: .gnu_debugdata, an ELF file packed by xz (gdb, "MiniDebugInfo").
 * liblzma is loaded for that alone, and its header is not needed for one function.
 */
#include <stdlib.h>

#include "cli/library.h"
#include "cli/symbols/resolve_build.h"

#define LZMA_SONAME "liblzma.so.5"
#define LZMA_NO_ROOM 10              /* LZMA_BUF_ERROR */
#define PACKED_MOST (32u << 20)
#define PLAIN_MOST (256u << 20)

static int (*lzma_decode)(u64 *memory, u32 flags, const void *allocator, const u8 *in, size_t *in_at, size_t in_size,
	u8 *out, size_t *out_at, size_t out_size);

/* A block of its own; NULL: it is damaged, or too large. */
static u8 *unpack(const u8 *packed, size_t packed_size, size_t *size)
{
	size_t room, at;
	int status = LZMA_NO_ROOM;
	u64 memory;
	u8 *plain = NULL;

	for (room = 8 * packed_size + 4096; status == LZMA_NO_ROOM && room <= PLAIN_MOST; room *= 4) {
		memory = PLAIN_MOST;
		at = *size = 0;
		free(plain);
		plain = malloc(room);
		if (!plain)
			return NULL;
		status = lzma_decode(&memory, 0, NULL, packed, &at, packed_size, plain, size, room);
	}
	if (!status)
		return plain;
	free(plain);
	return NULL;
}

void mini_symbols_add(struct elf_symbols *symbols, const struct elf_file *elf)
{
	static const struct library_function functions[] = { { "lzma_stream_buffer_decode", &lzma_decode } };
	const struct elf_section *section = elf_file_section(elf, ".gnu_debugdata");
	u8 *packed, *plain;
	struct elf_file inner;
	size_t size;

	if (!section || section->size > PACKED_MOST || !library_load(LZMA_SONAME, functions, 1))
		return;
	packed = elf_file_part(elf, section->offset, section->size);
	plain = packed ? unpack(packed, section->size, &size) : NULL;
	if (plain && elf_file_open_bytes(&inner, plain, size) == 0) {
		elf_symbols_add(symbols, &inner);
		elf_file_close(&inner);
	}
	free(plain);
	free(packed);
}
