# SPDX-License-Identifier: MIT
# Helpers of the end-to-end tests: TAP output, runs of sparkctl, and questions to a JSON report.
#
# A test is a bash script that sources this file with  . "${0%/*}/lib.sh" , makes any number of
# checks and ends with `finish`. A script that dies before leaves no plan, which is a failure.
# From the driver: $SPARKCTL, $AGENT, $TARGETS (built programs), $srcdir, $CC; the current directory
# is private and empty.
#
# Checks                                 each prints one TAP line
#   ok NAME | not_ok NAME [DETAIL...]    said outright
#   check NAME COMMAND...                the command succeeds; its output explains a failure
#   refuse NAME COMMAND...               the command fails
#   is NAME GOT WANT                     equal as text
#   skip NAME CAPABILITY REASON          not possible here; the pair must stand in tests/skips
# Conditions                             silent if true, else they say why and return 1
#   within VALUE LOW HIGH                a number, and LOW <= VALUE <= HIGH
#   same FILE FILE                       equal bytes
#   valid FILE...                        strict JSON with the right schema
#   matches JSON                         the report of `record` has the claimed regions, no others
# Runs
#   spark ARGS...                        sparkctl
#   record JSON [OPTIONS... --] CMD...   sparkctl run with a JSON report; claims go to JSON.claims
#   claim JSON NAME                      a value that the target claimed
#   scale N                              how often, where SPARK_SLOW calls the machine slow; else N
#   $meek                                for nice -n: on one slow CPU busy programs leave little to those who look at them
# Questions to a report                  PATH is names joined by ';', '' is the root
#   row JSON PATH [PID]                  the one row as JSON
#   calls JSON PATH [PID]                its calls, open ones included;  finished ... without them
#   cell JSON PATH COLUMN [PID]          a cell's value;  state ... its state
#   total JSON NAME                      a value of the whole tree
#   named JSON NAME                      calls of all regions of that name, wherever they lie
#   diagnosed JSON KIND [REGION]         how often it was diagnosed
#   lost JSON [NAME]                     how much was lost, of that kind or in all
#   survivors JSON                       pids of processes that had not ended
#   ask JSON FILTER [JQ-ARGS...]         any jq filter, with rows(PATH; PID) and one(ROWS)
set -u
export LC_ALL=C
unset TARGET_OUT
# Not the machine's: whether somebody saved ids there must make no difference.
export SPARK_TRACEPOINTS=$PWD/saved-tracepoints

: "${SPARKCTL:?}" "${TARGETS:?}"

tap_number=0 tap_failures=0
python=$(PATH=/usr/bin:/bin:$PATH command -v python3)

ok() {
	tap_number=$((tap_number + 1))
	echo "ok $tap_number - $1"
}

not_ok() {
	tap_number=$((tap_number + 1)) tap_failures=$((tap_failures + 1))
	echo "not ok $tap_number - $1"
	shift
	[ $# = 0 ] || printf '%s\n' "$@" | head -n 40 | sed 's/^/# /'
}

skip() {
	tap_number=$((tap_number + 1))
	echo "ok $tap_number - $1 # SKIP $2: $3"
}

# The output goes through a file: the command runs in this shell and may set variables.
check() {
	local name=$1
	shift
	if "$@" >.check 2>&1; then
		ok "$name"
	else
		not_ok "$name" "$*" "$(cat .check)"
	fi
}

refuse() {
	local name=$1
	shift
	if "$@" >.check 2>&1; then
		not_ok "$name" "succeeded: $*" "$(cat .check)"
	else
		ok "$name"
	fi
}

is() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "got:  $2" "want: $3"
	fi
}

# $port: one of the loopback where nobody listens, below those that the kernel gives to clients.
port_choose() {
	port=$((10000 + RANDOM % 20000))
	! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || port_choose
}

finish() {
	rm -f .check
	echo "1..$tap_number"
	[ $tap_failures = 0 ]
	exit
}

within() {
	awk -v value="$1" -v low="$2" -v high="$3" '
	function number(s) { return s ~ /^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$/ }
	BEGIN {
		if (number(value) && number(low) && number(high) &&
		    value + 0 >= low + 0 && value + 0 <= high + 0)
			exit 0
		print "value " value " is not within " low " .. " high
		exit 1
	}'
}

same() {
	cmp "$1" "$2" && return 0
	diff -a -U2 "$1" "$2" | head -n 30
	return 1
}

# has_library libelf|libpfm4, has_library libdw|libiberty symbols: this sparkctl uses it, as doctor says
has_library() {
	"$SPARKCTL" doctor --json | jq -r --arg name "${2:-event-naming}" '.capabilities[] | select(.name == $name).because' | grep -q " by $1"
}

meek=$((${SPARK_SLOW:-1} > 1 ? 10 : 0))

scale() {
	local n=$(($1 / ${SPARK_SLOW:-1}))
	echo $((n > 0 ? n : 1))
}

# calc EXPRESSION: an integer, for bounds.
calc() {
	awk "BEGIN { printf \"%.0f\n\", $1 }"
}

spark() {
	"$SPARKCTL" "$@"
}

record() {
	local report=$1
	shift
	rm -f "$report" "$report.claims"
	: >"$report.claims"
	chmod 666 "$report.claims"
	TARGET_OUT=$PWD/$report.claims spark run --format json --report "$report" "$@"
}

claim() {
	awk -v name="$2" '$1 == "value" && $2 == name { print $3; found = 1 } END { exit !found }' \
		"$1.claims" || { echo "no claim $2 in $1" >&2; return 1; }
}

# jq takes NaN and repeated keys; a report may have neither. With --regions it prints the regions, too.
valid() {
	"$python" - "$@" <<'END'
import json, sys

def refuse(what):
    raise ValueError("%s is no JSON" % what)

def unique(pairs):
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        raise ValueError("repeated key in %s" % keys)
    return dict(pairs)

WANT = {"schema": str, "command": list, "exit": dict, "host": dict, "capabilities": list, "columns": list,
        "totals": dict, "processes": list, "regions": list, "windows": list, "losses": dict, "diagnostics": list}
STATES = {"counted", "scaled", "estimate", "not_counted", "unavailable", "lost"}

def check_cells(cells):
    for name, cell in cells.items():
        if cell["state"] not in STATES:
            raise ValueError("%s has the state %s" % (name, cell["state"]))
        if (cell["value"] is None) != (cell["state"] in ("not_counted", "unavailable", "lost")):
            raise ValueError("%s is %s and %s" % (name, cell["value"], cell["state"]))

# As "PID PATH FINISHED OPEN", in the way that targets claim them.
def print_regions(regions):
    for region in regions:
        if region["path"]:
            print(region["process"], ";".join(region["path"]), region["calls"] - region["open"], region["open"])

bad = 0
show_regions = sys.argv[1] == "--regions"
for path in sys.argv[1 + show_regions:]:
    try:
        with open(path, "rb") as f:
            report = json.loads(f.read().decode("utf-8"), parse_constant=refuse, object_pairs_hook=unique)
        for key, kind in WANT.items():
            if not isinstance(report.get(key), kind):
                raise ValueError("%s is missing or no %s" % (key, kind.__name__))
        if report["schema"] != "spark-report/1":
            raise ValueError("schema is %s" % report["schema"])
        check_cells(report["totals"]["cells"])
        ids = [process["id"] for process in report["processes"]]
        if len(ids) != len(set(ids)):
            raise ValueError("process ids repeat: %s" % ids)
        pids = {process["pid"] for process in report["processes"]}
        for region in report["regions"]:
            if region["process"] is not None and region["process"] not in pids:
                raise ValueError("region %s of unknown process %s" % (region["path"], region["process"]))
            check_cells(region["cells"])
        if show_regions:
            print_regions(report["regions"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        print("%s: %s: %s" % (path, type(error).__name__, error))
        bad = 1
sys.exit(bad)
END
}

# An empty file, which jq alone would answer with nothing and success, is an error.
ask() {
	local report=$1 filter=$2
	shift 2
	jq -nr "$@" "
		def rows(\$path; \$pid):
			.regions[]
			| select(.path == (if \$path == \"\" then [] else \$path | split(\";\") end))
			| select(\$pid == \"\" or (.process | tostring) == \$pid);
		def one(f): [f] | if length == 1 then .[0] else error(\"\(length) rows, not 1\") end;
		input | ($filter)" "$report"
}

row() {
	ask "$1" 'one(rows($path; $pid)) | tojson' --arg path "$2" --arg pid "${3-}"
}

calls() {
	ask "$1" 'one(rows($path; $pid)).calls' --arg path "$2" --arg pid "${3-}"
}

finished() {
	ask "$1" 'one(rows($path; $pid)) | .calls - .open' --arg path "$2" --arg pid "${3-}"
}

cell() {
	ask "$1" 'one(rows($path; $pid)).cells[$name].value' --arg path "$2" --arg name "$3" --arg pid "${4-}"
}

state() {
	ask "$1" 'one(rows($path; $pid)).cells[$name].state' --arg path "$2" --arg name "$3" --arg pid "${4-}"
}

total() {
	ask "$1" '.totals.cells[$name].value' --arg name "$2"
}

named() {
	ask "$1" '[.regions[] | select(.path != [] and .path[-1] == $name).calls] | add // 0' --arg name "$2"
}

diagnosed() {
	ask "$1" '[.diagnostics[] | select(.kind == $kind and ($region == "" or .region == $region)).count] | add // 0' \
		--arg kind "$2" --arg region "${3-}"
}

lost() {
	ask "$1" '[.losses | to_entries[] | select($name == "" or .key == $name).value | numbers] | add // 0' \
		--arg name "${2-}"
}

# Regions as "PID PATH FINISHED OPEN" lines, as the report has them and as the target claims them.
regions_reported() {
	ask "$1" '.regions[] | select(.path != [])
		| "\(.process) \(.path | join(";")) \(.calls - .open) \(.open)"' | sort
}

regions_claimed() {
	sed -n 's/^region //p' "$1.claims" | sort
}

# How many processes claim something, and the pids of those that had not ended at the report.
claimants() {
	regions_claimed "$1" | cut -d' ' -f1 | sort -u | wc -l
}

survivors() {
	ask "$1" '.processes[] | select(.end_ns == null).pid'
}

# Every claimed region once, with these calls, in the claiming process; and nothing else.
matches() {
	valid --regions "$1" >.valid || { cat .valid; return 1; }
	sort .valid >.reported
	regions_claimed "$1" >.claimed
	[ -s .claimed ] || { echo "the target claimed nothing"; return 1; }
	diff .claimed .reported >.difference && return 0
	echo "claimed (<) and reported (>) differ:"
	head -n 20 .difference
	ask "$1" '.diagnostics[], .losses | tojson' | head -n 10
	return 1
}
