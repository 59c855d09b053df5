/* SPDX-License-Identifier: MIT */
/* Protocol buffers into gzip; see pprof_stream.h. */
#ifdef HAVE_PROTOBUF_C
#include "cli/output/pprof_stream.h"

#include <stdlib.h>

#include "cli/library.h"
#include "cli/log.h"

#define PROTOBUF_SONAME "libprotobuf-c.so.1"
#define ZLIB_SONAME "libz.so.1"

/* zlib's figures for a window of 32 KiB, and for gzip around it. */
#define WINDOW_BITS 15
#define GZIP_FORMAT 16
#define MEMORY_LEVEL 8
/* Twice as fast as zlib's default, for a file that is a tenth larger. */
#define ZIP_LEVEL 3

static struct {
	__typeof__(&protobuf_c_message_get_packed_size) size;
	__typeof__(&protobuf_c_message_pack) pack;
	__typeof__(&deflateInit2_) init;
	__typeof__(&deflate) deflate;
	__typeof__(&deflateEnd) end;
} library;

static bool stream_load(void)
{
	static const struct library_function protobuf[] = {
		{ "protobuf_c_message_get_packed_size", &library.size },
		{ "protobuf_c_message_pack", &library.pack },
	}, zlib[] = {
		{ "deflateInit2_", &library.init },
		{ "deflate", &library.deflate },
		{ "deflateEnd", &library.end },
	};

	return library_load(PROTOBUF_SONAME, protobuf, ARRAY_SIZE(protobuf)) &&
	       library_load(ZLIB_SONAME, zlib, ARRAY_SIZE(zlib));
}

int pprof_stream_begin(struct pprof_stream *stream, FILE *file)
{
	*stream = (struct pprof_stream){ .file = file };
	if (!stream_load())
		return error("--format pprof needs protobuf-c and zlib: %s", library_problem());
	if (library.init(&stream->zip, ZIP_LEVEL, Z_DEFLATED, WINDOW_BITS + GZIP_FORMAT, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY, ZLIB_VERSION, (int)sizeof(z_stream)) != Z_OK)
		return error("out of memory for the export");
	return 0;
}

static void stream_deflate(struct pprof_stream *stream, u8 *bytes, size_t n, int flush)
{
	u8 out[1 << 14];

	stream->zip.next_in = bytes;
	stream->zip.avail_in = (uInt)n;
	do {
		stream->zip.next_out = out;
		stream->zip.avail_out = sizeof(out);
		library.deflate(&stream->zip, flush);
		fwrite(out, 1, sizeof(out) - stream->zip.avail_out, stream->file);
	} while (!stream->zip.avail_out);
}

void pprof_stream_put(struct pprof_stream *stream, const Pprof__Profile *part)
{
	size_t size = library.size(&part->base);

	if (size > stream->room) {
		u8 *grown = realloc(stream->part, size * 2);

		if (!grown) {
			stream->no_memory = true;
			return;
		}
		stream->part = grown;
		stream->room = size * 2;
	}
	stream_deflate(stream, stream->part, library.pack(&part->base, stream->part), Z_NO_FLUSH);
}

void pprof_stream_end(struct pprof_stream *stream)
{
	stream_deflate(stream, NULL, 0, Z_FINISH);
	library.end(&stream->zip);
	free(stream->part);
}
#endif
