/* SPDX-License-Identifier: MIT */
/*
 * The probe "call-stacks": a sample of this thread with its registers and a copy of its stack, and from there to the
 * function that called the sampled one, by the call frame information of sparkctl's own file.
 */
#include "cli/caps/try.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/symbols/unwind.h"
#include "common/base.h"
#include "common/perf.h"

enum { STACKS_LIMIT_MS = 100, STACKS_PERIOD_NS = 200000, STACKS_BYTES = 1024, STACKS_CALL_SIZE = 256 };

struct stacks_record {
	struct perf_event_header header;
	/* abi, registers, size, bytes, dyn_size */
	u64 words[1 + 64 + 1 + STACKS_BYTES / 8 + 1];
};

/* Where this program's code is mapped. */
struct stacks_self {
	struct unwind_object object;
	struct cfi *cfi;
	void *image;
	size_t size;
};

static int stacks_locate(struct dl_phdr_info *info, size_t size, void *data)
{
	struct stacks_self *self = data;

	(void)size;
	for (u32 i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X)
			self->object = (struct unwind_object){
				.start = info->dlpi_addr + p->p_vaddr, .end = info->dlpi_addr + p->p_vaddr + p->p_memsz,
				.offset = p->p_offset,
			};
	}
	return 1; /* the program is the first */
}

static int stacks_open(struct stacks_self *self)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), err = 0;
	struct stat st;

	if (fd < 0)
		return errno;
	self->image = MAP_FAILED;
	if (fstat(fd, &st) == 0)
		self->image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (self->image == MAP_FAILED)
		err = errno;
	close(fd);
	if (err)
		return err;
	self->size = (size_t)st.st_size;
	dl_iterate_phdr(stacks_locate, self);
	self->object.cfi = self->cfi = cfi_new(self->image, self->size);
	return 0;
}

static void stacks_close(struct stacks_self *self)
{
	cfi_free(self->cfi);
	munmap(self->image, self->size);
}

static bool stacks_find(void *context, u64 address, struct unwind_object *object)
{
	const struct stacks_self *self = context;

	*object = self->object;
	return address >= object->start && address < object->end;
}

static __attribute__((noinline)) void stacks_spin(void)
{
	volatile unsigned int i;

	for (i = 0; i < 500000; i++)
		;
}

/* The caller that has to be found: its addresses are [stacks_call, + STACKS_CALL_SIZE). */
static __attribute__((noinline)) void stacks_call(void)
{
	stacks_spin();
	barrier(); /* so that it returns here */
}

static bool stacks_found(struct unwind *unwind, struct stacks_self *self, const struct stacks_record *record)
{
	struct unwind_source source = { .context = self, .find = stacks_find };
	size_t nregs = (size_t)__builtin_popcountll(unwind_regs_mask());
	const u64 *words = record->words, *stack = words + 1 + nregs;
	struct unwind_sample sample = { .abi = words[0], .regs = words + 1 };
	uintptr_t caller = (uintptr_t)stacks_call;
	static struct unwind_chain chain;

	/* One of the kernel's own threads, and an exiting one, have neither. */
	if (!words[0] || stack[0] != STACKS_BYTES)
		return false;
	sample.stack = (const u8 *)(stack + 1);
	sample.size = MIN(stack[1 + STACKS_BYTES / 8], (u64)STACKS_BYTES);
	unwind_sample_chain(unwind, &source, &sample, &chain);
	return chain.n > 1 && chain.frames[1].pc - caller < STACKS_CALL_SIZE;
}

/* How many samples came, and whether one led to the caller. */
static int stacks_try(struct stacks_self *self, bool *found, enum try_stage *stage)
{
	clock_t end = clock() + STACKS_LIMIT_MS * (CLOCKS_PER_SEC / 1000);
	struct unwind *unwind = unwind_new();
	struct stacks_record record;
	struct perf_event_attr attr;
	struct try_ring ring;
	int n = 0, err;

	perf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	attr.exclude_kernel = attr.exclude_hv = 1;
	attr.sample_period = STACKS_PERIOD_NS;
	attr.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr.sample_regs_user = unwind_regs_mask();
	attr.sample_stack_user = STACKS_BYTES;
	err = unwind ? try_ring_open(&ring, &attr, -1, stage) : -ENOMEM;
	if (err) {
		unwind_free(unwind);
		return err;
	}
	while (!*found && clock() < end) {
		stacks_call();
		while (!*found && try_ring_next(&ring, PERF_RECORD_SAMPLE, &record, sizeof(record))) {
			*found = stacks_found(unwind, self, &record);
			n++;
		}
	}
	try_ring_close(&ring);
	unwind_free(unwind);
	return n;
}

struct outcome stacks_probe(struct caps_context *context)
{
	enum try_stage stage = TRY_OPEN;
	struct stacks_self self;
	bool found = false;
	int n;

	if (!unwind_available())
		return outcome_no("", "call frame information of this architecture is not known: frame pointers alone");
	n = stacks_open(&self);
	if (n)
		return advice_errno(n, "sparkctl's own file");
	n = stacks_try(&self, &found, &stage);
	stacks_close(&self);
	if (n < 0)
		return try_ring_advice(context, stage, -n, ADVICE_USER);
	if (!n)
		return outcome_no("", "sampling with a copy of the stack opens, but no sample comes");
	if (!found)
		return outcome_no("", "no sample led to the caller");
	return outcome_yes("by call frame information, a caller was found; %s", unwind_remote_available() ?
		"libunwind for unusual functions" : "without libunwind, so stacks end at unusual functions");
}
