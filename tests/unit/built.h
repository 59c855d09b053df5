/* SPDX-License-Identifier: MIT */
/* Programs that a test of symbols compiles, in a folder of its own, and the names of their addresses. */
#ifndef TESTS_UNIT_BUILT_H
#define TESTS_UNIT_BUILT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/symbols/resolve.h"
#include "cli/symbols/space.h"

/* Nobody has it: it is above what the kernel gives by default. */
#define BUILT_PID 4000000u
#define BUILT_START 0x100000000ull

static char built_dir[] = "/tmp/spark-built-XXXXXX";

/* The harness is broken, or what it tests. */
#define BUILT_CHECK(holds, what) \
	do { \
		if (!(holds)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, what); \
			abort(); \
		} \
	} while (0)

static inline void built_open(void)
{
	if (!mkdtemp(built_dir))
		abort();
}

static inline void built_close(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", built_dir);
	if (system(command))
		perror(command);
}

static inline void built_write(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", built_dir, name);
	file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		abort();
}

/* Runs a line of shell in the folder. */
static inline bool built_try(const char *line)
{
	char command[2048];

	snprintf(command, sizeof(command), "cd %s && { %s; } >log 2>&1", built_dir, line);
	return system(command) == 0;
}

static inline void built_run(const char *line)
{
	char command[256];

	if (built_try(line))
		return;
	snprintf(command, sizeof(command), "cat %s/log >&2", built_dir);
	if (system(command))
		perror(command);
	BUILT_CHECK(false, line);
}

static inline u64 built_symbol(const char *file, const char *symbol)
{
	unsigned long long address = 0;
	char command[512];
	FILE *out;

	snprintf(command, sizeof(command), "nm %s/%s | awk '$3 == \"%s\" { print $1 }'", built_dir, file, symbol);
	out = popen(command, "r");
	if (!out || fscanf(out, "%llx", &address) != 1)
		BUILT_CHECK(false, symbol);
	pclose(out);
	return address;
}

static inline void built_found(void *data, const struct resolve_request *request, size_t address,
	enum resolve_reason reason, const struct resolve_line *lines, size_t n)
{
	char *text = data;
	size_t length = 0;

	(void)request;
	(void)address;
	if (reason != RESOLVE_NAMED)
		length = (size_t)sprintf(text, "%s%s", resolve_reason_text(reason), n ? " " : "");
	for (size_t i = 0; i < n; i++) {
		const char *base = lines[i].file ? strrchr(lines[i].file, '/') : NULL;

		length += (size_t)snprintf(text + length, 8000 - length, "%s%s %s:%u", i ? ", " : "",
			lines[i].function ? lines[i].function : "?",
			base ? base + 1 : lines[i].file ? lines[i].file : "", lines[i].line);
	}
}

/* "leaf x.c:1, outer x.c:2", or the reason. */
static inline const char *built_names(struct object *object, u64 address, const struct resolve_options *options)
{
	static char text[8192];
	struct resolve_request request = { .object = object, .addresses = &address, .n = 1 };

	strcpy(text, "nobody called");
	BUILT_CHECK(!resolve_objects(&request, 1, options ? options : &(struct resolve_options){ .no_debug = false },
		built_found, text),
		"there is memory");
	return text;
}

/* The object of a file, as if it had been mapped as a whole. */
static inline struct object *built_object(struct spaces *spaces, const char *file)
{
	char path[4096];
	struct space_map map = { .pid = BUILT_PID, .time_ns = 1, .start = BUILT_START, .length = 1ull << 32,
				 .protection = PROT_EXEC, .name = path };
	struct space_place place;

	snprintf(path, sizeof(path), "%s%s%s", *file == '/' ? "" : built_dir, *file == '/' ? "" : "/", file);
	BUILT_CHECK(!spaces_map(spaces, &map), path);
	BUILT_CHECK(spaces_find(spaces, BUILT_PID, UINT64_MAX, BUILT_START, &place), path);
	return place.object;
}

#endif
