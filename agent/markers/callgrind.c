/* SPDX-License-Identifier: MIT */
/*
 * Client requests of Callgrind (valgrind/callgrind.h). A request is no call: it is five instructions in the program,
 * four that rotate a register by 128 bits in all and one that exchanges another with itself, by which Valgrind knows it
 * and which do nothing on a CPU, with the address of the request in rax. When the program starts they are looked for in
 * its code and in that of the libraries that are there, and the first is replaced by a jump to a stub of ours. That is
 * done only where no other thread can be in the midst of them, and not within Valgrind, which is to see them.
 *
 * What lies between CALLGRIND_START_INSTRUMENTATION and CALLGRIND_STOP_INSTRUMENTATION, which are the process's, is the
 * region "callgrind"; every second CALLGRIND_TOGGLE_COLLECT of a thread ends its region "callgrind collect". All other
 * requests are of counts that only Callgrind has.
 */
#define _GNU_SOURCE
#include "agent/markers/markers.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* VG_USERREQ__RUNNING_ON_VALGRIND, and VG_USERREQ_TOOL_BASE('C','T') and on */
enum {
	REQUEST_RUNNING = 0x1001,
	REQUEST_TOGGLE = 0x43540002,
	REQUEST_START = 0x43540004,
	REQUEST_STOP = 0x43540005,
};

/* rolq $3, %rdi; rolq $13, %rdi; rolq $61, %rdi; rolq $51, %rdi; xchgq %rbx, %rbx */
static const unsigned char request_code[] = {
	0x48, 0xc1, 0xc7, 0x03, 0x48, 0xc1, 0xc7, 0x0d, 0x48, 0xc1, 0xc7, 0x3d, 0x48, 0xc1, 0xc7, 0x33, 0x48, 0x87, 0xdb,
};

/* Beyond the red zone of the function around it; see the psABI, "The Stack Frame". */
static const unsigned char stub_code[] = {
	0x48, 0x8d, 0x64, 0x24, 0x80,                   /* leaq -128(%rsp), %rsp */
	0xff, 0x15, 0, 0, 0, 0,                         /* callq *entry(%rip) */
	0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00, /* leaq 128(%rsp), %rsp */
	0xe9, 0, 0, 0, 0,                               /* jmp behind the request */
};

enum {
	STUB_ENTRY = 7, STUB_BACK = 20,                 /* places of distances in it */
	JUMP = 5,                                       /* bytes of a jump */
	STUBS_AT = 16,                                  /* in an area, behind the entry's address */
	NEAR = 1 << 30,                                 /* well within what a jump reaches */
};

/* Of one object. */
struct area {
	unsigned char *at;
	size_t used, size;
};

/* ---- requests */

static bool runs;
static __thread bool collects __attribute__((tls_model("initial-exec")));

__attribute__((used, visibility("hidden"))) void callgrind_request(const uint64_t *request);
void callgrind_request(const uint64_t *request)
{
	if (*request == REQUEST_START && !__atomic_exchange_n(&runs, true, __ATOMIC_ACQ_REL)) {
		spark_region_begin("callgrind");
	} else if (*request == REQUEST_STOP && __atomic_exchange_n(&runs, false, __ATOMIC_ACQ_REL)) {
		spark_region_end("callgrind");
	} else if (*request == REQUEST_TOGGLE) {
		collects = !collects;
		if (collects)
			spark_region_begin("callgrind collect");
		else
			spark_region_end("callgrind collect");
	}
}

/*
 * The program may have anything in its registers: all that a function need not keep is kept here. The mask is of x87,
 * SSE, AVX and AVX-512, which take 2,688 bytes (Intel SDM, volume 1, 13.4 and 13.5); xrstor wants the rest of the
 * header to be 0.
 */
__attribute__((visibility("hidden"))) void callgrind_entry(void);
__asm__(".text\n"
	".p2align 4\n"
	".hidden callgrind_entry\n"
	".globl callgrind_entry\n"
	".type callgrind_entry, @function\n"
	"callgrind_entry:\n"
	".cfi_startproc\n"
	"	endbr64\n"
	"	pushq %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"	movq %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"	pushq %rax\n"
	"	pushq %rcx\n"
	"	pushq %rdx\n"
	"	pushq %rsi\n"
	"	pushq %rdi\n"
	"	pushq %r8\n"
	"	pushq %r9\n"
	"	pushq %r10\n"
	"	pushq %r11\n"
	"	movq %rax, %rsi\n"
	"	subq $2752, %rsp\n"
	"	andq $-64, %rsp\n"
	"	leaq 512(%rsp), %rdi\n"
	"	xorl %eax, %eax\n"
	"	movl $8, %ecx\n"
	"	rep stosq\n"
	"	movq %rsi, %rdi\n"
	"	movl $0xe7, %eax\n"
	"	xorl %edx, %edx\n"
	"	xsave64 (%rsp)\n"
	"	call callgrind_request\n"
	"	movl $0xe7, %eax\n"
	"	xorl %edx, %edx\n"
	"	xrstor64 (%rsp)\n"
	"	leaq -72(%rbp), %rsp\n"
	"	popq %r11\n"
	"	popq %r10\n"
	"	popq %r9\n"
	"	popq %r8\n"
	"	popq %rdi\n"
	"	popq %rsi\n"
	"	popq %rdx\n"
	"	popq %rcx\n"
	"	popq %rax\n"
	"	popq %rbp\n"
	".cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size callgrind_entry, . - callgrind_entry\n");

static bool within_valgrind(void)
{
	uint64_t request[6] = { REQUEST_RUNNING }, answer = 0;

	__asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi; xchgq %%rbx, %%rbx"
			 : "+d"(answer) : "a"(request) : "cc", "memory");
	return answer != 0;
}

/* ---- their places */

/* Room near the object for one more stub. */
static bool area_has_room(struct area *area, const unsigned char *near)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (area->at && area->used + sizeof(stub_code) <= area->size)
		return true;
	for (uintptr_t far = page; far < NEAR; far += far < 1 << 24 ? page * 16 : 1 << 24) {
		for (int below = 0; below < 2; below++) {
			uintptr_t hint = ((uintptr_t)near & ~(page - 1)) + (below ? -far : far);
			void *at = mmap((void *)hint, page, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
			void (*entry)(void) = callgrind_entry;

			if (at == MAP_FAILED)
				continue;
			/* Before Linux 4.17 the flag is not known, and the address a wish. */
			if ((uintptr_t)at != hint) {
				munmap(at, page);
				continue;
			}
			*area = (struct area){ at, STUBS_AT, page };
			memcpy(area->at, &entry, sizeof(entry));
			return true;
		}
	}
	return false;
}

static void distance_put(unsigned char *at, const unsigned char *to)
{
	int32_t distance = (int32_t)(to - (at + sizeof(distance)));

	memcpy(at, &distance, sizeof(distance));
}

/* The code is writable for as long as that takes. */
static void site_replace(unsigned char *site, struct area *area)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)site & ~(page - 1);
	size_t size = ((uintptr_t)site + JUMP - from + page - 1) & ~(page - 1);
	unsigned char *stub;

	if (!area_has_room(area, site) || mprotect(area->at, area->size, PROT_READ | PROT_WRITE))
		return;
	stub = area->at + area->used;
	memcpy(stub, stub_code, sizeof(stub_code));
	distance_put(stub + STUB_ENTRY, area->at);
	distance_put(stub + STUB_BACK, site + sizeof(request_code));
	if (mprotect(area->at, area->size, PROT_READ | PROT_EXEC) ||
	    mprotect((void *)from, size, PROT_READ | PROT_WRITE | PROT_EXEC))
		return;
	area->used += sizeof(stub_code);
	*site = 0xe9;
	distance_put(site + 1, stub);
	mprotect((void *)from, size, PROT_READ | PROT_EXEC);
}

static int object_look(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *base = strrchr(info->dlpi_name, '/');
	struct area area = { .at = NULL };

	(void)size;
	(void)data;
	if (base && !strcmp(base + 1, MARKERS_LIBRARY))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		unsigned char *at = (unsigned char *)(uintptr_t)(info->dlpi_addr + part->p_vaddr), *end = at + part->p_memsz;

		if (part->p_type != PT_LOAD || part->p_flags != (PF_R | PF_X))
			continue;
		while ((at = memmem(at, (size_t)(end - at), request_code, sizeof(request_code)))) {
			site_replace(at, &area);
			at += sizeof(request_code);
		}
	}
	return 0;
}

static bool alone(void)
{
	struct stat tasks;

	return !stat("/proc/self/task", &tasks) && tasks.st_nlink == 3;
}

__attribute__((constructor)) static void callgrind_constructor(void)
{
	unsigned int a, b, c, d;

	if (marker_wanted(MARKER_callgrind) && __get_cpuid(1, &a, &b, &c, &d) && c & bit_OSXSAVE && !within_valgrind() &&
	    alone())
		dl_iterate_phdr(object_look, NULL);
}
#endif
