# SPDX-License-Identifier: MIT
# Sourced by run: what a switch takes with --off-cpu, in CPU time of a program that does little else, to the same
# program by itself, and what it takes with perf record --switch-events, which has the same records.

offcpu_once() {
	local plain
	"$BENCH/bench_pingpong" >"$work/plain" || { failed "the ping-pong"; return; }
	plain=$(value "$work/plain" switch)
	"$SPARKCTL" run --off-cpu --format json --report "$work/off.json" "$BENCH/bench_pingpong" >"$work/off" 2>"$work/off.err" ||
		{ failed "run --off-cpu: $(head -n 1 "$work/off.err")"; return; }
	figure offcpu-switch "$(ratio "$(value "$work/off" switch)" "$plain")" "$(value "$work/off" switch)" ns
	note "off-cpu: $(jq -r '.regions[0].parts.residual | "\(.value) ns not known, \(.note // "nothing lost")"' "$work/off.json")"
	command -v perf >/dev/null || return
	perf record -q --switch-events -e dummy --no-bpf-event -o "$work/perf.data" "$BENCH/bench_pingpong" >"$work/perf" 2>/dev/null ||
		return
	figure offcpu-perf "$(ratio "$(value "$work/perf" switch)" "$plain")" "$(value "$work/perf" switch)" ns
}
