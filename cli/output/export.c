/* SPDX-License-Identifier: MIT */
/* The table of exports; see export.h. */
#include "cli/output/export.h"

#include "cli/log.h"
#include "cli/output/exports.h"

const struct export_format export_formats[] = {
	{ "folded", "a line for each stack: for flame graphs", false, true, NULL, folded_export },
#ifdef HAVE_PROTOBUF_C
	{ "pprof", "profile.proto: for go tool pprof", true, false, NULL, pprof_export },
#else
	{ "pprof", "profile.proto: for go tool pprof", true, false, NULL, NULL },
#endif
	{ "chrome", "trace events: for Perfetto, the Firefox profiler, Chrome", false, false, NULL, chrome_export },
	{ "perf-script", "the text of perf script: for tools that read it", false, false, NULL, perf_script_export },
	{ "speedscope", "a profile of each thread: for speedscope", false, false, NULL, speedscope_export },
	{ "firefox", "the Firefox profiler's own, with a category for each region", false, false, NULL, firefox_export },
	{ "html", "one page of report and flame graphs: for a browser", false, false, "html", NULL },
	{ NULL, NULL, false, false, NULL, NULL },
};

const char *const export_words[] = { "folded", "pprof", "chrome", "perf-script", "speedscope", "firefox", "html", NULL };
const char *const export_weight_words[] = { "count", "time", NULL };

int export_write(const struct export_format *format, const struct exporter *exporter)
{
	if (!format->write)
		return error("--format %s needs protobuf-c and zlib; this sparkctl was built without them",
			     format->name);
	return format->write(exporter);
}
