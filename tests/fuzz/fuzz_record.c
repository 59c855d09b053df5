/* SPDX-License-Identifier: MIT */
/*
 * Records of others: the kernel's ring of forks and exits, its line about a process, the header of
 * the program that is to be measured, the notes of the objects in its process. A reader is one row;
 * the first byte of an input says which.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/agent.h"
#include "cli/caps/caps.h"
#include "cli/session/internal.h"
#include "cli/session/probe_ring.h"
#include "cli/session/record.h"
#include "tests/fuzz/fuzz.h"

#define ROOM 4097u
#define RING 4096u
#define TABLE 0x123456789ab0UL

/* ---- the ring of track.c ----------------------------------------------------------------------------- */

struct ring_record {
	struct perf_event_header header;
	u32 pid, ppid, tid, ptid;
	u64 time;
	u32 id_pid, id_tid;
	u64 id_time;
};

static size_t ring_make(u8 *bytes)
{
	static const u32 types[] = { PERF_RECORD_FORK, PERF_RECORD_EXIT, PERF_RECORD_COMM, PERF_RECORD_LOST,
				     PERF_RECORD_SAMPLE };
	size_t size = 0;

	for (u64 n = fuzz_below(20); n; n--) {
		struct ring_record r = {
			.header = { .type = types[fuzz_below(ARRAY_SIZE(types))], .misc = PERF_RECORD_MISC_COMM_EXEC, .size = sizeof(r) },
			.pid = 5, .ppid = 4, .tid = 5, .id_time = fuzz_below(100),
		};

		memcpy(bytes + size, &r, sizeof(r));
		size += sizeof(r);
	}
	return size;
}

/* The bytes begin anywhere in the ring: records wrap. It has memory of just its size. */
static void ring_run(const u8 *bytes, size_t size)
{
	u8 *ring = malloc(sizeof(struct perf_event_mmap_page) + RING);
	struct perf_event_mmap_page *page = (void *)ring;
	struct track track = { .count = 1 };
	size_t at = size ? bytes[size - 1] * 16u % RING : 0;
	u64 last = 0;

	if (!ring)
		abort();
	memset(ring, 0, sizeof(*page) + RING);
	page->data_offset = sizeof(*page);
	page->data_size = RING;
	page->data_tail = RING + at;
	page->data_head = RING + at + size;
	for (size_t i = 0; i < size; i++)
		ring[sizeof(*page) + (at + i) % RING] = bytes[i];
	track.rings[0] = (struct ring){ .fd = -1, .page = page };
	for (u64 until = 50; until <= 100; until += 50) {
		track_take(&track, &track.rings[0], until);
		fuzz_check(page->data_tail >= last && page->data_tail <= page->data_head, "the ring is read forwards");
		last = page->data_tail;
	}
	for (size_t i = 0; i < track.nevents; i++)
		fuzz_check(track.events[i].time_ns <= 100, "records are taken up to a time");
	free(track.events);
	free(ring);
}

/* ---- records of sampling rings ----------------------------------------------------------------------------- */

#define REGISTERS 9u

static u64 *word_put(u64 *at, u64 word)
{
	*at = word;
	return at + 1;
}

static size_t sample_make(u8 *bytes)
{
	u64 words[128] = { 0 }, *at = words + 1;
	u64 frames = fuzz_below(20), copied = 8 * fuzz_below(20);

	at += 2; /* ip, tid */
	at = word_put(at, 12345);
	at += 2;
	at = word_put(at, frames);
	at += frames;
	at = word_put(at, fuzz_once_in(2) ? 4 : 12); /* raw */
	at += at[-1] / 8;
	at = word_put(at, fuzz_below(3));
	at += at[-1] ? REGISTERS : 0;
	at = word_put(at, copied);
	at += copied / 8;
	if (copied)
		at = word_put(at, fuzz_once_in(2) ? copied : fuzz_below(copied));
	words[0] = PERF_RECORD_SAMPLE | (u64)PERF_RECORD_MISC_USER << 32 | (u64)((at - words) * 8) << 48;
	memcpy(bytes, words, (size_t)(at - words) * 8);
	return (size_t)(at - words) * 8;
}

static size_t named_make(u8 *bytes)
{
	bool map = fuzz_once_in(2);
	u64 words[32] = { 0 }, size = map ? 9 : 2;

	memcpy(&words[size], "/usr/lib/libx.so", 17);
	size += 3 + 3;
	if (map && fuzz_once_in(2))
		words[5] = 20;
	words[0] = (map ? PERF_RECORD_MMAP2 : PERF_RECORD_COMM) | (u64)(words[5] ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0) << 32 |
		   (u64)(size * 8) << 48;
	memcpy(bytes, words, size * 8);
	return size * 8;
}

static size_t sampled_make(u8 *bytes)
{
	return fuzz_once_in(3) ? named_make(bytes) : sample_make(bytes);
}

/* The record has memory of just its size: what is read beyond it is seen. */
static void sampled_run(const u8 *bytes, size_t size)
{
	static const u64 stacks[] = { 0, PERF_SAMPLE_CALLCHAIN, RECORD_STACKS };
	struct perf_event_header h = { .size = 0 };
	u64 *copy = malloc(ALIGN_UP(size, 8) + sizeof(h));
	struct probe_record probe;
	struct record r;

	if (!copy)
		abort();
	if (size >= sizeof(h)) {
		memcpy(copy, bytes, size);
		memcpy(&h, copy, sizeof(h));
		h.size = (u16)MIN(size, UINT16_MAX);
		memcpy(copy, &h, sizeof(h));
		copy = realloc(copy, size);
		for (size_t i = 0; copy && i < ARRAY_SIZE(stacks); i++) {
			if (!record_parse((const u8 *)copy, stacks[i], REGISTERS, &r) || r.type != PERF_RECORD_SAMPLE)
				continue;
			fuzz_check(!r.sample.stack || r.sample.stack + r.sample.stack_size <= (const u8 *)copy + size,
				   "a stack lies in its record");
			fuzz_check(!r.sample.raw || r.sample.raw + r.sample.raw_size <= (const u8 *)copy + size,
				   "fields lie in their record");
			fuzz_check(r.sample.nchain <= size / 8, "a chain lies in its record");
		}
		if (copy && probe_record_parse((const u8 *)copy, &probe))
			fuzz_check(probe.type == h.type, "a record of a probe is of its own kind");
	}
	free(copy);
}

/* ---- a line of /proc ---------------------------------------------------------------------------------- */

static size_t stat_make(u8 *bytes)
{
	size_t size = (size_t)sprintf((char *)bytes, "1234 (a) b) Z");

	for (u32 i = 1; i <= 49; i++)
		size += (size_t)sprintf((char *)bytes + size, " %llu", (unsigned long long)(fuzz_once_in(8) ? fuzz_odd() : i));
	return size;
}

static void stat_run(const u8 *bytes, size_t size)
{
	char *text = strndup((const char *)bytes, size);
	struct process_stat stat;
	bool closed;

	if (!text)
		abort();
	closed = strchr(text, ')') != NULL;
	fuzz_check(!process_stat_parse(text, &stat) || closed, "a line has a name in brackets");
	free(text);
}

/* ---- the program's file ------------------------------------------------------------------------------ */

static size_t elf_make(u8 *bytes)
{
	Elf64_Ehdr e = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_phoff = sizeof(e), .e_ehsize = sizeof(e),
			 .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 3 };
	Elf64_Phdr p[3] = { { .p_type = PT_PHDR }, { .p_type = PT_LOAD },
			    { .p_type = fuzz_once_in(2) ? PT_INTERP : PT_NOTE } };
	static const char script[] = "#! /bin/sh -e\necho\n";

	if (fuzz_once_in(8)) {
		memcpy(bytes, script, sizeof(script) - 1);
		return sizeof(script) - 1;
	}
	memcpy(bytes, &e, sizeof(e));
	memcpy(bytes + sizeof(e), p, sizeof(p));
	return sizeof(e) + sizeof(p);
}

static int file_fd;

static void elf_run(const u8 *bytes, size_t size)
{
	struct caps_context context = { .root = "" };
	struct target target;
	char path[64];

	if (ftruncate(file_fd, 0) || pwrite(file_fd, bytes, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file_fd);
	target_look(&target, path);
	snprintf(context.agent, sizeof(context.agent), "%s", path);
	fuzz_check(preload_probe(&context).because[0], "there is a reason");
}

/* ---- the agent's look at notes ------------------------------------------------------------------------ */

typedef int object_callback(struct dl_phdr_info *info, size_t size, void *data);

int __real_dl_iterate_phdr(object_callback *callback, void *data);
int __wrap_dl_iterate_phdr(object_callback *callback, void *data);

static const u8 *notes;
static size_t notes_size, notes_align;
static unsigned long slots[2], constants[2];

/* The object of the process: what is to be written lies in slots alone. */
int __wrap_dl_iterate_phdr(object_callback *callback, void *data)
{
	ElfW(Phdr) headers[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = (ElfW(Addr))constants, .p_memsz = sizeof(constants) },
		{ .p_type = PT_NOTE, .p_flags = PF_R, .p_vaddr = (ElfW(Addr))notes, .p_memsz = notes_size, .p_align = notes_align },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = (ElfW(Addr))slots, .p_memsz = sizeof(slots) },
	};
	struct dl_phdr_info info = { .dlpi_phdr = headers, .dlpi_phnum = ARRAY_SIZE(headers) };

	return notes ? callback(&info, sizeof(info), data) : __real_dl_iterate_phdr(callback, data);
}

static size_t notes_make(u8 *bytes)
{
	size_t size = 0, align = fuzz_once_in(2) ? 8 : 4;

	for (u64 n = fuzz_below(5); n; n--) {
		ElfW(Nhdr) head = { .n_namesz = 6, .n_descsz = 8, .n_type = 1 };

		memcpy(bytes + size, &head, sizeof(head));
		memcpy(bytes + size + sizeof(head), "Spark", 6);
		memset(bytes + ALIGN_UP(size + sizeof(head) + 6, align), (int)fuzz_below(256), 8);
		size = ALIGN_UP(ALIGN_UP(size + sizeof(head) + 6, align) + 8, align);
	}
	return size;
}

/* Eight equal bytes stand for what leads to a slot: that is relative to where the input lies. */
static void notes_run(const u8 *bytes, size_t size)
{
	u8 *copy = malloc(size + 1);
	s64 offset;

	if (!copy)
		abort();
	memcpy(copy, bytes, size);
	notes_align = size && bytes[size - 1] & 1 ? 8 : 4;
	for (size_t at = 0; at + sizeof(offset) <= size; at += 4)
		if (bytes[at] == bytes[at + 7] && bytes[at] == bytes[at + 3] && bytes[at]) {
			offset = (s64)((uintptr_t)(bytes[at] & 1 ? slots : constants) - (uintptr_t)(copy + at));
			memcpy(copy + at, &offset, sizeof(offset));
		}
	memset(slots, 0, sizeof(slots));
	memset(constants, 0, sizeof(constants));
	notes = copy;
	notes_size = size;
	slots_set(TABLE);
	notes = NULL;
	fuzz_check(!constants[0] && !constants[1], "what may only be read is not written");
	fuzz_check((!slots[0] || slots[0] == TABLE) && (!slots[1] || slots[1] == TABLE), "a slot has the table, or nothing");
	free(copy);
}

/* ---- the rows ---------------------------------------------------------------------------------------- */

static const struct reader {
	size_t (*make)(u8 *bytes);
	void (*run)(const u8 *bytes, size_t size);
} readers[] = {
	{ ring_make, ring_run },
	{ stat_make, stat_run },
	{ elf_make, elf_run },
	{ notes_make, notes_run },
	{ sampled_make, sampled_run },
};

static void record_open(char **argv)
{
	(void)argv;
	file_fd = memfd_create("program", MFD_CLOEXEC);
	if (file_fd < 0)
		abort();
}

static size_t record_make(u8 *input)
{
	input[0] = (u8)fuzz_below(ARRAY_SIZE(readers));
	return 1 + readers[input[0]].make(input + 1);
}

static size_t record_mutate(u8 *input, size_t size)
{
	return 1 + fuzz_mutate_bytes(input + 1, size - 1, ROOM - 1);
}

static void record_run(const u8 *input, size_t size)
{
	u8 *bytes;

	if (!size)
		return;
	/* Aligned, as all of these are. */
	bytes = malloc(size);
	if (!bytes)
		abort();
	memcpy(bytes, input + 1, size - 1);
	readers[input[0] % ARRAY_SIZE(readers)].run(bytes, size - 1);
	free(bytes);
}

const struct fuzz fuzz_target = {
	.name = "record",
	.room = ROOM,
	.rounds = 20000,
	.open = record_open,
	.make = record_make,
	.mutate = record_mutate,
	.run = record_run,
};
