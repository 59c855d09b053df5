# SPDX-License-Identifier: MIT
"""Reads a trace of sparkctl run --trace.

trace.py TRACE [paths|names REPORT]

Checks that it is strict JSON, that times are numbers of ns and never fall in a thread, and that begins and ends
nest in each thread. With a JSON report of the run: that regions began as often as it says, by process and path,
or by name alone. Prints "KEY VALUE" lines about it.
"""
import collections
import json
import sys


def refuse(what):
    raise ValueError("%s is no JSON" % what)


def unique(pairs):
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("repeated key: %s" % pairs)
    return dict(pairs)


class Thread:
    def __init__(self):
        self.stack = []
        self.ts = 0


def read_trace(path):
    with open(path, "rb") as file:
        text = file.read().decode("utf-8")
    # Floating point would round them.
    return json.loads(text, parse_constant=refuse, parse_float=str, object_pairs_hook=unique)["traceEvents"]


def time_ns(text):
    us, fraction = text.split(".")
    if len(fraction) != 3:
        raise ValueError("time %s" % text)
    return int(us) * 1000 + int(fraction)


def check_nesting(events, told):
    threads = collections.defaultdict(Thread)
    begun = collections.Counter()
    for event in events:
        if event["ph"] not in "BEi":
            continue
        thread = threads[event["pid"], event["tid"]]
        ts = time_ns(event["ts"])
        if ts < thread.ts:
            raise ValueError("time falls: %s" % event)
        thread.ts = ts
        note = event.get("args", {}).get("note")
        if note:
            told[note.replace(" ", "-")] += 1
        if event["ph"] == "B":
            thread.stack.append(event["name"])
            begun[event["pid"], ";".join(thread.stack)] += note is None
        # Without a name where the events could not be kept to the end.
        elif event["ph"] == "E" and (not thread.stack or event["name"] not in (thread.stack.pop(), "")):
            raise ValueError("does not nest: %s" % event)
        elif event["ph"] == "i" and event["cat"] == "missing":
            told["missing"] += event["args"]["markers"]
    for key, thread in threads.items():
        if thread.stack:
            raise ValueError("thread %s: %s is open" % (key, thread.stack))
    told["threads"] = len(threads)
    told["processes"] = len({pid for pid, _ in threads})
    return begun


def check_windows(events, told):
    edges = collections.defaultdict(list)
    for event in events:
        if event["ph"] in "be":
            edges[event["pid"], event["id"], event["name"]].append(event)
    for key, both in edges.items():
        if [event["ph"] for event in both] != ["b", "e"] or time_ns(both[0]["ts"]) > time_ns(both[1]["ts"]):
            raise ValueError("window %s: %s" % (key, both))
        told["window-" + key[2]] += 1


def check_names(events, told):
    for event in events:
        if event["ph"] == "M":
            told[event["name"]] += 1
    used = {event["pid"] for event in events if event["ph"] == "B"}
    named = {event["pid"] for event in events if event["ph"] == "M" and event["name"] == "process_name"}
    if used - named:
        raise ValueError("processes without a name: %s" % (used - named))


def compare(begun, by, path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    want = collections.Counter()
    got = collections.Counter()
    for (pid, region), count in begun.items():
        got[(pid, region) if by == "paths" else region.split(";")[-1]] += count
    for region in report["regions"]:
        if region["path"] and region["calls"]:
            key = (region["process"], ";".join(region["path"])) if by == "paths" else region["path"][-1]
            want[key] += region["calls"]
    got = +got
    if got != want:
        raise ValueError("trace and report differ: %s" % sorted(set(got.items()) ^ set(want.items()), key=str)[:10])


def main():
    told = collections.Counter()
    events = read_trace(sys.argv[1])
    begun = check_nesting(events, told)
    check_windows(events, told)
    check_names(events, told)
    if len(sys.argv) > 2:
        compare(begun, sys.argv[2], sys.argv[3])
    told["begun"] = sum(begun.values())
    for key in sorted(told):
        print(key, told[key])


try:
    main()
except (OSError, ValueError, KeyError, TypeError) as error:
    print("%s: %s: %s" % (sys.argv[1], type(error).__name__, error))
    sys.exit(1)
