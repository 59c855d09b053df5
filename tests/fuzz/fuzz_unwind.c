/* SPDX-License-Identifier: MIT */
/*
 * A stack, registers and an ELF file with call frame information, all of them a stranger's: chains are bounded, end
 * for a reason and in time, and nothing is read outside of what is there.
 *
 * An input is a file of CFI_FILE_SIZE bytes as tests/unit/cfi_file.h makes it, then registers and the stack.
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "cli/symbols/unwind.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/cfi_file.h"

#define START 0x7000000u
#define STACK 0x7ff000000000u
#define STACK_SIZE 1024u
#define REGS 33u
#define ROOM (CFI_FILE_SIZE + REGS * 8 + STACK_SIZE)

/* ---- sound inputs ------------------------------------------------------------------------------------ */

/* Instructions with their operands. */
static const struct {
	u8 bytes[12];
	size_t n;
} pieces[] = {
	{ { 0x0c, UNWIND_SP, 16 }, 3 },
	{ { 0x0c, UNWIND_FP, 16 }, 3 },
	{ { 0x0d, UNWIND_FP }, 2 },
	{ { 0x0e, 32 }, 2 },
	{ { 0x0e, 0 }, 2 },
	{ { 0x80 | UNWIND_RETURN, 1 }, 2 },
	{ { 0x80 | UNWIND_FP, 2 }, 2 },
	{ { 0x41 }, 1 },
	{ { 0x02, 8 }, 2 },
	{ { 0x0a }, 1 },
	{ { 0x0b }, 1 },
	{ { 0xc0 | UNWIND_FP }, 1 },
	{ { 0x07, UNWIND_RETURN }, 2 },
	{ { 0x08, UNWIND_RETURN }, 2 },
	{ { 0x09, UNWIND_FP, UNWIND_SP }, 3 },
	{ { 0x0f, 3, 0x70 + UNWIND_SP, 8, 0x06 }, 5 },
	{ { 0x0f, 4, 0x70 + UNWIND_SP, 24, 0x31, 0x22 }, 6 },
	{ { 0x0f, 4, 0x70 + UNWIND_SP, 0x2f, 0xfd, 0xff }, 6 },
	{ { 0x0f, 6, 0x70 + UNWIND_SP, 8, 0x12, 0x28, 0xfc, 0xff }, 8 },
	{ { 0x10, UNWIND_RETURN, 2, 0x70 + UNWIND_SP, 8 }, 5 },
	{ { 0x10, UNWIND_FP, 3, 0x70 + UNWIND_FP, 0, 0x06 }, 6 },
	{ { 0x16, UNWIND_FP, 2, 0x70 + UNWIND_SP, 8 }, 5 },
	{ { 0x13, 0x7e }, 2 },
	{ { 0x2d }, 1 },
	{ { 0x2e, 16 }, 2 },
};

static size_t program_make(u8 *program)
{
	size_t size = 5;

	memcpy(program, pieces[0].bytes, 3);
	memcpy(program + 3, pieces[5].bytes, 2);
	for (u64 n = fuzz_below(10); n; n--) {
		u64 i = fuzz_below(ARRAY_SIZE(pieces));

		memcpy(program + size, pieces[i].bytes, pieces[i].n);
		size += pieces[i].n;
	}
	return size;
}

static u64 word_make(void)
{
	if (fuzz_once_in(3))
		return STACK + 8 * fuzz_below(STACK_SIZE / 8);
	return fuzz_once_in(10) ? fuzz_odd() : START + fuzz_below(CFI_FILE_CODE_SIZE);
}

static size_t unwind_make(u8 *input)
{
	u8 program[CFI_FILE_PROGRAM];

	cfi_file_make(input, (enum cfi_file_form)fuzz_below(CFI_FILE_DEBUG + 1), program, program_make(program));
	for (size_t at = CFI_FILE_SIZE; at < ROOM; at += 8) {
		u64 word = word_make();

		memcpy(input + at, &word, sizeof(word));
	}
	return ROOM;
}

/* ---- hostile ones ------------------------------------------------------------------------------------ */

/* Where something lies. */
static const struct { size_t start, size; } parts[] = {
	{ 0, sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr) },
	{ CFI_FILE_NAMES, 0x18 },
	{ CFI_FILE_HDR, 20 },
	{ CFI_FILE_FRAME, 128 },
	{ CFI_FILE_FRAME, 64 },
	{ CFI_FILE_CODE + CFI_FILE_CODE_SIZE, 3 * sizeof(Elf64_Shdr) },
	{ CFI_FILE_SIZE, REGS * 8 + STACK_SIZE },
};

static size_t unwind_mutate(u8 *input, size_t size)
{
	u64 i = fuzz_below(ARRAY_SIZE(parts));
	u8 part[REGS * 8 + STACK_SIZE];

	if (size != ROOM || fuzz_once_in(20))
		return fuzz_mutate_bytes(input, size, ROOM);
	memcpy(part, input + parts[i].start, parts[i].size);
	fuzz_mutate_bytes(part, parts[i].size, parts[i].size);
	memcpy(input + parts[i].start, part, parts[i].size);
	return size;
}

/* ---- what is tested ---------------------------------------------------------------------------------- */

static bool find(void *context, u64 address, struct unwind_object *object)
{
	if (address - START >= 0x1000)
		return false;
	*object = (struct unwind_object){
		.start = START, .end = START + 0x1000, .offset = CFI_FILE_CODE, .identity = context, .cfi = context,
	};
	return true;
}

static void walk(struct cfi *cfi, const u64 *regs, const u8 *stack, size_t size)
{
	static struct unwind_chain chain;
	struct unwind *unwind = unwind_new();
	struct unwind_source source = { .context = cfi, .find = find };
	struct unwind_sample sample = { .abi = PERF_SAMPLE_REGS_ABI_64, .regs = regs, .stack = stack, .size = size,
					.callchain = regs, .ncallchain = REGS };

	if (!unwind)
		abort();
	for (int round = 0; round < 2; round++) {
		unwind_sample_chain(unwind, &source, &sample, &chain);
		fuzz_check(chain.n >= 1 && chain.n <= UNWIND_FRAMES, "a chain has frames, and not too many");
		fuzz_check(chain.end < UNWIND_ENDS, "a chain ends for a reason");
		fuzz_check(chain.spliced <= chain.n, "spliced frames are of the chain");
	}
	unwind_free(unwind);
}

/* A copy of just that size. */
static u8 *copy_of(const u8 *bytes, size_t size)
{
	u8 *copy = malloc(size + !size);

	if (!copy)
		abort();
	memcpy(copy, bytes, size);
	return copy;
}

static void unwind_run(const u8 *input, size_t size)
{
	static const struct { u8 perf, dwarf; } places[] = { UNWIND_PERF_REGS };
	size_t file = MIN(size, (size_t)CFI_FILE_SIZE), regs_size = MIN(size - file, REGS * 8u);
	u8 *image = copy_of(input, file), *stack = copy_of(input + file + regs_size, size - file - regs_size);
	struct cfi *cfi = cfi_new(image, file);
	u64 regs[REGS] = { 0 };

	if (!cfi)
		abort();
	memcpy(regs, input + file, regs_size);
	/* Mostly a stack pointer and a program counter that lead somewhere. */
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (places[i].dwarf == UNWIND_SP && regs[i] % 8 == 0)
			regs[i] = STACK;
		if (places[i].dwarf == UNWIND_PC && regs[i] % 8)
			regs[i] = START + regs[i] % CFI_FILE_CODE_SIZE;
	}
	walk(cfi, regs, stack, size - file - regs_size);
	cfi_free(cfi);
	free(stack);
	free(image);
}

static void unwind_open(char **argv)
{
	(void)argv;
}

const struct fuzz fuzz_target = {
	.name = "unwind",
	.room = ROOM,
	.rounds = 20000,
	.open = unwind_open,
	.make = unwind_make,
	.mutate = unwind_mutate,
	.run = unwind_run,
};
