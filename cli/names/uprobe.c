/* SPDX-License-Identifier: MIT */
/*
 * Probes on functions of files: uprobe:FILE:SYMBOL[+OFFSET] and uretprobe, by the kernel's PMU
 * "uprobe" (Linux 4.17); see perf_event_open(2), "uprobe_path". A number in place of the symbol is
 * an offset in the file. A backslash protects a colon or comma of the file's name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/names/internal.h"
#include "cli/symbols/symbol.h"

char *uprobe_cut(char *text)
{
	char *to = text;

	for (; *text && *text != ':'; text++) {
		if (*text == '\\' && text[1])
			text++;
		*to++ = *text;
	}
	if (!*text) {
		*to = '\0';
		return NULL;
	}
	*to = '\0';
	return text + 1;
}

bool names_have_functions(void)
{
	return symbol_available();
}

static int uprobe_suggest(void *data, const char *name, u64 offset)
{
	(void)offset;
	suggestion_offer(data, name);
	return 0;
}

static int uprobe_no_symbol(int fd, const char *file, const char *symbol, int err)
{
	struct suggestion near;
	char text[400];

	if (err == -ENOSYS)
		return error("%s in %s: finding functions needs libelf, which is not here; give the offset in the file instead",
			symbol, file);
	if (err == -ENOEXEC)
		return error("%s is no ELF file", file);
	suggestion_init(&near, symbol);
	symbol_each(fd, uprobe_suggest, &near);
	return error("%s has no function '%s'%s", file, symbol, suggestion_text(&near, text, sizeof(text)));
}

/* SYMBOL[+OFFSET] or OFFSET, to an offset in the file. */
static int uprobe_offset(const char *file, char *symbol, u64 *offset)
{
	char *plus = strchr(symbol, '+');
	u64 more = 0;
	int fd, err;

	fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return error("cannot open %s: %s", file, strerror(errno));
	if (plus && number_parse(plus + 1, &more))
		*plus = '\0';
	err = number_parse(symbol, offset) ? 0 : symbol_find(fd, symbol, offset);
	*offset += more;
	if (err)
		uprobe_no_symbol(fd, file, symbol, err);
	close(fd);
	return err ? -1 : 0;
}

/* The kernel's way of saying that a probe is to be at the return: "config:0". */
static int uprobe_fill(struct names_context *context, struct event *event, const struct names_pmu *pmu, bool at_return)
{
	struct names_format format;

	event->attr.type = pmu->type;
	if (!at_return)
		return 0;
	if (pmu_format_read(context, pmu, "retprobe", &format) <= 0)
		return error("this kernel has no probes at returns");
	event->attr.config |= format.bits;
	return 0;
}

int uprobe_add(struct names_context *context, struct event_list *list, char *text, const char **rest)
{
	bool at_return = !strncmp(text, "uret", 4);
	char *file = strchr(text, ':') + 1, *symbol = uprobe_cut(file), *end;
	const struct names_pmu *pmu;
	struct event *event;
	size_t at = 0;
	u64 offset;

	end = symbol ? strchr(symbol, ':') : NULL;
	if (end)
		*end++ = '\0';
	if (!symbol || !*symbol || !*file)
		return error("a probe is written uprobe:FILE:SYMBOL[+OFFSET] or uretprobe:FILE:SYMBOL");
	if (uprobe_offset(file, symbol, &offset))
		return -1;
	event = event_add(list, PERF_TYPE_RAW, 0);
	if (!event || event_set(&event->path, "%s", file))
		return -1;
	event->attr.config1 = (u64)(uintptr_t)event->path;
	event->attr.config2 = offset;
	event->hardware = false;
	event->side = EVENT_USER;
	*rest = end;
	pmu = pmu_match(context, "uprobe", &at);
	if (!pmu)
		return event_set(&event->obstacle, "this kernel lacks CONFIG_UPROBE_EVENTS") ? -1 : 1;
	if (event_set(&event->pmu, "%s", pmu->name) || uprobe_fill(context, event, pmu, at_return))
		return -1;
	return 1;
}
