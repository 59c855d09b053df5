/* SPDX-License-Identifier: MIT */
/* The report of a recording: what was not asked for is as the run had it. */
#ifndef CLI_CMD_RECORDED_H
#define CLI_CMD_RECORDED_H

#include "cli/cmd/print.h"
#include "cli/store/store.h"

/* facts: the recording's, or what is made of them. The exit status, after a message if it is not 0. */
int recorded_print(const struct print_options *given, const struct output *format, FILE *file,
		   const struct recording *recording, const struct session_facts *facts);

#endif
