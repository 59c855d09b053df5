/* SPDX-License-Identifier: MIT */
/*
 * Source procio: /proc/thread-self/io at both ends of a bracket, about 1.7 us each, and
 * /proc/self/io for processes and windows. The agent's own reads are taken off.
 */
#include "proc.h"
#include "source.h"

#include "common/proc.h"

#include <fcntl.h>

#include "banned.h"

#define TRIES 3

static int procio_open(void)
{
	return 0;
}

/*
 * What the kernel shows does not hold the reading itself, but all before it. A handler's markers,
 * or another thread's in the case of the process, may come between the two looks: then again.
 */
static void procio_usage(enum source_scope scope, struct wire_usage *usage, u64 *cells)
{
	struct proc_own (*own)(void) = scope == SOURCE_THREAD ? proc_own_thread : proc_own_process;
	const char *path = scope == SOURCE_THREAD ? "/proc/thread-self/io" : "/proc/self/io";
	char text[PROC_IO_ROOM];
	struct proc_own before;
	long n;

	(void)usage;
	for (u32 i = 0; i < TRIES; i++) {
		before = own();
		n = proc_read(AT_FDCWD, path, text, sizeof(text));
		if (n < 0 || own().calls == before.calls + 1)
			break;
	}
	if (n < 0) {
		proc_fill_absent(cells, PROCIO_CELLS, proc_absent((int)-n));
		return;
	}
	proc_parse_io(text, (size_t)n, cells);
	if (!wire_absent(cells[PROCIO_RCHAR]))
		cells[PROCIO_RCHAR] -= MIN(cells[PROCIO_RCHAR], before.bytes);
	if (!wire_absent(cells[PROCIO_SYSCR]))
		cells[PROCIO_SYSCR] -= MIN(cells[PROCIO_SYSCR], before.calls);
}

static void procio_read(u64 *cells)
{
	procio_usage(SOURCE_THREAD, NULL, cells);
}

static void procio_close(void)
{
}

const struct source source_procio = { procio_open, procio_read, procio_close, procio_usage };
