/* SPDX-License-Identifier: MIT */
/* Signals that ask for an end between the runs of a command: kept, so that what was measured is reported. */
#ifndef CLI_CMD_ENDS_H
#define CLI_CMD_ENDS_H

#include <signal.h>

enum { ENDS = 3 };

struct ends {
	struct sigaction before[ENDS];
};

/* While a command runs its session has them. exec(2) drops handlers. */
void ends_take(struct ends *ends);
void ends_give(const struct ends *ends);
/* The last of them since ends_take(), SIGINT for one; 0: there was none. */
const volatile sig_atomic_t *ends_taken(void);

#endif
