/* SPDX-License-Identifier: MIT */
/* Reading the saved ids of tracepoints; see ids.h. Nothing of another kernel is believed: it counts else. */
#define _GNU_SOURCE
#include "cli/caps/ids.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base.h"

#define IDS_MAGIC "spark-tracepoints "
#define IDS_VERSION "1"
#define IDS_WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

enum { IDS_BYTES_MOST = 4 << 20, IDS_WORD_MOST = 128 };

const char *ids_path(const struct caps_context *context)
{
	const char *other = context->root[0] ? NULL : secure_getenv("SPARK_TRACEPOINTS");

	return other && *other ? other : "/var/cache/spark/tracepoints";
}

/* FNV-1a. */
static u64 ids_hash(const char *text)
{
	u64 hash = 0xcbf29ce484222325ULL;

	for (; *text; text++)
		hash = (hash ^ (u8)*text) * 0x100000001b3ULL;
	return hash;
}

/* /proc/version has the release, the compiler, and when and by whom the kernel was built. */
int ids_header(const struct caps_context *context, char *text, size_t size)
{
	char version[1024], release[128];
	long got = facts_read(context, "/proc/version", version, sizeof(version));

	if (got > 0)
		got = facts_read(context, "/proc/sys/kernel/osrelease", release, sizeof(release));
	if (got <= 0)
		return got ? (int)got : -ENODATA;
	release[strcspn(release, " \n")] = '\0';
	snprintf(text, size, IDS_MAGIC IDS_VERSION " %s %016llx", release, (unsigned long long)ids_hash(version));
	return 0;
}

/* What the first line of another file is. */
static int ids_refuse(const char *line, const char *header, char *wrong, size_t room)
{
	const size_t magic = strlen(IDS_MAGIC), head = magic + strlen(IDS_VERSION " ");
	size_t len = strlen(line), release;

	if (strncmp(line, IDS_MAGIC, magic) != 0) {
		snprintf(wrong, room, "is no list of tracepoints");
		return -1;
	}
	if (strncmp(line, header, head) != 0) {
		snprintf(wrong, room, "was written by another version of sparkctl");
		return -1;
	}
	release = strspn(line + head, IDS_WORD ".+~");
	if (!release || release > 64 || line[head + release] != ' ' || head + release + 17 != len)
		snprintf(wrong, room, "is damaged in line 1");
	else if (!strncmp(line, header, head + release + 1))
		snprintf(wrong, room, "is of another build of this kernel");
	else
		snprintf(wrong, room, "is of another kernel, %.*s", (int)release, line + head);
	return -1;
}

/* Cuts a word off that ends with that mark. NULL: it is none. */
static char *ids_cut(char **at, char mark)
{
	char *word = *at;
	size_t len = strspn(word, IDS_WORD);

	if (!len || len > IDS_WORD_MOST || word[len] != mark)
		return NULL;
	word[len] = '\0';
	*at = word + len + 1;
	return word;
}

/* "system:name id" and a newline. */
static bool ids_cut_row(char **at)
{
	const char *number;

	if (!ids_cut(at, ':') || !ids_cut(at, ' '))
		return false;
	number = ids_cut(at, '\n');
	return number && strlen(number) < 10 && !number[strspn(number, "0123456789")] && number[0] != '0';
}

int ids_parse(struct ids *ids, char *text, size_t size, const char *header, char *wrong, size_t room)
{
	char *at = memchr(text, '\n', size);
	size_t line = 1;

	if (!at) {
		snprintf(wrong, room, "is no list of tracepoints");
		return -1;
	}
	*at++ = '\0';
	if (strcmp(text, header) != 0)
		return ids_refuse(text, header, wrong, room);
	*ids = (struct ids){ .text = text, .rows = at, .end = text + size };
	while (at < ids->end) {
		line++;
		if (!ids_cut_row(&at)) {
			snprintf(wrong, room, "is damaged in line %zu", line);
			return -1;
		}
	}
	return 0;
}

bool ids_next(const struct ids *ids, const char **at, struct ids_row *row)
{
	*at = *at ? *at : ids->rows;
	if (*at >= ids->end)
		return false;
	row->system = *at;
	row->name = row->system + strlen(row->system) + 1;
	*at = row->name + strlen(row->name) + 1;
	row->id = (unsigned int)strtoul(*at, NULL, 10);
	*at += strlen(*at) + 1;
	return true;
}

unsigned int ids_find(const struct ids *ids, const char *system, const char *name)
{
	const char *at = NULL;
	struct ids_row row;

	while (ids_next(ids, &at, &row))
		if (!strcmp(row.system, system) && !strcmp(row.name, name))
			return row.id;
	return 0;
}

void ids_fini(struct ids *ids)
{
	free(ids->text);
	*ids = (struct ids){ .text = NULL };
}

/* Who else could have written there. Below another root files are the test's own. */
static const char *ids_distrust(const struct caps_context *context, const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "is no regular file";
	if (st->st_uid != (context->root[0] ? context->uid : 0))
		return "is not root's";
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return "can be written by others than root";
	return st->st_size > IDS_BYTES_MOST ? "is too large" : NULL;
}

/* A file that is to be believed. -1 with what is wrong; that is "" where there is none. */
static int ids_open(const struct caps_context *context, size_t *size, char *wrong, size_t room)
{
	char full[PATH_MAX];
	const char *distrust;
	struct stat st;
	int fd;

	snprintf(full, sizeof(full), "%s%s", context->root, ids_path(context));
	wrong[0] = '\0';
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0) {
		if (errno != ENOENT)
			snprintf(wrong, room, "cannot be read (%s)", advice_errno_name(errno));
		return -1;
	}
	distrust = fstat(fd, &st) ? "cannot be read" : ids_distrust(context, &st);
	if (distrust) {
		snprintf(wrong, room, "%s", distrust);
		close(fd);
		return -1;
	}
	*size = (size_t)st.st_size;
	return fd;
}

/* 0; or -1 with what is wrong, "" where there is no file. */
static int ids_read(const struct caps_context *context, struct ids *ids, char *wrong, size_t room)
{
	char header[256], *text;
	size_t size;
	int fd = ids_open(context, &size, wrong, room), err = ids_header(context, header, sizeof(header));
	ssize_t got;

	if (fd < 0)
		return -1;
	text = malloc(size + 1);
	got = text ? read(fd, text, size) : -1;
	close(fd);
	if (got < 0 || err) {
		snprintf(wrong, room, err ? "cannot be told from that of another kernel" : "cannot be read");
		free(text);
		return -1;
	}
	text[got] = '\0';
	if (ids_parse(ids, text, (size_t)got, header, wrong, room) == 0)
		return 0;
	free(text);
	return -1;
}

int ids_load(const struct caps_context *context, struct ids *ids, struct outcome *why)
{
	struct outcome closed = *why;
	char wrong[128];

	if (ids_read(context, ids, wrong, sizeof(wrong)) == 0)
		return 0;
	*ids = (struct ids){ .text = NULL };
	if (wrong[0])
		*why = outcome_no(IDS_COMMAND, "%.100s, and %.60s %s", closed.because, ids_path(context), wrong);
	return -1;
}

void ids_lack(struct outcome *why, const char *mount, const char *name)
{
	struct outcome closed = *why;

	*why = outcome_no("", "%.120s, and the saved ids, of the kernel without modules, have no %.60s",
		closed.because, name);
	if (mount)
		advice_remount(mount, why->remedy, sizeof(why->remedy));
}
