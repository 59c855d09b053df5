# Linked into both parts. The agent compiles these files once more, with its own flags and without sanitizers.
common_sources = \
	common/base.h \
	common/call.c \
	common/call_refused.def \
	common/hist.c \
	common/hist.h \
	common/perf.c \
	common/perf.h \
	common/perf_user.h \
	common/proc.c \
	common/proc.h \
	common/source_table.c \
	common/source_table.h \
	common/sources.def \
	common/wire.c \
	common/wire.h \
	common/wire_calls.h \
	common/wire_view.h

noinst_LTLIBRARIES += libcommon.la
libcommon_la_SOURCES = $(common_sources)
