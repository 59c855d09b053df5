# Tests. tests/run runs all of them; make check builds what they need and calls it.
#   make check TESTS='hist e2e/fork' TESTFLAGS=-v

# Unit tests of common/ and cli/: tests/unit/test_X is made from tests/unit/test_X.c.
unit_tests = \
	tests/unit/test_asked \
	tests/unit/test_attach \
	tests/unit/test_cache \
	tests/unit/test_block \
	tests/unit/test_call \
	tests/unit/test_call_words \
	tests/unit/test_calls \
	tests/unit/test_caps \
	tests/unit/test_cfi \
	tests/unit/test_cfi_libc \
	tests/unit/test_cgroup \
	tests/unit/test_closure \
	tests/unit/test_cmd_report \
	tests/unit/test_compare \
	tests/unit/test_cost \
	tests/unit/test_count \
	tests/unit/test_demangle \
	tests/unit/test_derived \
	tests/unit/test_diff \
	tests/unit/test_diff_gate \
	tests/unit/test_disasm \
	tests/unit/test_diff_rounds \
	tests/unit/test_discovery \
	tests/unit/test_export \
	tests/unit/test_figures \
	tests/unit/test_formula \
	tests/unit/test_group \
	tests/unit/test_hist \
	tests/unit/test_history \
	tests/unit/test_hottest \
	tests/unit/test_ids \
	tests/unit/test_inject \
	tests/unit/test_json \
	tests/unit/test_machine \
	tests/unit/test_metric_event \
	tests/unit/test_names \
	tests/unit/test_names_sysfs \
	tests/unit/test_object \
	tests/unit/test_offcpu \
	tests/unit/test_opt \
	tests/unit/test_origin \
	tests/unit/test_page \
	tests/unit/test_perf_user \
	tests/unit/test_perf_user_kernel \
	tests/unit/test_plan \
	tests/unit/test_proc \
	tests/unit/test_probes \
	tests/unit/test_profile \
	tests/unit/test_profile_difference \
	tests/unit/test_profiled \
	tests/unit/test_rank \
	tests/unit/test_session \
	tests/unit/test_space \
	tests/unit/test_store \
	tests/unit/test_record \
	tests/unit/test_resolve \
	tests/unit/test_runs \
	tests/unit/test_sample \
	tests/unit/test_samples \
	tests/unit/test_snapshot \
	tests/unit/test_stacks \
	tests/unit/test_storage \
	tests/unit/test_sweep \
	tests/unit/test_table \
	tests/unit/test_table_profile \
	tests/unit/test_text \
	tests/unit/test_trace \
	tests/unit/test_unwind \
	tests/unit/test_window \
	tests/unit/test_wire \
	tests/unit/test_words \
	tests/unit/test_wrap

# Fuzzers: tests/fuzz/fuzz_X; each also needs its lines tests_fuzz_fuzz_X_... below.
# "make check" gives each some thousand inputs, "make fuzz" many more.
fuzz_tests = \
	tests/fuzz/fuzz_formula \
	tests/fuzz/fuzz_harvest \
	tests/fuzz/fuzz_hello \
	tests/fuzz/fuzz_names \
	tests/fuzz/fuzz_perf_user \
	tests/fuzz/fuzz_record \
	tests/fuzz/fuzz_segment \
	tests/fuzz/fuzz_store \
	tests/fuzz/fuzz_symbols \
	tests/fuzz/fuzz_text \
	tests/fuzz/fuzz_unwind

# What several of them include.
unit_parts = \
	tests/unit/caps_root.h \
	tests/unit/built.h \
	tests/unit/cfi_file.h \
	tests/unit/devices.h \
	tests/unit/diffed.h \
	tests/unit/fake_root.h \
	tests/unit/machines.h \
	tests/unit/profiled.h \
	tests/unit/sample.h \
	tests/unit/segment.h \
	tests/unit/stack.h \
	tests/unit/suite.h \
	tests/unit/surroundings.h
EXTRA_DIST += $(unit_parts)

# Unit tests of agent/. Each also needs a line  tests_unit_test_X_LDADD = $(agent_test_ldadd)
unit_agent_tests = \
	tests/unit/test_agent_client \
	tests/unit/test_agent_instrumented \
	tests/unit/test_agent_name \
	tests/unit/test_agent_node \
	tests/unit/test_agent_proc \
	tests/unit/test_agent_process \
	tests/unit/test_agent_region \
	tests/unit/test_agent_safe \
	tests/unit/test_agent_segment \
	tests/unit/test_agent_slots \
	tests/unit/test_agent_source \
	tests/unit/test_agent_thread \
	tests/unit/test_agent_trace \
	tests/unit/test_agent_watch

# End-to-end tests: shell scripts that run the built sparkctl.
e2e_tests = \
	tests/e2e/annotate.test \
	tests/e2e/attach-closing.test \
	tests/e2e/attach-profile.test \
	tests/e2e/attach-regions.test \
	tests/e2e/attach-targets.test \
	tests/e2e/attach.test \
	tests/e2e/compare.test \
	tests/e2e/control-attach.test \
	tests/e2e/control.test \
	tests/e2e/per-call.test \
	tests/e2e/phases.test \
	tests/e2e/profile-debug.test \
	tests/e2e/profile-hardware.test \
	tests/e2e/profile.test \
	tests/e2e/profile-cases.test \
	tests/e2e/profile-limits.test \
	tests/e2e/profile-precise.test \
	tests/e2e/profile-programs.test \
	tests/e2e/profile-stacks.test \
	tests/e2e/recording-errors.test \
	tests/e2e/recording.test \
	tests/e2e/repeat-ends.test \
	tests/e2e/repeat.test \
	tests/e2e/runs.test \
	tests/e2e/samply-markers.test \
	tests/e2e/sdt.test \
	tests/e2e/seam.test \
	tests/e2e/start-wait.test \
	tests/e2e/stat-cache.test \
	tests/e2e/stat-cgroup.test \
	tests/e2e/stat-hardware.test \
	tests/e2e/stat-locked.test \
	tests/e2e/stat-options.test \
	tests/e2e/stat-scope.test \
	tests/e2e/stat-syscalls.test \
	tests/e2e/stat-totals.test \
	tests/e2e/stat.test \
	tests/e2e/sources.test \
	tests/e2e/structure.test \
	tests/e2e/completion.test \
	tests/e2e/bench.test \
	tests/e2e/bench-timing.test \
	tests/e2e/block-io.test \
	tests/e2e/brief.test \
	tests/e2e/cache.test \
	tests/e2e/counters.test \
	tests/e2e/counters-hardware.test \
	tests/e2e/derived.test \
	tests/e2e/diff.test \
	tests/e2e/docs.test \
	tests/e2e/doctor.test \
	tests/e2e/doctor-seccomp.test \
	tests/e2e/ending-kill.test \
	tests/e2e/ending.test \
	tests/e2e/events-perf.test \
	tests/e2e/events.test \
	tests/e2e/exact-counts.test \
	tests/e2e/exact-cpu.test \
	tests/e2e/exact-threads.test \
	tests/e2e/exact-time.test \
	tests/e2e/export.test \
	tests/e2e/export-html.test \
	tests/e2e/export-npm.test \
	tests/e2e/facts.test \
	tests/e2e/foreign-preload.test \
	tests/e2e/foreign-rights.test \
	tests/e2e/foreign.test \
	tests/e2e/hardware.test \
	tests/e2e/header.test \
	tests/e2e/hostile-protocol.test \
	tests/e2e/hostile-seccomp.test \
	tests/e2e/hostile.test \
	tests/e2e/history.test \
	tests/e2e/ids.test \
	tests/e2e/inject-calls.test \
	tests/e2e/inject-kill.test \
	tests/e2e/inject-programs.test \
	tests/e2e/inject-refuse.test \
	tests/e2e/inject-stacks.test \
	tests/e2e/inject.test \
	tests/e2e/instrumented-debian.test \
	tests/e2e/instrumented.test \
	tests/e2e/killed.test \
	tests/e2e/list-symbols.test \
	tests/e2e/list.test \
	tests/e2e/markers-benchmark.test \
	tests/e2e/markers-caliper.test \
	tests/e2e/markers-callgrind.test \
	tests/e2e/markers-coz.test \
	tests/e2e/markers-itt.test \
	tests/e2e/markers-kokkos.test \
	tests/e2e/markers-mpi.test \
	tests/e2e/markers-nvtx.test \
	tests/e2e/markers-ompt.test \
	tests/e2e/markers.test \
	tests/e2e/misuse-loaded.test \
	tests/e2e/misuse-signals.test \
	tests/e2e/misuse.test \
	tests/e2e/names.test \
	tests/e2e/offcpu-delay.test \
	tests/e2e/offcpu-levels.test \
	tests/e2e/offcpu-programs.test \
	tests/e2e/offcpu.test \
	tests/e2e/opened.test \
	tests/e2e/own-cgroup.test \
	tests/e2e/offcpu-waker.test \
	tests/e2e/processes-daemon.test \
	tests/e2e/processes-exec.test \
	tests/e2e/processes-fork.test \
	tests/e2e/trace.test \
	tests/e2e/transparent-guest.test \
	tests/e2e/transparent-langs.test \
	tests/e2e/transparent-tools.test \
	tests/e2e/uprobe-errors.test \
	tests/e2e/uprobe-programs.test \
	tests/e2e/uprobe.test \
	tests/e2e/user-paranoid.test \
	tests/e2e/user-places.test \
	tests/e2e/user-terminal.test \
	tests/e2e/user.test \
	tests/e2e/windows-memory.test \
	tests/e2e/windows-outside.test \
	tests/e2e/windows-programs.test \
	tests/e2e/windows-regions.test \
	tests/e2e/windows.test \
	tests/e2e/wrap-abi.test \
	tests/e2e/wrap-calls.test \
	tests/e2e/wrap-programs.test \
	tests/e2e/wrap-slots.test \
	tests/e2e/wrap-usage.test

# What the scripts source, read or compile.
e2e_parts = \
	tests/e2e/completion.bash \
	tests/e2e/completion.zsh \
	tests/e2e/browser.js \
	tests/e2e/export-html.js \
	tests/e2e/export-html.py \
	tests/e2e/export-npm.js \
	tests/e2e/export.py \
	tests/e2e/firefox.sh \
	tests/e2e/lib.sh \
	tests/e2e/wrap-abi.py \
	tests/e2e/trace.py \
	tests/e2e/transparent.sh \
	tests/targets/bench_google.cc \
	tests/targets/marker_bench.c \
	tests/targets/marker_cxx.cc \
	tests/targets/marker_fakeagent.c \
	tests/targets/marker_inline.c \
	tests/targets/marker_inline.h \
	tests/targets/marker_main.c \
	tests/targets/marker_unit.c \
	tests/targets/t_annotate.c

# Programs and libraries measured by the end-to-end tests, in C (x.c), C++ (x.cc) and as shared libraries
# (x.so from x.c). They are foreign to Spark: plain compiler lines, no libtool, no sanitizers. Own flags:
#   tests/targets/x: target_cflags = -static
target_programs = \
	tests/targets/h_calls \
	tests/targets/h_facts \
	tests/targets/h_hardware \
	tests/targets/h_hostile \
	tests/targets/h_loaded \
	tests/targets/h_misuse \
	tests/targets/h_names \
	tests/targets/h_protocol \
	tests/targets/h_refuse \
	tests/targets/h_sandbox \
	tests/targets/h_signal \
	tests/targets/h_user \
	tests/targets/t_bench \
	tests/targets/t_churn \
	tests/targets/t_control \
	tests/targets/t_costack \
	tests/targets/t_counters \
	tests/targets/t_cpu_sum \
	tests/targets/t_drift \
	tests/targets/t_end \
	tests/targets/t_events \
	tests/targets/t_fork \
	tests/targets/t_guest \
	tests/targets/t_hot \
	tests/targets/t_inject \
	tests/targets/t_io \
	tests/targets/t_killat \
	tests/targets/t_launch \
	tests/targets/t_live_threads \
	tests/targets/t_names \
	tests/targets/t_nested \
	tests/targets/t_phases \
	tests/targets/t_pingpong \
	tests/targets/t_rawclone \
	tests/targets/t_offcpu \
	tests/targets/t_recursive \
	tests/targets/t_short_threads \
	tests/targets/t_stacks \
	tests/targets/t_stacks_fp \
	tests/targets/t_static \
	tests/targets/t_status \
	tests/targets/t_threads \
	tests/targets/t_syscalls \
	tests/targets/t_time \
	tests/targets/t_trace \
	tests/targets/t_uprobe \
	tests/targets/t_victim \
	tests/targets/t_wait \
	tests/targets/t_waker \
	tests/targets/t_window \
	tests/targets/t_window_parts \
	tests/targets/t_window_regions \
	tests/targets/t_windows \
	tests/targets/t_work
target_cxx_programs = \
	tests/targets/h_cxx \
	tests/targets/h_throw
target_libs = \
	tests/targets/h_library.so \
	tests/targets/h_plugin.so \
	tests/targets/h_precise.so \
	tests/targets/libtcalls.so \
	tests/targets/libtcount.so \
	tests/targets/libtshim.so

# What several of them include.
target_parts = \
	tests/targets/known.h \
	tests/targets/target.h

tests/targets/t_events tests/targets/t_counters: target_cflags = -fno-pie -no-pie
tests/targets/t_bench: target_cflags = -O2
tests/targets/t_hot: target_cflags = -O2 -g -fomit-frame-pointer
tests/targets/t_launch: target_cflags = -static
tests/targets/t_rawclone: target_cflags = -static -nostdlib -fno-stack-protector
tests/targets/t_stacks: target_cflags = -O2 -fomit-frame-pointer
tests/targets/t_stacks_fp: target_cflags = -O2 -fno-omit-frame-pointer
tests/targets/t_stacks_fp: $(srcdir)/tests/targets/t_stacks.c
tests/targets/t_static: target_cflags = -static
# Its own, or it would have those of what needs it.
tests/targets/libtcalls.so: target_ldadd = -Wl,-soname,libtcalls.so
tests/targets/h_calls tests/targets/h_throw: tests/targets/libtcalls.so
tests/targets/h_calls: target_cflags = -g
tests/targets/h_calls tests/targets/h_throw: target_ldadd = tests/targets/libtcalls.so -Wl,-rpath,'$$ORIGIN' -rdynamic -ldl
tests/bench/bench_callee.so: target_ldadd = -Wl,-soname,bench_callee.so
tests/bench/bench_call: tests/bench/bench_callee.so
tests/bench/bench_call: target_ldadd = tests/bench/bench_callee.so -Wl,-rpath,'$$ORIGIN'
tests/targets/h_loaded: target_ldadd = -ldl
# It speaks the protocol itself.
tests/targets/h_protocol: target_cflags = -I$(top_srcdir)
# It is in the protocol that the parts speak now.
tests/targets/h_protocol: $(top_srcdir)/common/wire.h

# Tests in an emulated arm64 system with hardware counters: "./bootstrap bed", or  tests/bed/run NAME
bed_parts = \
	tests/bed/init \
	tests/bed/run \
	tests/bed/skips

# Benchmarks: built and run by "make bench" on an installed tree of their own, no pass or fail.
#   make bench BENCHFLAGS='-n 9 marker'
# That of samples takes minutes and is run when it is named: make bench BENCHFLAGS='-n 3 profile'
bench_programs = \
	tests/bench/bench_body \
	tests/bench/bench_burn \
	tests/bench/bench_call \
	tests/bench/bench_cost \
	tests/bench/bench_counters \
	tests/bench/bench_marker \
	tests/bench/bench_memory \
	tests/bench/bench_pingpong \
	tests/bench/bench_window \
	tests/bench/bench_spawn \
	tests/bench/bench_switch \
	tests/bench/bench_syscall \
	tests/bench/bench_threads \
	tests/bench/bench_whole
bench_libs = \
	tests/bench/bench_callee.so \
	tests/bench/bench_empty.so
bench_parts = \
	tests/bench/bench.h \
	tests/bench/bench_unit.cc \
	tests/bench/bench_units.c \
	tests/bench/offcpu.sh \
	tests/bench/page.js \
	tests/bench/profile.sh \
	tests/bench/run

cli_libs = $(JANSSON_LIBS) $(LIBIBERTY_LIBS)
LDADD = libsparkcli.la libcommon.la $(cli_libs) $(CHECK_LIBS)
agent_test_ldadd = libagenttest.la libcommon.la $(CHECK_LIBS)
agent_harness = tests/unit/agent_harness.c tests/unit/agent_harness.h
pmu_emulator = tests/unit/pmu_emulator.c tests/unit/pmu_emulator.h
tests_unit_test_perf_user_SOURCES = tests/unit/test_perf_user.c $(pmu_emulator)
tests_unit_test_perf_user_LDADD = libcommon.la $(CHECK_LIBS)
tests_unit_test_perf_user_kernel_LDADD = libcommon.la $(CHECK_LIBS)
tests_unit_test_unwind_SOURCES = tests/unit/test_unwind.c tests/unit/sampled.c tests/unit/sampled.h
tests_unit_test_agent_client_SOURCES = tests/unit/test_agent_client.c $(agent_harness)
tests_unit_test_agent_client_LDADD = $(agent_test_ldadd)
tests_unit_test_agent_instrumented_SOURCES = tests/unit/test_agent_instrumented.c $(agent_harness)
tests_unit_test_agent_instrumented_LDADD = $(agent_test_ldadd)
tests_unit_test_agent_name_SOURCES = tests/unit/test_agent_name.c $(agent_harness)
tests_unit_test_agent_name_LDADD = $(agent_test_ldadd)
tests_unit_test_agent_node_SOURCES = tests/unit/test_agent_node.c $(agent_harness)
tests_unit_test_agent_node_LDADD = $(agent_test_ldadd)
tests_unit_test_agent_proc_SOURCES = tests/unit/test_agent_proc.c $(agent_harness)
tests_unit_test_agent_proc_LDADD = $(agent_test_ldadd)
tests_unit_test_agent_process_SOURCES = tests/unit/test_agent_process.c $(agent_harness)
tests_unit_test_agent_process_LDADD = $(agent_test_ldadd)
tests_unit_test_agent_region_SOURCES = tests/unit/test_agent_region.c $(agent_harness)
tests_unit_test_agent_region_LDADD = $(agent_test_ldadd)
tests_unit_test_agent_safe_SOURCES = tests/unit/test_agent_safe.c
tests_unit_test_agent_safe_LDADD = $(agent_test_ldadd)
tests_unit_test_agent_segment_SOURCES = tests/unit/test_agent_segment.c $(agent_harness)
tests_unit_test_agent_segment_LDADD = $(agent_test_ldadd)
tests_unit_test_agent_slots_SOURCES = tests/unit/test_agent_slots.c
tests_unit_test_agent_slots_LDADD = $(agent_test_ldadd)
tests_unit_test_agent_slots_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=dl_iterate_phdr
tests_unit_test_agent_source_SOURCES = tests/unit/test_agent_source.c $(agent_harness)
tests_unit_test_agent_source_LDADD = $(agent_test_ldadd)
tests_unit_test_agent_thread_SOURCES = tests/unit/test_agent_thread.c $(agent_harness)
tests_unit_test_agent_thread_LDADD = $(agent_test_ldadd)
tests_unit_test_agent_trace_SOURCES = tests/unit/test_agent_trace.c $(agent_harness)
tests_unit_test_agent_trace_LDADD = $(agent_test_ldadd)
tests_unit_test_agent_watch_SOURCES = tests/unit/test_agent_watch.c $(agent_harness)
tests_unit_test_agent_watch_LDADD = $(agent_test_ldadd)
fuzz_frame = tests/fuzz/fuzz.c tests/fuzz/fuzz.h
fuzz_segments = tests/fuzz/seed_agent.c tests/fuzz/seeds.c tests/fuzz/seeds.h tests/fuzz/segments.c $(agent_harness)
fuzz_ldadd = libsparkcli.la libagenttest.la libcommon.la $(cli_libs)
fuzz_ldflags = $(AM_LDFLAGS) $(FUZZ_ENGINE) -Wl,--wrap=error
tests_fuzz_fuzz_formula_SOURCES = tests/fuzz/fuzz_formula.c $(fuzz_frame)
tests_fuzz_fuzz_formula_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_formula_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_harvest_SOURCES = tests/fuzz/fuzz_harvest.c $(fuzz_segments) $(fuzz_frame)
tests_fuzz_fuzz_harvest_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_harvest_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_hello_SOURCES = tests/fuzz/fuzz_hello.c $(fuzz_frame)
tests_fuzz_fuzz_hello_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_hello_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_names_SOURCES = tests/fuzz/fuzz_names.c $(fuzz_frame)
tests_fuzz_fuzz_names_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_names_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_perf_user_SOURCES = tests/fuzz/fuzz_perf_user.c $(pmu_emulator) $(fuzz_frame)
tests_fuzz_fuzz_perf_user_LDADD = libcommon.la
tests_fuzz_fuzz_perf_user_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_record_SOURCES = tests/fuzz/fuzz_record.c $(fuzz_frame)
tests_fuzz_fuzz_record_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_record_LDFLAGS = $(fuzz_ldflags) -Wl,--wrap=dl_iterate_phdr
tests_fuzz_fuzz_segment_SOURCES = tests/fuzz/fuzz_segment.c $(fuzz_segments) $(fuzz_frame)
tests_fuzz_fuzz_segment_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_segment_LDFLAGS = $(fuzz_ldflags) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
tests_fuzz_fuzz_store_SOURCES = tests/fuzz/fuzz_store.c $(fuzz_frame)
tests_fuzz_fuzz_store_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_store_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_symbols_SOURCES = tests/fuzz/fuzz_symbols.c $(fuzz_frame)
tests_fuzz_fuzz_symbols_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_symbols_LDFLAGS = $(fuzz_ldflags) -Wl,--wrap=waitpid
tests_fuzz_fuzz_text_SOURCES = tests/fuzz/fuzz_text.c $(fuzz_frame)
tests_fuzz_fuzz_text_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_text_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_unwind_SOURCES = tests/fuzz/fuzz_unwind.c $(fuzz_frame)
tests_fuzz_fuzz_unwind_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_unwind_LDFLAGS = $(fuzz_ldflags)
check_PROGRAMS += $(fuzz_tests)
if HAVE_CHECK
check_PROGRAMS += $(unit_tests) $(unit_agent_tests)
unit_programs = $(unit_tests) $(unit_agent_tests)
# Not agent_proc: it takes a minute there, and a thread without markers is not missed from the sums.
bed_unit_programs = $(filter-out %_name %_proc,$(unit_agent_tests)) \
	$(filter %_perf_user %_kernel %_cfi %_cfi_libc %_inject %_unwind,$(unit_tests))
else
unit_missing = yes
endif

TARGET_FLAGS = -I$(top_srcdir)/include $(WERROR_CFLAGS) -pthread $(CPPFLAGS)
target_deps = $(sparkinclude_HEADERS:%=$(srcdir)/%) $(target_parts:%=$(srcdir)/%) $(srcdir)/tests/bench/bench.h

$(target_programs) $(bench_programs): %: $(srcdir)/%.c $(target_deps)
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -D_GNU_SOURCE= $(STD_CFLAGS) $(WARN_CFLAGS) $(TARGET_FLAGS) $(CFLAGS) \
		$(target_cflags) $(LDFLAGS) -o $@ $< $(target_ldadd)

$(target_libs) $(bench_libs): %.so: $(srcdir)/%.c $(target_deps)
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -D_GNU_SOURCE= $(STD_CFLAGS) $(WARN_CFLAGS) $(TARGET_FLAGS) $(CFLAGS) -fPIC -shared \
		$(target_cflags) $(LDFLAGS) -o $@ $< $(target_ldadd)

$(target_cxx_programs): %: $(srcdir)/%.cc $(target_deps)
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CXX) -Wall -Wextra $(TARGET_FLAGS) -O2 -g \
		$(target_cflags) $(LDFLAGS) -o $@ $< $(target_ldadd)

targets = $(target_programs) $(target_libs)
if HAVE_CXX
targets += $(target_cxx_programs)
endif

# Functions of random signatures, and their calls: the same on every machine.
abi_files = tests/targets/abi/types.h tests/targets/abi/library.c tests/targets/abi/program.c
abi_targets = tests/targets/t_abi tests/targets/libtabi.so
if HAVE_PYTHON3
targets += $(abi_targets)
endif
tests/targets/abi/made: $(srcdir)/tests/e2e/wrap-abi.py
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(PYTHON3) $(srcdir)/tests/e2e/wrap-abi.py 5 150 $(@D) 16 && touch $@
tests/targets/libtabi.so: tests/targets/abi/made
	$(AM_V_CC)$(CC) -O1 -g -w -fPIC -shared -Wl,-soname,libtabi.so -o $@ tests/targets/abi/library.c
tests/targets/t_abi: tests/targets/libtabi.so
	$(AM_V_CC)$(CC) -O1 -g -w -o $@ tests/targets/abi/program.c tests/targets/libtabi.so -Wl,-rpath,'$$ORIGIN'

CLEANFILES += $(abi_files) $(abi_targets) tests/targets/abi/made
CLEANFILES += bed.list $(target_programs) $(target_libs) $(target_cxx_programs) $(bench_programs) $(bench_libs)

EXTRA_DIST += tests/run tests/skips tests/fuzz/coverage tests/fuzz/run $(bed_parts) $(e2e_tests) $(e2e_parts) $(target_parts) \
	$(target_programs:=.c) $(target_cxx_programs:=.cc) $(target_libs:.so=.c) $(bench_programs:=.c) $(bench_libs:.so=.c) $(bench_parts)

check-local: $(targets)
	@BUILDDIR='$(abs_top_builddir)' SRCDIR='$(abs_top_srcdir)' CC='$(CC)' CXX='$(CXX)' SANITIZERS='$(SANITIZERS)' \
		UNIT_TESTS='$(fuzz_tests) $(unit_programs)' UNIT_MISSING='$(unit_missing)' E2E_TESTS='$(e2e_tests)' TARGET_FILES='$(targets)' \
		$(srcdir)/tests/run $(TESTFLAGS) $(TESTS)

# All that the guest of tests/bed/run needs of a build, and what its driver has to be told.
# One after the other: all is a make of its own, because of BUILT_SOURCES, and both build the same library.
bed-build: all
	@$(MAKE) bed-programs
bed-programs: $(bed_unit_programs) $(targets)
	@printf '%s\n' "UNIT_TESTS='$(bed_unit_programs)'" "E2E_TESTS='$(e2e_tests)'" \
		"TARGET_FILES='$(targets)'" >bed.list

bench: all $(bench_programs) $(bench_libs)
	rm -rf bench.root
	$(MAKE) -s install DESTDIR='$(abs_top_builddir)/bench.root' >/dev/null
	@SPARKCTL='$(abs_top_builddir)/bench.root$(bindir)/sparkctl' BENCH='$(abs_top_builddir)/tests/bench' \
		CC='$(CC)' CXX='$(CXX)' $(srcdir)/tests/bench/run $(BENCHFLAGS)

clean-local:
	rm -rf bench.root

# With libFuzzer, whose guidance by coverage and corpus are its own matter:
#   ../configure CC=clang CFLAGS='-O1 -g -DFUZZ_LIBFUZZER -fsanitize=fuzzer-no-link' --enable-sanitizers=address,undefined
#   make fuzzers FUZZ_ENGINE=-fsanitize=fuzzer && tests/fuzz/fuzz_segment -max_len=600000
# A million segments, and more:  make fuzz FUZZFLAGS='-n 5000000 -s 7 segment'
fuzzers: $(fuzz_tests)
fuzz: fuzzers
	@BUILDDIR='$(abs_top_builddir)' FUZZ_TESTS='$(fuzz_tests)' $(srcdir)/tests/fuzz/run $(FUZZFLAGS)

.PHONY: bench fuzz fuzzers
.PHONY: bed-build bed-programs bench
