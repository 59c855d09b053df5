/* SPDX-License-Identifier: MIT */
/* cli/symbols/cfi on all of the C library's file: by the table as by an index, and as by libdw where that is there. */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/symbols/cfi.h"
#include "suite.h"

#define BUDGET 65536u

static u8 *file_read(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	u8 *bytes;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	bytes = malloc((size_t)st.st_size);
	ck_assert(bytes && read(fd, bytes, (size_t)st.st_size) == st.st_size);
	close(fd);
	*size = (size_t)st.st_size;
	return bytes;
}

/* The C library's file. */
static const char *libc_path(void)
{
	static Dl_info info;

	ck_assert(dladdr(dlsym(RTLD_DEFAULT, "qsort"), &info));
	return info.dli_fname;
}

static void code_of(const u8 *bytes, u64 *start, u64 *end)
{
	const Elf64_Ehdr *e = (const void *)bytes;
	const Elf64_Phdr *p = (const void *)(bytes + e->e_phoff);

	for (u32 i = 0; i < e->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_X) {
			*start = p[i].p_vaddr;
			*end = p[i].p_vaddr + p[i].p_filesz;
		}
}

/* The index of .eh_frame gives what the table gives. */
START_TEST(test_index)
{
	u64 start = 0, end = 0, differ = 0, rules = 0;
	struct cfi *by_table, *by_index;
	struct cfi_rule x, y;
	u8 *bytes, *copy;
	size_t size;

	bytes = file_read(libc_path(), &size);
	copy = malloc(size);
	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes, size);
	for (u32 i = 0; i < ((Elf64_Ehdr *)copy)->e_phnum; i++) {
		Elf64_Phdr *p = (Elf64_Phdr *)(copy + ((Elf64_Ehdr *)copy)->e_phoff) + i;

		p->p_type = p->p_type == PT_GNU_EH_FRAME ? PT_NULL : p->p_type;
	}
	by_table = cfi_new(bytes, size);
	by_index = cfi_new(copy, size);
	code_of(bytes, &start, &end);
	for (u64 address = start; address < end; address += 61) {
		size_t budget = BUDGET;

		cfi_find(by_table, address, &budget, &x);
		cfi_find(by_index, address, &budget, &y);
		differ += memcmp(&x, &y, sizeof(x)) != 0;
		rules += x.kind == CFI_RULE;
	}
	ck_assert_uint_eq(differ, 0);
	ck_assert_uint_gt(rules, 1000);
	cfi_free(by_table);
	cfi_free(by_index);
	free(copy);
	free(bytes);
}
END_TEST

#if __has_include(<elfutils/libdw.h>)
#include <dwarf.h>
#include <elfutils/libdw.h>

static struct {
	__typeof__(&elf_memory) memory;
	__typeof__(&elf_version) version;
	__typeof__(&elf_end) elf_end;
	__typeof__(&dwarf_cfi_end) cfi_end;
	__typeof__(&dwarf_getcfi_elf) getcfi;
	__typeof__(&dwarf_cfi_addrframe) addrframe;
	__typeof__(&dwarf_frame_info) info;
	__typeof__(&dwarf_frame_cfa) cfa;
	__typeof__(&dwarf_frame_register) reg;
} dw;

static bool dw_load(void)
{
	void *elf = dlopen("libelf.so.1", RTLD_NOW), *library = dlopen("libdw.so.1", RTLD_NOW);

	if (!elf || !library)
		return false;
	*(void **)&dw.memory = dlsym(elf, "elf_memory");
	*(void **)&dw.version = dlsym(elf, "elf_version");
	*(void **)&dw.elf_end = dlsym(elf, "elf_end");
	*(void **)&dw.cfi_end = dlsym(library, "dwarf_cfi_end");
	*(void **)&dw.getcfi = dlsym(library, "dwarf_getcfi_elf");
	*(void **)&dw.addrframe = dlsym(library, "dwarf_cfi_addrframe");
	*(void **)&dw.info = dlsym(library, "dwarf_frame_info");
	*(void **)&dw.cfa = dlsym(library, "dwarf_frame_cfa");
	*(void **)&dw.reg = dlsym(library, "dwarf_frame_register");
	return true;
}

/* Whether both have the same CFA, where libdw's is a register and a distance. */
static bool same_cfa(Dwarf_Frame *frame, const struct cfi_rule *rule)
{
	Dwarf_Op *ops;
	size_t n;

	if (dw.cfa(frame, &ops, &n) || n != 1)
		return true;
	if (ops->atom == DW_OP_bregx)
		return rule->cfa_reg == ops->number && rule->cfa_offset == (s64)ops->number2 && !(rule->flags & CFI_CFA_LOAD);
	return rule->cfa_reg == ops->atom - DW_OP_breg0 && rule->cfa_offset == (s64)ops->number;
}

/* ... and the same place of a register: at CFA + n, or where it was. */
static bool same_place(Dwarf_Frame *frame, const struct cfi_rule *rule, u32 slot, u32 reg)
{
	bool saved = rule->saved >> slot & 1;
	Dwarf_Op memory[3], *ops;
	size_t n;

	if (reg == UNWIND_PC && UNWIND_PC != UNWIND_RETURN)
		return true;
	if (dw.reg(frame, (int)reg, memory, &ops, &n))
		return false;
	if (n == 0)
		return !saved;
	if (n == 1 && ops->atom == DW_OP_call_frame_cfa)
		return saved && rule->at[slot] == 0;
	if (n == 2 && ops[1].atom == DW_OP_plus_uconst)
		return saved && rule->at[slot] == (s64)ops[1].number;
	return true;
}

START_TEST(test_libdw)
{
	static const u8 slots[] = UNWIND_SAVED;
	u64 start = 0, end = 0, compared = 0, differ = 0;
	struct cfi *cfi;
	Dwarf_CFI *theirs;
	Elf *elf;
	size_t size;
	u8 *bytes;

	if (!dw_load())
		return;
	bytes = file_read(libc_path(), &size);
	cfi = cfi_new(bytes, size);
	dw.version(EV_CURRENT);
	elf = dw.memory((char *)bytes, size);
	theirs = dw.getcfi(elf);
	ck_assert_ptr_nonnull(theirs);
	code_of(bytes, &start, &end);
	for (u64 address = start; address < end; address += 7) {
		struct cfi_rule rule;
		size_t budget = BUDGET;
		Dwarf_Frame *frame;
		bool same, signal;

		cfi_find(cfi, address, &budget, &rule);
		if (dw.addrframe(theirs, address, &frame)) {
			/* The start of a program counts as outermost even without information. */
			differ += rule.kind != CFI_NONE && rule.kind != CFI_OUTERMOST;
			continue;
		}
		dw.info(frame, NULL, NULL, &signal);
		same = rule.kind == CFI_REMOTE || rule.kind == CFI_OUTERMOST || rule.kind == CFI_RULE;
		if (rule.kind == CFI_RULE) {
			same = same_cfa(frame, &rule) && signal == !!(rule.flags & CFI_SIGNAL);
			for (u32 i = 0; i < UNWIND_SLOTS; i++)
				same = same && same_place(frame, &rule, i, slots[i]);
		}
		compared++;
		differ += !same;
		free(frame);
	}
	ck_assert_uint_eq(differ, 0);
	ck_assert_uint_gt(compared, 10000);
	dw.cfi_end(theirs);
	dw.elf_end(elf);
	cfi_free(cfi);
	free(bytes);
}
END_TEST
#endif

int main(void)
{
	TCase *tests = tcase_create("cfi_libc");

	if (UNWIND_NONE) {
		printf("unwinding: not on this architecture\n");
		return 77;
	}
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, test_index);
#if __has_include(<elfutils/libdw.h>)
	tcase_add_test(tests, test_libdw);
#endif
	return suite_run("cfi_libc", tests);
}
