/* SPDX-License-Identifier: MIT */
/* See storage.h. What sysfs does not have, or keeps from us, is not known, with the reason; nothing of it is an error. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/session/storage_build.h"

struct storage_text {
	struct storage_text *next;
	char text[];
};

const char *storage_keep(struct storage *s, const char *text)
{
	struct storage_text *kept = text ? malloc(sizeof(*kept) + strlen(text) + 1) : NULL;

	if (!kept)
		return NULL;
	strcpy(kept->text, text);
	kept->next = s->texts;
	s->texts = kept;
	return kept->text;
}

const char *storage_keep_format(struct storage *s, const char *format, ...)
{
	char text[2 * PATH_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return storage_keep(s, text);
}

struct storage_path *storage_path_new(struct storage *s, const char *path, const char *role)
{
	struct storage_path *grown = realloc(s->fact.paths, (s->fact.npaths + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	s->fact.paths = grown;
	grown += s->fact.npaths++;
	*grown = (struct storage_path){ .path = storage_keep(s, path), .role = role };
	return grown;
}

long storage_add(struct storage *s, const char *path, const char *role)
{
	struct storage_path *added = storage_path_new(s, path, role);
	struct storage_place place;

	if (!added)
		return -1;
	if (storage_place(s, path, &place))
		storage_devices(s, added, &place, 0);
	else
		added->because = storage_keep_format(s, "%s", strerror(errno));
	return (long)s->fact.npaths - 1;
}

long storage_add_at(struct storage *s, const char *path, const char *role, u64 mount, u64 major, u64 minor)
{
	struct storage_path *added = storage_path_new(s, path, role);

	if (!added)
		return -1;
	storage_devices(s, added, &(struct storage_place){ .mount = mount, .major = major, .minor = minor }, 0);
	return (long)s->fact.npaths - 1;
}

bool storage_behind(const struct storage_path *path, char *why, size_t size)
{
	static const char *const servers[] = { "nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "ceph" };

	if (path->type && !strcmp(path->type, "zfs")) {
		snprintf(why, size, "zfs has a cache of its own (ARC), which may have it");
		return true;
	}
	for (size_t i = 0; path->type && i < ARRAY_SIZE(servers); i++)
		if (!strcmp(path->type, servers[i])) {
			snprintf(why, size, "whoever serves this %s may have it in memory", path->type);
			return true;
		}
	for (size_t i = 0; i < path->ndevices; i++)
		if (path->devices[i].kind && !strcmp(path->devices[i].kind, "loop") && path->devices[i].direct != 1) {
			snprintf(why, size, "the file behind %s may be in memory", path->devices[i].name ? path->devices[i].name : "it");
			return true;
		}
	return false;
}

/* ---- the machine ----------------------------------------------------------------------------------- */

struct storage *storage_new(const struct caps_context *caps, const struct storage_asked *asked)
{
	struct storage *s = calloc(1, sizeof(*s));
	char text[8192], swaps[1024];

	if (!s)
		return NULL;
	s->caps = caps;
	s->fact.io_model = asked->io_model;
	s->fact.looks = -1;
	s->fact.page_size = sysconf(_SC_PAGESIZE);
	s->fact.huge_pages = storage_read_chosen(s, "/sys/kernel/mm/transparent_hugepage", "enabled");
	if (facts_read(caps, "/proc/swaps", text, sizeof(text)) > 0) {
		storage_swaps(text, swaps, sizeof(swaps));
		s->fact.swap = storage_keep(s, swaps);
	}
	return s;
}

const struct storage_fact *storage_facts(const struct storage *storage)
{
	return &storage->fact;
}

void storage_free(struct storage *s)
{
	struct storage_text *next;

	if (!s)
		return;
	for (size_t i = 0; i < s->fact.npaths; i++)
		free(s->fact.paths[i].devices);
	free(s->fact.paths);
	storage_opened_free(s->opened);
	for (; s->texts; s->texts = next) {
		next = s->texts->next;
		free(s->texts);
	}
	free(s);
}
