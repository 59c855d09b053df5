/* SPDX-License-Identifier: MIT */
/*
 * Static probes of ELF files (sys/sdt.h of systemtap, .note.stapsdt): places in the code where a program does nothing
 * until somebody looks.
 */
#ifndef CLI_SYMBOLS_SDT_H
#define CLI_SYMBOLS_SDT_H

#include "cli/symbols/elf_file.h"

struct sdt {
	const char *provider, *name, *arguments;
	u64 offset;                  /* in the file, of the place */
	u64 semaphore;               /* in the file, of what counts those who look; 0: none */
};

/* All in the file's order. Stops when the callback returns non-zero, and returns that; else 0, -ENOEXEC or -ENOMEM. */
int sdt_each(int fd, int (*each)(void *data, const struct sdt *sdt), void *data);

#endif
