/* SPDX-License-Identifier: MIT */
/*
 * Facts about this process and machine that explain why an attempt failed. They explain only:
 * whether something works is found out by the attempt. A file that can't be read is no fact.
 */
#include "cli/caps/caps.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/base.h"

long facts_read(const struct caps_context *context, const char *path, char *text, size_t size)
{
	char full[PATH_MAX];
	size_t len = 0;
	ssize_t got = 0;
	int fd, err;

	snprintf(full, sizeof(full), "%s%s", context->root, path);
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	text[0] = '\0';
	if (fd < 0)
		return -errno;
	while (len < size - 1 && (got = read(fd, text + len, size - 1 - len)) > 0)
		len += (size_t)got;
	err = errno;
	close(fd);
	text[len] = '\0';
	return got < 0 && !len ? -err : (long)len;
}

bool facts_watchdog(const struct caps_context *context)
{
	char text[16];

	return facts_read(context, "/proc/sys/kernel/nmi_watchdog", text, sizeof(text)) > 0 && text[0] == '1';
}

/* Undoes the \\NNN that /proc writes for blanks and backslashes, in place. */
static void facts_unescape(char *text)
{
	char *to = text;

	for (; *text; text++, to++) {
		*to = *text;
		if (*text == '\\' && isdigit(text[1]) && isdigit(text[2]) && isdigit(text[3])) {
			*to = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
			text += 3;
		}
	}
	*to = '\0';
}

static FILE *facts_open(const struct caps_context *context, const char *path)
{
	char full[PATH_MAX];
	FILE *file;
	int fd, err;

	snprintf(full, sizeof(full), "%s%s", context->root, path);
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	err = errno;
	if (!file && fd >= 0)
		close(fd);
	errno = err;
	return file;
}

long facts_mount(const struct caps_context *context, const char *type, char *path, size_t size)
{
	FILE *file = facts_open(context, "/proc/self/mountinfo");
	char *line = NULL, *rest, *place, *mark;
	size_t room = 0, len = strlen(type);
	long result = -ENOENT;

	if (!file)
		return -errno;
	/* 36 35 98:0 /root /place options... - type source options: proc_pid_mountinfo(5) */
	while (result == -ENOENT && getline(&line, &room, file) > 0) {
		mark = strstr(line, " - ");
		if (!mark || strncmp(mark + 3, type, len) || mark[3 + len] != ' ')
			continue;
		strtok_r(line, " ", &rest);
		strtok_r(NULL, " ", &rest);
		strtok_r(NULL, " ", &rest);
		strtok_r(NULL, " ", &rest);
		place = strtok_r(NULL, " ", &rest);
		if (!place)
			continue;
		facts_unescape(place);
		result = (size_t)snprintf(path, size, "%s", place) < size ? 0 : -ENAMETOOLONG;
	}
	free(line);
	fclose(file);
	return result;
}

enum facts_built facts_config(const struct caps_context *context, const char *option)
{
	enum facts_built built = FACTS_UNKNOWN;
	char path[PATH_MAX], *line = NULL, *at;
	size_t room = 0, len = strlen(option);
	struct utsname name;
	FILE *file;

	if (uname(&name))
		return built;
	snprintf(path, sizeof(path), "/boot/config-%s", name.release);
	file = facts_open(context, path);
	if (!file)
		return built;
	/* A configuration names what it knows: "X=y", or "# X is not set". */
	built = FACTS_NOT_BUILT;
	while (built == FACTS_NOT_BUILT && getline(&line, &room, file) > 0) {
		at = line + strspn(line, "# ");
		if (!strncmp(at, option, len) && at[len] == '=')
			built = FACTS_BUILT;
	}
	free(line);
	fclose(file);
	return built;
}

/* The rest of the first line that begins with key and a colon, or NULL. */
static const char *facts_line(const char *text, const char *key)
{
	size_t len = strlen(key);
	const char *s;

	for (s = text; s && *s; s = strchr(s, '\n'), s = s ? s + 1 : NULL) {
		if (strncmp(s, key, len))
			continue;
		s += len + strspn(s + len, " \t");
		if (*s == ':')
			return s + 1;
	}
	return NULL;
}

bool facts_has_word(const char *text, const char *key, const char *word)
{
	const char *s = facts_line(text, key);
	size_t len = strlen(word), n;

	if (!s)
		return false;
	for (s += strspn(s, " \t"); *s && *s != '\n'; s += n, s += strspn(s, " \t")) {
		n = strcspn(s, " \t\n");
		if (n == len && !strncmp(s, word, len))
			return true;
	}
	return false;
}

/* A number of /proc/self/status, 0 if it is not there. */
static unsigned long long facts_status(const char *text, const char *key, int base)
{
	const char *s = facts_line(text, key);

	return s ? strtoull(s, NULL, base) : 0;
}

static void facts_read_status(struct caps_context *context)
{
	enum { SYS_ADMIN = 21, PERFMON = 38 };
	unsigned long long effective;
	char text[8192];

	facts_read(context, "/proc/self/status", text, sizeof(text));
	context->seccomp = facts_status(text, "Seccomp", 10) != 0;
	effective = facts_status(text, "CapEff", 16);
	/* In a user namespace of its own, root's capabilities open nothing of the kernel's. */
	facts_read(context, "/proc/self/uid_map", text, sizeof(text));
	context->may_admin = effective >> SYS_ADMIN & 1 && strstr(text, " 4294967295\n");
	context->may_perf = context->may_admin || (effective >> PERFMON & 1 && strstr(text, " 4294967295\n"));
}

bool facts_exists(const struct caps_context *context, const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", context->root, path);
	return access(full, F_OK) == 0;
}

static bool facts_in_container(const struct caps_context *context)
{
	return facts_exists(context, "/.dockerenv") ||
		facts_exists(context, "/run/.containerenv") ||
		facts_exists(context, "/run/systemd/container") || getenv("container");
}

/* x86 has a CPU flag for it; elsewhere the firmware's or device tree's name of the product. */
static bool facts_in_virtual_machine(const struct caps_context *context)
{
	static const char *const products[] = {
		"KVM", "QEMU", "VMware", "VirtualBox", "Virtual Machine", "Google Compute Engine",
		"Amazon EC2", "Xen", "HVM domU", "OpenStack", "Parallels", "Bochs",
		"linux,dummy-virt",
	};
	static const char *const files[] = {
		"/sys/class/dmi/id/product_name", "/sys/class/dmi/id/sys_vendor",
		"/proc/device-tree/compatible", "/sys/hypervisor/type",
	};
	char text[4096];
	size_t i, k;

	if (facts_has_word(context->cpuinfo, "flags", "hypervisor"))
		return true;
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		facts_read(context, files[i], text, sizeof(text));
		for (k = 0; k < ARRAY_SIZE(products); k++)
			if (strcasestr(text, products[k]))
				return true;
	}
	return false;
}

void caps_init(struct caps_context *context, const char *root)
{
	char text[32], *end;
	long level, got;

	memset(context, 0, sizeof(*context));
	context->root = root;
	context->uid = geteuid();
	context->paranoid = CAPS_PARANOID_ABSENT;
	facts_read(context, "/proc/sys/kernel/perf_event_paranoid", text, sizeof(text));
	level = strtol(text, &end, 10);
	if (end != text)
		context->paranoid = (int)level;
	got = facts_read(context, "/proc/cpuinfo", context->cpuinfo, sizeof(context->cpuinfo));
	context->cpuinfo_error = got < 0 ? (int)-got : 0;
	facts_read_status(context);
	context->container = facts_in_container(context);
	context->virtual_machine = facts_in_virtual_machine(context);
	caps_find_agent(context->agent, sizeof(context->agent));
}
