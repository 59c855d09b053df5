/* SPDX-License-Identifier: MIT */
/*
 * Caliper (cali.h of github.com/LLNL/Caliper): regions and phases by their names, and what is begun by the name of an
 * attribute: by that, or by its string. The end of an attribute has no string, and ends the newest of the thread.
 *
 * These functions returned a cali_err before they returned nothing; what the real one leaves there is handed on.
 */
#include "agent/markers/opened.h"

typedef int name_function(const char *name);
typedef int string_function(const char *attribute, const char *string);

static uint64_t hash(const char *text)
{
	uint64_t sum = 0xcbf29ce484222325u;

	while (*text)
		sum = (sum ^ (unsigned char)*text++) * 0x100000001b3u;
	return sum;
}

static int pass(struct next *next, const char *name)
{
	name_function *real = (name_function *)next_find(next);

	return real ? real(name) : 0;
}

#define PAIR(kind) \
	MARKER_EXPORT name_function cali_begin_##kind, cali_end_##kind; \
	int cali_begin_##kind(const char *name) \
	{ \
		static struct next next = { .name = "cali_begin_" #kind }; \
		int status = pass(&next, name); \
		if (name && marker_wanted(MARKER_caliper)) \
			spark_region_begin(name); \
		return status; \
	} \
	int cali_end_##kind(const char *name) \
	{ \
		static struct next next = { .name = "cali_end_" #kind }; \
		if (name && marker_wanted(MARKER_caliper)) \
			spark_region_end(name); \
		return pass(&next, name); \
	}

PAIR(region)
PAIR(phase)

MARKER_EXPORT name_function cali_begin_byname, cali_end_byname;
MARKER_EXPORT string_function cali_begin_string_byname;

static const char attributes;

int cali_begin_byname(const char *attribute)
{
	static struct next next = { .name = "cali_begin_byname" };
	int status = pass(&next, attribute);

	if (attribute && marker_wanted(MARKER_caliper))
		opened_begin(&attributes, hash(attribute), attribute);
	return status;
}

int cali_begin_string_byname(const char *attribute, const char *string)
{
	static struct next next = { .name = "cali_begin_string_byname" };
	string_function *real = (string_function *)next_find(&next);
	int status = real ? real(attribute, string) : 0;

	if (attribute && string && marker_wanted(MARKER_caliper))
		opened_begin(&attributes, hash(attribute), string);
	return status;
}

int cali_end_byname(const char *attribute)
{
	static struct next next = { .name = "cali_end_byname" };

	if (attribute)
		opened_end(&attributes, hash(attribute));
	return pass(&next, attribute);
}
