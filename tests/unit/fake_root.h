/* SPDX-License-Identifier: MIT */
/* A root of our own with files as other machines have them. */
#ifndef TESTS_UNIT_FAKE_ROOT_H
#define TESTS_UNIT_FAKE_ROOT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fake_file {
	const char *path;            /* NULL ends a list */
	const char *text;
};

static char fake_root[] = "/tmp/spark-root-XXXXXX";

/* Aborts where it cannot: the harness is broken then. */
static inline void fake_put(const char *path, const char *text)
{
	char full[1024];
	char *slash;
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", fake_root, path);
	for (slash = full + strlen(fake_root); (slash = strchr(slash + 1, '/')); *slash = '/') {
		*slash = '\0';
		mkdir(full, 0755);
	}
	/* Cut to nothing and written anew, a file would go to the disk at once (ext4, auto_da_alloc). */
	unlink(full);
	file = fopen(full, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		abort();
}

static inline void fake_make(const struct fake_file *files)
{
	if (!mkdtemp(fake_root))
		abort();
	for (; files && files->path; files++)
		fake_put(files->path, files->text);
}

static inline void fake_remove(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", fake_root);
	if (system(command))
		perror(command);
	memcpy(strrchr(fake_root, '-'), "-XXXXXX", 7);
}

#endif
