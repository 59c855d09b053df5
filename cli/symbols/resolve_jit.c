/* SPDX-License-Identifier: MIT */
/* Names of JIT code, by what its compiler wrote. In a child. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/symbols/jit_names.h"
#include "cli/symbols/resolve_build.h"

#define PART (1u << 20)              /* a line that is longer is none */

/* A map may be of any size and still grow: it is read in parts. */
static void read_map(struct jit_names *names, int fd)
{
	char *text = malloc(PART);
	size_t have = 0, used;
	off_t at = 0;
	ssize_t got;

	while (text && (got = pread(fd, text + have, PART - have, at)) > 0) {
		at += got;
		have += (size_t)got;
		used = jit_map_take(names, text, have);
		if (!used && have == PART)
			used = have;
		have -= used;
		memmove(text, text + used, have);
	}
	free(text);
}

static void read_dump(struct jit_names *names, int fd)
{
	struct stat about;
	void *bytes;

	if (fstat(fd, &about) || about.st_size <= 0)
		return;
	bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return;
	jit_dump_take(names, bytes, (size_t)about.st_size);
	munmap(bytes, (size_t)about.st_size);
}

void resolve_jit(const struct resolve_request *request, struct resolve_out *out)
{
	const struct jit *jit = &request->object->jit;
	struct jit_names names = { request->addresses, calloc(request->n, sizeof(struct jit_name)), request->n };
	struct resolve_line line;
	size_t i;

	if (!names.names)
		return;
	if (jit->map >= 0)
		read_map(&names, jit->map);
	if (jit->dump >= 0)
		read_dump(&names, jit->dump);
	for (i = 0; i < request->n; i++) {
		line = (struct resolve_line){ names.names[i].function, names.names[i].file, names.names[i].line };
		resolve_out_names(out, i, line.function ? RESOLVE_NAMED : RESOLVE_NO_MAP, &line, line.function ? 1 : 0);
	}
}
