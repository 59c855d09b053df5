/* SPDX-License-Identifier: MIT */
/* The listing "probes" of the command list: static probes of a program and of the libraries that it is linked with. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd/cmd.h"
#include "cli/cmd/list.h"
#include "cli/log.h"
#include "cli/session/session.h"
#include "cli/symbols/closure.h"
#include "cli/symbols/sdt.h"
#include "cli/text.h"

/* One name of one file, with all its places in the code. */
struct listed {
	char *name;                  /* provider:name, as it may be printed */
	const char *path;
	u32 places;
	bool semaphore;
};

struct probes {
	struct listed *list;
	size_t n, room;
	const char *path;            /* that is looked at */
	char **patterns;             /* terminated by NULL */
};

static bool probe_wanted(const struct probes *p, const char *name)
{
	char **pattern = p->patterns;

	for (; *pattern; pattern++)
		if (call_pattern_matches(*pattern, name))
			return true;
	return pattern == p->patterns;
}

static int probe_take(void *data, const struct sdt *sdt)
{
	char raw[512], name[4 * sizeof(raw)];
	struct probes *p = data;

	snprintf(raw, sizeof(raw), "%s:%s", sdt->provider, sdt->name);
	text_escape(name, sizeof(name), raw, strlen(raw));
	if (!probe_wanted(p, name))
		return 0;
	for (size_t i = p->n; i-- && p->list[i].path == p->path;)
		if (!strcmp(p->list[i].name, name)) {
			p->list[i].places++;
			return 0;
		}
	if (p->n == p->room) {
		size_t room = p->room ? 2 * p->room : 64;
		struct listed *list = realloc(p->list, room * sizeof(*list));

		if (!list)
			return error("out of memory");
		p->list = list;
		p->room = room;
	}
	p->list[p->n] = (struct listed){ strdup(name), p->path, 1, sdt->semaphore != 0 };
	return p->list[p->n++].name ? 0 : error("out of memory");
}

/* What is no ELF file has none. */
static int probes_look(struct probes *p, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret;

	if (fd < 0)
		return 0;
	p->path = path;
	ret = sdt_each(fd, probe_take, p);
	close(fd);
	return ret == -1 ? -1 : 0;
}

static void probes_print(const struct probes *p)
{
	size_t width = strlen("probe") + 2;

	for (size_t i = 0; i < p->n; i++)
		width = MAX(width, text_width(p->list[i].name) + 2);
	text_pad(stdout, "probe", width);
	printf("%-8s%-11s%s\n", "places", "semaphore", "file");
	for (size_t i = 0; i < p->n; i++) {
		char path[4096];

		text_escape(path, sizeof(path), p->list[i].path, strlen(p->list[i].path));
		text_pad(stdout, p->list[i].name, width);
		printf("%-8u%-11s%s\n", p->list[i].places, p->list[i].semaphore ? "yes" : "no", path);
	}
}

static int probes_json(const struct probes *p, const char *program)
{
	json_t *all = json_array(), *root;
	char path[4096];

	for (size_t i = 0; i < p->n; i++) {
		text_escape(path, sizeof(path), p->list[i].path, strlen(p->list[i].path));
		json_array_append_new(all, json_pack("{ss si sb ss}", "probe", p->list[i].name, "places", (int)p->list[i].places,
			"semaphore", p->list[i].semaphore, "file", path));
	}
	text_escape(path, sizeof(path), program, strlen(program));
	root = json_pack("{ss ss so}", "schema", "spark-list/1", "program", path, "probes", all);
	if (!root)
		return error("out of memory");
	if (!json_dumpf(root, stdout, JSON_INDENT(2)))
		putchar('\n');
	json_decref(root);
	return 0;
}

static int probes_show(const struct list_options *options, const struct probes *p, const char *program)
{
	if (!p->n && *p->patterns)
		error("no static probe of %s and its libraries matches '%s'", program, p->patterns[0]);
	else if (!p->n)
		error("%s and its libraries have no static probes", program);
	if (!p->n)
		return STATUS_USAGE;
	if (options->json)
		return probes_json(p, program) ? STATUS_FAILURE : STATUS_OK;
	probes_print(p);
	return STATUS_OK;
}

int list_probes(const struct list_options *options, const char *command, char **patterns)
{
	struct probes probes = { .patterns = patterns };
	struct session_program program;
	struct closure closure;
	int status, bad = 0;

	if (!session_look(&program, command)) {
		error("there is no program '%s'", command);
		return STATUS_USAGE;
	}
	/* One that is static has no libraries. */
	status = closure_open(&closure, program.path);
	if (status)
		bad = probes_look(&probes, program.path);
	for (size_t i = 0; !status && !bad && i < closure.n; i++)
		bad = probes_look(&probes, closure.objects[i].path);
	bad = bad ? STATUS_FAILURE : probes_show(options, &probes, program.path);
	for (size_t i = 0; i < probes.n; i++)
		free(probes.list[i].name);
	free(probes.list);
	if (!status)
		closure_close(&closure);
	return bad;
}
