/* SPDX-License-Identifier: MIT */
/*
 * Debug info from the servers of DEBUGINFOD_URLS (debuginfod(8)), when it is asked for. The client library brings
 * HTTP along and is loaded for that alone; its header is not needed for three functions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/library.h"
#include "cli/symbols/debug_file.h"

#define DEBUGINFOD_SONAME "libdebuginfod.so.1"

typedef int debuginfod_progress(void *client, long done, long all);

static struct {
	void *(*begin)(void);
	void (*end)(void *client);
	int (*find_debuginfo)(void *client, const unsigned char *id, int size, char **path);
	void (*set_progressfn)(void *client, debuginfod_progress *progress);
} debuginfod;

static u64 fetch_until_ns;

static int fetch_progress(void *client, long done, long all)
{
	(void)client;
	(void)done;
	(void)all;
	return clock_ns(CLOCK_MONOTONIC) >= fetch_until_ns;
}

bool debuginfod_fetch(const char *build_id, u64 until_ns, char *path, size_t size)
{
	static const struct library_function functions[] = {
		{ "debuginfod_begin", &debuginfod.begin },
		{ "debuginfod_end", &debuginfod.end },
		{ "debuginfod_find_debuginfo", &debuginfod.find_debuginfo },
		{ "debuginfod_set_progressfn", &debuginfod.set_progressfn },
	};
	const char *urls = getenv("DEBUGINFOD_URLS");
	char *found = NULL;
	void *client;
	int fd = -1;

	if (!urls || !*urls || !library_load(DEBUGINFOD_SONAME, functions, ARRAY_SIZE(functions)))
		return false;
	client = debuginfod.begin();
	if (!client)
		return false;
	fetch_until_ns = until_ns;
	debuginfod.set_progressfn(client, fetch_progress);
	/* A size of 0: the id is text. */
	fd = debuginfod.find_debuginfo(client, (const unsigned char *)build_id, 0, &found);
	if (fd >= 0) {
		snprintf(path, size, "%s", found ? found : "");
		close(fd);
	}
	free(found);
	debuginfod.end(client);
	return fd >= 0;
}
