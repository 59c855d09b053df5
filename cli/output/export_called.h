/* SPDX-License-Identifier: MIT */
/* What is known of the names in a call tree beside these: where their code is. */
#ifndef CLI_OUTPUT_EXPORT_CALLED_H
#define CLI_OUTPUT_EXPORT_CALLED_H

#include "cli/output/export_tree.h"

#define EXPORT_SEVERAL (SAMPLES_NONE - 1)

struct export_called {
	u32 object;                  /* SAMPLES_NONE: it is no code's; EXPORT_SEVERAL: it is in several */
	u32 file, line;              /* of the address with most samples of its own; else any file, and no line */
	u64 weight;                  /* of that */
};

/* By the strings of tree->nodes; to be freed. NULL when memory is short. */
struct export_called *export_called(const struct export_tree *tree);

#endif
