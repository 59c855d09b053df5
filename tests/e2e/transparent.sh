# SPDX-License-Identifier: MIT
# For the transparent*.test files: a command runs plainly, under sparkctl, and under sparkctl with
# the preload library libtshim.so of the tests, each time in a fresh directory of the same name;
# output, status and all files left behind must be equal, and the shim's own counts must be those
# in the report.

shim=$TARGETS/libtshim.so
: >input

# A case may define these: what to put into the directory before each run.
prepare() { :; }

# run_in KIND COMMAND...: runs in directory w, which is then kept as w.KIND.
run_in() {
	local kind=$1
	shift
	rm -rf w "w.$kind"
	mkdir w
	(cd w && prepare) || return 1
	(cd w && "$TARGETS/t_status" "../$kind.status" "$@" <../input >"../$kind.out" 2>"../$kind.err")
	mv w "w.$kind"
}

same_run() {
	same plain.status "$1.status" && same plain.out "$1.out" && same plain.err "$1.err" &&
		diff -r w.plain "w.$1"
}

# "PID CALL COUNT" lines by the shim; more than one image of a process are summed up.
shim_counts() {
	od -An -v -t u8 -w64 shim.counts | awk '
		NR > 1 && $1 { r[$1] += $2; w[$1] += $3; m[$1] += $4 }
		END { for (p in r) print p, "read", r[p] "\n" p, "write", w[p] "\n" p, "malloc", m[p] }' |
		awk '$3 > 0' | sort
}

report_counts() {
	ask "$1" '
		[.regions[] | select((.path[-1] // "") | startswith("shim:"))]
		| group_by([.process, .path[-1]])[]
		| "\(.[0].process) \(.[0].path[-1][5:]) \(map(.calls - .open) | add)"' | awk '$3 > 0' | sort
}

counts_agree() {
	valid "$1" || return 1
	shim_counts >shim.want
	report_counts "$1" >shim.got
	[ -s shim.want ] || { echo "the shim counted nothing"; return 1; }
	diff shim.want shim.got
}

# needs=PROGRAM transparent NAME STATUS COMMAND...
# STATUS is what the plain run must give, "exit N" or "signal N"; PROGRAM may be missing here.
transparent() {
	local name=$1 status=$2 log=$PWD
	shift 2
	if [ -n "${needs-}" ] && ! command -v "$needs" >/dev/null; then
		skip "$name" program "$needs is not installed"
		return
	fi
	run_in plain "$@"
	is "$name: the plain run" "$(cat plain.status)" "$status"

	run_in spark "$SPARKCTL" run --format json --report "$log/spark.json" -- "$@"
	check "$name: as without Spark" same_run spark
	check "$name: a valid report" valid spark.json

	# Helpers that outlive the main child a little go on counting: hence --follow.
	rm -f shim.counts
	truncate -s 524288 shim.counts
	chmod 666 shim.counts
	TSHIM_COUNTS=$log/shim.counts LD_PRELOAD=$shim \
		run_in shim "$SPARKCTL" run --follow --format json --report "$log/shim.json" -- "$@"
	check "$name: as without Spark, with markers on read, write and malloc" same_run shim
	check "$name: counts are the shim's own" counts_agree shim.json
}
