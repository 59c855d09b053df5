/* SPDX-License-Identifier: MIT */
/*
 * Cases of Google Benchmark (benchmark/benchmark.h, in a shared library): what a case times is a region of its name and
 * arguments, "BM_sort/1024", one call for each stretch between ResumeTiming() and PauseTiming(), of which the loop of a
 * case without them is one. The library runs a case several times, to find how often it is to be repeated; all of that
 * is timed.
 *
 * By its functions nobody knows which case runs. What is registered is an object with a virtual function, Run(), whose
 * place in the table of its class leads to us; a class that is not as in version 1 leaves its cases without names.
 */
#define _GNU_SOURCE
#include "agent/markers/markers.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STATE(function) _ZN9benchmark5State##function
#define CONSTRUCTOR \
	STATE(C1ElRKSt6vectorIlSaIlEEiiPNS_8internal11ThreadTimerEPNS6_13ThreadManagerEPNS6_23PerfCountersMeasurementE)
#define REGISTER _ZN9benchmark8internal25RegisterBenchmarkInternalEPNS0_9BenchmarkE
#define NAME_OF(symbol) NAME_OF_1(symbol)
#define NAME_OF_1(symbol) #symbol

enum { CLASSES = 256, NAME_MOST = 256, ARGUMENTS_MOST = 8 };

/* In its table: two destructors, and Run() */
enum { SLOT_RUN = 2, SLOTS_BEFORE = 2 };

/* std::vector of long, and benchmark::internal::Benchmark with the std::string of libstdc++ */
struct vector { const long *begin, *end; };
struct benchmark {
	void **table;
	const char *name;
	size_t length;
};

typedef void run_function(struct benchmark *benchmark, void *state);

MARKER_EXPORT void STATE(16StartKeepRunningEv)(void *state);
MARKER_EXPORT void STATE(17FinishKeepRunningEv)(void *state);
MARKER_EXPORT void STATE(11PauseTimingEv)(void *state);
MARKER_EXPORT void STATE(12ResumeTimingEv)(void *state);
MARKER_EXPORT void *CONSTRUCTOR(void *state, long iterations, const struct vector *arguments, int thread, int threads,
				void *timer, void *manager, void *counters);
MARKER_EXPORT void *REGISTER(struct benchmark *benchmark);

static struct { void **table; run_function *run; } classes[CLASSES];
static unsigned nclasses;

/* Of a thread; the library is there from the start. */
static __thread struct {
	char name[NAME_MOST];        /* "": no case that we know */
	bool open;
	unsigned narguments;
	long arguments[ARGUMENTS_MOST];
	int threads;
} current __attribute__((tls_model("initial-exec")));

/* ---- regions */

static const char *case_name(void)
{
	return current.name[0] ? current.name : "benchmark";
}

static void timing_begins(void)
{
	if (!current.open && marker_wanted(MARKER_benchmark)) {
		current.open = true;
		spark_region_begin(case_name());
	}
}

static void timing_ends(void)
{
	if (current.open) {
		current.open = false;
		spark_region_end(case_name());
	}
}

/* Each of these may call one of the others by its name, or not. */
void STATE(16StartKeepRunningEv)(void *state)
{
	static struct next next = { .name = NAME_OF(STATE(16StartKeepRunningEv)) };
	void (*real)(void *) = (void (*)(void *))next_find(&next);

	if (real)
		real(state);
	timing_begins();
}

void STATE(12ResumeTimingEv)(void *state)
{
	static struct next next = { .name = NAME_OF(STATE(12ResumeTimingEv)) };
	void (*real)(void *) = (void (*)(void *))next_find(&next);

	if (real)
		real(state);
	timing_begins();
}

void STATE(11PauseTimingEv)(void *state)
{
	static struct next next = { .name = NAME_OF(STATE(11PauseTimingEv)) };
	void (*real)(void *);

	timing_ends();
	real = (void (*)(void *))next_find(&next);
	if (real)
		real(state);
}

void STATE(17FinishKeepRunningEv)(void *state)
{
	static struct next next = { .name = NAME_OF(STATE(17FinishKeepRunningEv)) };
	void (*real)(void *);

	timing_ends();
	real = (void (*)(void *))next_find(&next);
	if (real)
		real(state);
}

/* ---- names */

/* The library makes it before it calls Run(), on the same thread; a constructor returns its object to nobody. */
void *CONSTRUCTOR(void *state, long iterations, const struct vector *arguments, int thread, int threads, void *timer,
		  void *manager, void *counters)
{
	static struct next next = { .name = NAME_OF(CONSTRUCTOR) };
	void *(*real)(void *, long, const struct vector *, int, int, void *, void *, void *) =
		(void *(*)(void *, long, const struct vector *, int, int, void *, void *, void *))next_find(&next);

	current.narguments = 0;
	current.threads = threads;
	for (const long *at = arguments->begin; at < arguments->end && current.narguments < ARGUMENTS_MOST; at++)
		current.arguments[current.narguments++] = *at;
	return real ? real(state, iterations, arguments, thread, threads, timer, manager, counters) : state;
}

static void name_make(const struct benchmark *benchmark)
{
	size_t length = (size_t)snprintf(current.name, NAME_MOST, "%.*s", NAME_MOST / 2, benchmark->name);

	for (unsigned i = 0; i < current.narguments && length < NAME_MOST; i++)
		length += (size_t)snprintf(current.name + length, NAME_MOST - length, "/%ld", current.arguments[i]);
	if (current.threads > 1 && length < NAME_MOST)
		snprintf(current.name + length, NAME_MOST - length, "/threads:%d", current.threads);
}

static void case_run(struct benchmark *benchmark, void *state)
{
	unsigned n = __atomic_load_n(&nclasses, __ATOMIC_ACQUIRE);

	/* An exception may have left the one before. */
	timing_ends();
	name_make(benchmark);
	for (unsigned i = 0; i < n; i++) {
		if (classes[i].table == benchmark->table) {
			classes[i].run(benchmark, state);
			break;
		}
	}
	/* SkipWithError() may have left the loop. */
	timing_ends();
	current.name[0] = 0;
	current.narguments = 0;
}

/* Classes and strings are as this file knows them: of the library's own class the table is known, and the string by a name. */
static bool layout_is_known(void)
{
	void **table = dlsym(RTLD_DEFAULT, "_ZTVN9benchmark8internal17FunctionBenchmarkE");
	void *run = dlsym(RTLD_DEFAULT, "_ZN9benchmark8internal17FunctionBenchmark3RunERNS_5StateE");

	return table && run && table[SLOTS_BEFORE + SLOT_RUN] == run && dlsym(RTLD_DEFAULT,
		"_ZN9benchmark22RunSpecifiedBenchmarksENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE");
}

struct relro {
	uintptr_t at, page;          /* address and size of a page */
	bool found;
};

static int object_look(struct dl_phdr_info *info, size_t size, void *data)
{
	struct relro *relro = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + part->p_vaddr, to = from + part->p_memsz, offset = relro->page - 1;

		/* As the loader does it: from the page in which it begins, and not that in which it ends. */
		if (part->p_type == PT_GNU_RELRO && (from & ~offset) <= relro->at && relro->at < (to & ~offset))
			relro->found = true;
	}
	return relro->found;
}

/* Tables are in memory that the loader has made read-only when it had relocated them; what is elsewhere is left alone. */
static bool page_is_relro(uintptr_t at, uintptr_t page)
{
	struct relro relro = { at, page, false };

	dl_iterate_phdr(object_look, &relro);
	return relro.found;
}

static void class_take(void **table)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)&table[SLOT_RUN] & ~(page - 1);

	for (unsigned i = 0; i < nclasses; i++)
		if (classes[i].table == table)
			return;
	if (nclasses == CLASSES || !page_is_relro(at, page) || mprotect((void *)at, page, PROT_READ | PROT_WRITE))
		return;
	classes[nclasses].table = table;
	memcpy(&classes[nclasses].run, &table[SLOT_RUN], sizeof(classes[nclasses].run));
	__atomic_store_n(&nclasses, nclasses + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&table[SLOT_RUN], (void *)(uintptr_t)case_run, __ATOMIC_RELEASE);
	mprotect((void *)at, page, PROT_READ);
}

void *REGISTER(struct benchmark *benchmark)
{
	static struct next next = { .name = NAME_OF(REGISTER) };
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool known;           /* asked once, before we are in the table ourselves */
	void *(*real)(struct benchmark *) = (void *(*)(struct benchmark *))next_find(&next);

	pthread_mutex_lock(&lock);
	known = known || layout_is_known();
	if (known && marker_wanted(MARKER_benchmark))
		class_take(benchmark->table);
	pthread_mutex_unlock(&lock);
	return real ? real(benchmark) : benchmark;
}
