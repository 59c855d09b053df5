/* SPDX-License-Identifier: MIT */
/* The name and the place of a recording. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/store/internal.h"

/* ---- the name -------------------------------------------------------------------------------------- */

/* Where launchers say which process of a job this is. */
static const char *rank_of(void)
{
	static const char *const variables[] = {
		"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID",
	};
	const char *rank;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(variables); i++) {
		rank = getenv(variables[i]);
		if (rank && rank[0] && strspn(rank, "0123456789") == strlen(rank))
			return rank;
	}
	return NULL;
}

/* What stands for a letter; NULL after a message. */
static const char *expansion_of(char letter, const char *run, char *text, size_t size)
{
	const char *rank;

	switch (letter) {
	case '%':
		return "%";
	case 'p':
		snprintf(text, size, "%d", (int)getpid());
		return text;
	case 'h':
		if (gethostname(text, size))
			snprintf(text, size, "localhost");
		text[size - 1] = '\0';
		return strchr(text, '/') ? "localhost" : text;
	case 'r':
		rank = rank_of();
		if (!rank)
			error("%%r in the name of a recording: no launcher of MPI or Slurm has given a rank");
		return rank;
	case 'n':
		if (!run)
			error("%%n in the name of a recording: it is the number of a run, and there is one alone");
		return run;
	default:
		error("%%%c in the name of a recording: %%p is the process, %%h the host, %%r the rank, %%n the run, "
		      "%%%% is %%", letter);
		return NULL;
	}
}

char *store_expand(const char *pattern, const char *run)
{
	char text[256];
	const char *at, *with;
	char *name = NULL;
	size_t size;
	FILE *f = open_memstream(&name, &size);

	if (!f) {
		error("out of memory");
		return NULL;
	}
	for (at = pattern; *at; at++) {
		if (*at != '%' || !at[1]) {
			fputc(*at, f);
			continue;
		}
		with = expansion_of(*++at, run, text, sizeof(text));
		if (!with) {
			fclose(f);
			free(name);
			return NULL;
		}
		fputs(with, f);
	}
	if (fclose(f)) {
		error("out of memory");
		free(name);
		return NULL;
	}
	return name;
}

bool store_names_run(const char *pattern)
{
	for (; *pattern; pattern++)
		if (*pattern == '%' && pattern[1] && *++pattern == 'n')
			return true;
	return false;
}

/* ---- the place ------------------------------------------------------------------------------------- */

/* sqlite.org/fileformat.html: the application's id stands at byte 68, greatest byte first. */
enum store_file_kind store_kind(int fd)
{
	unsigned char head[STORE_HEADER_SIZE];
	u32 application;

	if (pread(fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) || memcmp(head, "SQLite format 3", 16) != 0)
		return STORE_FILE_NONE;
	application = (u32)head[68] << 24 | (u32)head[69] << 16 | (u32)head[70] << 8 | head[71];
	return application == STORE_APPLICATION ? STORE_FILE_RECORDING :
	       application == HISTORY_APPLICATION ? STORE_FILE_HISTORY : STORE_FILE_NONE;
}

static bool is_recording(int fd)
{
	return store_kind(fd) == STORE_FILE_RECORDING;
}

int store_is_recording(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret = 0;
	struct stat st;

	if (fd < 0)
		return error("cannot read %s: %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !is_recording(fd))
		ret = error("%s is not a recording%s", path,
			    store_kind(fd) == STORE_FILE_HISTORY ? " but a history: see sparkctl history" : "");
	close(fd);
	return ret;
}

/* A file that somebody may miss is not replaced. */
static int check_former(const char *path)
{
	struct stat st;
	bool ours;
	int fd;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : error("cannot record to %s: %s", path, strerror(errno));
	if (S_ISLNK(st.st_mode))
		return error("cannot record to %s: it is a symbolic link; name the file itself", path);
	if (S_ISDIR(st.st_mode))
		return error("cannot record to %s: it is a directory", path);
	if (!S_ISREG(st.st_mode))
		return error("cannot record to %s: it is no regular file", path);
	if (!st.st_size)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ours = fd >= 0 && is_recording(fd);
	if (fd >= 0)
		close(fd);
	return ours ? 0 : error("cannot record to %s: it is there and no recording, so it is left alone", path);
}

/* A file without a name, or with one that *name gets where the file system knows no other. -1: errno. */
static int temporary_open(const struct store_file *file, char **name)
{
	int fd = open(file->folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	*name = NULL;
	if (asprintf(name, "%s/.%.100s.%d~", file->folder, file->base, (int)getpid()) < 0) {
		*name = NULL;
		if (fd >= 0)
			close(fd);
		errno = ENOMEM;
		return -1;
	}
	if (fd >= 0)
		return fd;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL)
		return -1;
	unlink(*name);
	return open(*name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* Gives a nameless file its name; one that has it already stays as it is. */
static int temporary_link(int fd, const char *name)
{
	char self[64];
	struct stat st;

	if (fstat(fd, &st))
		return -1;
	if (st.st_nlink)
		return 0;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	unlink(name);
	return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

static int write_whole(int fd, const char *bytes, size_t size)
{
	ssize_t n;

	while (size) {
		n = write(fd, bytes, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

static int replace_failed(struct store_file *file, int err)
{
	if (file->told != err)
		error("cannot write the recording %s: %s", file->path, strerror(err));
	file->told = err;
	return -1;
}

int store_replace(struct store_file *file, const void *bytes, size_t size)
{
	char *name;
	int fd = temporary_open(file, &name), err = errno;

	if (fd >= 0) {
		err = write_whole(fd, bytes, size) || temporary_link(fd, name) || rename(name, file->path) ? errno : 0;
		if (close(fd) && !err)
			err = errno;
		if (err)
			unlink(name);
	}
	free(name);
	return err ? replace_failed(file, err) : 0;
}

int store_open(struct store_file *file, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name;
	int fd;

	*file = (struct store_file){ .path = path, .base = slash ? slash + 1 : path };
	if (!*file->base)
		return error("cannot record to '%s': that names no file", path);
	file->folder = slash == path ? strdup("/") : slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
	if (!file->folder)
		return error("out of memory");
	if (store_sqlite() || check_former(path))
		return -1;
	fd = temporary_open(file, &name);
	if (fd < 0) {
		free(name);
		return error("cannot record to %s: %s", path, strerror(errno));
	}
	close(fd);
	unlink(name);
	free(name);
	return 0;
}

void store_close(struct store_file *file)
{
	free(file->folder);
	file->folder = NULL;
}
