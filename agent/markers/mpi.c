/* SPDX-License-Identifier: MIT */
/*
 * MPI_Pcontrol(level, ...), which the MPI standard leaves to whoever profiles. As for IPM, level 1 with a name begins a
 * region and level -1 with it ends it. As the standard proposes and mpiP does, level 1 alone switches on and level 0 off:
 * what lies between is the region "MPI_Pcontrol". In Fortran there is no name. Other levels mean nothing here.
 *
 * Nobody tells whether there is a second argument: what is in its place is a name if it is the address of printable
 * text, which the kernel looks for (process_vm_readv(2)), since a stray address must not be followed.
 */
#define _GNU_SOURCE
#include "agent/markers/markers.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/uio.h>
#include <unistd.h>

#define ALONE "MPI_Pcontrol"

enum { NAME_MOST = 128, ARGUMENTS = 5 };

MARKER_EXPORT int MPI_Pcontrol(const int level, ...);
MARKER_EXPORT void mpi_pcontrol_(const int *level);
MARKER_EXPORT void mpi_pcontrol__(const int *level);
MARKER_EXPORT void mpi_pcontrol(const int *level);
MARKER_EXPORT void MPI_PCONTROL(const int *level);

static bool runs;

/* Up to the end of the page, then beyond: the next one may not be there. */
static size_t text_read(uintptr_t from, char *to, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), first = page - from % page;
	struct iovec there[2] = {
		{ (void *)from, first < size ? first : size },
		{ (void *)(from + first), first < size ? size - first : 0 },
	};
	struct iovec here = { to, size };
	ssize_t got = process_vm_readv(getpid(), &here, 1, there, first < size ? 2 : 1, 0);

	return got < 0 ? 0 : (size_t)got;
}

static bool name_read(uintptr_t at, char name[NAME_MOST])
{
	int saved = errno;
	size_t n = at ? text_read(at, name, NAME_MOST) : 0, i = 0;

	errno = saved;
	while (i < n && (unsigned char)name[i] >= ' ' && name[i] != 0x7f)
		i++;
	return i > 0 && i < n && !name[i];
}

static void switched(bool on)
{
	if (__atomic_exchange_n(&runs, on, __ATOMIC_ACQ_REL) == on)
		return;
	if (on)
		spark_region_begin(ALONE);
	else
		spark_region_end(ALONE);
}

/* Before the real one for an end, behind it for a begin. */
static void level_told(int level, uintptr_t argument, bool before)
{
	char name[NAME_MOST];

	if (!marker_wanted(MARKER_mpi) || before == (level == 1) || level < -1 || level > 1)
		return;
	if (level == 0)
		switched(false);
	else if (name_read(argument, name))
		(level == 1 ? spark_region_begin : spark_region_end)(name);
	else if (level == 1)
		switched(true);
}

int MPI_Pcontrol(const int level, ...)
{
	static struct next next = { .name = "MPI_Pcontrol" };
	int (*real)(int, ...) = (int (*)(int, ...))next_find(&next);
	uintptr_t arguments[ARGUMENTS];
	int result = 0;
	va_list list;

	/* Those that are in registers, whether they are meant or not. */
	va_start(list, level);
	for (int i = 0; i < ARGUMENTS; i++)
		arguments[i] = va_arg(list, uintptr_t);
	va_end(list);
	level_told(level, arguments[0], true);
	if (real)
		result = real(level, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4]);
	level_told(level, arguments[0], false);
	return result;
}

/* Fortran's, by the ways in which compilers write names. */
static void fortran(struct next *next, const int *level)
{
	void (*real)(const int *) = (void (*)(const int *))next_find(next);

	level_told(*level, 0, true);
	if (real)
		real(level);
	level_told(*level, 0, false);
}

void mpi_pcontrol_(const int *level)
{
	static struct next next = { .name = "mpi_pcontrol_" };

	fortran(&next, level);
}

void mpi_pcontrol__(const int *level)
{
	static struct next next = { .name = "mpi_pcontrol__" };

	fortran(&next, level);
}

void mpi_pcontrol(const int *level)
{
	static struct next next = { .name = "mpi_pcontrol" };

	fortran(&next, level);
}

void MPI_PCONTROL(const int *level)
{
	static struct next next = { .name = "MPI_PCONTROL" };

	fortran(&next, level);
}
