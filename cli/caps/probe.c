/* SPDX-License-Identifier: MIT */
/*
 * Probing many rows at once. Each probe runs in a child of its own: some wait most of the time, and
 * none that dies takes the others along. What they find comes back in shared memory, which needs no
 * descriptor where these are scarce. A child is not waited for when it has found out, and lets go
 * of its events when all others have too: the kernel takes 40 ms to close a tracepoint, and opens no
 * other meanwhile.
 */
#include "cli/caps/caps.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/caps/try.h"
#include "common/base.h"

#define PROBE_LOOK_NS (2 * NSEC_PER_MSEC) /* for children that died */
#define PROBE_LEAVE_NS NSEC_PER_SEC       /* of a child whose parent is gone */

struct probe_room {
	sem_t done;                     /* posted by each that has found out */
	sem_t leave;                    /* for each of them, when all have */
	struct {
		struct outcome outcome;
		u32 known;
	} row[CAPS_MOST];
};

/* Those that found out, and may still be closing what they opened. */
static pid_t leaving[CAPS_MOST];

static bool try_leaves_open;

void try_close(int fd)
{
	if (!try_leaves_open)
		close(fd);
}

static void probe_wait(sem_t *semaphore, u64 most_ns)
{
	u64 until = clock_ns(CLOCK_REALTIME) + most_ns;
	struct timespec at = { (time_t)(until / NSEC_PER_SEC), (long)(until % NSEC_PER_SEC) };

	sem_timedwait(semaphore, &at);
}

static pid_t probe_start(struct caps_context *context, const struct capability *row, struct probe_room *room,
	size_t i)
{
	pid_t child = fork();

	if (child)
		return child;
	try_leaves_open = true;
	room->row[i].outcome = row->probe(context);
	store_release(&room->row[i].known, 1);
	/* Nobody is to wait for the end of our output meanwhile. */
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	sem_post(&room->done);
	probe_wait(&room->leave, PROBE_LEAVE_NS);
	_exit(0);
}

/* Whether the outcome of a child is there, for good or bad. */
static bool probe_ended(pid_t child, const struct probe_room *room, size_t i, struct outcome *outcome)
{
	int status;
	pid_t got = waitpid(child, &status, WNOHANG);

	if (load_acquire(&room->row[i].known)) {
		*outcome = room->row[i].outcome;
		leaving[i] = got ? 0 : child;
		return true;
	}
	if (!got || (got < 0 && errno == EINTR))
		return false;
	*outcome = got < 0 ? outcome_no("", "the attempt can't be waited for (%s)", advice_errno_name(errno)) :
			     outcome_no("", "the attempt was ended by signal %d", WTERMSIG(status));
	return true;
}

void caps_probe(struct caps_context *context, const bool *wanted, struct outcome *outcomes)
{
	const struct capability *row;
	struct probe_room *room;
	pid_t child[CAPS_MOST];
	size_t i, n, left = 0;

	row = caps_table(&n);
	caps_reap(true);
	room = mmap(NULL, sizeof(*room), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (room != MAP_FAILED) {
		sem_init(&room->done, 1, 0);
		sem_init(&room->leave, 1, 0);
	}
	for (i = 0; i < n; i++) {
		child[i] = !wanted[i] || room == MAP_FAILED ? -1 : probe_start(context, &row[i], room, i);
		left += child[i] > 0;
	}
	while (left) {
		probe_wait(&room->done, PROBE_LOOK_NS);
		for (i = 0; i < n; i++)
			if (child[i] > 0 && probe_ended(child[i], room, i, &outcomes[i])) {
				child[i] = 0;
				left--;
			}
	}
	for (i = 0; i < n && room != MAP_FAILED; i++)
		sem_post(&room->leave);
	/* Where no child could be had, in the room that the others have set free. */
	for (i = 0; i < n; i++)
		if (wanted[i] && child[i] < 0) {
			caps_reap(true);
			outcomes[i] = row[i].probe(context);
		}
	if (room != MAP_FAILED)
		munmap(room, sizeof(*room));
}

void caps_reap(bool wait)
{
	for (size_t i = 0; i < CAPS_MOST; i++)
		if (leaving[i] && waitpid(leaving[i], NULL, wait ? 0 : WNOHANG))
			leaving[i] = 0;
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
