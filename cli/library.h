/* SPDX-License-Identifier: MIT */
/*
 * Libraries that few runs need are loaded when one does: in a program that is linked with them the
 * loader maps and relocates them at each start, SQLite in 0.2 ms and libpfm's tables in 0.3 ms.
 */
#ifndef CLI_LIBRARY_H
#define CLI_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

struct library_function {
	const char *name;
	void *pointer;		/* the address of a pointer to a function of that type */
};

/*
 * Loads a library for good and fills the pointers. False, without a message, where it or one of the
 * functions is not there; what is wrong then is the loader's sentence, library_problem().
 */
bool library_load(const char *soname, const struct library_function *functions, size_t n);
const char *library_problem(void);

#endif
