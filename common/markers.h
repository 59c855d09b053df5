/* SPDX-License-Identifier: MIT */
/* What sparkctl and libspark-markers.so have in common. */
#ifndef COMMON_MARKERS_H
#define COMMON_MARKERS_H

enum marker_id {
#define MARKER(name, environment, symbols, meaning) MARKER_##name,
#include "common/markers.def"
#undef MARKER
	MARKERS
};

#define MARKERS_LIBRARY "libspark-markers.so"
/*
 * Names of the rows that are wanted, with commas between. With MARKERS_ALONE in front the program's children are to
 * know nothing of it.
 */
#define MARKERS_ENV "SPARK_MARKERS"
#define MARKERS_ALONE '-'
#define MARKERS_NEXT "SPARK_NEXT_"

#endif
