/* SPDX-License-Identifier: MIT */
/*
 * Fixed-width types, alignment, atomics and the tick clock: what every file of both parts needs.
 *
 * Only this header and the per-architecture files may test for an architecture. Everything here is
 * async-signal-safe and makes no system call, except that clock_gettime() may where there is no
 * vDSO.
 */
#ifndef SPARK_COMMON_BASE_H
#define SPARK_COMMON_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define ALIGN_UP(x, a) (((x) + (a) - 1) & ~((a) - 1))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_USEC 1000ULL

/* Keeps the compiler from moving memory accesses across; the CPU order is the kernel's or x86's matter. */
#define barrier() __asm__ volatile("" ::: "memory")

#define load_relaxed(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define fetch_add(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define exchange(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQ_REL)
#define compare_exchange(p, expected, v) \
	__atomic_compare_exchange_n((p), (expected), (v), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

/* Nanoseconds of a clock of clock_gettime(2); 0 if the kernel does not know the clock. */
static inline u64 clock_ns(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts) != 0)
		return 0;
	return (u64)ts.tv_sec * NSEC_PER_SEC + (u64)ts.tv_nsec;
}

/*
 * The CPU's own time stamp. x86-64: TSC, unfenced: a fence costs as much again and moves a region's
 * edge by less than the resolution (Intel SDM vol. 2, RDTSC). arm64: the generic timer's virtual
 * count, readable from EL0 on Linux (Arm ARM, CNTVCT_EL0). Elsewhere the vDSO clock.
 */
static inline u64 cpu_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	u64 t;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
#else
	return clock_ns(CLOCK_MONOTONIC_RAW);
#endif
}

#endif
