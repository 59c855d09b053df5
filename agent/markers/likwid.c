/* SPDX-License-Identifier: MIT */
/*
 * LIKWID's marker API (likwid-marker.h of github.com/RRZE-HPC/likwid): a region of a thread by its name. Regions may
 * overlap there, and do here. Whether LIKWID itself measures makes no difference: a program that was started without
 * likwid-perfctr -m has its calls refused by LIKWID, and its regions all the same.
 */
#include "agent/markers/markers.h"

#include <errno.h>

MARKER_EXPORT int likwid_markerStartRegion(const char *name);
MARKER_EXPORT int likwid_markerStopRegion(const char *name);

int likwid_markerStartRegion(const char *name)
{
	static struct next next = { .name = "likwid_markerStartRegion" };
	int (*real)(const char *) = (int (*)(const char *))next_find(&next);
	int status = real ? real(name) : -EFAULT;

	if (name && marker_wanted(MARKER_likwid))
		spark_region_begin(name);
	return status;
}

int likwid_markerStopRegion(const char *name)
{
	static struct next next = { .name = "likwid_markerStopRegion" };
	int (*real)(const char *);

	if (name && marker_wanted(MARKER_likwid))
		spark_region_end(name);
	real = (int (*)(const char *))next_find(&next);
	return real ? real(name) : -EFAULT;
}
