/* SPDX-License-Identifier: MIT */
/*
 * Probing many rows at once. Each probe runs in a child of its own: some wait most of the time, as
 * the kernel takes 40 ms to close a tracepoint, and none that dies takes the others along. What
 * they find comes back in shared memory, which needs no descriptor where these are scarce.
 */
#include "cli/caps/caps.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* What became of a child: its outcome is believed when it has ended by itself. */
static struct outcome probe_finish(pid_t child, const struct outcome *found)
{
	int status;

	while (waitpid(child, &status, 0) != child)
		if (errno != EINTR)
			return outcome_no("", "the attempt can't be waited for (%s)",
				advice_errno_name(errno));
	if (WIFSIGNALED(status))
		return outcome_no("", "the attempt was ended by signal %d", WTERMSIG(status));
	return *found;
}

void caps_probe(struct caps_context *context, const bool *wanted, struct outcome *outcomes)
{
	const struct capability *row;
	struct outcome *shared;
	pid_t child[CAPS_MOST];
	size_t i, n;

	row = caps_table(&n);
	shared = mmap(NULL, n * sizeof(*shared), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < n; i++) {
		child[i] = !wanted[i] || shared == MAP_FAILED ? -1 : fork();
		if (child[i])
			continue;
		shared[i] = row[i].probe(context);
		_exit(0);
	}
	for (i = 0; i < n; i++)
		if (child[i] > 0)
			outcomes[i] = probe_finish(child[i], &shared[i]);
	/* Where no child can be had the others have set their room free by now. */
	for (i = 0; i < n; i++)
		if (wanted[i] && child[i] < 0)
			outcomes[i] = row[i].probe(context);
	if (shared != MAP_FAILED)
		munmap(shared, n * sizeof(*shared));
}

void caps_probe_all(struct caps_context *context, struct outcome *outcomes)
{
	bool wanted[CAPS_MOST];

	memset(wanted, true, sizeof(wanted));
	caps_probe(context, wanted, outcomes);
}

void caps_outlive_limit(struct sigaction *before)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGXFSZ, &ignore, before);
}
