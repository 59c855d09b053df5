/* SPDX-License-Identifier: MIT */
/* Which portion of a run is measured; see portioned.h. */
#include "cli/cmd/portioned.h"

#include <errno.h>
#include <string.h>

#include "cli/log.h"

#define PORTIONED_MS_MOST (INT64_MAX / NSEC_PER_MSEC) /* as for times in seconds: opt_parse_seconds() */

int portioned_steer(const struct command *command, const char *delay, const char *control, struct steer *steer)
{
	unsigned long ms = 0;
	int err = 0;

	*steer = (struct steer){ .control = -1, .ack = -1 };
	steer->begin_off = delay && !strcmp(delay, "-1");
	if (delay && !steer->begin_off)
		err = opt_parse_uint(delay, &ms);
	if (err == -ERANGE || ms > PORTIONED_MS_MOST) {
		error("option --delay: '%s' is too large", delay);
		return STATUS_USAGE;
	}
	if (err) {
		error("--delay takes a number of ms, or -1, not '%s'", delay);
		return STATUS_USAGE;
	}
	if (steer->begin_off && !control)
		return command_misused(command, "--delay=-1 waits for --control, which is not given", NULL);
	steer->delay_ns = ms * NSEC_PER_MSEC;
	if (control)
		err = steer_open(steer, control);
	return err == -EINVAL ? STATUS_USAGE : err ? STATUS_FAILURE : 0;
}

bool portioned_in_time(const struct portioned *portioned)
{
	return portioned->delay || portioned->control;
}

int portioned_parse(struct portioned *p, const struct command *command)
{
	for (size_t i = 0; i < p->roi.n; i++)
		if (!p->roi.item[i][0])
			return command_misused(command, "needs the name of a region for --roi, not an empty text", NULL);
	p->inside = (struct inside){ p->roi.item, p->roi.n };
	p->opened = true;
	return portioned_steer(command, p->delay, p->control, &p->steer);
}

void portioned_session(struct portioned *p, struct session_options *options)
{
	options->steer = portioned_in_time(p) ? &p->steer : NULL;
	options->inside = p->roi.n ? &p->inside : NULL;
}

void portioned_free(struct portioned *p)
{
	if (p->opened)
		steer_close(&p->steer);
	opt_list_free(&p->roi);
}
