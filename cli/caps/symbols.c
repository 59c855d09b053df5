/* SPDX-License-Identifier: MIT */
/* The probe "symbols": what profiles can name, by the libraries that are there and by what the kernel shows. */
#include "cli/caps/caps.h"

#include <stdio.h>
#include <string.h>

#include "cli/symbols/demangle.h"
#include "cli/symbols/resolve.h"

/* What is told of functions of the kernel; true: they have names. */
static bool symbols_of_kernel(const struct caps_context *context, char *told, size_t size)
{
	char rows[4096], *last;
	long got = facts_read(context, "/proc/kallsyms", rows, sizeof(rows));

	if (got < 0) {
		snprintf(told, size, "none of the kernel: /proc/kallsyms: %s", advice_errno_name((int)-got));
		return false;
	}
	/* The last row may be cut. */
	last = strrchr(rows, '\n');
	if (last)
		*last = '\0';
	if (resolve_kernel_hidden(rows)) {
		snprintf(told, size, "those of the kernel are hidden (kptr_restrict, perf_event_paranoid)");
		return false;
	}
	snprintf(told, size, "those of the kernel, too");
	return true;
}

struct outcome symbols_probe(struct caps_context *context)
{
	const char *lacks = resolve_lacks_lines(), *remedy = "", *names;
	char kernel[128], lines[128];
	bool shown = symbols_of_kernel(context, kernel, sizeof(kernel));

	if (!lacks)
		snprintf(lines, sizeof(lines), "source lines and inlined functions by libdw");
	else
		snprintf(lines, sizeof(lines), "no source lines and no inlined functions: %s", lacks);
	names = demangle_available() ? "C++ and Rust by libiberty" : "C++ and Rust mangled: built without libiberty";
	if (!lacks && shown && demangle_available())
		return outcome_yes("functions by ELF symbols, %s; %s; %s", kernel, lines, names);
	if (lacks)
		remedy = "install libdw1, or libdw-dev before sparkctl is built";
	else if (!demangle_available())
		remedy = "install libiberty-dev before sparkctl is built";
	else if (strstr(kernel, "hidden"))
		remedy = "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1";
	return outcome_partly(remedy, "functions by ELF symbols, %s; %s; %s", kernel, lines, names);
}
