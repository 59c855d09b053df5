/* SPDX-License-Identifier: MIT */
/* Lists of CPUs as the kernel writes them. */
#ifndef CLI_SESSION_CPUS_H
#define CLI_SESSION_CPUS_H

#include <sched.h>

/* "0-7,16". 0, -EINVAL, or -ERANGE. */
int cpus_parse(const char *list, cpu_set_t *set);

#endif
