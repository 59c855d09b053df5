/* SPDX-License-Identifier: MIT */
/*
 * cli/symbols/cfi: rules of made-up files, sound and broken, by table, section and .debug_frame, and what they lead to
 * on a made-up stack, in time.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cfi_file.h"
#include "cli/symbols/unwind.h"
#include "suite.h"

#define START 0x7000000u             /* where the function's segment is mapped */
#define STACK 0x7ff000000000u
#define STACK_SIZE 8192u
#define BUDGET 65536u

static u8 image[CFI_FILE_SIZE];
static u64 stack[STACK_SIZE / 8];
static struct unwind_chain chain;

static struct cfi_rule rule_of(enum cfi_file_form form, const u8 *program, size_t n)
{
	struct cfi_rule rule;
	size_t budget = BUDGET;
	struct cfi *cfi;
	u64 address;

	cfi_file_make(image, form, program, n);
	cfi = cfi_new(image, sizeof(image));
	ck_assert_ptr_nonnull(cfi);
	ck_assert(cfi_address(cfi, CFI_FILE_CODE + 0x10, &address));
	ck_assert_uint_eq(address, CFI_FILE_ADDRESS + 0x10);
	cfi_find(cfi, address, &budget, &rule);
	cfi_free(cfi);
	return rule;
}

/* CFA = sp + 16, the return address below it */
#define USUAL 0x0c, UNWIND_SP, 16, 0x80 | UNWIND_RETURN, 1

START_TEST(test_forms)
{
	static const u8 program[] = { USUAL, 0x80 | UNWIND_FP, 2 };
	static const u8 saved[] = UNWIND_SAVED;
	struct cfi_rule rule = rule_of((enum cfi_file_form)_i, program, sizeof(program));

	ck_assert_uint_eq(rule.kind, CFI_RULE);
	ck_assert_uint_eq(rule.flags, 0);
	ck_assert_uint_eq(rule.cfa_reg, UNWIND_SP);
	ck_assert_int_eq(rule.cfa_offset, 16);
	ck_assert_int_eq(__builtin_popcount(rule.saved), 2);
	for (u32 i = 0; i < UNWIND_SLOTS; i++)
		if (rule.saved >> i & 1)
			ck_assert_int_eq(rule.at[i], saved[i] == UNWIND_FP ? -16 : -8);
}
END_TEST

static const struct {
	const char *what;
	u8 bytes[24];
	size_t n;
	u8 kind;
} programs[] = {
	{ "no caller", { USUAL, 0x07, UNWIND_RETURN }, 7, CFI_OUTERMOST },
	{ "where nothing is saved yet", { 0x0c, UNWIND_SP, 64, 0x4f, USUAL, 0x51, 0x07, UNWIND_RETURN }, 12, CFI_RULE },
	{ "remembered", { USUAL, 0x0a, 0x07, UNWIND_RETURN, 0x0b }, 9, CFI_RULE },
	{ "what lies at fp - 8", { USUAL, 0x0f, 3, 0x70 + UNWIND_FP, 0x78, 0x06 }, 10, CFI_RULE },
	{ "... plus 8", { USUAL, 0x0f, 5, 0x70 + UNWIND_FP, 0x78, 0x06, 0x23, 8 }, 12, CFI_RULE },
	{ "an expression with a loop", { USUAL, 0x0f, 4, 0x70 + UNWIND_FP, 0x2f, 0xfd, 0xff }, 11, CFI_REMOTE },
	{ "a value", { USUAL, 0x16, UNWIND_FP, 2, 0x70 + UNWIND_SP, 8 }, 10, CFI_REMOTE },
	{ "an expression that is too long", { USUAL, 0x0f, 0xff, 0xff, 3, 0x77 }, 10, CFI_BAD },
	{ "an unknown instruction", { USUAL, 0x3c }, 6, CFI_BAD },
	{ "nothing was remembered", { USUAL, 0x0b }, 6, CFI_BAD },
	{ "remembered too often", { USUAL, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a }, 14, CFI_BAD },
	{ "a number without an end", { USUAL, 0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
				       0x80, 0x80, 0x80, 0x80, 0x80 }, 23, CFI_BAD },
	{ "a register that does not exist", { USUAL, 0x0d, 99 }, 7, CFI_BAD },
	{ "a distance beyond all stacks", { USUAL, 0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f }, 12, CFI_BAD },
};

START_TEST(test_programs)
{
	for (int form = CFI_FILE_TABLE; form <= CFI_FILE_DEBUG; form++) {
		struct cfi_rule rule = rule_of((enum cfi_file_form)form, programs[_i].bytes, programs[_i].n);

		ck_assert_msg(rule.kind == programs[_i].kind, "%s: %d", programs[_i].what, rule.kind);
	}
}
END_TEST

START_TEST(test_budget)
{
	static u8 program[CFI_FILE_PROGRAM] = { USUAL };
	struct cfi_rule rule;
	size_t budget = CFI_FILE_PROGRAM - 1;
	struct cfi *cfi;

	ck_assert_uint_eq(rule_of(CFI_FILE_TABLE, program, sizeof(program)).kind, CFI_RULE);
	cfi = cfi_new(image, sizeof(image));
	cfi_find(cfi, CFI_FILE_ADDRESS, &budget, &rule);
	ck_assert_uint_eq(rule.kind, CFI_BAD);
	ck_assert_uint_eq(budget, 0);
	cfi_free(cfi);
}
END_TEST

/* Whatever a file's length: nothing is read behind it. Under a sanitizer this would tell. */
START_TEST(test_cut)
{
	static const u8 program[] = { USUAL };

	for (size_t size = 0; size < sizeof(image); size += size < 0x400 ? 1 : 64) {
		struct cfi_rule rule;
		size_t budget = BUDGET;
		struct cfi *cfi;
		u8 *copy;

		cfi_file_make(image, (enum cfi_file_form)_i, program, sizeof(program));
		copy = malloc(size + 1);
		memcpy(copy, image, size);
		cfi = cfi_new(copy, size);
		cfi_find(cfi, CFI_FILE_ADDRESS, &budget, &rule);
		ck_assert(rule.kind != CFI_RULE || rule.cfa_offset == 16);
		cfi_free(cfi);
		free(copy);
	}
}
END_TEST

/* ---- on a stack -------------------------------------------------------------------------------------- */

static bool find(void *context, u64 address, struct unwind_object *object)
{
	if (address - START >= 0x1000)
		return false;
	*object = (struct unwind_object){
		.start = START, .end = START + 0x1000, .offset = CFI_FILE_CODE, .identity = image, .cfi = context,
	};
	return true;
}

/* The place of a register of DWARF's number among a sample's. */
static u32 place_of(u32 dwarf)
{
	static const struct { u8 perf, dwarf; } regs[] = { UNWIND_PERF_REGS };
	u32 i;

	for (i = 0; regs[i].dwarf != dwarf; i++)
		;
	return i;
}

static void walk(struct unwind *unwind, struct cfi *cfi, u64 fp)
{
	struct unwind_source source = { .context = cfi, .find = find };
	u64 regs[64] = { 0 };
	struct unwind_sample sample = { .abi = PERF_SAMPLE_REGS_ABI_64, .regs = regs, .stack = (const u8 *)stack,
					.size = sizeof(stack) };

	regs[place_of(UNWIND_SP)] = STACK;
	regs[place_of(UNWIND_FP)] = fp;
	regs[place_of(UNWIND_PC)] = START + 0x20;
	unwind_sample_chain(unwind, &source, &sample, &chain);
}

static void walk_program(const u8 *program, size_t n, u64 fp)
{
	struct unwind *unwind = unwind_new();
	struct cfi *cfi;

	cfi_file_make(image, CFI_FILE_TABLE, program, n);
	cfi = cfi_new(image, sizeof(image));
	for (size_t i = 0; i < ARRAY_SIZE(stack); i++)
		stack[i] = START + 0x30;
	walk(unwind, cfi, fp);
	cfi_free(cfi);
	unwind_free(unwind);
}

START_TEST(test_progress)
{
	static const u8 usual[] = { USUAL }, longer[] = { USUAL, 0x0e, 0xc0, 0x00 }, itself[] = { USUAL, 0x0e, 0 },
			fixed[] = { USUAL, 0x0d, UNWIND_FP };

	walk_program(usual, sizeof(usual), 0);
	ck_assert_int_eq(chain.end, UNWIND_MOST);
	ck_assert_uint_eq(chain.n, UNWIND_FRAMES);
	ck_assert(!chain.frames[0].call && chain.frames[1].call);
	ck_assert_uint_eq(chain.frames[1].address, CFI_FILE_ADDRESS + 0x30);
	ck_assert_ptr_eq(chain.frames[1].identity, image);
	walk_program(longer, sizeof(longer), 0);
	ck_assert_int_eq(chain.end, UNWIND_SHORT);
	ck_assert_uint_eq(chain.n, 1 + STACK_SIZE / 64);
	walk_program(itself, sizeof(itself), 0);
	ck_assert_int_eq(chain.end, UNWIND_BAD_CFI);
	ck_assert_uint_le(chain.n, 2);
	walk_program(fixed, sizeof(fixed), STACK + 64);
	ck_assert_int_eq(chain.end, UNWIND_BAD_CFI);
	ck_assert_uint_eq(chain.n, 2);
}
END_TEST

/* The same without libunwind, by another reason. */
START_TEST(test_remote_loop)
{
	static const u8 loop[] = { USUAL, 0x0f, 4, 0x70 + UNWIND_FP, 0x2f, 0xfd, 0xff };

	walk_program(loop, sizeof(loop), STACK + 64);
	ck_assert_int_eq(chain.end, unwind_remote_available() ? UNWIND_BAD_CFI : UNWIND_REMOTE);
	ck_assert_uint_eq(chain.n, 1);
}
END_TEST

/* CFA = fp + 8 by an expression that is no simple one: fp, 8, plus. */
START_TEST(test_remote_step)
{
	static const u8 plus[] = { USUAL, 0x0f, 4, 0x70 + UNWIND_FP, 8, 0x30, 0x22 };

	if (!unwind_remote_available())
		return;
	walk_program(plus, sizeof(plus), STACK + 64);
	ck_assert_int_eq(chain.end, UNWIND_BAD_CFI); /* the second frame's CFA is the same */
	ck_assert_uint_eq(chain.n, 2);
	ck_assert_uint_eq(chain.frames[1].pc, START + 0x30);
	ck_assert(chain.frames[1].call);
}
END_TEST

START_TEST(test_flush)
{
	static const u8 usual[] = { USUAL }, outermost[] = { USUAL, 0x07, UNWIND_RETURN };
	struct unwind *unwind = unwind_new();
	struct cfi *cfi;

	for (size_t i = 0; i < ARRAY_SIZE(stack); i++)
		stack[i] = START + 0x30;
	cfi_file_make(image, CFI_FILE_TABLE, usual, sizeof(usual));
	cfi = cfi_new(image, sizeof(image));
	walk(unwind, cfi, 0);
	ck_assert_uint_eq(chain.n, UNWIND_FRAMES);
	cfi_file_make(image, CFI_FILE_TABLE, outermost, sizeof(outermost));
	unwind_flush(unwind, START + 0x1000, UINT64_MAX);
	walk(unwind, cfi, 0);
	ck_assert_uint_eq(chain.n, UNWIND_FRAMES);
	unwind_flush(unwind, START + 0x10, START + 0x20);
	walk(unwind, cfi, 0);
	ck_assert_uint_eq(chain.n, UNWIND_FRAMES);
	unwind_flush(unwind, START, START + 0x1000);
	walk(unwind, cfi, 0);
	ck_assert_uint_eq(chain.n, 1);
	ck_assert_int_eq(chain.end, UNWIND_COMPLETE);
	cfi_free(cfi);
	unwind_free(unwind);
}
END_TEST

/* Without information by frame pointers, as far as they lead to code. */
START_TEST(test_frame_pointers)
{
	struct unwind *unwind = unwind_new();

	memset(stack, 0, sizeof(stack));
	stack[2] = STACK + 64;
	stack[3] = START + 0x40;
	stack[8] = STACK + 32;
	stack[9] = START + 0x50;
	walk(unwind, NULL, STACK + 16);
	ck_assert_uint_eq(chain.n, 3);
	ck_assert_int_eq(chain.end, UNWIND_NO_CFI);
	ck_assert_uint_eq(chain.frames[2].pc, START + 0x50);
	stack[9] = 0x1234567;
	walk(unwind, NULL, STACK + 16);
	ck_assert_uint_eq(chain.n, 2);
	unwind_free(unwind);
}
END_TEST

/* A stub without information is left to its caller, which has some. */
START_TEST(test_stub)
{
	static const u8 outermost[] = { USUAL, 0x07, UNWIND_RETURN };
	struct unwind *unwind = unwind_new();
	struct cfi *cfi;
	u64 regs[64] = { 0 };
	struct unwind_sample sample = { .abi = PERF_SAMPLE_REGS_ABI_64, .regs = regs, .stack = (const u8 *)stack,
					.size = sizeof(stack) };
	struct unwind_source source = { .find = find };

	cfi_file_make(image, CFI_FILE_TABLE, outermost, sizeof(outermost));
	source.context = cfi = cfi_new(image, sizeof(image));
	memset(stack, 0, sizeof(stack));
	stack[0] = START + 0x30;
	/* One of both is where it is; of x86-64 the register is the program counter. */
	regs[place_of(UNWIND_RETURN)] = START + 0x30;
	regs[place_of(UNWIND_SP)] = STACK;
	regs[place_of(UNWIND_PC)] = START + CFI_FILE_CODE_SIZE + 0x10;
	unwind_sample_chain(unwind, &source, &sample, &chain);
	ck_assert_uint_eq(chain.n, 2);
	ck_assert_uint_eq(chain.frames[1].pc, START + 0x30);
	ck_assert_int_eq(chain.end, UNWIND_COMPLETE);
	cfi_free(cfi);
	unwind_free(unwind);
}
END_TEST

START_TEST(test_masks)
{
	static const struct { u8 perf, dwarf; } regs[] = { UNWIND_PERF_REGS };

	for (size_t i = 1; i < ARRAY_SIZE(regs); i++)
		ck_assert_uint_gt(regs[i].perf, regs[i - 1].perf);
	ck_assert_int_eq(__builtin_popcountll(unwind_regs_mask()), unwind_available() ? (int)ARRAY_SIZE(regs) : 0);
	for (int end = 0; end < UNWIND_ENDS; end++)
		ck_assert_int_gt((int)strlen(unwind_end_name((enum unwind_end)end)), 3);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("cfi");

	if (!unwind_available()) {
		printf("unwinding: not on this architecture\n");
		return 77;
	}
	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, test_forms, CFI_FILE_TABLE, CFI_FILE_DEBUG + 1);
	tcase_add_loop_test(tests, test_programs, 0, ARRAY_SIZE(programs));
	tcase_add_test(tests, test_budget);
	tcase_add_loop_test(tests, test_cut, CFI_FILE_TABLE, CFI_FILE_DEBUG + 1);
	tcase_add_test(tests, test_progress);
	tcase_add_test(tests, test_remote_loop);
	tcase_add_test(tests, test_remote_step);
	tcase_add_test(tests, test_flush);
	tcase_add_test(tests, test_frame_pointers);
	tcase_add_test(tests, test_stub);
	tcase_add_test(tests, test_masks);
	return suite_run("cfi", tests);
}
