/* SPDX-License-Identifier: MIT */
/* See traced.h. */
#define _GNU_SOURCE
#include "cli/cmd/traced.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd/cmd.h"
#include "cli/log.h"
#include "cli/output/chrome_trace.h"

#define BUFFER (256u << 10)

int traced_open(const char *path, FILE **file)
{
	int fd;

	*file = NULL;
	if (!path)
		return 0;
	if (!strcmp(path, "-")) {
		*file = stdout;
		return 0;
	}
	/* Tried before the run, emptied when there is a trace: an older one may be in it. */
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	*file = fd < 0 ? NULL : fdopen(fd, "w");
	if (*file)
		setvbuf(*file, NULL, _IOFBF, BUFFER);
	return *file ? 0 : (error("cannot write the trace to %s: %s", path, strerror(errno)), STATUS_FAILURE);
}

int traced_write(const char *path, FILE *file, const struct session *session)
{
	int err, failed;

	if (!file)
		return 0;
	if (file != stdout && ftruncate(fileno(file), 0) && errno != EINVAL)
		verbose(1, "cannot empty %s: %s", path, strerror(errno));
	err = chrome_trace_write(file, session_trace(session), session_facts(session));
	failed = fflush(file) || ferror(file);
	failed |= file != stdout && fclose(file);
	return err || !failed ? err : error("cannot write the trace to %s: %s", path, strerror(errno));
}
