/* SPDX-License-Identifier: MIT */
/*
 * Where the ABIs of x86-64 and arm64 pass arguments, as far as it decides how much is on the stack. Where that is not
 * told, both are taken: registers, which others then lack, and the stack.
 */
#include <elf.h>

#include "cli/symbols/call_words_build.h"

#ifdef HAVE_LIBDW

#define BYTES_MOST (1u << 20)

struct arguments {
	u32 integers, floats;        /* registers that are taken */
	u64 bytes;                   /* on the stack */
	bool variadic, unknown;
};

struct abi {
	u16 machine;
	void (*pass)(struct arguments *arguments, const struct call_type *type);
	/* The place for a result is the first argument. */
	bool (*result_passed)(const struct call_type *type);
};

static void stack_take(struct arguments *arguments, u64 size, u64 align)
{
	arguments->unknown |= arguments->bytes > BYTES_MOST || size > BYTES_MOST || align > BYTES_MOST;
	arguments->bytes = ALIGN_UP(arguments->bytes, MAX(align, (u64)8)) + ALIGN_UP(MAX(size, (u64)1), 8u);
}

/* One word in a register, or on the stack. */
static void word_pass(struct arguments *arguments, u32 registers)
{
	if (arguments->integers < registers)
		arguments->integers++;
	else
		stack_take(arguments, 8, 8);
}

/* ---- x86-64: System V ABI, "Parameter Passing" */

enum { X86_INTEGERS = 6, X86_FLOATS = 8 };

static void x86_pass(struct arguments *arguments, const struct call_type *type)
{
	u32 integers = 0, floats = 0;

	if (type->reference) {
		word_pass(arguments, X86_INTEGERS);
		return;
	}
	/* Members that are not aligned: on the stack by the ABI, but clang 14 has them in registers. */
	if (type->memory && type->size <= 16 && !type->vector && !type->extended) {
		u32 words = (u32)ALIGN_UP(type->size, 8u) / 8;

		stack_take(arguments, type->size, type->align);
		arguments->integers += arguments->integers + words <= X86_INTEGERS ? words : 0;
		return;
	}
	if (type->vector || (type->size <= 16 && !type->memory && !type->extended)) {
		integers = (type->part[0] == CALL_PART_INTEGER) + (type->part[1] == CALL_PART_INTEGER);
		floats = (type->part[0] == CALL_PART_FLOAT) + (type->part[1] == CALL_PART_FLOAT);
		/* A vector, and a number of 16 bytes, has one register. */
		if (type->vector || (type->floats == 1 && !type->mixed))
			floats = 1;
	}
	if (type->unsure)
		integers = MAX(integers, 1u);
	if (type->unsure || type->vector || !(integers + floats) || arguments->integers + integers > X86_INTEGERS ||
	    arguments->floats + floats > X86_FLOATS)
		stack_take(arguments, type->size, type->align);
	if (arguments->integers + integers <= X86_INTEGERS && arguments->floats + floats <= X86_FLOATS) {
		arguments->integers += integers;
		arguments->floats += floats;
	}
}

static bool x86_result_passed(const struct call_type *type)
{
	return type->composite &&
		(type->reference || type->unsure || type->memory || (type->extended && type->mixed) || type->size > 16);
}

/* ---- arm64: AAPCS64, "Parameter passing" */

enum { ARM64_INTEGERS = 8, ARM64_FLOATS = 8, ARM64_HOMOGENEOUS = 4 };

static bool arm64_homogeneous(const struct call_type *type)
{
	return type->floats && type->floats <= ARM64_HOMOGENEOUS && !type->mixed && type->float_size <= 16;
}

static void arm64_stack_take(struct arguments *arguments, const struct call_type *type)
{
	stack_take(arguments, type->size, MIN(type->align, (u64)16));
}

static void arm64_pass_floats(struct arguments *arguments, const struct call_type *type)
{
	if (arguments->floats + type->floats <= ARM64_FLOATS) {
		arguments->floats += type->floats;
		return;
	}
	arguments->floats = ARM64_FLOATS;
	arm64_stack_take(arguments, type);
}

static void arm64_pass(struct arguments *arguments, const struct call_type *type)
{
	u32 words = (u32)ALIGN_UP(MIN(type->size, (u64)16), 8u) / 8;

	if (type->unsure && type->size <= 16)
		arm64_stack_take(arguments, type);
	if (arm64_homogeneous(type) && !type->reference && !type->unsure) {
		arm64_pass_floats(arguments, type);
		return;
	}
	if (type->reference || type->size > 16) {
		word_pass(arguments, ARM64_INTEGERS);
		return;
	}
	if (type->align >= 16)
		arguments->integers = ALIGN_UP(arguments->integers, 2u);
	if (arguments->integers + words <= ARM64_INTEGERS) {
		arguments->integers += words;
		return;
	}
	arguments->integers = ARM64_INTEGERS;
	arm64_stack_take(arguments, type);
}

/* Its address has a register of its own. */
static bool arm64_result_passed(const struct call_type *type)
{
	(void)type;
	return false;
}

static const struct abi abis[] = {
	{ EM_X86_64, x86_pass, x86_result_passed },
	{ EM_AARCH64, arm64_pass, arm64_result_passed },
};

/* ---- a function */

static bool type_of(Dwarf_Die *die, struct call_type *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die to;

	return libdw.attr_integrate(die, DW_AT_type, &attribute) && libdw.formref_die(&attribute, &to) &&
		call_type_of(type, &to);
}

static void parameters_pass(const struct abi *abi, struct arguments *arguments, Dwarf_Die *function)
{
	struct call_type type;
	Dwarf_Die die;

	if (libdw.child(function, &die) != 0)
		return;
	do {
		switch (libdw.tag(&die)) {
		case DW_TAG_formal_parameter:
			if (type_of(&die, &type))
				abi->pass(arguments, &type);
			else
				arguments->unknown = true;
			break;
		case DW_TAG_GNU_formal_parameter_pack:
			parameters_pass(abi, arguments, &die);
			break;
		case DW_TAG_unspecified_parameters:
			arguments->variadic = true;
			break;
		default:
			break;
		}
	} while (libdw.siblingof(&die, &die) == 0);
}

/* What follows "..." is told where a function is declared, not where it is put into another. */
static bool origin_is_variadic(Dwarf_Die *function)
{
	static const unsigned int links[] = { DW_AT_abstract_origin, DW_AT_specification };
	Dwarf_Attribute attribute;
	Dwarf_Die origin, die;

	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		if (!libdw.attr(function, links[i], &attribute) || !libdw.formref_die(&attribute, &origin) ||
		    libdw.child(&origin, &die) != 0)
			continue;
		do {
			if (libdw.tag(&die) == DW_TAG_unspecified_parameters)
				return true;
		} while (libdw.siblingof(&die, &die) == 0);
	}
	return false;
}

u32 call_abi_words(Dwarf_Die *function, u16 machine, u32 variadic)
{
	struct arguments arguments = { .bytes = 0 };
	const struct abi *abi = NULL;
	struct call_type result;

	for (size_t i = 0; i < ARRAY_SIZE(abis); i++)
		if (abis[i].machine == machine)
			abi = &abis[i];
	if (!abi)
		return CALL_WORDS_UNKNOWN;
	if (type_of(function, &result) && abi->result_passed(&result))
		arguments.integers++;
	parameters_pass(abi, &arguments, function);
	if (arguments.unknown)
		return CALL_WORDS_UNKNOWN;
	if (arguments.variadic || origin_is_variadic(function))
		arguments.bytes += variadic * 8;
	return (u32)(arguments.bytes / 8);
}

#endif
