/* SPDX-License-Identifier: MIT */
/* Histograms as bytes, LEB128 numbers: most have a few dozen buckets in use out of 2,048. */
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
