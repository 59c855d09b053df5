/* SPDX-License-Identifier: MIT */
/* Showing a page in a browser; see open.h. */
#include "cli/cmd/open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cmd/recorded.h"
#include "cli/log.h"

/* The words of $BROWSER are programs to be tried; what is more than a program's name xdg-open understands. */
static void open_exec(const char *page)
{
	const char *browsers = getenv("BROWSER");
	char *list = strdup(browsers ? browsers : ""), *rest = list, *one;

	while (list && (one = strsep(&rest, ":")))
		if (*one)
			execlp(one, one, page, (char *)NULL);
	execlp("xdg-open", "xdg-open", page, (char *)NULL);
}

/* A process of nobody's, without a terminal: it may outlive this one. Ends by telling why it could not begin. */
static _Noreturn void open_detached(const char *page, int tell)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), err;
	pid_t pid = fork();

	if (pid < 0) {
		err = errno;
		(void)!write(tell, &err, sizeof(err));
	}
	if (pid != 0)
		_exit(0);
	setsid();
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	open_exec(page);
	err = errno;
	(void)!write(tell, &err, sizeof(err));
	_exit(127);
}

/* Whether a program has begun to show the page. */
static bool open_browser(const char *page)
{
	int ends[2], err;
	pid_t pid;
	bool begun;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		open_detached(page, ends[1]);
	close(ends[1]);
	begun = pid > 0 && read(ends[0], &err, sizeof(err)) == 0;
	close(ends[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return begun;
}

/* Of this user alone: it has names of the program's. NULL after a message. */
static FILE *open_page(char *page, size_t size)
{
	const char *folder = getenv("TMPDIR");
	FILE *file;
	int fd;

	snprintf(page, size, "%s/spark-report-XXXXXX.html", folder && *folder == '/' ? folder : "/tmp");
	fd = mkostemps(page, (int)strlen(".html"), O_CLOEXEC);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file)
		error("cannot make a file for the page: %s: %s", page, strerror(errno));
	return file;
}

static void open_show(const char *page)
{
	const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
	bool display = (x && *x) || (wayland && *wayland);

	if (display && open_browser(page))
		printf("the page is %s, which a browser was asked to open\n", page);
	else
		printf("the page is %s: %s\n", page,
		       display ? "neither $BROWSER nor xdg-open could be started" : "there is no display here to open it on");
}

int open_report(const struct print_options *options, const char *path)
{
	struct recording *recording = recording_read(path);
	char page[PATH_MAX];
	FILE *file = recording ? open_page(page, sizeof(page)) : NULL;
	int status = file ? recorded_print(options, output_find("html"), file, recording, &recording->facts) : STATUS_FAILURE;

	recording_free(recording);
	if (file && fclose(file) != 0 && !status) {
		error("cannot write %s: %s", page, strerror(errno));
		status = STATUS_FAILURE;
	}
	if (!status)
		open_show(page);
	else if (file)
		unlink(page);
	return status;
}
