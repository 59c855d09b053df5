# SPDX-License-Identifier: MIT
# Sourced by run: what sampling costs, against perf record and perf report of the same programs. perf never runs
# sparkctl, whose rings it would share, nor the other way round.
# The CPU time of a tool is that of all its processes less what the program says of its own; sparkctl's has unwinding
# and naming in it, which perf leaves to perf report.

perf_sample=(perf record -e task-clock --no-bpf-event)
units=14                               # of some 2.7 MB of debug info each
patience=120                           # seconds

# ratio A B
ratio() {
	awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.4f\n", a / b; else print 0 }'
}

# figure NAME RATIO ABSOLUTE UNIT
figure() {
	echo "figure $*" >>"$figures"
}

# cost OUT COMMAND [ARG...]: runs it; OUT gets what it and its program say. Without an end of both there is no figure.
cost() {
	local out=$1
	shift
	"$BENCH/bench_cost" $patience "$@" >"$out" 2>&1
	[ "$(value "$out" status)" = 0.000 ] || { failed "status $(value "$out" status) of: $*"; return 1; }
}

# cost_spark OUT [OPTION...] -- PROGRAM [ARG...]
cost_spark() {
	local out=$1
	shift
	cost "$out" "$SPARKCTL" run --profile --format json --report "$out.json" "$@"
}

# CPU time beside the program's own, for 10,000 samples
cost_samples() {
	awk -v used="$(value "$1" used)" -v own="$(value "$1" cpu)" -v n="$2" \
		'BEGIN { printf "%.3f\n", n ? (used - own) / 1e6 / n * 10000 : 0 }'
}

# Of a perf record.
perf_count() {
	sed -n 's/.*(\([0-9]*\) samples).*/\1/p' "$1" | tail -n 1
}

# Milliseconds from the program's end to the command's.
after() {
	difference "$(value "$1" done)" "$(value "$1" end)" 1000000
}

profile_slowdown() {
	local i rounds=300000
	for i in {1..10}; do
		cost_spark "$work/spark" -F 999 --call-graph fp -- "$BENCH/bench_burn" work $rounds || return
		cost "$work/perf" "${perf_sample[@]}" -F 999 -g -o "$work/perf.data" -- "$BENCH/bench_burn" work $rounds || return
		value "$work/spark" cpu >>"$work/spark.cpu"
		value "$work/perf" cpu >>"$work/perf.cpu"
	done
}

# The median of a file's numbers.
middle() {
	sort -g "$1" | awk '{ v[NR] = $1 } END { printf "%.0f\n", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

# Of all repetitions, by turns: the costs are alike, and a ratio of minima tells of the luck of one run.
profile_slowdown_end() {
	local spark perf
	[ -s "$work/perf.cpu" ] || return
	spark=$(middle "$work/spark.cpu") perf=$(middle "$work/perf.cpu")
	figure profile-slowdown "$(ratio "$spark" "$perf")" "$(difference "$spark" 0 1000000)" ms
}

profile_stacks() {
	local spark perf
	cost_spark "$work/spark" -F 999 --call-graph dwarf -- "$BENCH/bench_burn" time 5 || return
	cost "$work/perf" "${perf_sample[@]}" -F 999 --call-graph dwarf,8192 -o "$work/perf.data" -- \
		"$BENCH/bench_burn" time 5 || return
	spark=$(cost_samples "$work/spark" "$(jq .samples.count "$work/spark.json")")
	perf=$(cost_samples "$work/perf" "$(perf_count "$work/perf")")
	figure profile-stacks "$(ratio "$spark" "$perf")" "$spark" ms
	note "of 5 s at 999 Hz: $(jq -r '.samples | "\(.count) samples, \(.lost) lost, \(.truncated) truncated"' "$work/spark.json")"
}

# A program with more than 30 MB of debug info: $work/units
profile_build() {
	local i list=
	${CXX:-c++} -O2 -g -c -o "$work/unit.o" "${0%/*}/bench_unit.cc" || return
	for ((i = 1; i <= units; i++)); do
		objcopy --redefine-sym bench_unit=bench_unit_$i "$work/unit.o" "$work/unit_$i.o" || return
		list+="UNIT(bench_unit_$i) "
	done
	${CC:-cc} -O2 -g "-DBENCH_UNITS=$list" -c -o "$work/main.o" "${0%/*}/bench_units.c" || return
	${CXX:-c++} -o "$work/units" "$work/main.o" "$work"/unit_*.o
	rm -f "$work"/unit_*.o
	note "debug info of $(size -A "$work/units" | awk '/^\.debug/ { s += $2 } END { printf "%.0f\n", s / 1e6 }') MB"
}

# perf_report OUT [OPTION...]: if it takes too long, that is the least that it takes
perf_report() {
	local out=$1
	shift
	"$BENCH/bench_cost" $patience perf report --stdio -i "$work/perf.data" "$@" >"$out" 2>/dev/null
	[ "$(value "$out" status)" = 0.000 ] || note "perf report $*: stopped after $patience s"
}

perf_ms() {
	awk -v ns="$(value "$1" wall)" 'BEGIN { printf "%.0f\n", ns / 1e6 }'
}

profile_report() {
	local spark
	[ -x "$work/units" ] || profile_build || { failed "the large program was not built"; return; }
	cost_spark "$work/spark" -F 4999 --call-graph dwarf -o "$work/units.spark" -- "$work/units" 2 || return
	cost "$work/again" "$SPARKCTL" report --profile "$work/units.spark" || return
	cost "$work/perf" "${perf_sample[@]}" -F 4999 --call-graph dwarf,8192 -o "$work/perf.data" -- \
		"$work/units" 2 || return
	spark=$(awk -v a="$(after "$work/spark")" -v b="$(value "$work/again" wall)" 'BEGIN { print a + b / 1e6 }')
	perf_report "$work/inlines"
	figure profile-report "$(ratio "$spark" "$(perf_ms "$work/inlines")")" "$spark" ms
	perf_report "$work/lines" -s sym,srcline
	figure profile-lines "$(ratio "$spark" "$(perf_ms "$work/lines")")" "$spark" ms
	note "large program: $(jq .samples.count "$work/spark.json") samples, perf $(perf_count "$work/perf")" \
		"(perf report $(perf_ms "$work/inlines") ms, with lines $(perf_ms "$work/lines") ms)"
}

# What needs no perf.
profile_alone() {
	local seconds
	cost_spark "$work/spark" -F 999 -- "$BENCH/bench_burn" time 10 &&
		figure profile-end 0 "$(after "$work/spark")" ms
	# How many come depends on the machine's timers and load: as long as it takes for a million.
	for seconds in 7 14 28; do
		cost_spark "$work/spark" -F 50000 --call-graph fp -- "$BENCH/bench_burn" time $seconds 4 || return
		[ "$(jq .samples.count "$work/spark.json")" -lt 1000000 ] || break
	done
	[ "$(jq .samples.count "$work/spark.json")" -lt 1000000 ] ||
		figure profile-memory 0 "$(ratio "$(value "$work/spark" memory)" 1024)" MiB
	note "memory: $(jq -r '.samples | "\(.count) samples, \(.lost) lost"' "$work/spark.json")"
	profile_page "$seconds"
}

# A page of a million samples, and a browser that opens it.
profile_page() {
	local browser ms
	[ "$(jq .samples.count "$work/spark.json")" -ge 1000000 ] || return
	cost_spark "$work/spark" -F 50000 --call-graph fp -o "$work/page.spark" -- "$BENCH/bench_burn" time "$1" 4 || return
	"$SPARKCTL" report --format html "$work/page.spark" >"$work/page.html" || return
	figure page-size 0 "$(ratio "$(stat -c %s "$work/page.html")" 1024)" KiB
	note "page: $(jq .samples.count "$work/spark.json") samples"
	browser=$(command -v chromium) && command -v node >/dev/null || { note "no browser: the page was not opened"; return; }
	ms=$(node "${0%/*}/page.js" "$browser" "$work/browser" "$work/page.html") && figure page-open 0 "$ms" ms
}

profile_once() {
	profile_alone
	if ! command -v perf >/dev/null; then
		note "perf is missing: nothing to compare samples with"
		return
	fi
	profile_slowdown
	profile_stacks
	profile_report
}
