/* SPDX-License-Identifier: MIT */
/*
 * Functions for regions by uprobes: from FILE:SYMBOL to offsets in files, with a sentence for each that
 * the kernel can't catch the returns of. It does that by an address of its own in place of the return
 * address, which must be left alone (kernel/events/uprobes.c, "prepare_uretprobe").
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/names/internal.h"
#include "cli/symbols/function.h"
#include "common/wire_calls.h"

/* One item of the list. */
struct probe_search {
	struct probe_list *list;
	const char *path, *pattern;
	bool glob;
	const char *refused;         /* why the one of that name can't be had; NULL: no reason */
	u32 found;
	struct suggestion near;
};

static int probe_add(struct probe_search *search, const struct function *function)
{
	struct probe_list *list = search->list;
	u32 room = list->room ? 2 * list->room : 8;
	struct probe *grown;

	search->found++;
	for (u32 i = 0; i < list->n; i++)
		if (!list->probe[i].nsites && list->probe[i].offset == function->offset && !strcmp(list->probe[i].path, search->path))
			return 0;
	if (list->n == PROBES_MOST)
		return error("more than %u functions for probes", PROBES_MOST);
	if (list->n == list->room) {
		grown = realloc(list->probe, room * sizeof(*grown));
		if (!grown)
			return error("out of memory");
		list->probe = grown;
		list->room = room;
	}
	grown = &list->probe[list->n++];
	*grown = (struct probe){ .name = strdup(function->name), .path = strdup(search->path), .offset = function->offset,
				 .stepped = function->stepped };
	return grown->name && grown->path ? 0 : error("out of memory");
}

static const char *probe_refusal(const struct function *function)
{
	if (function->indirect)
		return "it stands for one that is chosen when the program is loaded";
	if (!strcmp(function->name, "_start"))
		return "it does not return";
	return call_refusal(function->name);
}

static int probe_match(void *data, const struct function *function)
{
	struct probe_search *search = data;
	const char *why;

	if (search->glob ? !call_pattern_matches(search->pattern, function->name)
			 : strcmp(search->pattern, function->name) != 0) {
		suggestion_offer(&search->near, function->name);
		return 0;
	}
	why = probe_refusal(function);
	if (!why)
		return probe_add(search, function);
	search->refused = why;
	return 0;
}

static int probe_none(const struct probe_search *search, int fd)
{
	char text[400];

	if (search->refused)
		return error("%s of %s can't be a region by a probe: %s", search->pattern, search->path, search->refused);
	if (!search->glob && function_inlined(fd, search->pattern))
		return error("%s of %s is inlined wherever it is called: there is no function to probe", search->pattern,
			search->path);
	return error("%s has no function '%s'%s", search->path, search->pattern,
		suggestion_text(&search->near, text, sizeof(text)));
}

static int probe_note_throwing(struct probe_list *list, const struct probe_search *search)
{
	if (list->throwing)
		return 0;
	return event_set(&list->throwing, "%s of %s", list->probe[list->n - 1].name, search->path);
}

static int probe_look(struct probe_list *list, const char *path, const char *pattern)
{
	struct probe_search search = { .list = list, .path = path, .pattern = pattern, .glob = strpbrk(pattern, "*?") };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret;
	struct function_traits traits;

	if (fd < 0)
		return error("cannot open %s: %s", path, strerror(errno));
	suggestion_init(&search.near, pattern);
	ret = functions_each(fd, path, &traits, probe_match, &search);
	if (ret == -ENOEXEC)
		ret = error("%s is no ELF file", path);
	else if (ret == -ENOMEM)
		ret = error("out of memory");
	else if (!ret && (!search.found || (search.refused && !search.glob)))
		ret = probe_none(&search, fd);
	else if (!ret && traits.moves_stacks)
		ret = error("%s is a Go program, which moves its stacks and would crash: "
			    "-e uprobe:FILE:SYMBOL counts calls there", path);
	else if (!ret && traits.throws)
		ret = probe_note_throwing(list, &search);
	close(fd);
	return ret;
}

static int probe_item(struct probe_list *list, char *item, const char *program)
{
	char *symbol = uprobe_cut(item);

	if (!symbol && !program)
		return error("the command was not found, whose function '%s' would be", item);
	if (!(symbol ? *symbol && *item : *item))
		return error("--uprobe takes FILE:SYMBOL or SYMBOL, several with commas between");
	return probe_look(list, symbol ? item : program, symbol ? symbol : item);
}

int probe_pmu(struct names_context *context, struct probe_list *list)
{
	const struct names_pmu *pmu = names_find_pmu(context, "uprobe");
	struct names_format format;

	if (!pmu)
		return error("no regions by uprobes: this kernel lacks CONFIG_UPROBE_EVENTS");
	if (pmu_format_read(context, pmu, "retprobe", &format) <= 0)
		return error("this kernel has no probes at returns");
	list->type = pmu->type;
	list->at_return = format.bits;
	return 0;
}

/* The end of an item: a free comma. */
static char *item_end(char *at)
{
	while (*at && *at != ',')
		at += *at == '\\' && at[1] ? 2 : 1;
	return at;
}

int names_probes(struct names_context *context, const char *text, const char *program, struct probe_list *list)
{
	char *copy = strdup(text), *at = copy, *end;
	int ret = copy ? 0 : error("out of memory");
	bool more = true;

	while (!ret && more) {
		end = item_end(at);
		more = *end;
		*end = '\0';
		ret = probe_item(list, at, program);
		at = end + 1;
	}
	free(copy);
	return ret ? ret : probe_pmu(context, list);
}

void probe_free(struct probe *probe)
{
	free(probe->name);
	free(probe->path);
	free(probe->site);
}

void probe_list_free(struct probe_list *list)
{
	for (u32 i = 0; i < list->n; i++)
		probe_free(&list->probe[i]);
	free(list->probe);
	free(list->throwing);
	*list = (struct probe_list){ .probe = NULL };
}
