/* SPDX-License-Identifier: MIT */
/* libtcalls.so: functions to be called from another object. Each counts its calls. */
#include <errno.h>
#include <stdint.h>

long calls_nothing(long x);
void calls_back(void (*function)(void *), void *argument);
long calls_recurse(long depth, long (*function)(long));
int calls_errno(int set);

uint64_t calls_counts[4];

static void count(int which)
{
	__atomic_add_fetch(&calls_counts[which], 1, __ATOMIC_RELAXED);
}

long calls_nothing(long x)
{
	count(0);
	return x + 1;
}

void calls_back(void (*function)(void *), void *argument)
{
	count(1);
	function(argument);
}

long calls_recurse(long depth, long (*function)(long))
{
	count(2);
	return depth > 0 ? 1 + function(depth - 1) : 1;
}

int calls_errno(int set)
{
	int was = errno;

	count(3);
	errno = set;
	return was;
}
