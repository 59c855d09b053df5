/* SPDX-License-Identifier: MIT */
/* Which description (FDE) is of an address; see cfi.h. LSB Core 5.0, 10.6, has the formats. */
#include "cli/symbols/cfi_internal.h"

#include <stdlib.h>
#include <string.h>

#define INDEX_MOST (1u << 20)        /* descriptions; a browser has about as many, and a table */

/* What the letters of an augmentation say. False: one is not known, and with it where things lie. */
static bool augmentation_read(struct cfi_bytes *cie, const char *letters, struct cfi_description *d)
{
	struct cfi_bytes data;

	if (letters[0] != 'z')
		return !letters[0];
	d->sized = true;
	data = cfi_take(cie, cfi_uleb(cie));
	for (letters++; *letters; letters++)
		switch (*letters) {
		case 'R':
			d->encoding = (u8)cfi_get(&data, 1);
			break;
		case 'L':
			cfi_get(&data, 1);
			break;
		case 'P': {
			u8 encoding = (u8)cfi_get(&data, 1);

			cfi_pointer(&data, encoding & 0x7f, 0);
			break;
		}
		case 'S':
			d->signal = true;
			break;
		case 'B': /* which key signs return addresses */
		case 'G': /* memory tags */
			break;
		default:
			return true;
		}
	return !data.bad;
}

/* The length in front of an entry, and the bytes of the entry. */
static struct cfi_bytes entry_take(struct cfi_bytes *bytes, bool *wide)
{
	u64 length = cfi_get(bytes, 4);

	*wide = length == 0xffffffff;
	return cfi_take(bytes, *wide ? cfi_get(bytes, 8) : length);
}

static bool cie_read(struct cfi_bytes bytes, bool debug, struct cfi_description *d)
{
	struct cfi_bytes cie;
	char letters[8];
	u8 version;
	size_t n;
	bool wide;

	cie = entry_take(&bytes, &wide);
	if (cfi_get(&cie, wide ? 8 : 4) != (!debug ? 0 : wide ? UINT64_MAX : UINT32_MAX))
		return false;
	version = (u8)cfi_get(&cie, 1);
	for (n = 0; n < sizeof(letters); n++)
		if (!(letters[n] = (char)cfi_get(&cie, 1)))
			break;
	if (n == sizeof(letters) || (version != 1 && version != 3 && version != 4))
		return false;
	if (version == 4 && cfi_get(&cie, 2) != 8) /* bytes of an address, and none of a segment */
		return false;
	d->code_align = cfi_uleb(&cie);
	d->data_align = cfi_sleb(&cie);
	d->return_column = version == 1 ? cfi_get(&cie, 1) : cfi_uleb(&cie);
	if (!augmentation_read(&cie, letters, d))
		return false;
	d->initial = cie;
	return !cie.bad;
}

/* Where the common part lies that an entry names, at whose address the name stands. */
static struct cfi_bytes cie_find(const struct cfi *cfi, const struct cfi_section *section, bool debug, u64 at, u64 name)
{
	struct cfi_bytes all = cfi_section_bytes(cfi, section);

	if (!debug)
		name = at - name - section->address;
	if (name >= section->size)
		all.bad = true;
	else
		cfi_take(&all, name);
	return all;
}

bool cfi_describe(const struct cfi *cfi, const struct cfi_section *section, bool debug, struct cfi_bytes *bytes,
	struct cfi_description *d)
{
	struct cfi_bytes fde, cie;
	u64 at, name, start = bytes->address;
	bool wide;

	fde = entry_take(bytes, &wide);
	bytes->bad = bytes->bad || fde.bad || fde.at == fde.end;
	if (bytes->bad)
		return false;
	at = fde.address;
	name = cfi_get(&fde, wide ? 8 : 4);
	if (name == (!debug ? 0 : wide ? UINT64_MAX : UINT32_MAX))
		return false;
	*d = (struct cfi_description){ .fde = start };
	cie = cie_find(cfi, section, debug, at, name);
	if (cie.bad || !cie_read(cie, debug, d))
		return false;
	d->start = cfi_pointer(&fde, d->encoding & 0x7f, section->address);
	d->end = d->start + cfi_pointer(&fde, d->encoding & 0x0f, 0);
	if (d->sized)
		cfi_take(&fde, cfi_uleb(&fde));
	d->program = fde;
	return !fde.bad && d->end > d->start;
}

/* ---- the index --------------------------------------------------------------------------------------- */

static int index_order(const void *a, const void *b)
{
	const struct cfi_index *x = a, *y = b;

	return x->start != y->start ? x->start < y->start ? -1 : 1 : 0;
}

static void index_make(struct cfi *cfi, const struct cfi_section *section, u32 which)
{
	struct cfi_bytes bytes = cfi_section_bytes(cfi, section);
	const u8 *first = bytes.at;
	struct cfi_description d;
	size_t room = 0;

	cfi->indexed[which] = true;
	while (bytes.at < bytes.end && cfi->nindex[which] < INDEX_MOST) {
		u64 at = (u64)(bytes.at - first);

		if (cfi_describe(cfi, section, which, &bytes, &d) && d.start) {
			if (cfi->nindex[which] == room) {
				struct cfi_index *list;

				room = room ? room * 2 : 256;
				list = realloc(cfi->index[which], room * sizeof(*list));
				if (!list)
					break;
				cfi->index[which] = list;
			}
			cfi->index[which][cfi->nindex[which]++] = (struct cfi_index){ d.start, d.end, at };
		}
		if (bytes.bad)
			break;
	}
	if (cfi->nindex[which])
		qsort(cfi->index[which], cfi->nindex[which], sizeof(*cfi->index[which]), index_order);
}

static int index_search(struct cfi *cfi, const struct cfi_section *section, u32 which, u64 address,
	struct cfi_description *d)
{
	const struct cfi_index *list;
	size_t low = 0, high;
	struct cfi_bytes bytes;

	if (!section->size)
		return 0;
	if (!cfi->indexed[which])
		index_make(cfi, section, which);
	list = cfi->index[which];
	for (high = cfi->nindex[which]; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (list[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= list[low - 1].end)
		return 0;
	bytes = cfi_section_bytes(cfi, section);
	cfi_take(&bytes, list[low - 1].at);
	return cfi_describe(cfi, section, which, &bytes, d) ? 1 : -1;
}

/* ---- the table --------------------------------------------------------------------------------------- */

static s32 table_get(const struct cfi *cfi, u64 row, u32 column)
{
	s32 value;

	memcpy(&value, cfi->table + row * 8 + column * 4u, sizeof(value));
	return value;
}

static int table_search(const struct cfi *cfi, u64 address, struct cfi_description *d)
{
	s64 wanted = (s64)(address - cfi->hdr);
	u64 low = 0, high = cfi->table_rows;
	struct cfi_bytes bytes;

	while (low < high) {
		u64 middle = low + (high - low) / 2;

		if (table_get(cfi, middle, 0) <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	bytes = cfi_section_bytes(cfi, &cfi->eh_frame);
	cfi_take(&bytes, cfi->hdr + (u64)(s64)table_get(cfi, low - 1, 1) - cfi->eh_frame.address);
	if (bytes.bad || !cfi_describe(cfi, &cfi->eh_frame, false, &bytes, d))
		return -1;
	return address >= d->start && address < d->end;
}

static int eh_frame_search(struct cfi *cfi, u64 address, struct cfi_description *d)
{
	return cfi->table ? table_search(cfi, address, d) : index_search(cfi, &cfi->eh_frame, 0, address, d);
}

int cfi_search(struct cfi *cfi, u64 address, struct cfi_description *d)
{
	int found = eh_frame_search(cfi, address, d);

	return found ? found : index_search(cfi, &cfi->debug_frame, 1, address, d);
}

bool cfi_function(struct cfi *cfi, u64 address, struct cfi_function *function)
{
	struct cfi_description d;

	if (eh_frame_search(cfi, address, &d) != 1)
		return false;
	*function = (struct cfi_function){ .start = d.start, .end = d.end, .fde = d.fde };
	return true;
}
