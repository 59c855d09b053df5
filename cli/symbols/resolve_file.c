/* SPDX-License-Identifier: MIT */
/* Names in a file: by its symbols, and by its debug info where there is some. In a child. */
#include "cli/symbols/resolve_build.h"

void resolve_file(const struct resolve_request *request, const struct resolve_options *options, struct resolve_out *out)
{
	struct elf_symbols symbols = { .n = 0 };
	struct resolve_line line = { .line = 0 };
	size_t i;

	(void)options;
	elf_symbols_add(&symbols, &request->object->elf);
	elf_symbols_sort(&symbols);
	for (i = 0; i < request->n; i++) {
		line.function = elf_symbols_find(&symbols, request->addresses[i]);
		resolve_out_names(out, i, line.function ? RESOLVE_NAMED : RESOLVE_STRIPPED, &line, line.function ? 1 : 0);
	}
	elf_symbols_free(&symbols);
}
