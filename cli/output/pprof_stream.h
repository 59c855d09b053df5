/* SPDX-License-Identifier: MIT */
/*
 * A profile of pprof's as a gzip stream. A message may be written in parts, of which each has some of
 * its fields (protobuf.dev, "Encoding", "Last One Wins"), so that memory holds one part at a time.
 */
#ifndef CLI_OUTPUT_PPROF_STREAM_H
#define CLI_OUTPUT_PPROF_STREAM_H

#include <stdio.h>
#include <zlib.h>

#include "cli/output/pprof.pb-c.h"
#include "common/base.h"

struct pprof_stream {
	FILE *file;
	z_stream zip;
	u8 *part;
	size_t room;
	bool no_memory;              /* something is missing */
};

/* Loads protobuf-c and zlib. 0, or -1 after a message. */
int pprof_stream_begin(struct pprof_stream *stream, FILE *file);
void pprof_stream_put(struct pprof_stream *stream, const Pprof__Profile *part);
/* In any case after begin has succeeded. */
void pprof_stream_end(struct pprof_stream *stream);

#endif
