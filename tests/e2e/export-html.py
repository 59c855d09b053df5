# SPDX-License-Identifier: MIT
# Reads a page of --format html without a browser: that it needs nothing else, and what its data say.
#   export-html.py check PAGE          mistakes, one a line
#   export-html.py rows PAGE           rows as the CSV report has them: path;calls;value,state;...
#   export-html.py csv CSV             the same of a CSV report
#   export-html.py parts PAGE          names of rows and what their time was spent on, where that was watched for
#   export-html.py delays PAGE         names of rows and how long they waited for block devices, the same, or the reason
#   export-html.py devices PAGE        rows of block devices: name side column=value ... and how many requests bars have
#   export-html.py kinds PAGE          of samples
#   export-html.py samples PAGE        sums of the samples: count weight
import base64
import csv
import html.parser
import json
import re
import sys

STATES = ["counted", "scaled", "estimate", "not_counted", "unavailable", "lost"]


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.mistakes, self.tags, self.data, self.within = [], [], None, None
        with open(path, "rb") as file:
            text = file.read().decode("utf-8")
        if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text):
            self.mistakes.append("control characters")
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        attributes = dict(attributes)
        self.within = tag, attributes
        for name in ("src", "href", "action", "data", "srcset", "style"):
            value = attributes.get(name)
            if value and not value.startswith(("#", "data:")):
                self.mistakes.append("%s=%s" % (name, value))
        if any(name.startswith("on") for name in attributes):
            self.mistakes.append("handlers in %s" % tag)

    def handle_data(self, data):
        if self.within and self.within[0] == "script" and self.within[1].get("id") == "data":
            self.data = json.loads(data)
        elif self.within and self.within[0] in ("style", "script") and re.search(r"https?:|@import|url\(", data):
            self.mistakes.append("something to be fetched in %s" % self.within[0])

    def handle_endtag(self, tag):
        self.within = None

    def check(self):
        for tag, n in (("html", 1), ("script", 2), ("style", 1), ("b", 0), ("img", 0), ("iframe", 0)):
            if self.tags.count(tag) != n:
                self.mistakes.append("%d times %s" % (self.tags.count(tag), tag))
        cells = [row[9:12] + row[12] + (row[13] or []) for row in self.data["rows"] + self.data["windows"]]
        cells += [filter(None, row[2]) for row in (self.data["block"] or {"rows": []})["rows"]]
        for row in cells:
            for cell in row:
                state = cell[2] if len(cell) > 2 else 0
                if (cell[1] is None) != (state > 2):
                    self.mistakes.append("%s is %s" % (cell, STATES[state]))
                if STATES[state] == "unavailable" and cell[3] < 0:
                    self.mistakes.append("%s has no reason" % cell)
                if STATES[state] == "unavailable" and cell[0] in ("", "0"):
                    self.mistakes.append("unavailable looks like %s" % cell[0])
        return self.mistakes


def unpack(text, n, signed=False):
    out, value, shift = [], 0, 0
    for byte in base64.b64decode(text):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append((value >> 1) ^ -(value & 1) if signed else value)
            value = shift = 0
    return out[:n]


# Cells that only one of the two has are left out.
def print_row(path, process, thread, calls, cells):
    print(path, process, thread, calls, *("%s=%.15g,%s" % (name, float(value), state) if value not in ("", None) else
                                          "%s=,%s" % (name, state) for name, value, state in cells), sep="|")


def rows(data):
    names = [column["name"] for column in data["columns"]]
    for key in ("rows", "windows"):
        paths = []
        for parent, _, name, pid, tid, calls, _, flags, _, _, _, _, cells, *_ in data[key]:
            paths.append([] if flags & 1 else (paths[parent - 1] if parent else []) + [name])
            print_row(";".join(paths[-1]), pid or "", tid or "", calls,
                      [(name, cell[1], STATES[cell[2] if len(cell) > 2 else 0]) for name, cell in zip(names, cells)])


def csv_rows(path, page):
    names = [column["name"] for column in page.data["columns"]]
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            print_row(row["path"], row["process"], row["thread"], row["calls"],
                      [(name, row[name], row[name + ".state"]) for name in names])


what, page = sys.argv[1], Page(sys.argv[2])
if what == "check":
    print("\n".join(page.check()))
elif what == "rows":
    rows(page.data)
elif what == "csv":
    csv_rows(sys.argv[3], page)
elif what == "parts":
    names = page.data["parts"]
    for row in page.data["rows"]:
        if row[13]:
            print(row[2], *("%s=%s" % (name, cell[1]) for name, cell in zip(names, row[13])))
elif what == "delays":
    for row in page.data["rows"]:
        if row[14]:
            cell = row[14]
            print(row[2], cell[1], STATES[cell[2] if len(cell) > 2 else 0],
                  page.data["strings"][cell[3]] if len(cell) > 3 and cell[3] >= 0 else "")
elif what == "devices":
    for name, side, cells, bars in page.data["block"]["rows"]:
        print(name, side, *("%s=%.15g" % (title, cell[1]) for title, cell in zip(page.data["block"]["columns"], cells)
                            if cell and cell[1] is not None), sum(bar[2] for bar in bars), sep="|")
elif what == "kinds":
    print(*(samples["kind"] for samples in page.data["samples"]))
elif what == "samples":
    for samples in page.data["samples"]:
        if samples["kind"] != "cpu":
            continue
        counts = unpack(samples["count"], samples["rows"])
        weights = unpack(samples["weight"], samples["rows"], True)
        print(sum(counts), sum(weights) + sum(counts) * samples["period"])
