/* SPDX-License-Identifier: MIT */
/* Names of C++ (Itanium ABI) and Rust (legacy and v0) as they were written. */
#ifndef CLI_SYMBOLS_DEMANGLE_H
#define CLI_SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* The longest names, mangled and not, that are decoded. */
#define DEMANGLE_MOST 4096

/* This build can. */
bool demangle_available(void);

/*
 * The readable form, in the buffer; or the name itself where it is of another kind, damaged, too long or too deep, or
 * the form has no room. A few lines of a name can stand for any amount of text: what is written stops at the room.
 */
const char *demangle(const char *name, char *buffer, size_t size);

#endif
