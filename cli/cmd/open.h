/* SPDX-License-Identifier: MIT */
/* "report --open": a report as a page in a file of its own, shown by a browser. */
#ifndef CLI_CMD_OPEN_H
#define CLI_CMD_OPEN_H

#include "cli/cmd/print.h"

/* Says where the file is, which stays, and waits for no browser. The exit status, after a message if it is not 0. */
int open_report(const struct print_options *options, const char *path);

#endif
