/* SPDX-License-Identifier: MIT */
/*
 * One step by libunwind, with expressions of any kind. It finds a description by a table of one row, which is made
 * here, and reads the file's bytes and the stack word by word: the number of words bounds the time, since expressions
 * may hold loops.
 */
#include "cli/symbols/unwind_internal.h"

#if defined(HAVE_LIBUNWIND) && !UNWIND_NONE
#include <string.h>

#include "cli/symbols/libunwind.h"

#define WORDS_MOST 20000u
/* No address of a process. */
#define TABLE_ADDRESS (UINT64_MAX - 4095)

struct remote {
	struct unwind_state *state;
	struct cfi *cfi;
	struct cfi_function function;
	u64 address, bias;
	u32 words;
};

/* The table's row: from where the function's start and the description are, counted from the description. */
static u64 table_row(const struct remote *r)
{
	return (u32)(r->function.start - r->function.fde);
}

static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *info, int need, void *arg)
{
	struct remote *r = arg;
	unw_dyn_info_t table = {
		.start_ip = r->function.start + r->bias, .end_ip = r->function.end + r->bias,
		.format = UNW_INFO_FORMAT_REMOTE_TABLE,
		.u.rti = { .segbase = r->function.fde + r->bias, .table_len = 1, .table_data = TABLE_ADDRESS },
	};
	int ret;

	if (ip < table.start_ip || ip >= table.end_ip)
		return -UNW_EBADFRAME;
	ret = libunwind.search_unwind_table(space, ip, &table, info, need, arg);
	/* After UNW_ENOINFO it would guess. */
	return ret < 0 ? -UNW_EBADFRAME : ret;
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *arg)
{
	(void)space, (void)info, (void)arg;
}

static int get_dyn_info_list(unw_addr_space_t space, unw_word_t *list, void *arg)
{
	(void)space, (void)list, (void)arg;
	return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write, void *arg)
{
	struct remote *r = arg;
	u64 word;

	(void)space;
	if (write || ++r->words > WORDS_MOST)
		return -UNW_EINVAL;
	if (address == TABLE_ADDRESS)
		word = table_row(r);
	else if (unwind_load(r->state, address, &word) != UNWIND_MEMORY_HERE && !cfi_word(r->cfi, address - r->bias, &word))
		return -UNW_EINVAL;
	*value = word;
	return 0;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t reg, unw_word_t *value, int write, void *arg)
{
	const struct remote *r = arg;

	(void)space;
	if (write || reg < 0 || (u32)reg >= UNWIND_REGS)
		return -UNW_EBADREG;
	*value = (u32)reg == UNWIND_PC ? r->address + r->bias : r->state->regs[reg];
	return 0;
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t reg, unw_fpreg_t *value, int write, void *arg)
{
	(void)space, (void)reg, (void)value, (void)write, (void)arg;
	return -UNW_EBADREG;
}

static int resume(unw_addr_space_t space, unw_cursor_t *cursor, void *arg)
{
	(void)space, (void)cursor, (void)arg;
	return -UNW_EINVAL;
}

static unw_addr_space_t space_get(void)
{
	static unw_accessors_t accessors = {
		.find_proc_info = find_proc_info, .put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = get_dyn_info_list, .access_mem = access_mem, .access_reg = access_reg,
		.access_fpreg = access_fpreg, .resume = resume,
	};
	static unw_addr_space_t space;

	if (!space && libunwind_load())
		space = libunwind.create_addr_space(&accessors, 0);
	return space;
}

bool unwind_remote_available(void)
{
	return space_get() != NULL;
}

bool unwind_remote_step(struct unwind_state *state, struct cfi *cfi, u64 address, u64 bias)
{
	struct remote remote = { .state = state, .cfi = cfi, .address = address, .bias = bias };
	u64 regs[UNWIND_REGS];
	unw_cursor_t cursor;
	unw_word_t value;

	/* 0 is no caller, and on arm64 any failure: what has no caller has a rule (CFI_OUTERMOST). */
	if (!cfi_function(cfi, address, &remote.function) || !unwind_remote_available() ||
	    libunwind.init_remote(&cursor, space_get(), &remote) < 0 || libunwind.step(&cursor) <= 0)
		return false;
	memcpy(regs, state->regs, sizeof(regs));
	for (u32 i = 0; i < UNWIND_REGS; i++)
		if (libunwind.get_reg(&cursor, (unw_regnum_t)i, &value) == 0)
			regs[i] = value;
		else if (i == UNWIND_SP)
			return false;
	/* Not by the number of the program counter, which on arm64 stays as it was. */
	if (libunwind.get_reg(&cursor, UNW_REG_IP, &value))
		return false;
	regs[UNWIND_PC] = value;
	memcpy(state->regs, regs, sizeof(regs));
	return true;
}

#else

bool unwind_remote_available(void)
{
	return false;
}

bool unwind_remote_step(struct unwind_state *state, struct cfi *cfi, u64 address, u64 bias)
{
	(void)state, (void)cfi, (void)address, (void)bias;
	return false;
}
#endif
