/* SPDX-License-Identifier: MIT */
/*
 * The smallest agent, for tests of spark.h by itself: counts marker calls and prints them at exit.
 *
 * Preloaded by header.test. Its constructor does what the real agent does with objects that are
 * already loaded: program headers, note, slot. Objects loaded later come alive by relocation.
 * Output: one line on stdout, nothing where no marker called.
 */
#define _GNU_SOURCE
#define SPARK_DISABLE		/* wants the structures, not the markers */
#include <spark/spark.h>

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define SLOT_MASK 0xffffffffffffUL
#define ADD(counter) __atomic_add_fetch(&(counter), 1, __ATOMIC_RELAXED)

static unsigned long begins, ends, handles, sites, names, others, bad, slots;

static void check_name(const char *name)
{
	if (!name || !name[0])
		ADD(bad);
}

static void region_begin(struct spark_region *region)
{
	check_name(region->name);
	__atomic_store_n(&region->id, 1, __ATOMIC_RELAXED);
	ADD(handles);
	ADD(begins);
}

static void region_end(struct spark_region *region)
{
	check_name(region->name);
	if (!__atomic_load_n(&region->id, __ATOMIC_RELAXED))
		ADD(bad);	/* not the handle that began: a copy in another file */
	ADD(ends);
}

/* A site must always come with the same literal in the programs of this test. */
static void check_site(unsigned long *site, const char *name)
{
	unsigned long old = __atomic_exchange_n(site, (unsigned long)name, __ATOMIC_RELAXED);

	check_name(name);
	if (old && old != (unsigned long)name)
		ADD(bad);
}

static void site_begin(unsigned long *site, const char *name)
{
	check_site(site, name);
	ADD(sites);
	ADD(begins);
}

static void site_end(unsigned long *site, const char *name)
{
	check_site(site, name);
	ADD(ends);
}

static void name_begin(const char *name)
{
	check_name(name);
	ADD(names);
	ADD(begins);
}

static void name_end(const char *name)
{
	check_name(name);
	ADD(ends);
}

static void region_units(const char *name, unsigned long n, const char *unit)
{
	check_name(name);
	if (strcmp(unit, "iterations") == 0 ? n == 0 || n > 100000 : n != 4096 || strcmp(unit, "B") != 0)
		ADD(bad);
	ADD(others);
}

static void metric(const char *name, double value)
{
	check_name(name);
	if (!(value > 1.4 && value < 1.6))
		ADD(bad);
	ADD(others);
}

static void other(const char *name)
{
	check_name(name);
	ADD(others);
}

static void window_part(const char *name, unsigned part)
{
	check_name(name);
	if (part != SPARK_MEASURED)
		ADD(bad);
	ADD(others);
}

__attribute__((visibility("default")))
extern const struct spark_agent_v1 spark_agent_v1;
const struct spark_agent_v1 spark_agent_v1 = {
#ifdef MARKER_OLDER
	.size = offsetof(struct spark_agent_v1, window_part),
#else
	.size = sizeof(struct spark_agent_v1),
#endif
	.abi = SPARK_ABI_VERSION,
	.region_begin = region_begin,
	.region_end = region_end,
	.site_begin = site_begin,
	.site_end = site_end,
	.name_begin = name_begin,
	.name_end = name_end,
	.region_units = region_units,
	.metric = metric,
	.frame = other,
	.window_begin = other,
	.window_end = other,
	.window_part = window_part,
};

/* Counts different slots: every file of an object brings a note, and one slot serves them all. */
static void count_slot(const unsigned long *slot)
{
	static const unsigned long *seen[16];
	unsigned long i;

	for (i = 0; i < slots; i++)
		if (seen[i] == slot)
			return;
	if (slots < 16)
		seen[slots++] = slot;
}

static void fill_slot(unsigned long *slot)
{
	unsigned long old = __atomic_load_n(slot, __ATOMIC_RELAXED);
	unsigned long new;

	count_slot(slot);
	do {
		new = (old & ~SLOT_MASK) | (unsigned long)&spark_agent_v1;
	} while (!__atomic_compare_exchange_n(slot, &old, new, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static void walk_notes(const char *p, const char *end, size_t align)
{
	while ((size_t)(end - p) >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)p;
		const char *name = p + sizeof(*note);
		const char *desc = p + ((sizeof(*note) + note->n_namesz + align - 1) & -align);

		if (note->n_namesz == 6 && note->n_type == 1 && note->n_descsz == 8 &&
		    memcmp(name, "Spark", 6) == 0) {
			long distance;

			memcpy(&distance, desc, sizeof(distance));
			fill_slot((unsigned long *)(desc + distance));
		}
		p = desc + ((note->n_descsz + align - 1) & -align);
	}
}

static int walk_object(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const char *start = (const char *)info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_NOTE)
			walk_notes(start, start + ph->p_memsz, ph->p_align == 8 ? 8 : 4);
	}
	return 0;
}

__attribute__((constructor)) static void start(void)
{
	dl_iterate_phdr(walk_object, NULL);
}

__attribute__((destructor)) static void report(void)
{
	if (!begins && !ends && !others)
		return;
	printf("begin %lu end %lu handle %lu site %lu name %lu other %lu slots %lu bad %lu\n",
	       begins, ends, handles, sites, names, others, slots, bad);
	fflush(stdout);
}
