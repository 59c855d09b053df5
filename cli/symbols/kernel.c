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

struct kernel_symbol {
	u64 address;
	char *name;
};

struct kernel_symbols {
	struct kernel_symbol *list;
	size_t n, room;
};

/* The name of a row, with the module behind it; NULL: it is no code. */
static char *row_name(char *line, u64 *address)
{
	unsigned long long value;
	int name = 0;
	char type, *tab;

	if (sscanf(line, "%llx %c %n", &value, &type, &name) < 2 || !name || !value || !strchr("tTwW", type))
		return NULL;
	*address = value;
	line[strcspn(line, "\n")] = '\0';
	tab = strchr(line + name, '\t');
	if (tab)
		*tab = ' ';
	return line + name;
}

static bool kernel_add(struct kernel_symbols *symbols, u64 address, const char *name)
{
	size_t room = symbols->room ? 2 * symbols->room : 1 << 16;
	struct kernel_symbol *list;

	if (symbols->n == symbols->room) {
		list = realloc(symbols->list, room * sizeof(*list));
		if (!list)
			return false;
		symbols->list = list;
		symbols->room = room;
	}
	symbols->list[symbols->n] = (struct kernel_symbol){ address, strdup(name) };
	return symbols->list[symbols->n++].name != NULL;
}

static int kernel_compare(const void *left, const void *right)
{
	const struct kernel_symbol *a = left, *b = right;

	return a->address == b->address ? 0 : a->address < b->address ? -1 : 1;
}

void resolve_kernel(const struct resolve_request *request, struct resolve_out *out)
{
	struct kernel_symbols symbols = { .n = 0 };
	FILE *file = fopen("/proc/kallsyms", "re");
	struct resolve_line line = { .line = 0 };
	char text[1024], *name;
	size_t i, k;
	u64 address;

	while (file && fgets(text, sizeof(text), file))
		if ((name = row_name(text, &address)) && !kernel_add(&symbols, address, name))
			break;
	if (symbols.n)
		qsort(symbols.list, symbols.n, sizeof(*symbols.list), kernel_compare);
	for (i = k = 0; i < request->n; i++) {
		while (k < symbols.n && symbols.list[k].address <= request->addresses[i])
			k++;
		/* Nothing tells where the last one of a block ends. */
		line.function = k && request->addresses[i] - symbols.list[k - 1].address < KERNEL_FUNCTION_MOST ?
			symbols.list[k - 1].name : NULL;
		resolve_out_names(out, i, line.function ? RESOLVE_NAMED : RESOLVE_STRIPPED, &line,
			line.function ? 1 : 0);
	}
}
