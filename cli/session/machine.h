/* SPDX-License-Identifier: MIT */
/* Looking at what of a machine distorts times; see analyze/machine.h. */
#ifndef CLI_SESSION_MACHINE_H
#define CLI_SESSION_MACHINE_H

#include "cli/analyze/machine.h"

/* root: what stands in front of /proc and /sys, "" but for tests. What cannot be read is not known. */
void machine_look(struct machine_look *look, const char *root);

#endif
