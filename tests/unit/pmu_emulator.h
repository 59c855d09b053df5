/* SPDX-License-Identifier: MIT */
/*
 * Hardware counters where there are none. The instruction by which a program reads one faults here; the
 * handler knows it by its bytes, gives it a value and steps over it. So what common/perf_user.h
 * has in assembly runs as it is.
 */
#ifndef TESTS_UNIT_PMU_EMULATOR_H
#define TESTS_UNIT_PMU_EMULATOR_H

#include "common/base.h"

/*
 * What counter of that index (31 on arm64: the cycle counter) has. It is called in the handler, between the
 * reader's two looks at the page, and may play the kernel there.
 */
typedef u64 (*emulator_counter)(u32 index);

/* Emulates in all threads from now on. Returns whether the instruction faults here, so that it can. */
bool emulator_start(emulator_counter counter);
void emulator_stop(void);

#endif
