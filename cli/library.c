/* SPDX-License-Identifier: MIT */
/* dlopen(3) for libraries that are needed now and then; see library.h. */
#include "cli/library.h"

#include <dlfcn.h>

static const char *problem = "";

bool library_load(const char *soname, const struct library_function *functions, size_t n)
{
	void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
	size_t i;

	for (i = 0; library && i < n; i++) {
		/* POSIX has pointers to functions and to objects alike (dlsym(3)). */
		*(void **)functions[i].pointer = dlsym(library, functions[i].name);
		if (!*(void **)functions[i].pointer)
			break;
	}
	if (library && i == n)
		return true;
	problem = dlerror();
	return false;
}

const char *library_problem(void)
{
	return problem ? problem : "a function is missing";
}
