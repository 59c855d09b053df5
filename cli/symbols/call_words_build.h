/* SPDX-License-Identifier: MIT */
/* What the files of call_words.h share. In a child, as all that uses libdw. */
#ifndef CLI_SYMBOLS_CALL_WORDS_BUILD_H
#define CLI_SYMBOLS_CALL_WORDS_BUILD_H

#include "cli/symbols/call_words.h"
#include "cli/symbols/libdw.h"

#ifdef HAVE_LIBDW

/* ---- call_type.c: what a type is made of, as far as the ABIs ask for it */

enum call_part { CALL_PART_NONE, CALL_PART_INTEGER, CALL_PART_FLOAT };

struct call_type {
	u64 size, align;
	u8 part[2];                  /* enum call_part: of its first two words */
	bool composite;              /* a structure, a union or an array */
	bool memory;                 /* x86-64 never has it in registers: members are not aligned */
	bool extended;               /* numbers of 80 bits, which it has in registers for results alone */
	bool vector;                 /* it is one, or has one, that is larger than two words */
	bool reference;              /* its address is passed */
	bool unsure;                 /* whether it is, is not told */
	/* Homogeneous: of numbers of one size alone, of which there are so many. */
	u32 floats;
	u64 float_size;
	bool float_vector;
	bool mixed;                  /* it has others as well */
};

/* False: it is not known here. */
bool call_type_of(struct call_type *type, Dwarf_Die *die);

/* ---- call_abi.c: where arguments are passed */

/* CALL_WORDS_UNKNOWN for other machines, and where a type is not known. */
u32 call_abi_words(Dwarf_Die *function, u16 machine, u32 variadic);

#endif
#endif
