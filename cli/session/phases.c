/* SPDX-License-Identifier: MIT */
/* The command's end of the relay and sparkctl's; see phases.h. */
#define _GNU_SOURCE
#include "cli/session/phases.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/session/windows.h"

#define PHASES_WAIT_MS 2000        /* for a reader of the output that does not read */
#define PHASES_FIRST_MS 60000
#define DESCRIPTORS_MOST 65536     /* that may have been given to us */

/* ---- the output, as what it is --------------------------------------------------------------------- */

static int output_pipe(struct relay *relay, int *end)
{
	int ends[2], size = fcntl(STDOUT_FILENO, F_GETPIPE_SZ), flags = fcntl(STDOUT_FILENO, F_GETFL);

	if (pipe2(ends, O_CLOEXEC))
		return error("cannot make a pipe for --phase: %s", strerror(errno));
	if (size > 0)
		fcntl(ends[1], F_SETPIPE_SZ, size);
	if (flags >= 0 && flags & O_NONBLOCK)
		fcntl(ends[1], F_SETFL, O_NONBLOCK);
	relay->from = ends[0];
	*end = ends[1];
	return 0;
}

static int output_socket(struct relay *relay, int *end)
{
	int ends[2], type = 0;
	socklen_t size = sizeof(type);

	if (getsockopt(STDOUT_FILENO, SOL_SOCKET, SO_TYPE, &type, &size) || type != SOCK_STREAM)
		return error("no phases by --phase: standard output is a socket of messages; give the command a pipe, with | cat");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return error("cannot make a socket for --phase: %s", strerror(errno));
	relay->from = ends[0];
	*end = ends[1];
	return 0;
}

/* Without what the real one does to the output: that is done there. */
static int output_terminal(struct relay *relay, int *end)
{
	struct termios modes;
	struct winsize size;
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (master < 0 || grantpt(master) || unlockpt(master) ||
	    (*end = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0) {
		error("cannot make a terminal for --phase: %s; give the command a pipe, with | cat", strerror(errno));
		if (master >= 0)
			close(master);
		return -1;
	}
	if (!tcgetattr(STDOUT_FILENO, &modes)) {
		modes.c_oflag &= (tcflag_t)~OPOST;
		modes.c_lflag &= (tcflag_t)~ECHO;
		tcsetattr(*end, TCSANOW, &modes);
	}
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		ioctl(*end, TIOCSWINSZ, &size);
	relay->from = master;
	relay->terminal = true;
	return 0;
}

/* The command writes there itself. */
static int output_file(struct relay *relay, const struct stat *st)
{
	int flags = fcntl(STDOUT_FILENO, F_GETFL);
	off_t at = flags >= 0 && flags & O_APPEND ? st->st_size : lseek(STDOUT_FILENO, 0, SEEK_CUR);

	relay->to = -1;
	relay->at = at > 0 ? (u64)at : 0;
	relay->from = open("/proc/self/fd/1", O_RDONLY | O_CLOEXEC);
	if (relay->from < 0)
		return error("no phases by --phase: cannot read the file that is standard output: %s", strerror(errno));
	relay->news = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (relay->news < 0 || inotify_add_watch(relay->news, "/proc/self/fd/1", IN_MODIFY) < 0)
		return error("no phases by --phase: nothing tells of changes of the file that is standard output: %s",
			strerror(errno));
	return 0;
}

static int output_open(struct relay *relay, const struct stat *st, int *end)
{
	if (S_ISFIFO(st->st_mode))
		return output_pipe(relay, end);
	if (S_ISSOCK(st->st_mode))
		return output_socket(relay, end);
	if (S_ISREG(st->st_mode))
		return output_file(relay, st);
	if (isatty(STDOUT_FILENO))
		return output_terminal(relay, end);
	return error("no phases by --phase: standard output is a device, which programs treat in their own ways; "
		     "give the command a file or a pipe, with | cat");
}

/* Lines of both would come in another order, if only one took the detour. */
static bool error_is_output(const struct stat *st)
{
	struct stat other;

	return !fstat(STDERR_FILENO, &other) && other.st_dev == st->st_dev && other.st_ino == st->st_ino &&
	       other.st_rdev == st->st_rdev;
}

/* ---- the relay ------------------------------------------------------------------------------------- */

/* It has nothing open that somebody else waits to be closed, such as the command's ends. */
static void relay_alone(const struct relay *relay)
{
	long most = sysconf(_SC_OPEN_MAX);

	for (int fd = 0; fd < MIN(most, (long)DESCRIPTORS_MOST); fd++)
		if (fd != relay->from && fd != relay->to && fd != relay->news && fd != relay->control)
			close(fd);
}

/* A child of nobody who waits for it: it goes on as long as somebody can write. */
static int relay_start(struct relay *relay)
{
	pid_t pid = fork();

	if (!pid) {
		if (fork())
			_exit(0);
		relay_alone(relay);
		if (chdir("/"))
			_exit(0);
		relay_run(relay);
	}
	if (pid < 0)
		return error("cannot fork: %s", strerror(errno));
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

int phases_open(struct phases *phases, const regex_t *pattern)
{
	struct relay relay = { .pattern = pattern, .from = -1, .to = STDOUT_FILENO, .news = -1, .control = -1 };
	int end = -1, pair[2], ret;
	struct stat st;

	/* main() has put something in the place of one that was closed, which the command does not get. */
	if (fstat(STDOUT_FILENO, &st) || fcntl(STDOUT_FILENO, F_GETFD) & FD_CLOEXEC)
		return error("no phases by --phase: standard output is closed");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return error("cannot make a socket for --phase: %s", strerror(errno));
	phases->control = pair[0];
	relay.control = pair[1];
	ret = output_open(&relay, &st, &end);
	ret = ret ? ret : relay_start(&relay);
	close(pair[1]);
	if (relay.from >= 0)
		close(relay.from);
	if (relay.news >= 0)
		close(relay.news);
	phases->own[0] = end;
	phases->own[1] = end >= 0 && error_is_output(&st) ? fcntl(end, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
	return ret;
}

void phases_spawned(struct phases *phases)
{
	for (u32 i = 0; i < ARRAY_SIZE(phases->own); i++) {
		if (phases->own[i] >= 0)
			close(phases->own[i]);
		phases->own[i] = -1;
	}
}

void phases_close(struct phases *phases)
{
	phases_spawned(phases);
	if (phases->control >= 0)
		close(phases->control);
	phases->control = -1;
}

/* ---- windows -------------------------------------------------------------------------------------- */

static void cells_late(struct cell *cells, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (cell_has_value(&cells[i]))
			cells[i] = (struct cell){ cells[i].value, CELL_ESTIMATE, window_by_lines };
}

void phase_late(struct window_fact *fact, struct usage *usage, struct cell *snapshot)
{
	cells_late(fact->cell, WINDOW_CELLS);
	cells_late(&usage->cpu, 1);
	cells_late(usage->cell, source_cells(SOURCE_ALL));
	cells_late(snapshot, SNAPSHOT_CELLS);
}

/* The phase before ends when this one begins. */
static void phase_line(struct session *s, const char *name, size_t len, u64 ns)
{
	struct phases *p = &s->windows->phases;
	struct window_open *open = p->len ? window_find_open(s->windows, p->name, p->len) : NULL;
	u64 at = ns > s->start_ns ? ns - s->start_ns : 0;
	struct window_fact *fact;

	if (open)
		window_close_at(s, open, true, at);
	p->len = 0;
	if (!windows_begin(s, name, len))
		return;
	open = &s->windows->open[s->windows->nopen - 1];
	fact = &s->windows->list[open->number];
	fact->by_lines = true;
	fact->begin_ns = fact->from_ns = fact->to_ns = fact->end_ns = open->begin->ns = MIN(at, fact->begin_ns);
	memcpy(p->name, name, len);
	p->len = (u32)len;
}

/* ---- what it says ---------------------------------------------------------------------------------- */

/* False: there was nothing. */
static bool phases_message(struct session *s, struct phases *p, bool *done)
{
	struct phase_message message;
	ssize_t n = recv(p->control, &message, sizeof(message), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n < (ssize_t)offsetof(struct phase_message, name)) {
		/* Nobody can write any more. */
		close(p->control);
		p->control = -1;
		*done = true;
		return false;
	}
	p->missed = message.missed;
	if (!message.ns)
		*done = true;
	else
		phase_line(s, message.name, MIN(message.len, (u32)PHASE_NAME_MOST), message.ns);
	return true;
}

void phases_look(struct session *s, bool all)
{
	struct phases *p = &s->windows->phases;
	/* With the first process of a namespace the kernel ends the relay, and what it has not passed on yet is lost. */
	u64 wait_ms = getpid() == 1 ? PHASES_FIRST_MS : PHASES_WAIT_MS;
	u64 until = session_now() + wait_ms * NSEC_PER_MSEC, now;
	bool done = !all || p->control < 0 || send(p->control, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1;

	for (;;) {
		while (p->control >= 0 && phases_message(s, p, &done))
			;
		now = session_now();
		if (done || now >= until)
			break;
		poll(&(struct pollfd){ .fd = p->control, .events = POLLIN }, 1, (int)((until - now) / NSEC_PER_MSEC) + 1);
	}
	if (all && p->missed)
		warning("%llu phases came too fast to be told apart, and are parts of those before", (unsigned long long)p->missed);
	p->missed = all ? 0 : p->missed;
}
