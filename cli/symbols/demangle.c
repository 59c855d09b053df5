/* SPDX-License-Identifier: MIT */
/* See demangle.h. libiberty's own limit of depth is 2048. */
#include "cli/symbols/demangle.h"

#include <string.h>

#ifdef HAVE_LIBIBERTY
#include <libiberty/demangle.h>
#include <setjmp.h>

#define STYLE (DMGL_PARAMS | DMGL_ANSI)

struct demangle_text {
	char *at, *end;
	jmp_buf full;
};

/* It has nothing on the heap, and this is the only way to stop it. */
static void text_take(const char *bytes, size_t size, void *data)
{
	struct demangle_text *text = data;

	if (size >= (size_t)(text->end - text->at))
		longjmp(text->full, 1);
	memcpy(text->at, bytes, size);
	text->at += size;
}

bool demangle_available(void)
{
	return true;
}

const char *demangle(const char *name, char *buffer, size_t size)
{
	struct demangle_text text = { .at = buffer, .end = buffer + size };
	int done;

	if ((name[0] != '_' || (name[1] != 'Z' && name[1] != 'R')) || !size ||
	    strnlen(name, DEMANGLE_MOST) == DEMANGLE_MOST)
		return name;
	if (setjmp(text.full))
		return name;
	done = rust_demangle_callback(name, STYLE, text_take, &text);
	if (!done && name[1] == 'Z') {
		text.at = buffer;
		done = cplus_demangle_v3_callback(name, STYLE, text_take, &text);
	}
	if (!done || text.at == buffer)
		return name;
	*text.at = '\0';
	return buffer;
}

#else

bool demangle_available(void)
{
	return false;
}

const char *demangle(const char *name, char *buffer, size_t size)
{
	(void)buffer;
	(void)size;
	return name;
}

#endif
