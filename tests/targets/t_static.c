/* SPDX-License-Identifier: MIT */
/*
 * t_static: t_work as a statically linked program, which nothing can be preloaded into.
 */
#include "t_work.c"
