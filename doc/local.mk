# A page for each command of sparkctl, and what they share.
dist_man_MANS = \
	doc/spark-bench.h.3 \
	doc/spark-events.7 \
	doc/spark-recording.5 \
	doc/spark-report.5 \
	doc/spark.h.3 \
	doc/sparkctl-annotate.1 \
	doc/sparkctl-attach.1 \
	doc/sparkctl-diff.1 \
	doc/sparkctl-doctor.1 \
	doc/sparkctl-export.1 \
	doc/sparkctl-help.1 \
	doc/sparkctl-history.1 \
	doc/sparkctl-list.1 \
	doc/sparkctl-note.1 \
	doc/sparkctl-report.1 \
	doc/sparkctl-run.1 \
	doc/sparkctl-stat.1 \
	doc/sparkctl.1

dist_doc_DATA = COPYING NEWS README doc/ARCHITECTURE

exampledir = $(docdir)/examples
dist_example_DATA = doc/examples/microbench.c doc/examples/sqlbench.c

# The example that ./bootstrap demo measures. It is a target: never sanitized.
noinst_PROGRAMS += sqlbench
sqlbench_SOURCES = doc/examples/sqlbench.c
sqlbench_CPPFLAGS = -I$(top_srcdir)/include $(SQLITE_CFLAGS)
sqlbench_CFLAGS = $(STD_CFLAGS) $(WARN_CFLAGS) $(WERROR_CFLAGS)
sqlbench_LDFLAGS =
sqlbench_LDADD = $(SQLITE_LIBS)

# The example of benchmarks: built so that it can be.
noinst_PROGRAMS += microbench
microbench_SOURCES = doc/examples/microbench.c
microbench_CPPFLAGS = -I$(top_srcdir)/include
microbench_CFLAGS = $(STD_CFLAGS) $(WARN_CFLAGS) $(WERROR_CFLAGS)
microbench_LDFLAGS =
microbench_LDADD =
