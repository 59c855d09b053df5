/* SPDX-License-Identifier: MIT */
/* What the agent of an image is told about instrumented functions: whether, how deep, and which, by their names. */
#include "cli/session/internal.h"

#include <stdlib.h>

#include "cli/log.h"
#include "cli/symbols/instrumented.h"

/* The last pattern that matches decides; one that leaves something out, in front of all, leaves the rest in. */
static bool name_chosen(void *data, const char *name, const char *readable)
{
	struct session *s = data;
	const struct session_functions *f = s->options->functions;
	bool chosen = f->patterns[0][0] == '-';

	for (size_t i = 0; i < f->npatterns; i++) {
		bool except = f->patterns[i][0] == '-';
		const char *pattern = f->patterns[i] + except;

		if (!call_pattern_matches(pattern, name) && !call_pattern_matches(pattern, readable))
			continue;
		s->patterns_met |= 1ull << MIN(i, 63u);
		chosen = !except;
	}
	return chosen;
}

/* To be freed; NULL after a message. */
static struct wire_functions *functions_of(struct session *s, u32 pid)
{
	const struct session_functions *f = s->options->functions;
	struct wire_functions *w;
	size_t n = 0, objects = 0;
	u64 *list = NULL;

	if (!f->off && f->npatterns) {
		list = instrumented_functions(pid, WIRE_FUNCTIONS_MOST, name_chosen, s, &n, &objects);
		s->instrumented_objects += objects;
		if (n == WIRE_FUNCTIONS_MOST)
			warning("--instrumented: process %u has more functions of such names than the %u that can be chosen", pid,
				WIRE_FUNCTIONS_MOST);
	}
	w = calloc(1, sizeof(*w) + n * sizeof(*list));
	if (w) {
		*w = (struct wire_functions){
			.flags = (f->off ? WIRE_FUNCTIONS_OFF : 0u) | (f->npatterns ? WIRE_FUNCTIONS_CHOSEN : 0u),
			.depth = f->depth, .n = (u32)n, .size = (u32)(sizeof(*w) + n * sizeof(*list)),
		};
		for (size_t i = 0; i < n; i++)
			w->function[i] = list[i];
	}
	free(list);
	return w;
}

void chosen_tell(struct session *s, struct segment *g)
{
	struct wire_functions *w = s->options->functions ? functions_of(s, g->pid) : NULL;

	if (s->options->functions && (!w || segment_put_functions(g, w)))
		warning("process %u: all instrumented functions are regions: no memory to choose some", g->pid);
	free(w);
}

void chosen_report(const struct session *s)
{
	const struct session_functions *f = s->options->functions;

	for (size_t i = 0; f && s->instrumented_objects && i < MIN(f->npatterns, (size_t)63); i++)
		if (!(s->patterns_met & 1ull << i))
			warning("--instrumented %s: no function of the program or its libraries has such a name", f->patterns[i]);
	if (f && f->npatterns && !s->instrumented_objects && s->hellos)
		warning("--instrumented: nothing that ran was compiled with -finstrument-functions");
}
