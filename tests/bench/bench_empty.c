/* SPDX-License-Identifier: MIT */
/* A shared object with nothing in it: what any preload costs. */
extern const int bench_empty;
const int bench_empty = 1;
