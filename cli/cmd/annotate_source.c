/* SPDX-License-Identifier: MIT */
/* The source of a function, where its file is still there. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd/annotate.h"

enum { SOURCE_MOST = 1 << 24, SOURCE_AROUND = 3, SOURCE_TAB = 8, SOURCE_PLACE = 6 };

/* A file as it was read; it is read once, and so is the reason why not. */
struct annotate_source {
	struct annotate_source *next;
	char *path;
	const char *why;             /* NULL: there it is */
	char *text;
	char **lines;                /* terminated */
	size_t nlines;
};

/* ---- reading --------------------------------------------------------------------------------------- */

/* All of a regular file, terminated; NULL and errno. */
static char *source_text(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat about;
	char *text = NULL;
	ssize_t n = -1;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &about) == 0 && (!S_ISREG(about.st_mode) || about.st_size > SOURCE_MOST))
		errno = S_ISREG(about.st_mode) ? EFBIG : EINVAL;
	else
		text = malloc(SOURCE_MOST + 1);
	if (text)
		n = read(fd, text, SOURCE_MOST);
	close(fd);
	if (n < 0) {
		free(text);
		return NULL;
	}
	*size = (size_t)n;
	text[n] = '\0';
	return text;
}

static int source_split(struct annotate_source *source, size_t size)
{
	size_t i, n = 1;

	for (i = 0; i < size; i++)
		n += source->text[i] == '\n';
	source->lines = calloc(n, sizeof(*source->lines));
	if (!source->lines)
		return -1;
	source->lines[source->nlines++] = source->text;
	for (i = 0; i < size; i++)
		if (source->text[i] == '\n') {
			source->text[i] = '\0';
			source->lines[source->nlines++] = source->text + i + 1;
		}
	/* Behind the last newline is no line. */
	source->nlines -= !*source->lines[source->nlines - 1];
	return 0;
}

/* NULL when memory is short. */
static struct annotate_source *source_find(struct annotate *annotate, const char *path)
{
	struct annotate_source *source;
	size_t size = 0;

	for (source = annotate->sources; source; source = source->next)
		if (!strcmp(source->path, path))
			return source;
	source = calloc(1, sizeof(*source));
	if (!source)
		return NULL;
	source->next = annotate->sources;
	annotate->sources = source;
	source->path = strdup(path);
	/* A relative path is relative to where the compiler ran, which need not be here. */
	if (path[0] != '/')
		source->why = "its folder is not known";
	else if (!(source->text = source_text(path, &size)))
		source->why = errno == EINVAL ? "no regular file" : strerrordesc_np(errno);
	return source->path && (source->why || source_split(source, size) == 0) ? source : NULL;
}

void annotate_free_sources(struct annotate *annotate)
{
	struct annotate_source *next;

	for (; annotate->sources; annotate->sources = next) {
		next = annotate->sources->next;
		free(annotate->sources->path);
		free(annotate->sources->text);
		free(annotate->sources->lines);
		free(annotate->sources);
	}
}

/* A line with its tabs as blanks. */
static char *source_expand(const char *line)
{
	size_t len = strlen(line), at = 0;
	char *text = malloc(SOURCE_TAB * len + 1);

	for (; text && *line && *line != '\r'; line++)
		do
			text[at++] = *line == '\t' ? ' ' : *line;
		while (*line == '\t' && at % SOURCE_TAB);
	if (text)
		text[at] = '\0';
	return text;
}

char *annotate_source_line(struct annotate *annotate, const char *path, u32 line)
{
	const struct annotate_source *source = source_find(annotate, path);

	return source && line && line <= source->nlines ? source_expand(source->lines[line - 1]) : NULL;
}

/* ---- printing -------------------------------------------------------------------------------------- */

static int source_print_line(struct annotate *annotate, const char *path, u32 line, const struct stacks_line *sums)
{
	static const struct stacks_sum none;
	char *text = annotate_source_line(annotate, path, line), place[16];
	int err;

	snprintf(place, sizeof(place), "%u", line);
	err = annotate_print(annotate, sums ? &sums->self : &none, sums ? &sums->total : &none, place, SOURCE_PLACE,
			     text ? text : "");
	free(text);
	return err;
}

static int source_heading(const struct annotate *annotate, const struct annotate_source *source)
{
	char *text;
	int err = asprintf(&text, "%s%s%s%s", source->path, source->why ? " (cannot be read: " : "",
			   source->why ? source->why : "", source->why ? ")" : "") < 0 ? -1 : 0;

	fputc('\n', annotate->file);
	if (!err) {
		err = annotate_print(annotate, NULL, NULL, "line", SOURCE_PLACE, text);
		free(text);
	}
	return err;
}

/* Lines of one file, of which n have samples, ascending. */
static int source_print(struct annotate *annotate, const struct stacks_line *lines, size_t n)
{
	const struct annotate_source *source = source_find(annotate, stacks_string(annotate->stacks, lines[0].place.file));
	u32 line = 0, from, until;
	int err = source ? source_heading(annotate, source) : -1;
	size_t i;

	for (i = 0; !err && i < n; i++) {
		u32 hot = lines[i].place.line;

		/* Of a file that is another one by now, or is not there, the line alone. */
		from = until = hot;
		if (hot && hot <= source->nlines) {
			from = hot > SOURCE_AROUND ? hot - SOURCE_AROUND : 1;
			until = MIN(hot + SOURCE_AROUND, (u32)source->nlines);
		}
		if (i + 1 < n)
			until = MIN(until, MAX(lines[i + 1].place.line, 1u) - 1);
		if (i && from > line + 1)
			annotate_gap(annotate, SOURCE_PLACE);
		for (line = MAX(from, line + 1); !err && line < hot; line++)
			err = source_print_line(annotate, source->path, line, NULL);
		err = err ? err : source_print_line(annotate, source->path, hot, &lines[i]);
		for (line = hot; !err && line < until; line++)
			err = source_print_line(annotate, source->path, line + 1, NULL);
	}
	return err;
}

static int source_order(const void *a, const void *b)
{
	const struct stacks_line *x = a, *y = b;

	if (x->place.file != y->place.file)
		return x->place.file < y->place.file ? -1 : 1;
	return x->place.line < y->place.line ? -1 : x->place.line > y->place.line;
}

/* Functions of this name in several objects may have the same lines. Returns how many are left. */
static size_t source_merge(struct stacks_line *lines, size_t n)
{
	size_t i, out = 0;

	for (i = 0; i < n; i++) {
		struct stacks_line *last = out ? &lines[out - 1] : NULL;

		if (!last || last->place.file != lines[i].place.file || last->place.line != lines[i].place.line) {
			lines[out++] = lines[i];
			continue;
		}
		last->self.count += lines[i].self.count;
		last->self.weight += lines[i].self.weight;
		last->total.count += lines[i].total.count;
		last->total.weight += lines[i].total.weight;
	}
	return out;
}

int annotate_print_source(struct annotate *annotate)
{
	static const struct stacks_scope whole = { .whole = true };
	struct stacks_line *lines;
	size_t n, i, next;
	int err = stacks_lines(annotate->stacks, &whole, annotate->function, &lines, &n);

	if (err)
		return -1;
	if (n)
		qsort(lines, n, sizeof(*lines), source_order);
	n = source_merge(lines, n);
	for (i = 0; !err && i < n; i = next) {
		for (next = i; next < n && lines[next].place.file == lines[i].place.file; next++)
			;
		if (lines[i].place.file != SAMPLES_NONE)
			err = source_print(annotate, lines + i, next - i);
	}
	free(lines);
	return err;
}
