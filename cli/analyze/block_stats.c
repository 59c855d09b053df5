/* SPDX-License-Identifier: MIT */
/*
 * What /proc/diskstats says of devices, and what lies between two readings (Documentation/admin-guide/iostats.rst):
 * 11 numbers, since Linux 4.18 with 4 of discards, since 5.5 with 2 of flushes; whatever follows is not known here.
 */
#include "cli/analyze/block.h"

#include <stdlib.h>
#include <string.h>

#include "common/base.h"

#define SECTOR 512
#define MS_SURE 100e6                /* ns: a ms is a hundredth of them */

/* Numbers of fields, from 0; NONE: there is none for that direction. */
enum { NONE = BLOCK_FIELDS, BUSY = 9, WEIGHTED = 10 };

static const struct { u32 requests, merged, sectors, ms; } fields[BLOCK_DIRECTIONS] = {
	[BLOCK_READ] = { 0, 1, 2, 3 }, [BLOCK_WRITE] = { 4, 5, 6, 7 }, [BLOCK_DISCARD] = { 11, 12, 13, 14 },
	[BLOCK_FLUSH] = { 15, NONE, NONE, 16 },
};

static const char no_field[] = "this kernel has no such field";
static const char made_anew[] = "the device was set up anew meanwhile";

/* ---- lines ----------------------------------------------------------------------------------------- */

/* The word at *at, which ends before end; its length, 0: no more. */
static size_t word_next(const char **at, const char *end)
{
	const char *s = *at;

	while (s < end && *s == ' ')
		s++;
	*at = s;
	while (s < end && *s != ' ')
		s++;
	return (size_t)(s - *at);
}

static bool number_next(const char **at, const char *end, u64 *value)
{
	size_t size = word_next(at, end);

	*value = 0;
	for (size_t i = 0; i < size; i++, (*at)++)
		if (**at < '0' || **at > '9' || __builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (u64)(**at - '0'), value))
			return false;
	return size > 0;
}

static bool line_parse(struct block_stat *stat, const char *at, const char *end)
{
	u64 major, minor;
	size_t size;

	*stat = (struct block_stat){ .nfields = 0 };
	if (!number_next(&at, end, &major) || !number_next(&at, end, &minor) || major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	size = word_next(&at, end);
	if (!size || size >= sizeof(stat->name))
		return false;
	memcpy(stat->name, at, size);
	at += size;
	stat->major = (u32)major;
	stat->minor = (u32)minor;
	while (stat->nfields < BLOCK_FIELDS && number_next(&at, end, &stat->field[stat->nfields]))
		stat->nfields++;
	return stat->nfields > 0;
}

int block_stats_parse(struct block_stats *stats, const char *text, size_t size)
{
	const char *end = text + size, *newline;
	u32 lines = 0;

	for (const char *at = text; at < end; at++)
		lines += *at == '\n';
	lines = MIN(lines, BLOCK_DEVICES);
	*stats = (struct block_stats){ .list = calloc(lines + 1, sizeof(*stats->list)) };
	if (!stats->list)
		return -1;
	/* A last line without its end was cut, maybe in the midst of a number. */
	while (stats->n < lines && text < end && (newline = memchr(text, '\n', (size_t)(end - text)))) {
		stats->n += line_parse(&stats->list[stats->n], text, newline);
		text = newline + 1;
	}
	return 0;
}

void block_stats_free(struct block_stats *stats)
{
	free(stats->list);
	stats->list = NULL;
	stats->n = 0;
}

/* ---- differences ----------------------------------------------------------------------------------- */

static const struct block_stat *stat_find(const struct block_stats *stats, const struct block_stat *of)
{
	for (u32 i = 0; i < stats->n; i++)
		if (stats->list[i].major == of->major && stats->list[i].minor == of->minor && !strcmp(stats->list[i].name, of->name))
			return &stats->list[i];
	return NULL;
}

/* Of two numbers of one field; before NULL: the device was not there, and began at 0. */
static struct cell field_between(const struct block_stat *before, const struct block_stat *now, u32 field)
{
	u64 begin;

	if (field >= now->nfields || (before && field >= before->nfields))
		return cell_absent(CELL_UNAVAILABLE, no_field);
	begin = before ? before->field[field] : 0;
	return now->field[field] < begin ? cell_absent(CELL_UNAVAILABLE, made_anew)
					 : cell_counted((double)(now->field[field] - begin));
}

/* The kernel prints ms as 32 bits: they come round after 49 days. */
static struct cell ms_between(const struct block_stat *before, const struct block_stat *now, u32 field)
{
	u64 begin = before && field < before->nfields ? before->field[field] : 0;

	if (field >= now->nfields || (before && field >= before->nfields))
		return cell_absent(CELL_UNAVAILABLE, no_field);
	if (now->field[field] < begin && begin > UINT32_MAX)
		return cell_absent(CELL_UNAVAILABLE, made_anew);
	return cell_counted((double)(now->field[field] < begin ? (u64)(u32)(now->field[field] - begin)
							      : now->field[field] - begin) * 1e6);
}

static struct cell scaled(struct cell cell, double by)
{
	cell.value *= by;
	return cell;
}

/* Of times in whole ms, of which each edge cuts some off. */
static struct cell mean_between(struct cell ms, struct cell requests)
{
	struct cell mean = cell_divide(ms, requests, 1);

	if (!cell_has_value(&mean) || ms.value >= MS_SURE)
		return mean;
	if (ms.value == 0)
		return cell_absent(CELL_UNAVAILABLE, "the kernel tells whole ms, and all of them together took less");
	mean.state = CELL_ESTIMATE;
	mean.note = "the kernel tells whole ms, and all of them together took few";
	return mean;
}

static struct cell busy_between(struct cell ms, struct cell elapsed)
{
	struct cell busy = cell_divide(ms, elapsed, 100);

	if (!cell_has_value(&busy))
		return busy;
	busy.value = MIN(busy.value, 100.0);
	busy.state = CELL_ESTIMATE;
	busy.note = "the kernel looks at it once a tick";
	return busy;
}

/* A counter that went back, of those that do not come round, says so of all of the device. */
static bool stat_is_anew(const struct block_stat *before, const struct block_stat *now)
{
	for (u32 d = 0; before && d < BLOCK_DIRECTIONS; d++) {
		u32 f = fields[d].requests;

		if (f < now->nfields && f < before->nfields && now->field[f] < before->field[f])
			return true;
	}
	return false;
}

static void side_between(struct cell *side, u32 direction, const struct block_stat *before, const struct block_stat *now,
			 double elapsed_ns)
{
	static const char no_bytes[] = "a flush has no bytes and is not merged";
	bool whole = fields[direction].merged != NONE;
	struct cell requests = field_between(before, now, fields[direction].requests);

	side[BLOCK_REQUESTS] = requests;
	side[BLOCK_MERGED] = side[BLOCK_BYTES] = cell_absent(CELL_NOT_COUNTED, no_bytes);
	if (whole) {
		side[BLOCK_MERGED] = field_between(before, now, fields[direction].merged);
		side[BLOCK_BYTES] = scaled(field_between(before, now, fields[direction].sectors), SECTOR);
	}
	side[BLOCK_RATE] = cell_divide(requests, cell_counted(elapsed_ns), 1e9);
	side[BLOCK_MEAN] = mean_between(ms_between(before, now, fields[direction].ms), requests);
}

static void device_between(struct block_device *device, const struct block_stat *before, const struct block_stat *now,
			   double elapsed_ns)
{
	const struct cell elapsed = cell_counted(elapsed_ns);

	if (stat_is_anew(before, now)) {
		for (u32 i = 0; i < BLOCK_CELLS; i++)
			device->cell[i] = cell_absent(CELL_UNAVAILABLE, made_anew);
		for (u32 i = 0; i < BLOCK_DIRECTIONS * BLOCK_SIDE_CELLS; i++)
			device->side[i / BLOCK_SIDE_CELLS][i % BLOCK_SIDE_CELLS] = cell_absent(CELL_UNAVAILABLE, made_anew);
		return;
	}
	device->cell[BLOCK_BUSY] = busy_between(ms_between(before, now, BUSY), elapsed);
	device->cell[BLOCK_IN_FLIGHT] = cell_divide(ms_between(before, now, WEIGHTED), elapsed, 1);
	for (u32 d = 0; d < BLOCK_DIRECTIONS; d++)
		side_between(device->side[d], d, before, now, elapsed_ns);
}

int block_between(struct block *block, const struct block_stats *before, const struct block_stats *now,
		  enum block_kind (*kind)(const struct block_stat *stat))
{
	struct block_device *devices = calloc(now->n + 1, sizeof(*devices));

	if (!devices)
		return -1;
	free(block->devices);
	block->devices = devices;
	block->ndevices = now->n;
	block->duration_ns = now->time_ns > before->time_ns ? now->time_ns - before->time_ns : 0;
	for (u32 i = 0; i < now->n; i++) {
		const struct block_stat *stat = &now->list[i];

		memcpy(devices[i].name, stat->name, sizeof(stat->name));
		devices[i].major = stat->major;
		devices[i].minor = stat->minor;
		devices[i].kind = kind(stat);
		device_between(&devices[i], stat_find(before, stat), stat, (double)block->duration_ns);
	}
	return 0;
}
