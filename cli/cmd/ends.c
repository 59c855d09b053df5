/* SPDX-License-Identifier: MIT */
/* See ends.h. */
#include "cli/cmd/ends.h"

#include <stddef.h>

static const int signals[ENDS] = { SIGINT, SIGTERM, SIGHUP };

static volatile sig_atomic_t taken;

static void end_take(int by)
{
	taken = by;
}

void ends_take(struct ends *ends)
{
	taken = 0;
	for (size_t i = 0; i < ENDS; i++)
		if (!sigaction(signals[i], NULL, &ends->before[i]) && ends->before[i].sa_handler == SIG_DFL)
			sigaction(signals[i], &(struct sigaction){ .sa_handler = end_take, .sa_flags = SA_RESTART }, NULL);
}

void ends_give(const struct ends *ends)
{
	for (size_t i = 0; i < ENDS; i++)
		sigaction(signals[i], &ends->before[i], NULL);
}

const volatile sig_atomic_t *ends_taken(void)
{
	return &taken;
}
