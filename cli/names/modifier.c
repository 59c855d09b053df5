/* SPDX-License-Identifier: MIT */
/*
 * Letters behind an event or group: which side to count, how precise samples are to be, and what
 * the kernel is to do when counters are short. As perf-list(1), "EVENT MODIFIERS".
 */
#include <string.h>

#include "cli/log.h"
#include "cli/names/internal.h"

bool modifiers_valid(const char *text)
{
	return *text && text[strspn(text, "ukhGHIpPSDWe")] == '\0';
}

/* The first one that is named excludes the other sides, unless sides were named before. */
static void modifiers_side(struct perf_event_attr *attr, char letter)
{
	if (!attr->exclude_user && !attr->exclude_kernel && !attr->exclude_hv)
		attr->exclude_user = attr->exclude_kernel = attr->exclude_hv = 1;
	if (letter == 'u')
		attr->exclude_user = 0;
	else if (letter == 'k')
		attr->exclude_kernel = 0;
	else
		attr->exclude_hv = 0;
}

static void modifiers_guest(struct perf_event_attr *attr, bool host, bool guest)
{
	if (host && guest)
		attr->exclude_host = attr->exclude_guest = 0;
	else if (host || guest) {
		attr->exclude_host = guest;
		attr->exclude_guest = host;
	}
}

static void modifiers_apply_letter(struct event *event, char letter)
{
	switch (letter) {
	case 'u':
	case 'k':
	case 'h':
		modifiers_side(&event->attr, letter);
		break;
	case 'I':
		event->attr.exclude_idle = 1;
		break;
	case 'P':
		event->precise_most = true;
		break;
	case 'D':
		event->attr.pinned = 1;
		break;
	case 'e':
		event->attr.exclusive = 1;
		break;
	case 'W':
		event->weak = true;
		break;
	default: /* S is about samples of groups; G, H and p are counted together */
		break;
	}
}

int modifiers_apply(struct event *event, const char *text)
{
	unsigned int precise = 0;
	const char *at;

	if (!modifiers_valid(text))
		return error("'%s' are no modifiers of events: u, k, h, G, H, I, p, P, S, D, W, e", text);
	for (at = text; *at; at++) {
		if (*at == 'p')
			precise++;
		else if (strchr(at + 1, *at))
			return error("the modifier %c stands twice in '%s'", *at, text);
		modifiers_apply_letter(event, *at);
	}
	modifiers_guest(&event->attr, strchr(text, 'H'), strchr(text, 'G'));
	if (precise > EVENT_PRECISE_MOST)
		return error("'%s': no event is more precise than ppp", text);
	if (precise)
		event->attr.precise_ip = precise & 3;
	return 0;
}
