/* SPDX-License-Identifier: MIT */
/*
 * Saving the ids of tracepoints; see ids.h. The kernel numbers its own tracepoints in the order in which they
 * were linked, so that they have the same id at each boot; modules and what is made at run time (kprobes,
 * synthetic events) get the next one that is free. The kernel's own have a symbol without a module in
 * /proc/kallsyms, or are of system calls, and are not among tracefs's dynamic events.
 */
#define _GNU_SOURCE
#include "cli/caps/ids.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/caps/try.h"
#include "common/base.h"

struct ids_found {
	char *name;			/* "system:name" */
	unsigned int id;
	bool own;			/* the kernel has a tracepoint of that name */
	bool foreign;			/* so has a module, or it was made at run time */
};

struct ids_work {
	const struct caps_context *context;
	char mount[PATH_MAX / 2];
	struct ids_found *found;
	size_t n;
};

/* Entries below the root, sorted; -errno. */
static int ids_scan(const struct ids_work *work, const char *path, struct dirent ***entries)
{
	char full[PATH_MAX];
	int n;

	snprintf(full, sizeof(full), "%s%s", work->context->root, path);
	n = scandir(full, entries, NULL, alphasort);
	return n < 0 ? -errno : n;
}

static void ids_scan_fini(struct dirent **entries, int n)
{
	while (n-- > 0)
		free(entries[n]);
	free(entries);
}

/* Adds a tracepoint that has an id; enable and filter are none. Returns 0 or -errno. */
static int ids_add(struct ids_work *work, const char *system, const char *name)
{
	struct ids_found *grown, found = { .own = !strcmp(system, "syscalls") };
	char path[PATH_MAX], text[32];

	if (snprintf(path, sizeof(path), "%s/events/%s/%s/id", work->mount, system, name) >= (int)sizeof(path) ||
	    facts_read(work->context, path, text, sizeof(text)) <= 0)
		return 0;
	found.id = (unsigned int)strtoul(text, NULL, 10);
	grown = found.id ? realloc(work->found, (work->n + 1) * sizeof(*grown)) : NULL;
	if (!grown)
		return found.id ? -ENOMEM : 0;
	work->found = grown;
	if (asprintf(&found.name, "%s:%s", system, name) < 0)
		return -ENOMEM;
	work->found[work->n++] = found;
	return 0;
}

static int ids_add_system(struct ids_work *work, const char *system)
{
	struct dirent **entries;
	char path[PATH_MAX];
	int i, n, err = 0;

	snprintf(path, sizeof(path), "%s/events/%s", work->mount, system);
	n = ids_scan(work, path, &entries);
	for (i = 0; !err && i < n; i++)
		if (entries[i]->d_name[0] != '.')
			err = ids_add(work, system, entries[i]->d_name);
	if (n >= 0)
		ids_scan_fini(entries, n);
	return err;
}

static int ids_add_all(struct ids_work *work)
{
	struct dirent **entries;
	char path[PATH_MAX];
	int i, n, err = 0;

	snprintf(path, sizeof(path), "%s/events", work->mount);
	n = ids_scan(work, path, &entries);
	if (n < 0)
		return n;
	for (i = 0; !err && i < n; i++)
		if (entries[i]->d_name[0] != '.')
			err = ids_add_system(work, entries[i]->d_name);
	ids_scan_fini(entries, n);
	return err;
}

static void ids_each_line(struct ids_work *work, const char *path,
	void (*each)(struct ids_work *work, char *line))
{
	char full[PATH_MAX], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", work->context->root, path);
	file = fopen(full, "re");
	while (file && getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		each(work, line);
	}
	free(line);
	if (file)
		fclose(file);
}

/* Of /proc/kallsyms: "0000000000000000 T __traceiter_sched_switch", and the module in brackets. */
static void ids_judge_symbol(struct ids_work *work, char *line)
{
	static const char *const marks[] = { " __traceiter_", " __tracepoint_" };
	char *name = NULL;
	size_t i, len;

	for (i = 0; !name && i < ARRAY_SIZE(marks); i++) {
		name = strstr(line, marks[i]);
		name = name ? name + strlen(marks[i]) : NULL;
	}
	len = name ? strcspn(name, " \t") : 0;
	for (i = 0; len && i < work->n; i++) {
		const char *own = strchr(work->found[i].name, ':') + 1;

		if (strncmp(own, name, len) != 0 || own[len])
			continue;
		if (name[len])
			work->found[i].foreign = strncmp(work->found[i].name, "syscalls:", 9) != 0;
		else
			work->found[i].own = true;
	}
}

/* Of dynamic_events and its likes: "p:kprobes/name place arguments". */
static void ids_judge_dynamic(struct ids_work *work, char *line)
{
	char *name = strchr(line, ':'), *slash;
	size_t i;

	if (!name)
		return;
	name[strcspn(name, " ")] = '\0';
	slash = strchr(name, '/');
	if (!slash)
		return;
	*slash = ':';
	for (i = 0; i < work->n; i++)
		if (!strcmp(work->found[i].name, name + 1))
			work->found[i].foreign = true;
}

static void ids_judge(struct ids_work *work)
{
	/* The first has all from Linux 5.0 on. */
	static const char *const dynamic[] = { "dynamic_events", "kprobe_events", "uprobe_events" };
	char path[PATH_MAX];
	size_t i;

	ids_each_line(work, "/proc/kallsyms", ids_judge_symbol);
	for (i = 0; i < ARRAY_SIZE(dynamic); i++) {
		snprintf(path, sizeof(path), "%s/%s", work->mount, dynamic[i]);
		ids_each_line(work, path, ids_judge_dynamic);
	}
}

/* Makes the folders of a file that are missing, open to all whatever the umask. Returns 0 or -errno. */
static int ids_make_folders(char *path)
{
	char *slash = path;
	int err = 0;

	while (!err && (slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		if (mkdir(path, 0755) == 0)
			err = chmod(path, 0755) ? -errno : 0;
		else if (errno != EEXIST)
			err = -errno;
		*slash = '/';
	}
	return err;
}

static int ids_write_rows(const struct ids_work *work, const char *header, FILE *file, size_t *saved)
{
	size_t i;

	fprintf(file, "%s\n", header);
	for (*saved = i = 0; i < work->n; i++)
		if (work->found[i].own && !work->found[i].foreign) {
			fprintf(file, "%s %u\n", work->found[i].name, work->found[i].id);
			++*saved;
		}
	return fflush(file) || fchmod(fileno(file), 0644) || fsync(fileno(file)) ? -errno : 0;
}

/* Beside its place, then there. Returns 0 or -errno. */
static int ids_write(const struct ids_work *work, const char *header, size_t *saved)
{
	char path[PATH_MAX], beside[PATH_MAX + 16];
	FILE *file;
	int fd, err;

	snprintf(path, sizeof(path), "%s%s", work->context->root, ids_path(work->context));
	err = ids_make_folders(path);
	if (err)
		return err;
	snprintf(beside, sizeof(beside), "%s.%d~", path, (int)getpid());
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file)
		return -errno;
	err = ids_write_rows(work, header, file, saved);
	if (fclose(file) && !err)
		err = -errno;
	if (!err && rename(beside, path))
		err = -errno;
	if (err)
		unlink(beside);
	return err;
}

/* Returns 0; or -1 with the reason. */
static int ids_collect(struct ids_work *work, struct outcome *why)
{
	int err = tracing_find(work->context, work->mount, sizeof(work->mount));

	if (err) {
		*why = advice_tracefs(work->context, -err, NULL, "");
		return -1;
	}
	err = ids_add_all(work);
	if (err || !work->n) {
		*why = advice_tracefs(work->context, err ? -err : ENOENT, work->mount, "at all");
		return -1;
	}
	ids_judge(work);
	return 0;
}

int ids_save(const struct caps_context *context, size_t *saved, size_t *left_out, struct outcome *why)
{
	struct ids_work work = { .context = context };
	struct sigaction before;
	char header[256];
	int err = ids_header(context, header, sizeof(header)), result = -1;

	if (err) {
		*why = advice_errno(-err, "/proc/version");
		return -1;
	}
	if (ids_collect(&work, why) == 0) {
		caps_outlive_limit(&before);
		err = ids_write(&work, header, saved);
		sigaction(SIGXFSZ, &before, NULL);
		result = err ? -1 : 0;
		*left_out = work.n - *saved;
	}
	if (err)
		*why = advice_errno(-err, ids_path(context));
	while (work.n)
		free(work.found[--work.n].name);
	free(work.found);
	return result;
}
