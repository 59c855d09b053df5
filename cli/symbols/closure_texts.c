/* SPDX-License-Identifier: MIT */
/* Texts in the files of a program and its libraries; see closure.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/symbols/closure.h"

#define PIECE ((size_t)256 << 10)
#define FILE_MOST ((off_t)1 << 30) /* bytes of a file that are looked through */

/* A piece begins with the end of the one before, as long as a text may be. */
static int file_look(int fd, char *piece, const char *const *texts, size_t n, bool *found)
{
	size_t kept = 0, have;
	off_t at = 0;
	ssize_t got = 0;

	while (at < FILE_MOST && (got = pread(fd, piece + kept, PIECE, at)) > 0) {
		have = kept + (size_t)got;
		for (size_t i = 0; i < n; i++)
			found[i] = found[i] || memmem(piece, have, texts[i], strlen(texts[i]) + 1);
		kept = MIN(have, (size_t)CLOSURE_TEXT_MOST);
		memmove(piece, piece + have - kept, kept);
		at += got;
	}
	if (got < 0)
		return -errno;
	return at >= FILE_MOST ? -EFBIG : 0;
}

int closure_texts(const struct closure *closure, const char *const *texts, size_t n, const char *skip, bool *found)
{
	char *piece = malloc(PIECE + CLOSURE_TEXT_MOST);
	int status = piece ? 0 : -ENOMEM, fd;

	for (size_t i = 0; !status && i < closure->n; i++) {
		const char *base = strrchr(closure->objects[i].path, '/');

		if (!strcmp(base ? base + 1 : closure->objects[i].path, skip))
			continue;
		fd = open(closure->objects[i].path, O_RDONLY | O_CLOEXEC);
		status = fd < 0 ? -errno : file_look(fd, piece, texts, n, found);
		if (fd >= 0)
			close(fd);
	}
	free(piece);
	return status;
}
