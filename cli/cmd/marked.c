/* SPDX-License-Identifier: MIT */
/* See marked.h. What "auto" means is looked up in the command's files before the start. */
#include "cli/cmd/marked.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "cli/caps/caps.h"
#include "cli/cmd/cmd.h"
#include "cli/log.h"
#include "cli/session/session.h"
#include "cli/symbols/closure.h"
#include "cli/text.h"
#include "common/markers.h"

const char *const marked_words[] = {
	"auto", "none",
#define MARKER(name, environment, symbols, meaning) #name,
#include "common/markers.def"
#undef MARKER
	NULL,
};

/* ---- by name */

static int name_unknown(const char *name)
{
	const char *near = NULL;
	unsigned int least = 3, far;

	for (size_t i = 0; marked_words[i]; i++) {
		far = text_distance(marked_words[i], name);
		if (far < least) {
			least = far;
			near = marked_words[i];
		}
	}
	if (near)
		return error("option --markers: there are no markers '%s'; did you mean %s?", name, near);
	return error("option --markers: there are no markers '%s'; see sparkctl list markers", name);
}

/* As far as the library knows the machine's instructions. */
static bool name_here(const char *name)
{
#if defined(__x86_64__)
	(void)name;
	return true;
#else
	return strcmp(name, "callgrind") != 0;
#endif
}

static int name_take(struct marked *marked, const char *name)
{
	size_t n;
	const struct session_marker *all = session_markers(&n);

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(all[i].name, name)) {
			if (!name_here(name))
				return error("option --markers: %s's client requests are found on x86-64 alone", name);
			marked->markers |= 1u << i;
			return 0;
		}
	}
	if (!strcmp(name, "auto") || !strcmp(name, "none"))
		return error("option --markers takes %s alone, not beside other names", name);
	return name_unknown(name);
}

/* ---- by what the files use */

static bool symbol_is_called(const struct closure *closure, const char *symbols)
{
	size_t length;

	for (; *symbols; symbols += length + (symbols[length] != 0)) {
		length = strcspn(symbols, ",");
		for (size_t i = 0; i < closure->ncalls; i++)
			if (!strncmp(closure->calls[i].symbol, symbols, length) && !closure->calls[i].symbol[length])
				return true;
	}
	return false;
}

static int files_look(struct marked *marked, const struct closure *closure)
{
	const char *texts[MARKERS];
	size_t n, ntexts = 0, row[MARKERS];
	const struct session_marker *all = session_markers(&n);
	bool found[MARKERS] = { false };
	int status;

	for (size_t i = 0; i < n; i++) {
		if (symbol_is_called(closure, all[i].symbols))
			marked->markers |= 1u << i;
		if (!all[i].environment[0] && all[i].symbols[0] != '@')
			continue;
		row[ntexts] = i;
		texts[ntexts++] = all[i].environment[0] ? all[i].environment : all[i].symbols + 1;
	}
	status = closure_texts(closure, texts, ntexts, MARKERS_LIBRARY, found);
	for (size_t i = 0; i < ntexts; i++)
		if (found[i])
			marked->markers |= 1u << row[i];
	return status;
}

static void markers_tell(const struct marked *marked, const char *path)
{
	size_t n;
	const struct session_marker *all = session_markers(&n);

	for (size_t i = 0; i < n; i++)
		if (marked->markers & 1u << i)
			verbose(1, "--markers=auto: %s uses %s", path, all[i].name);
	if (!marked->markers)
		verbose(1, "--markers=auto: %s and the libraries that it starts with use no markers of other tools", path);
}

/* What is not found, or not to be executed, is told when it is started. */
static void auto_look(struct marked *marked, const char *command)
{
	struct session_program program;
	struct closure closure;
	int status;

	if (!session_look(&program, command))
		return;
	if (program.script) {
		warning("--markers=auto: %s is a script, and what it starts is not known before; name the markers instead", command);
		return;
	}
	if (program.obstacle[0]) {
		warning("--markers=auto: no markers of other tools are regions in it: %s", program.obstacle);
		return;
	}
	status = closure_open(&closure, program.path);
	if (!status) {
		status = files_look(marked, &closure);
		closure_close(&closure);
	}
	if (status)
		warning("--markers=auto: what %s uses can't all be told: %s; name the markers instead", program.path,
			strerror(-status));
	markers_tell(marked, program.path);
}

int marked_prepare(struct marked *marked, const char *command)
{
	char agent[PATH_MAX], library[PATH_MAX];
	int status = 0;

	if (marked->names.n == 1 && !strcmp(marked->names.item[0], "auto"))
		auto_look(marked, command);
	else if (marked->names.n != 1 || strcmp(marked->names.item[0], "none") != 0)
		for (size_t i = 0; !status && i < marked->names.n; i++)
			status = name_take(marked, marked->names.item[i]);
	if (status)
		return STATUS_USAGE;
	/* Without an agent the session has its own sentence. */
	if (!marked->markers || !caps_find_agent(agent, sizeof(agent)) ||
	    session_markers_library(agent, library, sizeof(library)))
		return 0;
	error("the library " MARKERS_LIBRARY ", which --markers needs, is not beside the agent %s", agent);
	return STATUS_FAILURE;
}

void marked_free(struct marked *marked)
{
	opt_list_free(&marked->names);
}
