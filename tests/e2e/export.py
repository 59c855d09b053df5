#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""export.py FORMAT FILE [no-regions]: reads what sparkctl export wrote by the rules of the format, and prints it in
one form for all of them: "count weight regions and functions, outermost first, between semicolons", sorted. folded
has one number alone. What breaks a rule of the format is an error."""
import collections
import gzip
import json
import os
import re
import sys


def demand(condition, *what):
    if not condition:
        sys.exit("export.py: " + " ".join(map(str, what)))


def printable(text):
    demand(not re.search("[\x00-\x1f\x7f]", text), "control character in", repr(text))
    return text


def folded(data, _):
    stacks = {}
    demand(data == "" or data.endswith("\n"), "the last line is not whole")
    for line in data.splitlines():
        match = re.fullmatch(r"(\S[^;]*(?:;[^;]+)*) ([1-9]\d*)", printable(line))
        demand(match, "no folded stack:", line)
        demand(match[1] not in stacks, "twice:", line)
        stacks[match[1]] = (int(match[2]),)
    return stacks


def perf_script(data, _):
    stacks = collections.defaultdict(lambda: [0, 0])
    header = re.compile(r"(\S.*) +(\d+)/(\d+) +\[(\d{3,})\] +(\d+)\.(\d{9}): +(\d+) (\S+): ")
    frame = re.compile(r"\t *([0-9a-f]+) (\S.*) \(([^ ()]+)\)")
    last = 0
    demand(data == "" or data.endswith("\n\n"), "the last sample is not whole")
    for sample in data.split("\n\n")[:-1]:
        lines = sample.split("\n")
        head = header.fullmatch(lines[0])
        demand(head, "no sample:", lines[0])
        time = int(head[5]) * 10**9 + int(head[6])
        demand(time >= last, "out of order:", lines[0])
        last, names = time, []
        for line in lines[1:]:
            match = frame.fullmatch(line)
            demand(match, "no frame:", line)
            name, path = printable(match[2]), re.sub(r"\\x(20|28|29)", lambda m: chr(int(m[1], 16)), match[3])
            if name == "[unknown]" and path != "[unknown]":
                name = path if path[0] == "[" else "[%s]" % os.path.basename(path)
                name = "[kernel]" if name == "[kernel.kallsyms]" else name
            names.append(name.replace(";", ":"))
        demand(names, "no frames:", lines[0])
        stack = stacks[";".join(reversed(names))]
        stack[0] += 1
        stack[1] += int(head[7])
    return stacks


def unique(pairs):
    demand(len(dict(pairs)) == len(pairs), "a key is there twice:", pairs)
    return dict(pairs)


class Thread:
    def __init__(self, event):
        self.place, self.nodes, self.time = (event["pid"], event["tid"]), {}, event["args"]["data"]["startTime"]

    def add_nodes(self, nodes, known):
        for node in nodes:
            name, parent = printable(node["callFrame"]["functionName"]), node.get("parent")
            demand(node["id"] not in known, "a node is there twice:", node)
            known.add(node["id"])
            demand(parent is None or parent in self.nodes, "no parent:", node)
            demand(name == "(root)" if parent is None else name, "no name:", node)
            self.nodes[node["id"]] = name.replace(";", ":") if parent is None else \
                self.nodes[parent] + ";" + name.replace(";", ":")

    def add_samples(self, data, ts, stacks):
        samples, deltas = data["cpuProfile"]["samples"], data["timeDeltas"]
        demand(len(samples) == len(deltas), "samples and times differ in number")
        for i, (node, delta) in enumerate(zip(samples, deltas)):
            demand(isinstance(delta, int) and delta >= 0, "no time:", delta)
            self.time += delta
            demand(i or int(ts) == self.time, "a chunk begins at", ts, "and not at", self.time)
            stacks[self.nodes[node].partition(";")[2]][0] += 1


def chrome(data, _):
    trace = json.loads(data, object_pairs_hook=unique)
    stacks, threads, named, known = collections.defaultdict(lambda: [0]), {}, {}, set()
    for event in trace["traceEvents"]:
        place = (event["pid"], event["tid"])
        demand(isinstance(event["ts"], float) and event["ts"] >= 0 and event["cat"], "not an event:", event)
        if event["ph"] == "M":
            demand(event["name"] in ("process_name", "thread_name"), "unknown metadata:", event)
            named[event["name"], place] = printable(event["args"]["name"])
            continue
        demand(event["ph"] == "P" and ("thread_name", place) in named, "unknown event:", event)
        demand(("process_name", (place[0], place[0])) in named, "a process without a name:", event)
        if event["name"] == "Profile":
            demand(event["id"] not in threads, "two profiles of", event["id"])
            threads[event["id"]] = Thread(event)
            continue
        thread = threads[event["id"]]
        demand(event["name"] == "ProfileChunk" and thread.place == place, "unknown event:", event)
        thread.add_nodes(event["args"]["data"]["cpuProfile"].get("nodes", []), known)
        thread.add_samples(event["args"]["data"], event["ts"], stacks)
    demand(known == set(range(1, len(known) + 1)), "numbers of nodes have gaps")
    return stacks


# ---- pprof: profile.proto, by the rules of protobuf.dev/programming-guides/encoding

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value & (1 << 64) - 1, at


def fields(data):
    """{number: [value or bytes, ...]}"""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        demand(tag & 7 in (0, 2), "unknown type of field", tag)
        value, at = varint(data, at)
        if tag & 7 == 2:
            demand(at + value <= len(data), "a field is longer than its message")
            value, at = data[at:at + value], at + value
        found[tag >> 3].append(value)
    return found


def numbers(values):
    """of a repeated field, packed or not"""
    for value in values:
        if isinstance(value, int):
            yield value
        else:
            at = 0
            while at < len(value):
                number, at = varint(value, at)
                yield number


def by_id(messages):
    table = {}
    for message in map(fields, messages):
        demand(message[1][0] not in table and message[1][0], "an id is there twice, or 0:", message)
        table[message[1][0]] = message
    return table


def one(message, number):
    demand(len(message[number]) < 2, "a field is there twice:", message)
    return message[number][0] if message[number] else 0


def pprof(data, no_regions):
    profile = fields(data)
    strings = [printable(text.decode()) for text in profile[6]]
    demand(strings[0] == "" and len(profile[1]) == 2, "no strings or values")
    types = [(strings[one(m, 1)], strings[one(m, 2)]) for m in map(fields, profile[1])]
    demand(types[0] == ("samples", "count") and types[1] in (("cpu", "nanoseconds"), (types[1][0], "count")), types)
    demand(strings[one(profile, 14)] == types[1][0] and one(profile, 12) > 0, "no default or period")
    demand(one(profile, 9) > 1e18 and one(profile, 10) > 0, "no time or duration")
    mappings, locations, functions = by_id(profile[3]), by_id(profile[4]), by_id(profile[5])
    stacks = collections.defaultdict(lambda: [0, 0])
    for sample in map(fields, profile[2]):
        count, weight = numbers(sample[2])
        labels = {strings[one(m, 1)]: one(m, 3) or strings[one(m, 2)] for m in map(fields, sample[3])}
        demand(set(labels) - {"region"} == {"process", "pid", "tid"} and all(labels.values()), "labels", labels)
        demand(not no_regions or "region" not in labels, "a region", labels)
        names = []
        for location in (locations[number] for number in numbers(sample[1])):
            lines = [functions[one(m, 1)] for m in map(fields, location[4])]
            names += [strings[one(function, 2)] for function in lines]
            if not lines:
                path = strings[one(mappings[one(location, 2)], 5)]
                names.append(path if path[0] == "[" else "[%s]" % os.path.basename(path))
            if one(location, 2):
                demand(one(location, 3) <= one(mappings[one(location, 2)], 3), "an address outside of its mapping")
        names = [name.replace(";", ":") for name in names]
        region = labels.get("region", "")
        regions = [region] if region[:1] == "[" else ["[region] " + name for name in region.split(";") if name]
        stack = stacks[";".join(regions + names[::-1])]
        stack[0] += count
        stack[1] += weight
    return stacks


def speedscope(data, _):
    profile = json.loads(data, object_pairs_hook=unique)
    frames = [printable(frame["name"]).replace(";", ":") for frame in profile["shared"]["frames"]]
    stacks = collections.defaultdict(lambda: [0, 0])
    for thread in profile["profiles"]:
        demand(thread["type"] == "sampled" and thread["startValue"] == 0, "no sampled profile:", thread["name"])
        demand(len(thread["samples"]) == len(thread["weights"]), "samples without weights")
        demand(sum(thread["weights"]) == thread["endValue"], "the end is not the sum")
        for sample, weight in zip(thread["samples"], thread["weights"]):
            demand(sample, "no frames")
            stack = stacks[";".join(frames[number] for number in sample)]
            stack[0] += 1
            stack[1] += weight
    return stacks


# Tables are columns of one length; what is a number of another table leads into it.
def firefox_table(thread, table_name, **numbers):
    table = thread[table_name]
    for key, column in table.items():
        demand(not isinstance(column, list) or len(column) == table["length"], table_name, key, "is not as long as it says")
    for key, length in numbers.items():
        demand(all(i is None or -1 <= i < length for i in table[key]), table_name, key, "leads nowhere")
    return table


def firefox_thread(profile, thread, stacks):
    strings, libs, n = thread["stringArray"], len(profile["libs"]), len(profile["meta"]["categories"])
    resources = firefox_table(thread, "resourceTable", lib=libs, name=len(strings))
    functions = firefox_table(thread, "funcTable", name=len(strings), resource=resources["length"], fileName=len(strings))
    frames = firefox_table(thread, "frameTable", func=functions["length"], category=n)
    table = firefox_table(thread, "stackTable", frame=frames["length"], prefix=thread["stackTable"]["length"], category=n)
    samples = firefox_table(thread, "samples", stack=table["length"])
    paths = []
    for i, prefix in enumerate(table["prefix"]):
        demand(prefix is None or prefix < i, "a stack before the one it is in")
        path = [] if prefix is None else paths[prefix]
        paths.append(path + [printable(strings[functions["name"][frames["func"][table["frame"][i]]]]).replace(";", ":")])
        regions = [name for name in paths[-1] if name.startswith("[region")]
        category = profile["meta"]["categories"][table["category"][i]]["name"].replace(";", ":")
        demand(category == (regions[-1] if regions else "outside of regions"), "category", category, "of", paths[-1])
    demand(samples["time"] == sorted(samples["time"]), "out of order")
    for number, weight in zip(samples["stack"], samples["threadCPUDelta"]):
        stack = stacks[";".join(paths[number])]
        stack[0] += 1
        stack[1] += weight


def firefox(data, _):
    profile = json.loads(data, object_pairs_hook=unique)
    stacks = collections.defaultdict(lambda: [0, 0])
    for thread in profile["threads"]:
        firefox_thread(profile, thread, stacks)
    return stacks


def main():
    form, path = sys.argv[1:3]
    with (gzip.open if form == "pprof" else open)(path, "rb") as file:
        data = file.read()
    read = {"folded": folded, "perf-script": perf_script, "chrome": chrome, "pprof": pprof, "speedscope": speedscope,
            "firefox": firefox}[form]
    stacks = read(data if form == "pprof" else data.decode(), "no-regions" in sys.argv)
    for stack in sorted(stacks):
        print(*stacks[stack], stack)


main()
