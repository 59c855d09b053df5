/* SPDX-License-Identifier: MIT */
/* Long output through the program that $PAGER names, on a terminal. */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

/*
 * From here on standard output goes to the pager, if $PAGER names one and standard output is a terminal. Width and
 * colour (term.h) stay those of the terminal. Where the pager can't be started all goes on without it.
 */
void pager_start(void);
/* After all was written: waits until the pager was left. */
void pager_end(void);

#endif
