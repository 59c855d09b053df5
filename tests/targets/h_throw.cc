/* SPDX-License-Identifier: MIT */
/* h_throw: exceptions through calls into libtcalls.so, plain, caught on the way and thrown again. Claims how many calls. */
#include <stdexcept>

extern "C" {
#include "target.h"
extern uint64_t calls_counts[4];
long calls_nothing(long x);
void calls_back(void (*function)(void *), void *argument);
}

static void throws(void *)
{
	throw std::runtime_error("out");
}

static void passes(void *)
{
	calls_back(throws, nullptr);
}

static void throws_again(void *)
{
	try {
		calls_back(passes, nullptr);
	} catch (const std::exception &) {
		throw;
	}
}

int main()
{
	int caught = 0;

	for (int i = 0; i < 1000; i++)
		try {
			calls_back(i % 2 ? throws : throws_again, nullptr);
		} catch (const std::exception &) {
			caught++;
			calls_nothing(i);
		}
	target_value("calls_nothing", (int64_t)calls_counts[0]);
	target_value("calls_back", (int64_t)calls_counts[1]);
	printf("%d caught\n", caught);
	return caught != 1000;
}
