/* SPDX-License-Identifier: MIT */
/* The figures of a run's own control group; see cgroup_own.h. It began with the run: what its files say is the run's. */
#define _GNU_SOURCE
#include "cli/session/cgroup_own.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/session/internal.h"

#define SOURCE "cgroup"
#define FILE_MOST 65536

/* For people and for "Units" of totals. */
static const char *unit_of(const struct snapshot_cell *cell)
{
	return strcmp(cell->format, "count") ? cell->unit : "count";
}

static void figure_add(const struct cgroup_own *own, struct totals *totals, const char *name, const char *unit, double value)
{
	struct cell cell = cell_counted(value);

	if (own->portion)
		cell.note = "of the whole run";
	totals_add(totals, name, unit, cell, SOURCE);
}

/* Why a file has not been read: no controller, or none of that kind in this kernel. */
static const char *file_missing(struct cgroup_own *own, u32 file, long err)
{
	const char *name = snapshot_files[file].path;
	enum cgroup_controller controller = cgroup_controller_of(name);

	if (controller < CGROUP_CONTROLLERS && own->without[controller][0])
		return own->without[controller];
	if (controller == CGROUP_CONTROLLERS && (err == -ENOENT || err == -EOPNOTSUPP))
		snprintf(own->missing[file], sizeof(own->missing[file]),
			 "groups have no pressure stall information here: psi=0, cgroup_disable=pressure, or a kernel without");
	else if (err == -ENOENT)
		snprintf(own->missing[file], sizeof(own->missing[file]), "this kernel's groups have no %s", name);
	else
		snprintf(own->missing[file], sizeof(own->missing[file]), "%s cannot be read: %s", name, strerror((int)-err));
	return own->missing[file];
}

static const char *field_missing(const struct cgroup_own *own, u32 file)
{
	enum cgroup_controller controller = cgroup_controller_of(snapshot_files[file].path);

	return controller < CGROUP_CONTROLLERS && own->without[controller][0] ? own->without[controller] :
	       "this kernel has no such field";
}

/* "vda", or the numbers that stand in the file. */
static void device_name(const char *numbers, int len, char *name, size_t size)
{
	char path[64], to[PATH_MAX];
	const char *base;
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/dev/block/%.*s", len, numbers);
	n = readlink(path, to, sizeof(to) - 1);
	to[n > 0 ? n : 0] = '\0';
	base = strrchr(to, '/');
	if (base)
		snprintf(name, size, "%.30s", base + 1);
	else
		snprintf(name, size, "%.*s", MIN(len, 30), numbers);
}

/* Each line of io.stat is of one device, in the form of the whole. */
static void devices_add(struct cgroup_own *own, struct totals *totals, u32 file, const char *text)
{
	u32 first = snapshot_first(file), cells = MIN(snapshot_files[file].cells, (u32)CGROUP_DEVICE_CELLS);
	u64 values[SNAPSHOT_CELLS];
	u32 n = 0;

	for (const char *end; n < CGROUP_DEVICES && (end = strchr(text, '\n')); text = end + 1) {
		char device[32];

		/* A device that it did nothing with may have its numbers alone. */
		if (!memchr(text, '=', (size_t)(end - text)))
			continue;
		device_name(text, (int)strcspn(text, " \n"), device, sizeof(device));
		snapshot_parse(values, file, text, (size_t)(end + 1 - text), NULL);
		for (u32 i = 0; i < cells; i++) {
			const struct snapshot_cell *cell = &snapshot_cells[first + i];
			char *name = own->names[n * CGROUP_DEVICE_CELLS + i];

			snprintf(name, sizeof(own->names[0]), "%.40s.%.30s", cell->name, device);
			if (!wire_absent(values[first + i]))
				figure_add(own, totals, name, unit_of(cell), (double)values[first + i]);
		}
		n++;
	}
}

static void file_add(struct cgroup_own *own, struct totals *totals, u32 file, char *text)
{
	const struct snapshot_file *f = &snapshot_files[file];
	long n = cgroup_file_read(own->path, f->path, text, FILE_MOST);
	u32 first = snapshot_first(file);
	u64 values[SNAPSHOT_CELLS];

	if (n >= 0)
		snapshot_parse(values, file, text, (size_t)n, NULL);
	for (u32 i = first; i < first + f->cells; i++) {
		const char *name = snapshot_cells[i].name, *unit = unit_of(&snapshot_cells[i]);

		if (n >= 0 && !wire_absent(values[i]))
			figure_add(own, totals, name, unit, (double)values[i]);
		else
			totals_add(totals, name, unit, cell_absent(CELL_UNAVAILABLE, n < 0 ? file_missing(own, file, n) :
								   field_missing(own, file)), SOURCE);
	}
	if (n > 0 && !strcmp(f->path, "io.stat"))
		devices_add(own, totals, file, text);
}

/* "8:0 rbps=1048576 wbps=max riops=max wiops=max" */
static void io_limits_add(struct cgroup_own *own, struct totals *totals)
{
	static const struct {
		const char *key, *unit;
	} keys[CGROUP_DEVICE_LIMITS] = {
		{ "rbps", "B/s" }, { "wbps", "B/s" }, { "riops", "IO/s" }, { "wiops", "IO/s" },
	};
	char text[4096], *line, *rest, *word, *next;
	u32 n = 0;

	if (cgroup_file_read(own->path, "io.max", text, sizeof(text)) <= 0)
		return;
	for (line = strtok_r(text, "\n", &next); line && n < CGROUP_DEVICES; line = strtok_r(NULL, "\n", &next), n++) {
		char device[32];

		device_name(line, (int)strcspn(line, " "), device, sizeof(device));
		strtok_r(line, " ", &rest);
		while ((word = strtok_r(NULL, " ", &rest)))
			for (u32 i = 0; i < CGROUP_DEVICE_LIMITS; i++) {
				size_t len = strlen(keys[i].key);
				char *name = own->limits[n * CGROUP_DEVICE_LIMITS + i];
				u64 value = 0;

				/* "max" is no number, and no limit. */
				if (strncmp(word, keys[i].key, len) != 0 || sscanf(word + len, "=%" SCNu64, &value) != 1)
					continue;
				snprintf(name, sizeof(own->limits[0]), "cgroup.%s_max.%.30s", keys[i].key, device);
				totals_add(totals, name, keys[i].unit, cell_counted((double)value), SOURCE);
			}
	}
}

/* The limits as the kernel has taken them. */
static void limits_add(struct cgroup_own *own, struct totals *totals)
{
	static const struct {
		const char *file, *name, *unit;
	} limits[] = {
		{ "memory.max", "cgroup.memory_max", "B" },
		{ "memory.high", "cgroup.memory_high", "B" },
		{ "cpu.max", "cgroup.cpu_max", "CPUs" },
	};
	unsigned long long value, period;
	char text[64];

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		int n = cgroup_file_read(own->path, limits[i].file, text, sizeof(text)) > 0 ?
			sscanf(text, "%llu %llu", &value, &period) : 0;

		if (n == 2 && period)
			totals_add(totals, limits[i].name, limits[i].unit, cell_counted((double)value / (double)period), SOURCE);
		else if (n == 1)
			totals_add(totals, limits[i].name, limits[i].unit, cell_counted((double)value), SOURCE);
	}
	io_limits_add(own, totals);
}

void cgroup_own_totals(struct cgroup_own *own, struct totals *totals)
{
	char *text;

	if (!own->path[0]) {
		totals_add(totals, "cgroup", "count", cell_absent(CELL_UNAVAILABLE, own->because), SOURCE);
		return;
	}
	text = malloc(FILE_MOST);
	for (u32 i = 0; text && i < SNAPSHOT_FILES; i++)
		if (snapshot_files[i].place == SNAPSHOT_CGROUP)
			file_add(own, totals, i, text);
	free(text);
	limits_add(own, totals);
}
