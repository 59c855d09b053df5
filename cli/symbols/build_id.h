/* SPDX-License-Identifier: MIT */
/* Build ids of ELF files: what tells one build of a program from another. */
#ifndef CLI_SYMBOLS_BUILD_ID_H
#define CLI_SYMBOLS_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>

/* Twice the bytes of the longest id that linkers make (SHA-512), and the end. */
#define BUILD_ID_TEXT 129

/*
 * The id of an open file as hexadecimal digits. False: the file is no ELF file, has none, or libelf was not there
 * when sparkctl was built. The descriptor stays open.
 */
bool build_id_read(int fd, char text[BUILD_ID_TEXT]);

#endif
