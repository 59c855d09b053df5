/* SPDX-License-Identifier: MIT */
/* The channel of --window-file: a line of another program opens, marks or closes a window. As --control answers, so does it. */
#include "cli/session/steer.h"
#include "cli/session/windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/text.h"

#define COMPLAINTS_MOST 8

/* Whoever writes there may write much: nobody wants to read it all. */
static bool channel_complains(struct window_channel *c)
{
	if (c->complaints++ == COMPLAINTS_MOST)
		warning("--window-file says more that cannot be done: not shown");
	return c->complaints <= COMPLAINTS_MOST;
}

static void channel_unknown(struct window_channel *c)
{
	char text[256];

	if (!channel_complains(c))
		return;
	text_escape(text, sizeof(text), c->line, c->length);
	if (c->cut)
		warning("--window-file has a line of more than %zu bytes: left out", sizeof(c->line) - 1);
	else
		warning("--window-file says '%s': known are begin NAME, end NAME, warmup NAME, measured NAME, cooldown NAME and ping",
			text);
}

/* The name behind the word; NULL: it is another word, or has no name. */
static const char *line_name(const char *line, const char *word)
{
	size_t size = strlen(word);

	return !strncmp(line, word, size) && line[size] == ' ' && line[size + 1] ? line + size + 1 : NULL;
}

/* False: it is no command. */
static bool channel_obey(struct session *s, const char *line, size_t length)
{
	static const char *const phases[] = { [WINDOW_WARMUP] = "warmup", [WINDOW_MEASURED] = "measured",
					      [WINDOW_COOLDOWN] = "cooldown" };
	const char *name;

	if ((name = line_name(line, "begin")))
		return windows_begin(s, name, length - (size_t)(name - line)), true;
	if ((name = line_name(line, "end")))
		return windows_end(s, name, length - (size_t)(name - line)), true;
	for (u32 i = 0; i < ARRAY_SIZE(phases); i++)
		if ((name = line_name(line, phases[i])))
			return windows_phase(s, name, length - (size_t)(name - line), i), true;
	return !strcmp(line, "ping");
}

static void channel_line(struct session *s, struct window_channel *c)
{
	bool known;

	c->line[c->length] = '\0';
	known = !c->cut && channel_obey(s, c->line, c->length);
	if (!known && (c->length || c->cut))
		channel_unknown(c);
	c->length = 0;
	c->cut = false;
	if (known && !channel_answer(c->ack) && !c->mute) {
		c->mute = true;
		warning("cannot answer at --window-file: %s", strerror(errno));
	}
}

/* A piece at a time: who writes without end must not keep us from all else. False: there is nothing. */
static bool channel_piece(struct session *s, struct window_channel *c)
{
	char text[512];
	ssize_t got;

	if (c->control < 0 || !channel_ready(c->control, POLLIN))
		return false;
	got = read(c->control, text, sizeof(text));
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (got < 0)
		warning("nothing more comes of --window-file: %s", strerror(errno));
	for (ssize_t i = 0; i < got; i++)
		if (text[i] == '\n' || text[i] == '\0')
			channel_line(s, c);
		else if (c->length < sizeof(c->line) - 1)
			c->line[c->length++] = text[i];
		else
			c->cut = true;
	/* Of a descriptor that was given: nobody writes to it any more, or it can't be read. */
	if (got <= 0)
		c->control = -1;
	return got > 0;
}

void window_channel_read(struct session *s, bool all)
{
	struct window_channel *c = &s->windows->channel;

	/* What a pipe holds, and no more. */
	for (u32 i = 0; i < 256 && channel_piece(s, c) && all; i++)
		;
}
