/* SPDX-License-Identifier: MIT */
/* Functions that do nothing, to be called from another object: some bracketed, one not. */
#include <stdint.h>

void callee_bare(void);
void callee_bracketed(void);
void callee_other(void);
uint64_t callee_wide(double a, double b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h, uint64_t i);

void callee_bare(void)
{
	__asm__ volatile("" ::: "memory");
}

void callee_bracketed(void)
{
	__asm__ volatile("" ::: "memory");
}

void callee_other(void)
{
	__asm__ volatile("" ::: "memory");
}

uint64_t callee_wide(double a, double b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h, uint64_t i)
{
	return (uint64_t)(a + b) + c + d + e + f + g + h + i;
}
