/* SPDX-License-Identifier: MIT */
/*
 * agent/slots: marker slots are found by sound notes, and no other note is believed or read past
 * its end. The objects of the process are made by hand: the program is linked with
 * --wrap=dl_iterate_phdr.
 */
#include "agent/agent.h"
#include "suite.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

#define TABLE 0x123456789ab0UL
#define HIGH 0xabcd000000000000UL
#define WORDS 8

typedef int object_callback(struct dl_phdr_info *info, size_t size, void *data);

int __wrap_dl_iterate_phdr(object_callback *callback, void *data);

static char bytes[1024], *notes;
static size_t used, align = 4;
static unsigned long words[WORDS], constants[WORDS];

/* One object: its notes, in memory of exactly their size, a writable segment and one to be read. */
int __wrap_dl_iterate_phdr(object_callback *callback, void *data)
{
	ElfW(Phdr) headers[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = (ElfW(Addr))constants,
		  .p_memsz = sizeof(constants) },
		{ .p_type = PT_NOTE, .p_flags = PF_R, .p_vaddr = (ElfW(Addr))notes, .p_memsz = used,
		  .p_align = align },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = (ElfW(Addr))words,
		  .p_memsz = sizeof(words) },
	};
	struct dl_phdr_info info = { .dlpi_phdr = headers, .dlpi_phnum = ARRAY_SIZE(headers) };

	return callback(&info, sizeof(info), data);
}

static void put(const void *from, size_t size)
{
	memcpy(bytes + used, from, size);
	used += ALIGN_UP(size, align);
}

/* A note as the sizes say, with room for as much name and content as there is. */
static void note(u32 namesz, u32 descsz, u32 type, const char *name, size_t name_size)
{
	u32 head[3] = { namesz, descsz, type };
	size_t start = used;

	memcpy(bytes + used, head, sizeof(head));
	memcpy(bytes + used + sizeof(head), name, name_size);
	used = start + ALIGN_UP(sizeof(head) + name_size, align);
}

/* The content: where the slot lies, seen from there. Relocated by notes_scan(). */
static size_t places[8], nplaces;
static uintptr_t targets[8];

static void content(uintptr_t slot)
{
	u64 none = 0;

	places[nplaces] = used;
	targets[nplaces++] = slot;
	put(&none, sizeof(none));
}

static void sound(uintptr_t slot)
{
	note(6, 8, 1, "Spark", 6);
	content(slot);
}

static void scan(unsigned long table)
{
	notes = aligned_alloc(8, ALIGN_UP(used, (size_t)8));
	ck_assert_ptr_nonnull(notes);
	/* So that the end of the notes is the end of the memory. */
	notes = realloc(notes, used ? used : 1);
	for (size_t i = 0; i < nplaces; i++) {
		s64 offset = (s64)(targets[i] - (uintptr_t)(notes + places[i]));

		memcpy(bytes + places[i], &offset, sizeof(offset));
	}
	memcpy(notes, bytes, used);
	slots_set(table);
	free(notes);
	notes = NULL;
}

static uintptr_t word(u32 i)
{
	return (uintptr_t)&words[i];
}

static void assert_only(u32 which)
{
	for (u32 i = 0; i < WORDS; i++) {
		ck_assert_uint_eq(words[i], which >> i & 1 ? TABLE : 0);
		ck_assert_uint_eq(constants[i], 0);
	}
}

START_TEST(test_sound)
{
	sound(word(0));
	sound(word(WORDS - 1));
	scan(TABLE);
	assert_only(1 | 1 << (WORDS - 1));
	scan(0);
	assert_only(0);
}
END_TEST

START_TEST(test_high_bits)
{
	sound(word(2));
	words[2] = HIGH | 1;
	scan(TABLE | ~0UL << 60);
	ck_assert_uint_eq(words[2], HIGH | TABLE);
	scan(0);
	ck_assert_uint_eq(words[2], HIGH);
}
END_TEST

/* The gABI's 8-byte alignment: name and content start at multiples of 8 from the note. */
START_TEST(test_aligned_by_8)
{
	align = 8;
	note(4, 16, 5, "GNU", 4);
	put("0123456789abcde", 16);
	sound(word(1));
	scan(TABLE);
	assert_only(1 << 1);
}
END_TEST

static const struct {
	u32 namesz;
	u32 descsz;
	u32 type;
	const char *name;
	u32 name_size;
} strangers[] = {
	{ 4, 8, 1, "GNU", 4 },
	{ 6, 8, 1, "Sperk", 6 },
	{ 6, 8, 1, "spark", 6 },
	{ 6, 8, 1, "Spark!", 6 },
	{ 5, 8, 1, "Spark", 5 },
	{ 7, 8, 1, "Spark\0", 7 },
	{ 6, 8, 0, "Spark", 6 },
	{ 6, 8, 2, "Spark", 6 },
	{ 6, 8, 0x80000001u, "Spark", 6 },
	{ 6, 5, 1, "Spark", 6 },
	{ 6, 7, 1, "Spark", 6 },
	{ 0, 8, 1, "", 0 },
};

/* Somebody else's note is stepped over. */
START_TEST(test_stranger)
{
	note(strangers[_i].namesz, strangers[_i].descsz, strangers[_i].type, strangers[_i].name,
	     strangers[_i].name_size);
	content(word(0));
	sound(word(3));
	scan(TABLE);
	assert_only(1 << 3);
}
END_TEST

static const struct {
	u32 namesz;
	u32 descsz;
} malformed[] = {
	{ 6, 0xffffffffu }, { 0xffffffffu, 8 }, { 0xffffffffu, 0xffffffffu },
	{ 0x7fffffffu, 0x80000001u },
	{ 6, 9999 }, { 9999, 8 }, { 0xfffffff4u, 0 }, { 0xfffffffdu, 8 }, { 6, 0xfffffffdu },
};

/* What claims more than there is ends the search; what came before it counts. */
START_TEST(test_malformed)
{
	sound(word(0));
	note(malformed[_i].namesz, malformed[_i].descsz, 1, "Spark", 6);
	content(word(1));
	sound(word(2));
	scan(TABLE);
	assert_only(1);
}
END_TEST

START_TEST(test_truncated)
{
	size_t whole;

	sound(word(0));
	whole = used;
	sound(word(1));
	used -= 4 * (size_t)(_i + 1);
	if (used < places[1] + 8)
		nplaces = 1;
	ck_assert_uint_ge(used, whole);
	scan(TABLE);
	assert_only(1);
}
END_TEST

START_TEST(test_empty)
{
	scan(TABLE);
	assert_only(0);
}
END_TEST

/* A slot must lie wholly in a writable segment of the object, aligned. */
START_TEST(test_implausible)
{
	const uintptr_t slots[] = {
		(uintptr_t)&constants[1], word(0) - 8, word(WORDS), word(WORDS - 1) + 4, word(1) + 1,
		word(1) + 4, 0, 8, (uintptr_t)bytes, ~(uintptr_t)0, ~(uintptr_t)0 << 3,
	};

	ck_assert_int_lt(_i, (int)ARRAY_SIZE(slots));
	sound(slots[_i]);
	sound(word(5));
	scan(TABLE);
	assert_only(1 << 5);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("slots");

	tcase_add_test(t, test_sound);
	tcase_add_test(t, test_high_bits);
	tcase_add_test(t, test_aligned_by_8);
	tcase_add_loop_test(t, test_stranger, 0, (int)ARRAY_SIZE(strangers));
	tcase_add_loop_test(t, test_malformed, 0, (int)ARRAY_SIZE(malformed));
	tcase_add_loop_test(t, test_truncated, 0, 7);
	tcase_add_test(t, test_empty);
	tcase_add_loop_test(t, test_implausible, 0, 11);
	return suite_run("agent slots", t);
}
