/* SPDX-License-Identifier: MIT */
/* Storage and a page cache with a bit of everything, for the facts of a run. */
#ifndef TESTS_UNIT_SURROUNDINGS_H
#define TESTS_UNIT_SURROUNDINGS_H

#include "cli/analyze/report.h"

static inline void surround(struct session_facts *facts)
{
	static struct storage_device devices[] = {
		{ .depth = 0, .name = "dm-0", .kind = "dm", .detail = "vg-root", .rotational = -1, .read_ahead = -1, .requests = -1,
		  .queue_depth = -1, .direct = -1 },
		{ .depth = 1, .name = "sda", .kind = "disk", .detail = "Big Disk", .scheduler = "none", .write_cache = "write back",
		  .rotational = 0, .read_ahead = 131072, .requests = 256, .queue_depth = 32, .direct = -1 },
		{ .depth = 1, .name = "8:16", .rotational = -1, .read_ahead = -1, .requests = -1, .queue_depth = -1, .direct = -1,
		  .because = "hidden" },
	};
	static struct storage_path paths[] = {
		{ .path = "/a\n\xff", .role = "working directory", .type = "xfs", .source = "/dev/x", .mount = "/", .options = "rw",
		  .super_options = "rw,a=b", .devices = devices, .ndevices = ARRAY_SIZE(devices) },
		{ .path = "/b", .role = "--cache-files", .layer = "/lower/b", .because = "nobody knows" },
		{ .path = "/c\n", .role = "opened", .type = "xfs", .mount = "/", .devices = devices, .ndevices = 1 },
	};
	static const struct storage_fact storage = { .paths = paths, .npaths = ARRAY_SIZE(paths), .huge_pages = "always",
						     .swap = "none", .page_size = 4096, .io_model = "O_DIRECT", .looks = 3, .refused = 1, .more = true };
	static const struct cache_file files[] = {
		{ .path = "/a\n\xff", .files = 3, .pages = 1000, .found = 900, .start = 10, .end = 1000, .regime = CACHE_PARTLY_COLD,
		  .because = "somebody has it" },
		{ .path = "/b", .files = 1, .found = -1, .start = -1, .end = -1, .regime = CACHE_UNKNOWN, .because = "not told" },
	};
	static const struct cache_fact cache = { .asked = CACHE_ASKED_COLD, .dropped = true, .regime = CACHE_UNKNOWN,
						 .because = "/b: not told", .files = files, .nfiles = ARRAY_SIZE(files) };

	facts->storage = &storage;
	facts->cache = &cache;
}

#endif
