/* SPDX-License-Identifier: MIT */
/*
 * Pairs of static probes for regions: from [FILE:]PROVIDER:NAME or [FILE:]PROVIDER:BEGIN..END to places in the code of
 * the program and its libraries. Where no pair is given, it is by what names end with.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/names/internal.h"
#include "cli/symbols/closure.h"
#include "cli/symbols/sdt.h"
#include "common/wire_calls.h"

static const char *const sdt_ends[][2] = {
	{ "__entry", "__return" }, { "__begin", "__end" }, { "__start", "__done" }, { "__start", "__end" },
	{ "_entry", "_return" }, { "_begin", "_end" }, { "_start", "_done" }, { "_start", "_end" }, { "_start", "_complete" },
};

#define LOOKS_MOST 4096u               /* for ends, each through all notes of a file */

struct sdt_search {
	struct probe_list *list;
	char *file;                  /* NULL: the program and its libraries */
	char *provider, *begin;
	char *end_provider, *end;    /* NULL: by sdt_ends */
	char *region;                /* NULL: by the names */
	const char *path;            /* that is looked at */
	const char *want_provider, *want; /* probes to take as the other ends of a region */
	u32 at;                      /* that region, in the list */
	u32 probes, found, looks;
};

/* ---- sites ----------------------------------------------------------------------------------------- */

static int site_add(struct probe *probe, const struct sdt *sdt, bool ends)
{
	struct probe_site *grown = realloc(probe->site, (probe->nsites + 1) * sizeof(*grown));

	if (!grown)
		return error("out of memory");
	probe->site = grown;
	grown[probe->nsites++] = (struct probe_site){ sdt->offset, sdt->semaphore, ends };
	return 0;
}

static int end_match(void *data, const struct sdt *sdt)
{
	struct sdt_search *s = data;

	if (strcmp(sdt->provider, s->want_provider) != 0 || strcmp(sdt->name, s->want) != 0)
		return 0;
	return site_add(&s->list->probe[s->at], sdt, true);
}

static struct probe *region_find(struct probe_list *list, const char *path, const char *name)
{
	for (u32 i = 0; i < list->n; i++)
		if (list->probe[i].nsites && !strcmp(list->probe[i].name, name) && !strcmp(list->probe[i].path, path))
			return &list->probe[i];
	return NULL;
}

/* A place ends one region, and begins one. */
static bool begins_already(const struct sdt_search *s, const struct sdt *sdt)
{
	for (u32 i = 0; i < s->list->n; i++)
		for (u32 k = 0; k < s->list->probe[i].nsites; k++)
			if (!s->list->probe[i].site[k].ends && s->list->probe[i].site[k].offset == sdt->offset &&
			    !strcmp(s->list->probe[i].path, s->path))
				return true;
	return false;
}

static struct probe *region_add(struct probe_list *list, const char *path, const char *name)
{
	u32 room = list->room ? 2 * list->room : 8;
	struct probe *grown;

	if (list->n == PROBES_MOST)
		return error("more than %u functions and pairs for probes", PROBES_MOST), NULL;
	if (list->n == list->room) {
		grown = realloc(list->probe, room * sizeof(*grown));
		if (!grown)
			return error("out of memory"), NULL;
		list->probe = grown;
		list->room = room;
	}
	grown = &list->probe[list->n++];
	*grown = (struct probe){ .name = strdup(name), .path = strdup(path) };
	return grown->name && grown->path ? grown : (error("out of memory"), NULL);
}

/* A region of this begin, whose end is the other name; one of several places has been met before. */
static int region_begin(struct sdt_search *s, const struct sdt *sdt, const char *provider, const char *end,
			const char *name)
{
	struct probe *probe = region_find(s->list, s->path, name);
	int fd, ret;

	if (begins_already(s, sdt)) {
		s->found++;
		return 0;
	}
	if (probe) {
		s->found++;
		return site_add(probe, sdt, false);
	}
	if (s->looks++ == LOOKS_MOST)
		return error("%s has too many static probes that begin something: name fewer of them", s->path);
	probe = region_add(s->list, s->path, name);
	if (!probe || site_add(probe, sdt, false))
		return -1;
	s->at = s->list->n - 1;
	s->want_provider = provider;
	s->want = end;
	fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ret = fd < 0 ? error("cannot open %s: %s", s->path, strerror(errno)) : sdt_each(fd, end_match, s);
	if (fd >= 0)
		close(fd);
	probe = &s->list->probe[s->at];
	if (!ret && probe->nsites > 1) {
		s->found++;
		return 0;
	}
	probe_free(probe);
	s->list->n--;
	return ret;
}

/* ---- what is asked for ----------------------------------------------------------------------------- */

static int pair_by_names(struct sdt_search *s, const struct sdt *sdt)
{
	size_t length = strlen(sdt->name);
	int ret = 0;

	for (u32 i = 0; !ret && i < ARRAY_SIZE(sdt_ends); i++) {
		size_t suffix = strlen(sdt_ends[i][0]);
		char *stem = NULL, *end = NULL, *name = NULL;
		u32 before = s->found;

		if (length <= suffix || strcmp(sdt->name + length - suffix, sdt_ends[i][0]) != 0)
			continue;
		if (asprintf(&stem, "%.*s", (int)(length - suffix), sdt->name) < 0 ||
		    asprintf(&end, "%s%s", stem, sdt_ends[i][1]) < 0 ||
		    asprintf(&name, "%s:%s", sdt->provider, stem) < 0)
			ret = error("out of memory");
		else if (call_pattern_matches(s->begin, stem) || call_pattern_matches(s->begin, sdt->name))
			ret = region_begin(s, sdt, sdt->provider, end, s->region ? s->region : name);
		free(stem);
		free(end);
		free(name);
		if (s->found > before)
			break;
	}
	return ret;
}

static int pair_given(struct sdt_search *s, const struct sdt *sdt)
{
	char *name = NULL;
	size_t same = 0;
	int ret;

	while (sdt->name[same] && sdt->name[same] == s->end[same])
		same++;
	while (same && sdt->name[same - 1] == '_')
		same--;
	if (asprintf(&name, "%s:%.*s", sdt->provider, (int)(same ? same : strlen(sdt->name)), sdt->name) < 0)
		return error("out of memory");
	ret = region_begin(s, sdt, s->end_provider, s->end, s->region ? s->region : name);
	free(name);
	return ret;
}

static int begin_match(void *data, const struct sdt *sdt)
{
	struct sdt_search *s = data;

	s->probes++;
	if (!call_pattern_matches(s->provider, sdt->provider))
		return 0;
	if (!s->end)
		return pair_by_names(s, sdt);
	return strcmp(sdt->name, s->begin) == 0 ? pair_given(s, sdt) : 0;
}

static int sdt_look(struct sdt_search *s, const char *path, bool must)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret;

	if (fd < 0)
		return must ? error("cannot open %s: %s", path, strerror(errno)) : 0;
	s->path = path;
	ret = sdt_each(fd, begin_match, s);
	close(fd);
	if (ret == -ENOEXEC)
		return must ? error("%s is no ELF file", path) : 0;
	return ret == -ENOMEM ? error("out of memory") : ret;
}

/* In place. False: it is not in the form. */
static bool sdt_parse(struct sdt_search *s, char *text)
{
	char *equals = strrchr(text, '='), *dots, *colon;

	if (equals) {
		*equals = '\0';
		s->region = equals + 1;
	}
	colon = strrchr(text, ':');
	dots = strstr(text, "..");
	while (dots && (strchr(dots, '/') || dots == text))
		dots = strstr(dots + 1, "..");
	if (dots) {
		*dots = '\0';
		s->end = dots + 2;
		colon = strchr(s->end, ':');
		s->end_provider = colon ? s->end : NULL;
		if (colon) {
			*colon = '\0';
			s->end = colon + 1;
		}
		colon = strrchr(text, ':');
	}
	if (!colon || colon == text || !colon[1] || (s->region && !*s->region) || (s->end && !*s->end))
		return false;
	*colon = '\0';
	s->begin = colon + 1;
	colon = strrchr(text, ':');
	s->provider = colon ? colon + 1 : text;
	s->file = colon ? text : NULL;
	if (colon)
		*colon = '\0';
	s->end_provider = s->end_provider ? s->end_provider : s->provider;
	return *s->provider && (!s->file || *s->file) && !(s->end && strpbrk(s->begin, "*?"));
}

static int sdt_libraries(struct sdt_search *s, const char *program)
{
	struct closure closure;
	int ret = 0, status = closure_open(&closure, program);

	/* One that is static has none. */
	if (status)
		return sdt_look(s, program, true);
	for (size_t i = 0; !ret && i < closure.n; i++)
		ret = sdt_look(s, closure.objects[i].path, !i);
	closure_close(&closure);
	return ret;
}

/* Where a count of those who look is to be raised while we do. */
static int sdt_semaphores(struct names_context *context, struct probe_list *list)
{
	const struct names_pmu *pmu = names_find_pmu(context, "uprobe");
	struct names_format format;
	bool wanted = false;

	for (u32 i = 0; i < list->n; i++)
		for (u32 k = 0; k < list->probe[i].nsites; k++)
			wanted = wanted || list->probe[i].site[k].semaphore;
	if (!wanted)
		return 0;
	if (!pmu || pmu_format_read(context, pmu, "ref_ctr_offset", &format) <= 0 || format.word || !format.bits)
		return error("this kernel cannot raise the semaphores that these static probes have (Linux 4.20)");
	list->semaphore_shift = (u32)__builtin_ctzll(format.bits);
	return 0;
}

int names_sdt(struct names_context *context, const char *text, const char *program, struct probe_list *list)
{
	struct sdt_search s = { .list = list };
	char *copy = strdup(text);
	int ret = copy ? 0 : error("out of memory");

	if (!ret && !sdt_parse(&s, copy))
		ret = error("--sdt takes [FILE:]PROVIDER:NAME or [FILE:]PROVIDER:BEGIN..END, "
			    "with =REGION behind it for another name");
	if (!ret && !s.file && !program)
		ret = error("the command was not found, whose static probes '%s' would be", text);
	ret = ret ? ret : s.file ? sdt_look(&s, s.file, true) : sdt_libraries(&s, program);
	if (!ret && !s.found)
		ret = error("%s%s no static probes that begin and end '%s'%s", s.file ? s.file : program,
			s.file ? " has" : " and its libraries have", text, s.probes ? "" : ", nor any others");
	free(copy);
	ret = ret ? ret : probe_pmu(context, list);
	return ret ? ret : sdt_semaphores(context, list);
}
