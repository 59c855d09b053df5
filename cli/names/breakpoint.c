/* SPDX-License-Identifier: MIT */
/* Breakpoints: mem:ADDRESS[/LENGTH][:rwx]; see perf_event_open(2), "bp_type". */
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <string.h>

#include "cli/caps/arch.h"
#include "cli/log.h"
#include "cli/names/internal.h"

/* A number that ends before any of the given letters; NULL if it is none. */
static const char *breakpoint_number(const char *text, const char *ends, u64 *value)
{
	size_t len = strcspn(text, ends);
	char number[32];

	if (len >= sizeof(number))
		return NULL;
	snprintf(number, sizeof(number), "%.*s", (int)len, text);
	return number_parse(number, value) ? text + len : NULL;
}

/* The letters after a colon, if all of them are of access: else they are modifiers. */
static const char *breakpoint_access(const char *at, u32 *type)
{
	size_t len = *at == ':' ? strspn(at + 1, "rwx") : 0, i;

	*type = HW_BREAKPOINT_RW;
	if (!len || (at[1 + len] && at[1 + len] != ':'))
		return at;
	for (*type = 0, i = 1; i <= len; i++)
		*type |= (u32)(at[i] == 'r' ? HW_BREAKPOINT_R : at[i] == 'w' ? HW_BREAKPOINT_W : HW_BREAKPOINT_X);
	return at + 1 + len;
}

int breakpoint_add(struct event_list *list, const char *text, const char **rest)
{
	u64 address, length = 0;
	const char *at = breakpoint_number(text + strlen("mem:"), "/:", &address);
	struct event *event;
	u32 type;

	if (at && *at == '/')
		at = breakpoint_number(at + 1, ":", &length);
	if (!at)
		return error("'%s' is no breakpoint: mem:ADDRESS[/LENGTH][:rwx], numbers decimal or after 0x", text);
	at = breakpoint_access(at, &type);
	if (type & HW_BREAKPOINT_X && type != HW_BREAKPOINT_X)
		return error("'%s': a breakpoint is either for execution or for data", text);
	if (!length)
		length = type == HW_BREAKPOINT_X ? ARCH_BREAKPOINT_EXECUTE : HW_BREAKPOINT_LEN_4;
	if (length > HW_BREAKPOINT_LEN_8)
		return error("'%s': a breakpoint covers at most 8 bytes", text);
	event = event_add(list, PERF_TYPE_BREAKPOINT, 0);
	if (!event)
		return -1;
	/* The upper half of addresses is the kernel's, which no program executes. */
	event->side = type == HW_BREAKPOINT_X && !(address >> 63) ? EVENT_USER : EVENT_EITHER;
	event->attr.bp_addr = address;
	event->attr.bp_len = length;
	event->attr.bp_type = type;
	*rest = at;
	return 1;
}
