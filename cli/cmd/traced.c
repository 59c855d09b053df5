/* SPDX-License-Identifier: MIT */
/* See traced.h. */
#define _GNU_SOURCE
#include "cli/cmd/traced.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd/cmd.h"
#include "cli/log.h"
#include "cli/output/chrome_trace.h"

#define BUFFER (256u << 10)

static int traced_failed(const char *path)
{
	return error("cannot write the trace to %s: %s", path, strerror(errno));
}

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
	if (!*file) {
		traced_failed(path);
		return STATUS_FAILURE;
	}
	setvbuf(*file, NULL, _IOFBF, BUFFER);
	return 0;
}

int traced_write(const char *path, FILE *file, const struct session *session)
{
	int err;

	if (!file)
		return 0;
	if (file != stdout && ftruncate(fileno(file), 0) && errno != EINVAL)
		verbose(1, "cannot empty %s: %s", path, strerror(errno));
	err = chrome_trace_write(file, session_trace(session), session_facts(session));
	if (!err && (fflush(file) || ferror(file)))
		err = traced_failed(path);
	return err;
}

int traced_close(const char *path, FILE *file)
{
	return file && file != stdout && fclose(file) ? traced_failed(path) : 0;
}

int marker_files_open(const char *folder, struct samply_moment *before)
{
	struct stat st;

	*before = samply_moment();
	if (!folder || !mkdir(folder, 0777))
		return 0;
	if (errno != EEXIST)
		error("cannot make the folder %s for marker files: %s", folder, strerror(errno));
	else if (stat(folder, &st) || !S_ISDIR(st.st_mode))
		error("--samply-markers takes a folder, and %s is none", folder);
	else if (access(folder, W_OK | X_OK))
		error("cannot write to the folder %s: %s", folder, strerror(errno));
	else
		return 0;
	return STATUS_FAILURE;
}

int marker_files_write(const char *folder, const struct samply_moment *before, const struct session *session)
{
	return folder ? samply_markers_write(folder, session_trace(session), session_facts(session), before) : 0;
}
