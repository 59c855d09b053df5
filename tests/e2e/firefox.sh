# SPDX-License-Identifier: MIT
# Sourced after lib.sh: what the Firefox profiler makes of a file, by its own parser (npm's @firefox-devtools/profiler-cli,
# with node 24 or newer before others in PATH).

# firefox_here NAME: else the case of this name is skipped
firefox_here() {
	HOME=$PWD profiler-cli --version >firefox.out 2>&1 && return
	skip "$1" firefox "there is no profiler-cli that works: $(head -n 1 firefox.out)"
	return 1
}

# firefox FILE: makes firefox.json, its threads as JSON lines, each with its samples by function
firefox() {
	local HOME=$PWD thread try status=0
	export HOME
	# It gives its own daemon half a second to begin.
	for try in {1..10}; do
		profiler-cli load "$1" >firefox.load 2>&1 && break
		[ $try -lt 10 ] && grep -q 'not become ready' firefox.load && continue
		cat firefox.load
		status=1
		break
	done
	profiler-cli thread list --json >firefox.threads || status=1
	for thread in $(jq -r '.threads[].threadHandle' firefox.threads); do
		profiler-cli thread samples --json --include-idle --thread "$thread" >firefox.samples || status=1
		jq -c --arg t "$thread" '(.threads[] | select(.threadHandle == $t)) + { samples: $s[0] }' \
			--slurpfile s firefox.samples firefox.threads || status=1
	done >firefox.json
	# Those of files that it did not read are there, too.
	profiler-cli stop --all
	return $status
}
