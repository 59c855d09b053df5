/* SPDX-License-Identifier: MIT */
/* Debug info of a file, looked into by a child; see call_words.h. */
#include "cli/symbols/call_words.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/symbols/call_words_build.h"
#include "cli/symbols/debug_file.h"
#include "cli/symbols/dwarf_names.h"

#ifdef HAVE_LIBDW

/* Of one unit. */
static void unit_tell(Dwarf *dwarf, const struct call_words *asked, u16 machine, const struct dwarf_ask *asks, size_t n,
	u32 *words)
{
	u64 *addresses = calloc(n, sizeof(*addresses));
	Dwarf_Die *functions = calloc(n, sizeof(*functions)), unit;

	if (!addresses || !functions || !libdw.offdie(dwarf, asks[0].unit, &unit))
		return;
	for (size_t i = 0; i < n; i++)
		addresses[i] = asked->addresses[asks[i].address];
	dwarf_functions(&unit, addresses, n, functions);
	for (size_t i = 0; i < n; i++)
		if (functions[i].addr)
			words[asks[i].address] = call_abi_words(&functions[i], machine, asked->variadic);
	free(addresses);
	free(functions);
}

static void file_tell(int fd, u16 machine, const struct call_words *asked, u32 *words)
{
	struct resolve_request request = { .addresses = asked->addresses, .n = asked->n };
	bool *done = calloc(asked->n, sizeof(*done));
	Dwarf *dwarf = libdw.begin(fd, DWARF_C_READ);
	struct dwarf_ask *asks;
	size_t n = 0, from, to;

	asks = dwarf && done ? dwarf_units(dwarf, &request, done, &n) : NULL;
	for (from = 0; asks && from < n; from = to) {
		for (to = from + 1; to < n && asks[to].unit == asks[from].unit; to++)
			continue;
		unit_tell(dwarf, asked, machine, asks + from, to - from, words);
	}
	/* The child ends now: nothing is given back. */
}

static void child_run(int fd, u16 machine, const struct call_words *asked, u32 *words)
{
	struct rlimit none = { 0, 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
	signal(SIGABRT, SIG_DFL);
	unsetenv("DEBUGINFOD_URLS");
	file_tell(fd, machine, asked, words);
	_exit(0);
}

/* Waits for a child that has the other end, and ends it when it is late. */
static void child_wait(pid_t child, int alive, u64 until_ns)
{
	struct pollfd end = { .fd = alive };
	u64 now;

	while ((now = clock_ns(CLOCK_MONOTONIC)) < until_ns)
		if (poll(&end, 1, (int)((until_ns - now) / NSEC_PER_MSEC) + 1) > 0)
			break;
	if (now >= until_ns)
		kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		continue;
}

/* A damaged file may take the child with it: what it had told until then stays. */
static void file_ask(int fd, u16 machine, const struct call_words *asked, u64 until_ns)
{
	size_t size = asked->n * sizeof(u32);
	u32 *words = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int ends[2];
	pid_t child;

	if (words == MAP_FAILED)
		return;
	memcpy(words, asked->words, size);
	if (pipe2(ends, O_CLOEXEC) == 0) {
		child = fork();
		if (!child)
			child_run(fd, machine, asked, words);
		close(ends[1]);
		if (child > 0)
			child_wait(child, ends[0], until_ns);
		close(ends[0]);
	}
	memcpy(asked->words, words, size);
	munmap(words, size);
}

static void object_ask(struct object *object, const struct call_words *asked, u64 until_ns)
{
	struct debug_file *file = calloc(1, sizeof(*file));
	char id[2 * ELF_FILE_ID_MOST + 1];

	if (!file)
		return;
	if (elf_file_build_id(&object->elf, id))
		object->build_id = id;
	if (elf_file_section(&object->elf, ".debug_info")) {
		file_ask(object->elf.fd, object->elf.machine, asked, until_ns);
	} else if (debug_file_find(object, false, until_ns, file)) {
		file_ask(file->fd, object->elf.machine, asked, until_ns);
		debug_file_close(file);
	}
	free(file);
}

static bool words_available(void)
{
	return libdw_load();
}

#else

static void object_ask(struct object *object, const struct call_words *asked, u64 until_ns)
{
	(void)object;
	(void)asked;
	(void)until_ns;
}

static bool words_available(void)
{
	return false;
}

#endif

void call_words_find(const struct call_words *asked, u64 until_ns)
{
	struct object object = { .kind = OBJECT_FILE, .path = (char *)asked->path, .is_elf = true };
	int fd;

	for (size_t i = 0; i < asked->n; i++)
		asked->words[i] = CALL_WORDS_UNKNOWN;
	fd = open(asked->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return;
	if (elf_file_open(&object.elf, fd) == 0) {
		if (words_available())
			object_ask(&object, asked, until_ns);
		elf_file_close(&object.elf);
	}
	close(fd);
}
