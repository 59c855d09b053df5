/* SPDX-License-Identifier: MIT */
/* t_stacks with frame pointers, which the kernel follows as well. */
#include "t_stacks.c"
