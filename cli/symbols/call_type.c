/* SPDX-License-Identifier: MIT */
/* Types of parameters; see call_words_build.h. */
#include <string.h>

#include "cli/symbols/call_words_build.h"

#ifdef HAVE_LIBDW

#define DEPTH_MOST 32                /* of types in each other */
#define ELEMENTS_MOST 64             /* of arrays: more do not fit into registers */
#define MEMBERS_MOST 4096

struct type_walk {
	struct call_type *type;
	u32 members;                 /* that were looked at */
};

static bool type_add(struct type_walk *walk, Dwarf_Die *die, u64 offset, u32 depth);

static bool die_flag(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return libdw.attr_integrate(die, name, &attribute) != NULL;
}

static bool die_number(Dwarf_Die *die, unsigned int name, u64 *value)
{
	Dwarf_Attribute attribute;
	Dwarf_Word word;

	if (!libdw.attr_integrate(die, name, &attribute) || libdw.formudata(&attribute, &word))
		return false;
	*value = word;
	return true;
}

static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	return libdw.attr_integrate(die, DW_AT_name, &attribute) ? libdw.formstring(&attribute) : NULL;
}

static bool die_type(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die bare;

	return libdw.attr_integrate(die, DW_AT_type, &attribute) && libdw.formref_die(&attribute, &bare) &&
		libdw.peel_type(&bare, type) == 0;
}

static bool die_size(Dwarf_Die *die, u64 *size)
{
	Dwarf_Word word;

	if (libdw.aggregate_size(die, &word))
		return false;
	*size = word;
	return true;
}

/* So many bytes of one kind. Unaligned ones are in memory as a whole. */
static void part_add(struct call_type *type, u64 offset, u64 size, u64 align, enum call_part part)
{
	type->align = MAX(type->align, align);
	type->memory |= offset % align != 0;
	for (u64 word = offset / 8; word < 2 && word * 8 < offset + size; word++)
		if (type->part[word] != CALL_PART_INTEGER)
			type->part[word] = part;
	if (part == CALL_PART_INTEGER)
		type->mixed = true;
}

static void float_add(struct call_type *type, u64 offset, u64 size, u32 n, bool vector)
{
	type->mixed |= type->float_size && (type->float_size != size || type->float_vector != vector);
	type->float_size = size;
	type->float_vector = vector;
	type->floats = MIN(type->floats + n, 1000u);
	part_add(type, offset, size * n, size, CALL_PART_FLOAT);
}

/* The 80-bit numbers of x86, which it has in memory; arm64's long double is a number as any other. */
static bool base_is_long(Dwarf_Die *die)
{
	const char *name = die_name(die);

	return name && strstr(name, "long double");
}

static bool base_add(struct call_type *type, Dwarf_Die *die, u64 offset)
{
	u64 size, encoding = 0;

	if (!die_size(die, &size) || !size || size & (size - 1) || size > 32)
		return false;
	die_number(die, DW_AT_encoding, &encoding);
	if (encoding == DW_ATE_float || encoding == DW_ATE_complex_float) {
		u32 n = encoding == DW_ATE_float ? 1 : 2;

		float_add(type, offset, size / n, n, false);
		type->extended |= size / n == 16 && (n == 2 || base_is_long(die));
	} else {
		part_add(type, offset, size, size, CALL_PART_INTEGER);
	}
	return true;
}

static bool vector_add(struct call_type *type, Dwarf_Die *die, u64 offset)
{
	u64 size;

	if (!die_size(die, &size) || !size || size & (size - 1))
		return false;
	type->vector |= size > 16;
	if (size >= 8)
		float_add(type, offset, size, 1, true);
	else
		part_add(type, offset, size, size, CALL_PART_INTEGER);
	return true;
}

static bool array_add(struct type_walk *walk, Dwarf_Die *die, u64 offset, u32 depth)
{
	struct call_type *type = walk->type;
	u64 size, one;
	Dwarf_Die element;

	if (die_flag(die, DW_AT_GNU_vector))
		return vector_add(type, die, offset);
	type->composite = true;
	/* A flexible one, at the end of a structure, has nothing. */
	if (!die_size(die, &size) || !size)
		return true;
	if (!die_type(die, &element) || !die_size(&element, &one) || !one)
		return false;
	for (u64 i = 0; i < size / one && i < ELEMENTS_MOST; i++)
		if (!type_add(walk, &element, offset + i * one, depth + 1))
			return false;
	return true;
}

static bool member_add(struct type_walk *walk, Dwarf_Die *die, u64 offset, u32 depth)
{
	Dwarf_Die type;
	u64 at = 0, bits = 0;

	/* One of the class and not of its objects; with a class it may also be a declaration of another. */
	if (die_flag(die, DW_AT_external) || die_flag(die, DW_AT_declaration))
		return true;
	if (walk->members++ > MEMBERS_MOST || !die_type(die, &type))
		return false;
	if (die_number(die, DW_AT_data_bit_offset, &bits) || die_flag(die, DW_AT_bit_size)) {
		die_number(die, DW_AT_data_member_location, &at);
		part_add(walk->type, offset + at + bits / 8, 1, 1, CALL_PART_INTEGER);
		return true;
	}
	/* Of a union there is none; that of a virtual base is an expression. */
	if (die_flag(die, DW_AT_data_member_location) && !die_number(die, DW_AT_data_member_location, &at))
		walk->type->memory = true;
	return type_add(walk, &type, offset + at, depth + 1);
}

/* C++ from version 5 on, whose compilers tell of functions that were defaulted. */
static bool die_tells_defaults(Dwarf_Die *die)
{
	Dwarf_Half version;

	return libdw.cu_info(die->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) == 0 && version >= 5;
}

/* Its second parameter, behind "this", is a reference. */
static bool takes_reference(Dwarf_Die *function)
{
	Dwarf_Die die, type;
	u32 n = 0;

	if (libdw.child(function, &die) != 0)
		return false;
	do {
		if (libdw.tag(&die) == DW_TAG_formal_parameter && ++n == 2)
			return die_type(&die, &type) && (libdw.tag(&type) == DW_TAG_reference_type ||
							 libdw.tag(&type) == DW_TAG_rvalue_reference_type);
	} while (libdw.siblingof(&die, &die) == 0);
	return false;
}

/* A destructor, or what may be a copy constructor, that the compiler has not made. */
static bool function_is_special(Dwarf_Die *function, const char *class_name)
{
	const char *name = die_name(function);
	u64 defaulted;

	if (!name || die_flag(function, DW_AT_artificial) ||
	    (die_number(function, DW_AT_defaulted, &defaulted) && defaulted == DW_DEFAULTED_in_class))
		return false;
	/* A template's arguments are in the name of its class alone. */
	return *name == '~' || (class_name && strlen(name) == strcspn(class_name, "<") &&
				!strncmp(name, class_name, strlen(name)) && takes_reference(function));
}

/*
 * C++ passes the address of what has a copy constructor or a destructor of its own, virtual functions, or members of
 * such a type (Itanium C++ ABI, "Non-Trivial Parameters"). Some compilers tell; of the others it is seen by what the
 * class has.
 */
static void class_look(struct call_type *type, Dwarf_Die *die)
{
	const char *class_name = die_name(die), *name;
	u64 convention = 0;
	Dwarf_Die child;

	if (die_number(die, DW_AT_calling_convention, &convention)) {
		type->reference |= convention == DW_CC_pass_by_reference;
		return;
	}
	if (libdw.child(die, &child) != 0)
		return;
	do {
		name = die_name(&child);
		if ((libdw.tag(&child) == DW_TAG_member && name && !strncmp(name, "_vptr", 5)) ||
		    (libdw.tag(&child) == DW_TAG_inheritance && die_flag(&child, DW_AT_virtuality)))
			type->reference = true;
		if (libdw.tag(&child) != DW_TAG_subprogram || !function_is_special(&child, class_name))
			continue;
		if (die_tells_defaults(die))
			type->reference = true;
		else
			type->unsure = true;
	} while (libdw.siblingof(&child, &child) == 0);
}

static bool composite_add(struct type_walk *walk, Dwarf_Die *die, u64 offset, u32 depth)
{
	bool is_union = libdw.tag(die) == DW_TAG_union_type;
	struct call_type *type = walk->type;
	u32 floats = type->floats, most = 0;
	Dwarf_Die child;
	u64 align;

	type->composite = true;
	class_look(type, die);
	if (die_number(die, DW_AT_alignment, &align)) {
		if (!align || align & (align - 1))
			return false;
		type->align = MAX(type->align, align);
	}
	if (libdw.child(die, &child) != 0)
		return true;
	do {
		int tag = libdw.tag(&child);

		/* Members of a union lie over each other: the number of floats is the greatest. */
		if (is_union)
			type->floats = floats;
		if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && !member_add(walk, &child, offset, depth))
			return false;
		most = MAX(most, type->floats);
	} while (libdw.siblingof(&child, &child) == 0);
	type->floats = most;
	return true;
}

/* A pointer to a member function has two words. */
static bool member_pointer_add(struct call_type *type, Dwarf_Die *die, u64 offset)
{
	Dwarf_Die to;
	bool function = die_type(die, &to) && libdw.tag(&to) == DW_TAG_subroutine_type;

	part_add(type, offset, function ? 16 : 8, 8, CALL_PART_INTEGER);
	return true;
}

static bool type_add(struct type_walk *walk, Dwarf_Die *die, u64 offset, u32 depth)
{
	Dwarf_Die peeled;

	if (depth > DEPTH_MOST || libdw.peel_type(die, &peeled) != 0)
		return false;
	switch (libdw.tag(&peeled)) {
	case DW_TAG_base_type:
		return base_add(walk->type, &peeled, offset);
	case DW_TAG_enumeration_type: {
		u64 size;

		if (!die_size(&peeled, &size) || !size || size & (size - 1))
			return false;
		part_add(walk->type, offset, size, size, CALL_PART_INTEGER);
		return true;
	}
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_unspecified_type:
		part_add(walk->type, offset, 8, 8, CALL_PART_INTEGER);
		return true;
	case DW_TAG_ptr_to_member_type:
		return member_pointer_add(walk->type, &peeled, offset);
	case DW_TAG_array_type:
		return array_add(walk, &peeled, offset, depth);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return composite_add(walk, &peeled, offset, depth);
	default:
		return false;
	}
}

static u64 type_size(Dwarf_Die *die, const struct call_type *type)
{
	u64 size;

	/* That of pointers need not be told. */
	if (!die_size(die, &size))
		size = type->part[1] ? 16 : 8;
	return size;
}

bool call_type_of(struct call_type *type, Dwarf_Die *die)
{
	struct type_walk walk = { .type = type };
	Dwarf_Die peeled;

	*type = (struct call_type){ .align = 1 };
	if (libdw.peel_type(die, &peeled) != 0)
		return false;
	if (die_flag(&peeled, DW_AT_declaration) || !type_add(&walk, &peeled, 0, 0))
		return false;
	type->size = type_size(&peeled, type);
	return true;
}

#endif
