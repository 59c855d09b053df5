/* SPDX-License-Identifier: MIT */
/* See export_called.h. */
#include "cli/output/export_called.h"

#include <stdlib.h>

static void called_in(struct export_called *called, const struct samples_frame *frame, const struct samples_line *line,
		      u64 own)
{
	if (called->object == SAMPLES_NONE)
		called->object = frame->object;
	else if (called->object != frame->object)
		called->object = EXPORT_SEVERAL;
	if (!line || line->file == SAMPLES_NONE || (called->file != SAMPLES_NONE && own <= called->weight))
		return;
	called->file = line->file;
	called->line = own ? line->line : 0;
	called->weight = own;
}

/* Names that no chain has used have no number. */
static void called_frames(struct export_called *all, const struct export_tree *tree, const u64 *own)
{
	const struct samples *samples = tree->exporter->samples;

	for (u32 i = 0; i < samples->nframes; i++) {
		const struct samples_frame *frame = &samples->frames[i];
		u32 object = tree->objects[frame->object];

		for (u32 k = 0; k < frame->nlines; k++) {
			const struct samples_line *line = &samples->lines[frame->first_line + k];
			u32 name = line->function == SAMPLES_NONE ? object : tree->functions[line->function];

			if (name != SAMPLES_NONE)
				called_in(&all[name], frame, line, k ? 0 : own[i]);
		}
		if (!frame->nlines && object != SAMPLES_NONE)
			called_in(&all[object], frame, NULL, 0);
	}
}

struct export_called *export_called(const struct export_tree *tree)
{
	const struct samples *samples = tree->exporter->samples;
	struct export_called *all = malloc(((size_t)tree->nodes.nstrings + 1) * sizeof(*all));
	u64 *own = calloc((size_t)samples->nframes + 1, sizeof(*own));
	u32 i;

	if (!all || !own) {
		free(all);
		free(own);
		return NULL;
	}
	for (i = 0; i < tree->nodes.nstrings; i++)
		all[i] = (struct export_called){ .object = SAMPLES_NONE, .file = SAMPLES_NONE };
	for (i = 0; i < samples->nrows; i++)
		if (samples->rows[i].chain != SAMPLES_NONE)
			own[samples->chains[samples->rows[i].chain].frame] += samples->rows[i].weight;
	called_frames(all, tree, own);
	free(own);
	return all;
}
