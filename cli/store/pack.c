/* SPDX-License-Identifier: MIT */
/* Histograms and events as bytes, LEB128 numbers: most have a few dozen buckets in use out of 2,048. */
#include <errno.h>
#include <stdlib.h>

#include "cli/store/internal.h"

enum { PACK_NUMBER_MAX = 10 };

static size_t pack_number(u8 *to, u64 value)
{
	size_t n = 0;

	do {
		to[n] = (u8)(value & 0x7f);
		value >>= 7;
		to[n++] |= value ? 0x80 : 0;
	} while (value);
	return n;
}

/* Bytes used; 0: it does not end, or is longer than a number can be. */
static size_t unpack_number(const u8 *bytes, size_t size, u64 *value)
{
	size_t n;

	*value = 0;
	for (n = 0; n < size && n < PACK_NUMBER_MAX; n++) {
		*value |= (u64)(bytes[n] & 0x7f) << (7 * n);
		if (!(bytes[n] & 0x80))
			return n + 1;
	}
	return 0;
}

u8 *store_pack_hist(const struct hist *hist, size_t *size)
{
	size_t octaves = 0;
	u32 i, k, last = 0;
	u8 *bytes;

	*size = 0;
	for (i = 0; i < ARRAY_SIZE(hist->octave); i++)
		octaves += hist->octave[i] != NULL;
	bytes = octaves ? malloc(octaves * WIRE_HIST_SUB * 2 * PACK_NUMBER_MAX) : NULL;
	for (i = 0; bytes && i < ARRAY_SIZE(hist->octave); i++)
		for (k = 0; hist->octave[i] && k < WIRE_HIST_SUB; k++) {
			if (!hist->octave[i][k])
				continue;
			*size += pack_number(bytes + *size, i * WIRE_HIST_SUB + k - last);
			*size += pack_number(bytes + *size, hist->octave[i][k]);
			last = i * WIRE_HIST_SUB + k;
		}
	if (!*size) {
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

int store_unpack_hist(struct hist *hist, const u8 *bytes, size_t size)
{
	size_t at = 0, n;
	u64 gap, count, bucket = 0;
	u64 **octave;

	while (at < size) {
		n = unpack_number(bytes + at, size - at, &gap);
		at += n;
		if (!n || gap >= HIST_BUCKETS || (bucket += gap) >= HIST_BUCKETS)
			return -EINVAL;
		n = unpack_number(bytes + at, size - at, &count);
		at += n;
		if (!n)
			return -EINVAL;
		octave = &hist->octave[bucket / WIRE_HIST_SUB];
		if (!*octave)
			*octave = calloc(WIRE_HIST_SUB, sizeof(u64));
		if (!*octave)
			return -ENOMEM;
		(*octave)[bucket % WIRE_HIST_SUB] += count;
	}
	return 0;
}

/* Differences with a sign as numbers without one: small ones are small. */
static u64 pack_signed(u64 difference)
{
	return difference << 1 ^ (u64)((s64)difference >> 63);
}

static u64 unpack_signed(u64 number)
{
	return number >> 1 ^ (0 - (number & 1));
}

/* The CPU that each row was met on last, + 1. */
static u64 *pack_cpus(const struct samples *samples)
{
	return calloc((size_t)samples->nrows + 1, sizeof(u64));
}

u8 *store_pack_events(const struct samples *samples, u32 first, u32 n, size_t *size)
{
	u8 *bytes = malloc((size_t)n * 3 * PACK_NUMBER_MAX + 1);
	u64 last = 0, *cpus = pack_cpus(samples);
	u32 i;

	*size = 0;
	for (i = first; bytes && cpus && i < first + n; i++) {
		const struct samples_event *event = &samples->events[i];
		bool moved = cpus[event->row] != (u64)event->cpu + 1;

		*size += pack_number(bytes + *size, pack_signed(event->time_ns - last));
		*size += pack_number(bytes + *size, (u64)event->row << 1 | moved);
		if (moved)
			*size += pack_number(bytes + *size, event->cpu);
		cpus[event->row] = (u64)event->cpu + 1;
		last = event->time_ns;
	}
	if (!cpus) {
		free(bytes);
		bytes = NULL;
	}
	free(cpus);
	return bytes;
}

/* One event; the bytes used, 0 where it makes no sense. */
static size_t unpack_event(const u8 *bytes, size_t size, u32 nrows, u64 *cpus, struct samples_event *event)
{
	u64 gap, row, cpu;
	size_t n, at = unpack_number(bytes, size, &gap);

	if (!at)
		return 0;
	n = unpack_number(bytes + at, size - at, &row);
	at += n;
	if (!n || row >> 1 >= nrows)
		return 0;
	event->time_ns += unpack_signed(gap);
	event->row = (u32)(row >> 1);
	if (row & 1) {
		n = unpack_number(bytes + at, size - at, &cpu);
		at += n;
		if (!n || cpu > 0xffffffffu)
			return 0;
		cpus[event->row] = cpu + 1;
	}
	event->cpu = (u32)(cpus[event->row] - 1);
	return cpus[event->row] ? at : 0;
}

int store_unpack_events(struct samples *samples, const u8 *bytes, size_t size)
{
	struct samples_event event = { .time_ns = 0 };
	u64 *cpus = pack_cpus(samples);
	int err = cpus ? 0 : -ENOMEM;
	size_t at = 0, n;

	while (!err && at < size) {
		n = unpack_event(bytes + at, size - at, samples->nrows, cpus, &event);
		at += n;
		if (!n)
			err = -EINVAL;
		else if (samples_event(samples, event.row, event.time_ns, event.cpu) != 0)
			err = -ENOMEM;
	}
	free(cpus);
	return err;
}
