/* SPDX-License-Identifier: MIT */
/* A root of our own for cli/caps, with files as another machine would have them. */
#ifndef TESTS_UNIT_CAPS_ROOT_H
#define TESTS_UNIT_CAPS_ROOT_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[] = "/tmp/spark-caps-XXXXXX";

/* Makes the file with its directories; the text is all of it. */
static void put_file(const char *path, const char *text)
{
	char full[512];
	char *slash;
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (slash = full + strlen(root); (slash = strchr(slash + 1, '/')); *slash = '/') {
		*slash = '\0';
		mkdir(full, 0755);
	}
	file = fopen(full, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

/* The capabilities of this process, in hex, and whether a filter is on it ("0", "2"). */
static void put_status(const char *capabilities, const char *seccomp)
{
	char text[256];

	snprintf(text, sizeof(text), "Name:\tx\nCapEff:\t%s\nSeccomp:\t%s\n", capabilities,
		seccomp);
	put_file("/proc/self/status", text);
}

/* A user without privileges at perf_event_paranoid 3, on an x86 that is no virtual machine. */
static void root_setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(root));
	put_file("/proc/self/uid_map", "         0          0 4294967295\n");
	put_file("/proc/sys/kernel/perf_event_paranoid", "3\n");
	put_file("/proc/cpuinfo", "model name\t: x\nflags\t\t: fpu constant_tsc nonstop_tsc\n");
	put_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	put_status("0000000000000000", "0");
}

static void root_teardown(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	if (system(command))
		perror(command);
	memcpy(strrchr(root, '-'), "-XXXXXX", 7);
}

static void assert_contains(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "'%s' lacks '%s'", text, part);
}

#endif
