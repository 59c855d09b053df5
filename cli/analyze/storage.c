/* SPDX-License-Identifier: MIT */
/* What files of /proc and /sys say of storage; see storage.h. They may say anything. */
#include "cli/analyze/storage.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Undoes the \NNN that the kernel writes for blanks and backslashes. */
static char *mount_unescape(char *text)
{
	char *to = text, *from = text;

	for (; *from; from++, to++) {
		*to = *from;
		if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' && from[2] <= '7' &&
		    from[3] >= '0' && from[3] <= '7' && (from[1] > '0' || from[2] > '0' || from[3] > '0')) {
			*to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
			from += 3;
		}
	}
	*to = '\0';
	return text;
}

/* The word up to the next blank; NULL at the end. */
static char *mount_word(char **rest)
{
	char *word = *rest;

	if (!word || !*word)
		return NULL;
	*rest = strchr(word, ' ');
	if (*rest)
		*(*rest)++ = '\0';
	return word;
}

static bool mount_number(const char *text, size_t length, u64 *value)
{
	*value = 0;
	for (size_t i = 0; i < length; i++) {
		if (!isdigit((unsigned char)text[i]) || *value > UINT64_MAX / 10 - 1)
			return false;
		*value = *value * 10 + (u64)(text[i] - '0');
	}
	return length > 0;
}

bool storage_parse_mount(char *line, struct storage_mount *m)
{
	char *rest = line, *id = mount_word(&rest), *parent = mount_word(&rest), *device = mount_word(&rest), *word;
	size_t colon = device ? strcspn(device, ":") : 0;

	m->root = mount_word(&rest);
	m->place = mount_word(&rest);
	m->options = mount_word(&rest);
	/* Any number of optional fields, then a hyphen: proc_pid_mountinfo(5). */
	do {
		word = mount_word(&rest);
	} while (word && strcmp(word, "-") != 0);
	m->type = mount_word(&rest);
	m->source = mount_word(&rest);
	m->super_options = mount_word(&rest);
	if (!parent || !m->super_options || !device[colon] || !mount_number(id, strlen(id), &m->id) ||
	    !mount_number(device, colon, &m->major) || !mount_number(device + colon + 1, strlen(device + colon + 1), &m->minor))
		return false;
	mount_unescape(m->root);
	mount_unescape(m->place);
	mount_unescape(m->type);
	mount_unescape(m->source);
	mount_unescape(m->super_options);
	return true;
}

bool storage_find_mount(char *text, u64 id, u64 major, u64 minor, struct storage_mount *mount)
{
	struct storage_mount one;
	bool found = false;
	char *next;

	for (char *line = text; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!storage_parse_mount(line, &one))
			continue;
		if (id ? one.id == id : one.major == major && one.minor == minor) {
			*mount = one;
			found = true;
		}
	}
	return found;
}

const char *storage_option(const char *options, const char *name, size_t *length)
{
	size_t n = strlen(name);

	for (const char *at = options; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, name, n) && at[n] == '=') {
			*length = strcspn(at + n + 1, ",");
			return at + n + 1;
		}
	}
	return NULL;
}

/* Without blanks and line ends around. */
static char *storage_trim(char *text)
{
	size_t n;

	text += strspn(text, " \t\n");
	for (n = strlen(text); n && strchr(" \t\n", text[n - 1]); n--)
		text[n - 1] = '\0';
	return text;
}

char *storage_chosen(char *text)
{
	char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	if (close) {
		*close = '\0';
		text = open + 1;
	}
	text = storage_trim(text);
	return *text && !strpbrk(text, " \t\n[]") ? text : NULL;
}

s64 storage_number(const char *text)
{
	size_t n;
	u64 value;

	text += strspn(text, " \t\n");
	n = strspn(text, "0123456789");
	if (text[n + strspn(text + n, " \t\n")] || !mount_number(text, n, &value) || value > INT64_MAX)
		return -1;
	return (s64)value;
}

char *storage_device_name(char *text)
{
	char *line = !strncmp(text, "DEVNAME=", 8) ? text : strstr(text, "\nDEVNAME=");

	if (!line)
		return NULL;
	line = strchr(line, '=') + 1;
	line[strcspn(line, "\n")] = '\0';
	return *line ? line : NULL;
}

void storage_swaps(const char *text, char *out, size_t size)
{
	const char *line = strchr(text, '\n');
	char name[128], kind[32];
	unsigned long long kb;
	size_t at = 0;

	/* The first line is a heading. */
	snprintf(out, size, "none");
	for (; line && line[1]; line = strchr(line + 1, '\n'))
		if (sscanf(line + 1, "%127s %31s %20llu", name, kind, &kb) == 3 && at < size)
			at += (size_t)snprintf(out + at, size - at, "%s%s %llu kB", at ? ", " : "", mount_unescape(name), kb);
}

bool storage_opened_how(const struct storage_fact *fact, char *text, size_t size)
{
	size_t at;

	if (fact->looks <= 0) {
		snprintf(text, size, fact->looks < 0 ? "nobody looked" : fact->refused ? "descriptors of its processes may not be seen" :
			 "it had ended before the first look at its descriptors, 100 ms after its start");
		return false;
	}
	at = (size_t)snprintf(text, size, "seen open at %lld looks, one each 100 ms: what was opened and closed in between is missing",
			      (long long)fact->looks);
	if (fact->refused && at < size)
		at += (size_t)snprintf(text + at, size - at, "; %llu times a process might not be looked at",
				       (unsigned long long)fact->refused);
	if (fact->more && at < size)
		snprintf(text + at, size - at, "; there were more than these");
	return true;
}

bool storage_is_opened(const struct storage_path *path)
{
	return path->role && !strcmp(path->role, "opened");
}
