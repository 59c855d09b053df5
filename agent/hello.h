/* SPDX-License-Identifier: MIT */
/* The conversation with sparkctl at the start of a process image. */
#ifndef SPARK_AGENT_HELLO_H
#define SPARK_AGENT_HELLO_H

#include "common/base.h"

struct wire_config;

/* CTOR. Asks for the configuration and maps the segment. 0, or -errno: stay dormant. */
int hello_say(struct wire_config *config);

/* CTOR, of a later session. The same over a socket that is connected already, and stays the caller's. */
int hello_say_on(int socket, const u8 *token, struct wire_config *config);

/*
 * CTOR. For tests: takes the answer from the socket. 0 or -errno; *memfd is the descriptor that
 * came with it, -1 without one, and the caller's in any case.
 */
int hello_receive(int fd, struct wire_config *config, int *memfd);

/* SAFE. In a forked child: asks for the rings of samples, as its parent has them (watch.h). */
void hello_rings(void);

#endif
