/* SPDX-License-Identifier: MIT */
/* Standard input of several runs: each reads a file from where the first did; what is in a pipe is read once. */
#ifndef CLI_CMD_INPUT_H
#define CLI_CMD_INPUT_H

#include <stdbool.h>
#include <sys/types.h>

struct input {
	bool file;                   /* one that can be read again */
	off_t at;                    /* of that: where it is to be read from */
	int waiting;                 /* bytes in a pipe or socket before the first run; 0: none, or it is another thing */
};

/* Before the first run. */
void input_keep(struct input *input);
/* Before each run. */
void input_rewind(const struct input *input);
/* Afterwards: some run took what was there before the first one, and no other has found that. */
bool input_gone(const struct input *input);

#endif
