/* SPDX-License-Identifier: MIT */
/* What files of the system and of control groups hold; see snapshot.h. */
#include "cli/analyze/snapshot.h"

#include <string.h>

#include "cli/analyze/usage.h"

/* ---- texts: lines that may be anything ------------------------------------------------------------- */

struct line {
	const char *at, *end;        /* without its newline */
};

/* The next whole line: the last one of a text that was cut is none. */
static bool line_next(struct line *line, const char **rest, const char *end)
{
	const char *newline = *rest < end ? memchr(*rest, '\n', (size_t)(end - *rest)) : NULL;

	if (!newline)
		return false;
	*line = (struct line){ *rest, newline };
	*rest = newline + 1;
	return true;
}

static bool word_next(struct line *line, struct line *word)
{
	while (line->at < line->end && *line->at == ' ')
		line->at++;
	word->at = line->at;
	while (line->at < line->end && *line->at != ' ')
		line->at++;
	word->end = line->at;
	return word->at < word->end;
}

static bool word_is(const struct line *word, const char *text)
{
	size_t size = strlen(text);

	return (size_t)(word->end - word->at) == size && !memcmp(word->at, text, size);
}

/* What follows "key=" in the word; false: it is another one. */
static bool word_value(struct line *word, const char *key)
{
	size_t size = strlen(key);

	if ((size_t)(word->end - word->at) <= size || memcmp(word->at, key, size) || word->at[size] != '=')
		return false;
	word->at += size + 1;
	return true;
}

static u64 word_number(const struct line *word)
{
	u64 value = 0;

	for (const char *at = word->at; at < word->end; at++)
		if (*at < '0' || *at > '9' || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (u64)(*at - '0'), &value))
			return WIRE_ABSENT(WIRE_ABSENT_FIELD);
	return word->at < word->end && !wire_absent(value) ? value : WIRE_ABSENT(WIRE_ABSENT_FIELD);
}

/* Absent where one of them is. */
static u64 number_add(u64 sum, u64 value)
{
	if (wire_absent(value))
		return value;
	if (wire_absent(sum) || __builtin_add_overflow(sum, value, &sum) || wire_absent(sum))
		return WIRE_ABSENT(WIRE_ABSENT_FIELD);
	return sum;
}

/* ---- forms of files -------------------------------------------------------------------------------- */

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=123" (Documentation/accounting/psi.rst). */
static u64 snapshot_pressure(const char *text, size_t size, const char *key, const char *disks)
{
	const char *end = text + size;
	struct line line, word;

	(void)disks;
	while (line_next(&line, &text, end)) {
		if (!word_next(&line, &word) || !word_is(&word, key))
			continue;
		while (word_next(&line, &word))
			if (word_value(&word, "total"))
				return word_number(&word);
	}
	return WIRE_ABSENT(WIRE_ABSENT_FIELD);
}

/* "key value" (Documentation/admin-guide/cgroup-v2.rst, "flat keyed"). */
static u64 snapshot_keyed(const char *text, size_t size, const char *key, const char *disks)
{
	const char *end = text + size;
	struct line line, word;

	(void)disks;
	while (line_next(&line, &text, end))
		if (word_next(&line, &word) && word_is(&word, key) && word_next(&line, &word))
			return word_number(&word);
	return WIRE_ABSENT(WIRE_ABSENT_FIELD);
}

static u64 snapshot_single(const char *text, size_t size, const char *key, const char *disks)
{
	const char *end = text + size;
	struct line line, word;

	(void)key;
	(void)disks;
	return line_next(&line, &text, end) && word_next(&line, &word) ? word_number(&word) : WIRE_ABSENT(WIRE_ABSENT_FIELD);
}

/* "8:16 rbytes=1 wbytes=2 ..." (same file, "nested keyed"): the sum. A group that did no I/O has no line. */
static u64 snapshot_nested(const char *text, size_t size, const char *key, const char *disks)
{
	const char *end = text + size;
	struct line line, word;
	u64 sum = 0;

	(void)disks;
	while (line_next(&line, &text, end))
		while (word_next(&line, &word))
			if (word_value(&word, key))
				sum = number_add(sum, word_number(&word));
	return sum;
}

static bool disk_wanted(const struct line *name, const char *disks)
{
	size_t size = (size_t)(name->end - name->at);

	for (const char *at = disks; at && (at = strchr(at, ' ')); at++)
		if (strcspn(at + 1, " ") == size && !memcmp(at + 1, name->at, size))
			return true;
	return !disks;
}

/* "8 0 sda 1 2 3 ..." (Documentation/admin-guide/iostats.rst): the sum of a field, counted from 1. */
static u64 snapshot_disks(const char *text, size_t size, const char *key, const char *disks)
{
	u32 field = (u32)(key[0] - '0') * (key[1] ? 10 : 1) + (u32)(key[1] ? key[1] - '0' : 0);
	const char *end = text + size;
	struct line line, word;
	bool any = false;
	u64 sum = 0;

	while (line_next(&line, &text, end)) {
		bool named = word_next(&line, &word) && word_next(&line, &word) && word_next(&line, &word);
		u32 n = 0;

		if (!named || !disk_wanted(&word, disks))
			continue;
		while (n < field && word_next(&line, &word))
			n++;
		sum = number_add(sum, n == field ? word_number(&word) : WIRE_ABSENT(WIRE_ABSENT_FIELD));
		any = true;
	}
	return any ? sum : WIRE_ABSENT(WIRE_ABSENT_FIELD);
}

/* ---- the table ------------------------------------------------------------------------------------- */

const struct snapshot_cell snapshot_cells[SNAPSHOT_CELLS] = {
#define CELL(...) { __VA_ARGS__ },
#define SNAPSHOT(source, class_name, place, path, parser, cells) cells
#include "cli/analyze/snapshot.def"
#undef SNAPSHOT
#undef CELL
};

const struct snapshot_file snapshot_files[SNAPSHOT_FILES] = {
#define CELL(...) + 1
#define SNAPSHOT(source, class_name, place, path, parser, cells) \
	{ #source, class_name, place, path, snapshot_##parser, 0 cells },
#include "cli/analyze/snapshot.def"
#undef SNAPSHOT
#undef CELL
};

u32 snapshot_first(u32 file)
{
	u32 first = 0;

	for (u32 i = 0; i < file; i++)
		first += snapshot_files[i].cells;
	return first;
}

u32 snapshot_file_of(u32 cell)
{
	u32 file = 0;

	while (file + 1 < SNAPSHOT_FILES && snapshot_first(file + 1) <= cell)
		file++;
	return file;
}

/* ---- values ---------------------------------------------------------------------------------------- */

void snapshot_parse(u64 *values, u32 file, const char *text, size_t size, const char *disks)
{
	const struct snapshot_file *f = &snapshot_files[file];
	u32 first = snapshot_first(file);

	for (u32 i = first; i < first + f->cells; i++) {
		values[i] = f->find(text, size, snapshot_cells[i].key, disks);
		if (wire_absent(values[i]))
			continue;
		if (__builtin_mul_overflow(values[i], snapshot_cells[i].scale, &values[i]) || wire_absent(values[i]))
			values[i] = WIRE_ABSENT(WIRE_ABSENT_FIELD);
	}
}

void snapshot_absent(u64 *values, u32 file, u32 reason)
{
	u32 first = snapshot_first(file);

	for (u32 i = first; i < first + snapshot_files[file].cells; i++)
		values[i] = WIRE_ABSENT(reason);
}

static const char *snapshot_reason(u32 file, u64 value)
{
	const struct snapshot_file *f = &snapshot_files[file];
	u64 reason = UINT64_MAX - value;
	bool psi = !strcmp(f->source, "psi");

	if (reason == WIRE_ABSENT_SEALED)
		return "the program had set a seccomp filter: no system call since";
	if (reason == WIRE_ABSENT_NO_FILE && f->place == SNAPSHOT_CGROUP)
		return "the control group has no such file: no cgroup v2 here, or its controller is not enabled for the group";
	if (reason == WIRE_ABSENT_NO_FILE)
		return psi ? "the kernel was built without pressure stall information (CONFIG_PSI)" : "no such file in /proc";
	if (reason == WIRE_ABSENT_UNREADABLE && psi)
		return "pressure stall information is switched off: boot with psi=1";
	if (reason == WIRE_ABSENT_FIELD)
		return "this kernel has no such field";
	return usage_absent_note(value);
}

void snapshot_between(struct cell *cells, const u64 *begin, const u64 *end)
{
	for (u32 file = 0, i = 0; file < SNAPSHOT_FILES; file++)
		for (u32 k = 0; k < snapshot_files[file].cells; k++, i++) {
			u64 worse = wire_absent(end[i]) ? end[i] : begin[i];
			bool gauge = snapshot_cells[i].flags & SNAPSHOT_GAUGE;

			if (wire_absent(end[i]) || (!gauge && wire_absent(begin[i])))
				cells[i] = cell_absent(CELL_UNAVAILABLE, snapshot_reason(file, worse));
			else
				cells[i] = cell_subtract(cell_counted((double)end[i]), cell_counted(gauge ? 0 : (double)begin[i]));
		}
}

void snapshot_add(struct cell *sum, const struct cell *part)
{
	for (u32 i = 0; i < SNAPSHOT_CELLS; i++) {
		if (snapshot_cells[i].flags & SNAPSHOT_GAUGE && cell_has_value(&sum[i]) && cell_has_value(&part[i]))
			sum[i].value = sum[i].value > part[i].value ? sum[i].value : part[i].value;
		else
			sum[i] = cell_add(sum[i], part[i]);
	}
}

void snapshot_subtract(struct cell *cells, const struct cell *before)
{
	for (u32 i = 0; i < SNAPSHOT_CELLS; i++)
		if (!(snapshot_cells[i].flags & SNAPSHOT_GAUGE))
			cells[i] = cell_subtract(cells[i], before[i]);
}

void snapshot_fill_absent(struct cell *cells, const char *note)
{
	for (u32 i = 0; i < SNAPSHOT_CELLS; i++)
		cells[i] = cell_absent(CELL_UNAVAILABLE, note);
}
