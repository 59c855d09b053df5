# sparkctl. Everything but main.c is in libsparkcli.la, so that unit tests can link it.
cli_sources = \
	cli/analyze/buckets.c \
	cli/analyze/buckets.h \
	cli/analyze/cell.c \
	cli/analyze/cell.h \
	cli/analyze/clock_map.c \
	cli/analyze/clock_map.h \
	cli/analyze/derived.c \
	cli/analyze/derived.h \
	cli/analyze/formula.c \
	cli/analyze/formula.h \
	cli/analyze/hottest.c \
	cli/analyze/hottest.h \
	cli/analyze/metric.c \
	cli/analyze/metric.h \
	cli/analyze/metric_event.c \
	cli/analyze/pair_map.c \
	cli/analyze/pair_map.h \
	cli/analyze/profile.c \
	cli/analyze/profile.h \
	cli/analyze/profile_build.h \
	cli/analyze/profile_merge.c \
	cli/analyze/profile_node.c \
	cli/analyze/profile_origin.c \
	cli/analyze/profile_pass.c \
	cli/analyze/profile_slot.c \
	cli/analyze/profile_slot.h \
	cli/analyze/profile_window.c \
	cli/analyze/ref_map.c \
	cli/analyze/ref_map.h \
	cli/analyze/report.c \
	cli/analyze/report.h \
	cli/analyze/report_build.h \
	cli/analyze/report_derived.c \
	cli/analyze/report_notes.c \
	cli/analyze/report_origin.c \
	cli/analyze/report_profile.c \
	cli/analyze/report_rows.c \
	cli/analyze/report_totals.c \
	cli/analyze/report_windows.c \
	cli/analyze/samples.c \
	cli/analyze/samples.h \
	cli/analyze/samples_merge.c \
	cli/analyze/stacks.c \
	cli/analyze/stacks.h \
	cli/analyze/stacks_address.c \
	cli/analyze/stacks_build.h \
	cli/analyze/stacks_flat.c \
	cli/analyze/stacks_sums.c \
	cli/analyze/stacks_tree.c \
	cli/analyze/trace.c \
	cli/analyze/trace.h \
	cli/analyze/usage.c \
	cli/analyze/usage.h \
	cli/caps/advice.c \
	cli/caps/advice_file.c \
	cli/caps/arch.h \
	cli/caps/block.c \
	cli/caps/caps.c \
	cli/caps/caps.h \
	cli/caps/cgroup.c \
	cli/caps/clock.c \
	cli/caps/counting.c \
	cli/caps/events.c \
	cli/caps/events.h \
	cli/caps/events_try.c \
	cli/caps/facts.c \
	cli/caps/ids.c \
	cli/caps/ids.h \
	cli/caps/ids_save.c \
	cli/caps/inject.c \
	cli/caps/json.c \
	cli/caps/naming.c \
	cli/caps/numa.c \
	cli/caps/offcpu.c \
	cli/caps/pagecache.c \
	cli/caps/precise.c \
	cli/caps/preload.c \
	cli/caps/probe.c \
	cli/caps/pressure.c \
	cli/caps/raw.c \
	cli/caps/ring.c \
	cli/caps/sampling.c \
	cli/caps/scaled.c \
	cli/caps/selfmon.c \
	cli/caps/stacks.c \
	cli/caps/switch.c \
	cli/caps/symbols.c \
	cli/caps/tracing.c \
	cli/caps/try.h \
	cli/cmd/annotate.c \
	cli/cmd/annotate.h \
	cli/cmd/annotate_code.c \
	cli/cmd/annotate_source.c \
	cli/cmd/cmd.c \
	cli/cmd/cmd.h \
	cli/cmd/define.c \
	cli/cmd/define.h \
	cli/cmd/doctor.c \
	cli/cmd/export.c \
	cli/cmd/group.c \
	cli/cmd/group.h \
	cli/cmd/group_find.c \
	cli/cmd/group_use.c \
	cli/cmd/help.c \
	cli/cmd/launch.c \
	cli/cmd/launch.h \
	cli/cmd/list.c \
	cli/cmd/list.h \
	cli/cmd/list_events.c \
	cli/cmd/list_groups.c \
	cli/cmd/list_sets.c \
	cli/cmd/list_symbols.c \
	cli/cmd/outcome.c \
	cli/cmd/outcome.h \
	cli/cmd/live.c \
	cli/cmd/live.h \
	cli/cmd/note.c \
	cli/cmd/passes.c \
	cli/cmd/passes.h \
	cli/cmd/print.c \
	cli/cmd/print.h \
	cli/cmd/profiled.c \
	cli/cmd/profiled.h \
	cli/cmd/report.c \
	cli/cmd/run.c \
	cli/cmd/watch.c \
	cli/cmd/watch.h \
	cli/cmd/sampled.c \
	cli/cmd/sampled.h \
	cli/cmd/stat.c \
	cli/cmd/traced.c \
	cli/cmd/traced.h \
	cli/cmd/wrap.c \
	cli/cmd/wrap.h \
	cli/cmd/wrap_look.c \
	cli/cmd/wrap_sets.def \
	cli/library.c \
	cli/library.h \
	cli/log.c \
	cli/log.h \
	cli/names/breakpoint.c \
	cli/names/generic.c \
	cli/names/internal.h \
	cli/names/list.c \
	cli/names/modifier.c \
	cli/names/names.c \
	cli/names/names.h \
	cli/names/pfm.c \
	cli/names/pmu.c \
	cli/names/suggest.c \
	cli/names/syscalls.c \
	cli/names/term.c \
	cli/names/tracepoint.c \
	cli/names/uprobe.c \
	cli/opt.c \
	cli/opt.h \
	cli/output/chrome.c \
	cli/output/chrome.h \
	cli/output/chrome_trace.c \
	cli/output/chrome_trace.h \
	cli/output/csv.c \
	cli/output/export.c \
	cli/output/export.h \
	cli/output/export_chrome.c \
	cli/output/export_folded.c \
	cli/output/export_names.c \
	cli/output/export_perf_script.c \
	cli/output/export_pprof.c \
	cli/output/export_tree.c \
	cli/output/export_tree.h \
	cli/output/exports.h \
	cli/output/format.c \
	cli/output/format.h \
	cli/output/formats.h \
	cli/output/grid.c \
	cli/output/grid.h \
	cli/output/json.c \
	cli/output/json_build.h \
	cli/output/json_profile.c \
	cli/output/lines.c \
	cli/output/lines.h \
	cli/output/lines_function.c \
	cli/output/lines_origin.c \
	cli/output/lines_agent.c \
	cli/output/lines_profile.c \
	cli/output/lines_report.c \
	cli/output/output.c \
	cli/output/output.h \
	cli/output/pprof_stream.c \
	cli/output/pprof_stream.h \
	cli/output/profile_tree.c \
	cli/output/profile_tree.h \
	cli/output/table.c \
	cli/output/table_profile.c \
	cli/pager.c \
	cli/pager.h \
	cli/output/table_totals.c \
	cli/session/asked.c \
	cli/session/attempt.c \
	cli/session/attribute.c \
	cli/session/attribute.h \
	cli/session/chain.c \
	cli/session/chain.h \
	cli/session/clock.c \
	cli/session/facts.c \
	cli/session/functions.c \
	cli/session/functions.h \
	cli/session/harvest.c \
	cli/session/internal.h \
	cli/session/loop.c \
	cli/session/origin.c \
	cli/session/nodes.c \
	cli/session/nodes.h \
	cli/session/place.c \
	cli/session/plan.c \
	cli/session/plan.h \
	cli/session/process.c \
	cli/session/record.c \
	cli/session/record.h \
	cli/session/ring.c \
	cli/session/ring.h \
	cli/session/sample.c \
	cli/session/sampling.c \
	cli/session/sampling.h \
	cli/session/sampling_name.c \
	cli/session/sampling_open.c \
	cli/session/segment.c \
	cli/session/server.c \
	cli/session/session.c \
	cli/session/session.h \
	cli/session/spawn.c \
	cli/session/survive.c \
	cli/session/target.c \
	cli/session/totals.c \
	cli/session/tracing.c \
	cli/session/tracing.h \
	cli/session/track.c \
	cli/session/trial.c \
	cli/session/watch.c \
	cli/store/database.c \
	cli/store/events.c \
	cli/store/file.c \
	cli/store/internal.h \
	cli/store/note.c \
	cli/store/origins.c \
	cli/store/pack.c \
	cli/store/read.c \
	cli/store/read.h \
	cli/store/read_rows.c \
	cli/store/samples_read.c \
	cli/store/samples_write.c \
	cli/store/schema.c \
	cli/store/sqlite.c \
	cli/store/store.h \
	cli/store/write.c \
	cli/symbols/build_id.c \
	cli/symbols/build_id.h \
	cli/symbols/call_abi.c \
	cli/symbols/call_type.c \
	cli/symbols/call_words.c \
	cli/symbols/call_words.h \
	cli/symbols/call_words_build.h \
	cli/symbols/cfi.c \
	cli/symbols/cfi.h \
	cli/symbols/cfi_internal.h \
	cli/symbols/cfi_rule.c \
	cli/symbols/cfi_search.c \
	cli/symbols/closure.c \
	cli/symbols/closure.h \
	cli/symbols/closure_find.c \
	cli/symbols/code.c \
	cli/symbols/code.h \
	cli/symbols/debug_file.c \
	cli/symbols/debug_file.h \
	cli/symbols/debuginfod.c \
	cli/symbols/demangle.c \
	cli/symbols/demangle.h \
	cli/symbols/disasm.c \
	cli/symbols/disasm.h \
	cli/symbols/dwarf_names.c \
	cli/symbols/dwarf_names.h \
	cli/symbols/dwarf_scopes.c \
	cli/symbols/dwarf_units.c \
	cli/symbols/elf_dynamic.c \
	cli/symbols/elf_dynamic.h \
	cli/symbols/elf_file.c \
	cli/symbols/elf_file.h \
	cli/symbols/elf_plt.c \
	cli/symbols/elf_symbols.c \
	cli/symbols/jit.c \
	cli/symbols/jit_names.c \
	cli/symbols/jit_names.h \
	cli/symbols/kernel.c \
	cli/symbols/libdw.c \
	cli/symbols/libdw.h \
	cli/symbols/libelf.c \
	cli/symbols/libelf.h \
	cli/symbols/libunwind.c \
	cli/symbols/libunwind.h \
	cli/symbols/loader_cache.c \
	cli/symbols/maps.c \
	cli/symbols/maps.h \
	cli/symbols/mini_symbols.c \
	cli/symbols/object.c \
	cli/symbols/object.h \
	cli/symbols/object_build.h \
	cli/symbols/object_image.c \
	cli/symbols/object_open.c \
	cli/symbols/resolve.c \
	cli/symbols/resolve.h \
	cli/symbols/resolve_build.h \
	cli/symbols/resolve_file.c \
	cli/symbols/resolve_jit.c \
	cli/symbols/resolve_out.c \
	cli/symbols/space.c \
	cli/symbols/space.h \
	cli/symbols/space_build.h \
	cli/symbols/space_table.c \
	cli/symbols/space_table.h \
	cli/symbols/symbol.c \
	cli/symbols/symbol.h \
	cli/symbols/unwind.c \
	cli/symbols/unwind.h \
	cli/symbols/unwind_arch.h \
	cli/symbols/unwind_arm64.h \
	cli/symbols/unwind_internal.h \
	cli/symbols/unwind_remote.c \
	cli/symbols/unwind_x86_64.h \
	cli/symbols/vdso.c \
	cli/term.c \
	cli/term.h \
	cli/text.c \
	cli/text.h

noinst_LTLIBRARIES += libsparkcli.la
libsparkcli_la_SOURCES = $(cli_sources)
libsparkcli_la_CPPFLAGS = $(AM_CPPFLAGS) -DPKGLIBDIR='"$(pkglibdir)"' -DPKGDATADIR='"$(pkgdatadir)"'

# The messages of export --format pprof.
EXTRA_DIST += cli/output/pprof.proto
if HAVE_PROTOBUF_C
nodist_libsparkcli_la_SOURCES = cli/output/pprof.pb-c.c cli/output/pprof.pb-c.h
BUILT_SOURCES += cli/output/pprof.pb-c.h
CLEANFILES += cli/output/pprof.pb-c.c cli/output/pprof.pb-c.h
cli/output/pprof.pb-c.c: $(srcdir)/cli/output/pprof.proto
	$(AM_V_GEN)$(MKDIR_P) cli/output && $(PROTOC_C) -I$(srcdir)/cli/output $(PROTOC_C_FLAGS) --c_out=cli/output pprof.proto
cli/output/pprof.pb-c.h: cli/output/pprof.pb-c.c
endif

bin_PROGRAMS += sparkctl
sparkctl_SOURCES = cli/main.c
sparkctl_LDADD = libsparkcli.la libcommon.la $(JANSSON_LIBS) $(LIBIBERTY_LIBS)

# Groups of metrics. A build tree has copies beside sparkctl, which finds them there.
groupdir = $(pkgdatadir)/groups
dist_group_DATA = \
	cli/groups/BRANCH.group \
	cli/groups/CACHE.group \
	cli/groups/CLOCK.group \
	cli/groups/FLOPS.group \
	cli/groups/MEM.group \
	cli/groups/TLB.group \
	cli/groups/TOPDOWN.group
group_copies = $(dist_group_DATA:cli/%=%)
noinst_DATA = $(group_copies)
CLEANFILES += $(group_copies)
$(group_copies): groups/%: $(srcdir)/cli/groups/%
	$(AM_V_GEN)$(MKDIR_P) groups && cp $< $@

# Completions, where the shells look. They ask sparkctl, so nothing of them is made here.
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = cli/completions/bash/sparkctl
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = cli/completions/zsh/_sparkctl
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_fishcompletion_DATA = cli/completions/fish/sparkctl.fish
