/* SPDX-License-Identifier: MIT */
/*
 * What will not be counted, said before the start: a run may take hours, and the remedy is best known before
 * them. One line, with the reason of the first; the report has all.
 */
#include "cli/session/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/log.h"

void forewarn_add(struct forewarn *f, const char *name, const char *because)
{
	size_t len = strlen(f->names);

	if (!f->because)
		f->because = because;
	if (strcmp(f->because, because) != 0)
		f->others++;
	else if (len + strlen(name) + 8 < sizeof(f->names))
		snprintf(f->names + len, sizeof(f->names) - len, "%s%s", len ? ", " : "", name);
	else
		f->others++;
}

void forewarn_say(const struct forewarn *f)
{
	char others[32] = "";

	if (!f->because)
		return;
	if (f->others)
		snprintf(others, sizeof(others), " and %u more", f->others);
	warning("%s%s will not be counted: %s", f->names, others, f->because);
}

void session_forewarn(struct session *s)
{
	struct forewarn f = { .names = "" };

	if (totals_refused(&s->totals))
		forewarn_add(&f, "events of the kernel", totals_reason(&s->totals, 0, &s->caps));
	else
		asked_forewarn(&s->totals, &s->caps, &f);
	forewarn_say(&f);
}

void session_forewarn_tree(struct session *s)
{
	struct outcome o;

	if (!s->options->follow || !s->track.err || totals_refused(&s->totals))
		return;
	o = s->track.err == E2BIG ? outcome_no("", "this machine has more than %u CPUs", TRACK_CPUS) :
				    advice_ring(&s->caps, s->track.err);
	warning("descendants will not be waited for, since nothing tells of them: %s%s%s", o.because, o.remedy[0] ? "; " : "",
		o.remedy);
}
