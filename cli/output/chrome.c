/* SPDX-License-Identifier: MIT */
/* Chrome's trace events; see chrome.h. */
#include "cli/output/chrome.h"

#include <inttypes.h>
#include <string.h>

#include "cli/output/exports.h"

void chrome_begin(struct chrome *chrome, FILE *file)
{
	*chrome = (struct chrome){ .file = file };
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", file);
}

void chrome_end(struct chrome *chrome)
{
	fputs("\n]}\n", chrome->file);
}

void chrome_event(struct chrome *chrome, char phase, const char *name, const char *category, u32 pid, u32 tid,
		  u64 time_ns)
{
	fputs(chrome->more ? ",\n" : "\n", chrome->file);
	chrome->more = true;
	fprintf(chrome->file, "{\"ph\":\"%c\",\"cat\":\"%s\",\"pid\":%u,\"tid\":%u,", phase, category, pid, tid);
	fprintf(chrome->file, "\"ts\":%" PRIu64 ".%03" PRIu64 ",\"name\":", time_ns / 1000, time_ns % 1000);
	chrome_string(chrome, name, strlen(name));
}

void chrome_event_end(struct chrome *chrome)
{
	putc_unlocked('}', chrome->file);
}

void chrome_name(struct chrome *chrome, const char *what, u32 pid, u32 tid, const char *name)
{
	chrome_event(chrome, 'M', what, "__metadata", pid, tid, 0);
	fputs(",\"args\":{\"name\":", chrome->file);
	chrome_string(chrome, name, strlen(name));
	putc_unlocked('}', chrome->file);
	chrome_event_end(chrome);
}

void chrome_string(struct chrome *chrome, const char *bytes, size_t length)
{
	export_json(chrome->file, bytes, length);
}
