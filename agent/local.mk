# libsparkagent.so: libc only, hidden by default, never unloaded, every relocation done before main.
agent_sources = \
	agent/agent.c \
	agent/agent.h \
	agent/banned.h \
	agent/bracket.c \
	agent/bracket.h \
	agent/calibrate.c \
	agent/call.c \
	agent/call.h \
	agent/call_slow.c \
	agent/call_thunk.S \
	agent/counters.c \
	agent/detect.c \
	agent/fast.h \
	agent/got.c \
	agent/got.h \
	agent/hello.c \
	agent/hello.h \
	agent/hooks.c \
	agent/instrumented.c \
	agent/instrumented.h \
	agent/loader.h \
	agent/marks.c \
	agent/name.c \
	agent/node.c \
	agent/object.c \
	agent/object.h \
	agent/patch.c \
	agent/proc.c \
	agent/proc.h \
	agent/region.c \
	agent/safe.c \
	agent/safe.h \
	agent/seal.c \
	agent/segment.c \
	agent/slots.c \
	agent/snapshot.c \
	agent/source.c \
	agent/source.h \
	agent/src_procio.c \
	agent/src_rusage.c \
	agent/src_sched.c \
	agent/sys.h \
	agent/thread.c \
	agent/trace.c \
	agent/trace.h \
	agent/unit.c \
	agent/watch.c \
	agent/watch.h \
	agent/window.c

EXTRA_DIST += agent/exports.map agent/imports.list agent/preload.sh

pkglib_LTLIBRARIES += libsparkagent.la
libsparkagent_la_SOURCES = $(agent_sources) $(common_sources)
libsparkagent_la_CFLAGS = $(STD_CFLAGS) $(WARN_CFLAGS) $(WERROR_CFLAGS) $(AGENT_CFLAGS) $(SCALAR_CFLAGS)
libsparkagent_la_LIBADD = libagentvalues.la
# What a start touches lies together, since each page that is touched and each mapping takes its time: the words of
# all files behind their tables, and code with what is read only.
libsparkagent_la_LDFLAGS = -module -avoid-version -shared \
	-Wl,-z,nodelete -Wl,-z,now -Wl,-z,relro -Wl,-z,defs -Wl,-z,noseparate-code -Wl,--sort-section=alignment \
	-Wl,--version-script=$(srcdir)/agent/exports.map
EXTRA_libsparkagent_la_DEPENDENCIES = $(srcdir)/agent/exports.map

# Other tools' markers as regions: for programs, by the public markers alone.
pkglib_LTLIBRARIES += libspark-markers.la
libspark_markers_la_SOURCES = \
	agent/markers/benchmark.c \
	agent/markers/caliper.c \
	agent/markers/callgrind.c \
	agent/markers/coz.c \
	agent/markers/gperftools.c \
	agent/markers/itt.c \
	agent/markers/itt.h \
	agent/markers/itt_calls.c \
	agent/markers/kokkos.c \
	agent/markers/likwid.c \
	agent/markers/mpi.c \
	agent/markers/markers.h \
	agent/markers/next.c \
	agent/markers/nvtx.c \
	agent/markers/ompt.c \
	agent/markers/ompt.h \
	agent/markers/opened.c \
	agent/markers/opened.h \
	agent/markers/papi.c \
	agent/markers/wanted.c \
	common/markers.def \
	common/markers.h
libspark_markers_la_CFLAGS = $(STD_CFLAGS) $(WARN_CFLAGS) $(WERROR_CFLAGS) $(AGENT_CFLAGS)
libspark_markers_la_LDFLAGS = -module -avoid-version -shared \
	-Wl,-z,nodelete -Wl,-z,now -Wl,-z,relro -Wl,-z,defs

# What the program hands over in vector registers itself.
noinst_LTLIBRARIES += libagentvalues.la
libagentvalues_la_SOURCES = agent/client.c
libagentvalues_la_CFLAGS = $(STD_CFLAGS) $(WARN_CFLAGS) $(WERROR_CFLAGS) $(AGENT_CFLAGS)

# The same objects for unit tests, which see the hidden functions; sanitized when asked for.
check_LTLIBRARIES += libagenttest.la
libagenttest_la_SOURCES = $(agent_sources) agent/client.c
libagenttest_la_CFLAGS = $(AM_CFLAGS)

# The folder by which LD_PRELOAD names both, beside them.
all-local: .libs/not-libasan.so
.libs/not-libasan.so: $(srcdir)/agent/preload.sh | libsparkagent.la libspark-markers.la
	$(AM_V_GEN)sh $(srcdir)/agent/preload.sh .libs $(host_cpu)

# The .la file names the directory it was installed to, and the tree may be moved.
install-exec-hook:
	rm -f $(DESTDIR)$(pkglibdir)/libsparkagent.la $(DESTDIR)$(pkglibdir)/libspark-markers.la
	sh $(srcdir)/agent/preload.sh $(DESTDIR)$(pkglibdir) $(host_cpu)
uninstall-hook:
	rm -f $(DESTDIR)$(pkglibdir)/libsparkagent.so $(DESTDIR)$(pkglibdir)/libspark-markers.so
	rm -rf $(DESTDIR)$(pkglibdir)/not-libasan.so
