/* SPDX-License-Identifier: MIT */
/*
 * cli/symbols/unwind on samples of tests/targets/t_stacks: chains reach main through the C library, the vDSO, a deep
 * recursion and signal handlers; stacks that were not copied as a whole are told; libunwind sees the same frames.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/symbols/unwind_internal.h"
#include "sampled.h"
#include "suite.h"

#define STACK 16384u
#define SAMPLES 400u
#define DEPTH 60u                    /* of t_stacks */
#define BIG_DEPTH 12u

static struct sampled sampled;
static struct unwind *unwind;
static struct unwind_chain chain;

static void take(const char *program, const char *mode, size_t n)
{
	ck_assert_int_eq(sampled_take(&sampled, program, mode, STACK, n), 0);
	ck_assert_uint_eq(sampled.nrecords, n);
	unwind = unwind_new();
}

static void done(void)
{
	unwind_free(unwind);
	sampled_free(&sampled);
}

static void walk(size_t i, size_t stack)
{
	struct unwind_sample sample = sampled_sample(&sampled.records[i], stack);

	unwind_sample_chain(unwind, &sampled.source, &sample, &chain);
}

static u32 times(u64 pc)
{
	u32 n = 0;

	for (u32 i = 0; i < chain.n; i++)
		n += chain.frames[i].pc == pc;
	return n;
}

static const struct {
	const char *mode;
	u32 least;                   /* hundredths of samples with the whole recursion */
} modes[] = { { "deep", 80 }, { "libc", 0 }, { "vdso", 0 }, { "signal", 80 } };

START_TEST(test_complete)
{
	u32 reached = 0, complete = 0, deep = 0;
	const char *other = "";

	take("t_stacks", modes[_i].mode, SAMPLES);
	for (size_t i = 0; i < sampled.nrecords; i++) {
		walk(i, STACK);
		reached += times(sampled.main) == 1;
		complete += chain.end == UNWIND_COMPLETE;
		deep += times(sampled.recursion) >= DEPTH - 1;
		if (chain.end != UNWIND_COMPLETE)
			other = unwind_end_name(chain.end);
		ck_assert(!chain.frames[0].call || chain.n > 1);
	}
	ck_assert_msg(reached * 100 > SAMPLES * 99 && complete * 100 > SAMPLES * 99,
		"%s: of %u %u reach main, %u complete; %s", modes[_i].mode, SAMPLES, reached, complete, other);
	ck_assert_msg(deep * 100 >= SAMPLES * modes[_i].least, "%s: %u are 60 deep", modes[_i].mode, deep);
	done();
}
END_TEST

/* Frames that were interrupted are not calls: they have a handler's frames in front of them. */
START_TEST(test_interrupted)
{
	u32 interrupted = 0;

	take("t_stacks", "signal", SAMPLES);
	for (size_t i = 0; i < sampled.nrecords; i++) {
		u32 exact = 0;

		walk(i, STACK);
		for (u32 j = 1; j < chain.n; j++)
			exact += !chain.frames[j].call;
		ck_assert_uint_le(exact, 2);
		interrupted += exact > 0;
	}
	ck_assert_uint_gt(interrupted, SAMPLES / 20);
	ck_assert_uint_lt(interrupted, SAMPLES);
	done();
}
END_TEST

START_TEST(test_other_stack)
{
	u32 ends[UNWIND_ENDS] = { 0 };

	take("t_stacks", "altstack", SAMPLES);
	for (size_t i = 0; i < sampled.nrecords; i++) {
		walk(i, STACK);
		ends[chain.end]++;
		if (chain.end == UNWIND_OTHER_STACK)
			ck_assert(!chain.frames[chain.n - 1].call || chain.n > 2);
	}
	ck_assert_uint_gt(ends[UNWIND_OTHER_STACK], SAMPLES / 20);
	ck_assert_uint_gt(ends[UNWIND_COMPLETE], SAMPLES / 20);
	ck_assert_uint_ge(ends[UNWIND_OTHER_STACK] + ends[UNWIND_COMPLETE], SAMPLES * 99 / 100);
	done();
}
END_TEST

/* A short copy gives the inner part of the same chain and says so. */
START_TEST(test_short)
{
	u32 cut = 0;

	take("t_stacks", "deep", SAMPLES);
	for (size_t i = 0; i < sampled.nrecords; i++) {
		static struct unwind_chain whole;

		walk(i, STACK);
		whole = chain;
		sampled.records[i].ncallchain = 0;
		walk(i, 512);
		ck_assert_uint_le(chain.n, whole.n);
		for (u32 j = 0; j < chain.n; j++)
			ck_assert_uint_eq(chain.frames[j].pc, whole.frames[j].pc);
		cut += chain.n < whole.n && chain.end == UNWIND_SHORT;
		ck_assert(chain.n == whole.n || chain.end != UNWIND_COMPLETE);
	}
	ck_assert_uint_gt(cut * 100, SAMPLES * 99);
	done();
}
END_TEST

/* Frames of 4 KiB: the copy has three of them, the kernel's callchain all. */
START_TEST(test_splice)
{
	u32 spliced = 0, reached = 0, whole = 0;

	take("t_stacks_fp", "big", SAMPLES);
	for (size_t i = 0; i < sampled.nrecords; i++) {
		walk(i, STACK);
		reached += times(sampled.main) == 1;
		spliced += chain.spliced > 0;
		whole += times(sampled.recursion) == BIG_DEPTH - 1;
	}
	ck_assert_uint_gt(spliced * 100, SAMPLES * 90);
	ck_assert_uint_gt(whole * 100, SAMPLES * 90);
	ck_assert_uint_gt(reached * 100, SAMPLES * 99);
	done();
}
END_TEST

/* Without registers there is still the callchain. */
START_TEST(test_no_registers)
{
	struct unwind_sample sample;

	take("t_stacks_fp", "big", 1);
	sample = sampled_sample(&sampled.records[0], STACK);
	sample.abi = 0;
	unwind_sample_chain(unwind, &sampled.source, &sample, &chain);
	ck_assert_uint_eq(chain.n, sample.ncallchain);
	ck_assert_uint_eq(chain.spliced, sample.ncallchain);
	ck_assert(!chain.frames[0].call && chain.frames[1].call);
	ck_assert(chain.end == UNWIND_ABI || chain.end == UNWIND_COMPLETE);
	done();
}
END_TEST

/* ---- libunwind --------------------------------------------------------------------------------------- */

static void state_init(struct unwind_state *state, const struct sampled_record *r)
{
	static const struct { u8 perf, dwarf; } regs[] = { UNWIND_PERF_REGS };

	for (size_t i = 0; i < ARRAY_SIZE(regs); i++)
		state->regs[regs[i].dwarf] = r->regs[i];
	state->stack = r->stack;
	state->low = state->regs[UNWIND_SP];
	state->size = r->size;
}

/*
 * Whether steps by libunwind alone lead to the program counters that the chain has: as far as there is information, and
 * up to an interrupted function where the machine's trampoline has none that leads there.
 */
static bool agreed(const struct sampled_record *r)
{
	struct unwind_state state;

	state_init(&state, r);
	for (u32 i = 0; i + 1 < chain.n; i++) {
		u64 pc = state.regs[UNWIND_PC], address = pc - chain.frames[i].call, in_file;
		struct unwind_object object;
		struct cfi_function function;

		if (!sampled.source.find(&sampled, address, &object) || !object.cfi ||
		    !cfi_address(object.cfi, address - object.start + object.offset, &in_file))
			return false;
		if (!cfi_function(object.cfi, in_file, &function) ||
		    (sizeof(UNWIND_SIGNAL_CODE) > 1 && !chain.frames[i + 1].call))
			return true;
		if (!unwind_remote_step(&state, object.cfi, in_file, address - in_file) ||
		    state.regs[UNWIND_PC] != chain.frames[i + 1].pc)
			return false;
	}
	return true;
}

START_TEST(test_libunwind)
{
	u32 same = 0;

	if (!unwind_remote_available())
		return;
	take("t_stacks", modes[_i].mode, SAMPLES);
	for (size_t i = 0; i < sampled.nrecords; i++) {
		walk(i, STACK);
		same += agreed(&sampled.records[i]);
	}
	/* Its way is not open behind a pop, where a register lies below the stack pointer. */
	ck_assert_msg(same * 100 > SAMPLES * 99, "%s: %u of %u", modes[_i].mode, same, SAMPLES);
	done();
}
END_TEST

/* Why samples are not to be had here, or NULL. */
static const char *obstacle(void)
{
	static char text[128];
	int err;

	if (!unwind_available())
		return "unwinding: not on this architecture";
	err = sampled_take(&sampled, "t_stacks", "deep", STACK, 1);
	if (!err && !sampled.nrecords)
		err = -ENODATA;
	sampled_free(&sampled);
	snprintf(text, sizeof(text), "stack-samples: %s", strerror(-err));
	return err ? text : NULL;
}

int main(void)
{
	const char *why = obstacle();
	TCase *tests;

	if (why) {
		printf("%s\n", why);
		return 77;
	}
	tests = tcase_create("unwind");
	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, test_complete, 0, ARRAY_SIZE(modes));
	tcase_add_test(tests, test_interrupted);
	tcase_add_test(tests, test_other_stack);
	tcase_add_test(tests, test_short);
	tcase_add_test(tests, test_splice);
	tcase_add_test(tests, test_no_registers);
	tcase_add_loop_test(tests, test_libunwind, 0, ARRAY_SIZE(modes));
	return suite_run("unwind", tests);
}
