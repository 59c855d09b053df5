/* SPDX-License-Identifier: MIT */
/* Width and colour of a terminal; see term.h. */
#include "cli/term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *const color_words[] = { "auto", "always", "never", NULL };

static FILE *term_paged_file;

void term_paged(FILE *file)
{
	term_paged_file = file;
}

bool color_wanted(FILE *file, enum color_mode mode)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (mode != COLOR_AUTO)
		return mode == COLOR_ALWAYS;
	if (no && *no)
		return false;
	return term && *term && strcmp(term, "dumb") && (file == term_paged_file || isatty(fileno(file)));
}

static size_t term_columns_variable(void)
{
	const char *s = getenv("COLUMNS");
	size_t n = 0;

	if (!s || !*s)
		return 0;
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || n > 10000)
			return 0;
		n = n * 10 + (size_t)(*s - '0');
	}
	return n;
}

size_t term_width(int fd)
{
	struct winsize size;
	bool terminal = ioctl(fd, TIOCGWINSZ, &size) == 0;
	size_t width = terminal ? size.ws_col : 0;

	if (!width)
		width = term_columns_variable();
	if (!width)
		return terminal ? 80 : 0;
	return width < 20 ? 20 : width;
}

const char *term_style(bool color, enum term_style style)
{
	static const char *const sequence[] = {
		[STYLE_PLAIN] = "\033[0m", [STYLE_STRONG] = "\033[1m",
		[STYLE_ACCENT] = "\033[36m", [STYLE_BAD] = "\033[31m",
	};

	return color ? sequence[style] : "";
}
