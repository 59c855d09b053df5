/* SPDX-License-Identifier: MIT */
/* See disasm.h. Each step takes at least a byte, so that there are no more instructions than bytes. */
#include "cli/symbols/disasm.h"

#ifdef HAVE_CAPSTONE
#include <capstone/capstone.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/library.h"

/* That of the headers: structures differ between them. */
#define CAPSTONE_SONAME_(major) "libcapstone.so." #major
#define CAPSTONE_SONAME(major) CAPSTONE_SONAME_(major)

static struct {
	__typeof__(&cs_open) open;
	__typeof__(&cs_close) close;
	__typeof__(&cs_option) option;
	__typeof__(&cs_malloc) malloc;
	__typeof__(&cs_free) free;
	__typeof__(&cs_disasm_iter) disasm_iter;
} capstone;

static bool capstone_load(void)
{
	static const struct library_function functions[] = {
		{ "cs_open", &capstone.open },
		{ "cs_close", &capstone.close },
		{ "cs_option", &capstone.option },
		{ "cs_malloc", &capstone.malloc },
		{ "cs_free", &capstone.free },
		{ "cs_disasm_iter", &capstone.disasm_iter },
	};
	static int state = -1;

	if (state < 0)
		state = library_load(CAPSTONE_SONAME(CS_API_MAJOR), functions, ARRAY_SIZE(functions));
	return state;
}

static bool capstone_open(u16 machine, csh *handle)
{
	cs_arch arch = machine == EM_AARCH64 ? CS_ARCH_ARM64 : CS_ARCH_X86;
	cs_mode mode = machine == EM_X86_64 ? CS_MODE_64 : machine == EM_386 ? CS_MODE_32 : CS_MODE_LITTLE_ENDIAN;

	if (machine != EM_AARCH64 && machine != EM_X86_64 && machine != EM_386)
		return false;
	if (capstone.open(arch, mode, handle) != CS_ERR_OK)
		return false;
	if (arch == CS_ARCH_X86)
		capstone.option(*handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	return true;
}

/* Instructions of arm64 have 4 bytes and are aligned, so that all but the last bytes can be skipped together. */
static u32 disasm_skip(u16 machine, size_t left)
{
	return machine == EM_AARCH64 ? (u32)MIN(left, (size_t)4) : 1;
}

/* Room for another one: it doubles, and is full whenever the count is a power of two. NULL when memory is short. */
static struct disasm_instruction *disasm_next(struct disasm_instruction **list, size_t *n)
{
	struct disasm_instruction *grown = *list;

	if ((*n & (*n - 1)) == 0)
		grown = realloc(*list, (*n ? *n * 2 : 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	*list = grown;
	return &grown[(*n)++];
}

static int disasm_all(csh handle, cs_insn *insn, u16 machine, const u8 *bytes, size_t size, u64 address,
	struct disasm_instruction **list, size_t *n)
{
	const u8 *at = bytes;
	size_t left = size;

	while (left) {
		struct disasm_instruction *one = disasm_next(list, n);
		uint64_t next = address + (size - left);

		if (!one)
			return -1;
		one->address = next;
		if (capstone.disasm_iter(handle, &at, &left, &next, insn) && insn->size) {
			one->size = insn->size;
			snprintf(one->text, sizeof(one->text), *insn->op_str ? "%-6s %s" : "%s", insn->mnemonic, insn->op_str);
			continue;
		}
		one->size = disasm_skip(machine, left);
		snprintf(one->text, sizeof(one->text), "(bad)");
		at += one->size;
		left -= one->size;
	}
	return 0;
}

int disasm(u16 machine, const u8 *bytes, size_t size, u64 address, struct disasm_instruction **list, size_t *n,
	const char **why)
{
	cs_insn *insn;
	csh handle;
	int ret;

	*list = NULL;
	*n = 0;
	*why = "capstone is not installed";
	if (!capstone_load())
		return -1;
	*why = "capstone does not know this machine's instructions";
	if (!capstone_open(machine, &handle))
		return -1;
	*why = "out of memory";
	insn = capstone.malloc(handle);
	ret = insn ? disasm_all(handle, insn, machine, bytes, size, address, list, n) : -1;
	if (insn)
		capstone.free(insn, 1);
	capstone.close(&handle);
	if (ret) {
		free(*list);
		*list = NULL;
		*n = 0;
	}
	return ret;
}

#else

int disasm(u16 machine, const u8 *bytes, size_t size, u64 address, struct disasm_instruction **list, size_t *n,
	const char **why)
{
	(void)machine;
	(void)bytes;
	(void)size;
	(void)address;
	*list = NULL;
	*n = 0;
	*why = "sparkctl was built without capstone";
	return -1;
}

#endif
