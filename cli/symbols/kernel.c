/* SPDX-License-Identifier: MIT */
/*
 * Symbols of the kernel and its modules in /proc/kallsyms. To users to whom kptr_restrict or perf_event_paranoid hide
 * the addresses each of them is shown as 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/symbols/resolve_build.h"

#define KERNEL_FUNCTION_MOST (1u << 20)

bool resolve_kernel_hidden(const char *rows)
{
	/* Some symbols of a CPU's own memory are at 0 in truth. */
	for (; rows; rows = strchr(rows, '\n')) {
		rows += *rows == '\n';
		if (strtoull(rows, NULL, 16))
			return false;
	}
	return true;
}

bool object_kernel_hidden(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char rows[4096];
	size_t got = file ? fread(rows, 1, sizeof(rows) - 1, file) : 0;

	if (file)
		fclose(file);
	rows[got] = '\0';
	/* The last may be cut. */
	if (got)
		*(strrchr(rows, '\n') ? strrchr(rows, '\n') : rows) = '\0';
	return resolve_kernel_hidden(rows);
}

/* The nearest symbol that lies no higher than an address. */
struct kernel_symbol {
	u64 address;
	char *name;                  /* NULL: none yet */
};

/* The name of a row, with the module behind it; NULL: it is no code. */
static char *row_name(char *line, u64 *address)
{
	char *type, *tab;

	*address = strtoull(line, &type, 16);
	if (!*address || type[0] != ' ' || !type[1] || type[2] != ' ' || !strchr("tTwW", type[1]))
		return NULL;
	line = type + 3;
	line[strcspn(line, "\n")] = '\0';
	tab = strchr(line, '\t');
	if (tab)
		*tab = ' ';
	return line;
}

/* The first address of the request that a symbol may cover, by number; all: none. */
static size_t request_from(const struct resolve_request *request, u64 address)
{
	size_t low = 0, high = request->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (request->addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Of all symbols only those are kept that are the nearest to an address so far: there are some 100,000. */
static void symbol_offer(struct kernel_symbol *nearest, const struct resolve_request *request, u64 address,
	const char *name)
{
	size_t i = request_from(request, address);

	/* Nothing tells where the last one of a block ends. */
	if (i == request->n || request->addresses[i] - address >= KERNEL_FUNCTION_MOST ||
	    (nearest[i].name && nearest[i].address > address))
		return;
	free(nearest[i].name);
	nearest[i] = (struct kernel_symbol){ address, strdup(name) };
}

void resolve_kernel(const struct resolve_request *request, struct resolve_out *out)
{
	struct kernel_symbol *nearest = calloc(request->n + 1, sizeof(*nearest)), found = { .name = NULL };
	FILE *file = nearest ? fopen("/proc/kallsyms", "re") : NULL;
	struct resolve_line line = { .line = 0 };
	char text[1024], *name;
	size_t i;
	u64 address;

	while (file && fgets(text, sizeof(text), file))
		if ((name = row_name(text, &address)))
			symbol_offer(nearest, request, address, name);
	for (i = 0; i < request->n; i++) {
		if (nearest && nearest[i].name)
			found = nearest[i];
		line.function = found.name && request->addresses[i] - found.address < KERNEL_FUNCTION_MOST ? found.name : NULL;
		resolve_out_names(out, i, line.function ? RESOLVE_NAMED : RESOLVE_STRIPPED, &line,
			line.function ? 1 : 0);
	}
}
