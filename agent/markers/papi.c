/* SPDX-License-Identifier: MIT */
/*
 * PAPI's high-level API (papi.h of github.com/icl-utk-edu/papi): a region of a thread by its name. Whether PAPI can
 * count anything makes no difference.
 */
#include "agent/markers/markers.h"

#define ENOIMPL (-19)              /* PAPI_ENOIMPL: not implemented */

MARKER_EXPORT int PAPI_hl_region_begin(const char *name);
MARKER_EXPORT int PAPI_hl_region_end(const char *name);

int PAPI_hl_region_begin(const char *name)
{
	static struct next next = { .name = "PAPI_hl_region_begin" };
	int (*real)(const char *) = (int (*)(const char *))next_find(&next);
	int status = real ? real(name) : ENOIMPL;

	if (name && marker_wanted(MARKER_papi))
		spark_region_begin(name);
	return status;
}

int PAPI_hl_region_end(const char *name)
{
	static struct next next = { .name = "PAPI_hl_region_end" };
	int (*real)(const char *);

	if (name && marker_wanted(MARKER_papi))
		spark_region_end(name);
	real = (int (*)(const char *))next_find(&next);
	return real ? real(name) : ENOIMPL;
}
