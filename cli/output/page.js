// SPDX-License-Identifier: MIT
// The page of --format html: tables of the report, and graphs of its samples. See page.h for the data.
"use strict";

const report = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const string = (number) => (number < 0 ? null : report.strings[number]);

// make("td", {className: "name"}, "text", node...): texts are never parsed.
function make(tag, properties, ...children) {
	const element = Object.assign(document.createElement(tag), properties);
	element.append(...children.filter((child) => child !== null && child !== undefined));
	return element;
}

// ---- numbers ------------------------------------------------------------------------------------------

const three = (value) => value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);

function formatTime(ns) {
	for (const [limit, scale, unit] of [[999.5, 1, "ns"], [999.5e3, 1e3, "µs"], [999.5e6, 1e6, "ms"]])
		if (ns < limit)
			return `${scale === 1 ? Math.round(ns) : three(ns / scale)} ${unit}`;
	return `${ns < 999.5e9 ? three(ns / 1e9) : Math.round(ns / 1e9)} s`;
}

const formatCount = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, " ");
const formatShare = (part, whole) => (whole > 0 ? `${three(100 * part / whole)} %` : "- %");

// ---- facts --------------------------------------------------------------------------------------------

// A label takes 18 columns of a line; what goes on has none.
function sayLines(list, lines) {
	for (const line of lines) {
		const label = line.slice(0, 18).trim();
		const bad = label === "lost" || label === "unfinished";
		list.append(make("dt", { className: bad ? "bad" : "" }, label), make("dd", {}, line.slice(18)));
	}
}

function showFacts() {
	const [command, ...rest] = report.facts;
	$("command").textContent = command[1];
	document.title = `${command[1].slice(0, 60)} - Spark`;
	// "spark  COMMAND  exit 0  2.43 s wall ..."; host and clock, on its second line, are among the facts.
	for (const piece of (report.head[0] || "").split("  ").slice(2))
		$("summary").append(make("span", {}, piece.trim()));
	for (const [label, text] of rest)
		$("facts").append(make("div", {}, make("dt", {}, label), make("dd", {}, text)));
	sayLines($("said"), report.said);
	$("notes").hidden = !report.said.length;
	sayLines($("sampled"), report.sampled);
}

const themes = ["auto", "light", "dark"];

function setTheme(theme) {
	if (theme === "auto")
		delete document.documentElement.dataset.theme;
	else
		document.documentElement.dataset.theme = theme;
	$("theme").textContent = `Colours: ${theme}`;
	$("theme").dataset.value = theme;
	try {
		localStorage.setItem("spark-theme", theme);
	} catch (error) {
		// A file may have no storage: the choice lasts as long as the page.
	}
	flame.draw();
}

// ---- tables -------------------------------------------------------------------------------------------

const STATES = ["counted", "scaled", "estimate", "not counted", "unavailable", "lost"];
const HAS_VALUE = 3;

// A cell is [text, value, state, reason]; the last two only where there is something to say.
const cellState = (cell) => (cell.length > 2 ? cell[2] : 0);

function cellReason(cell) {
	const state = cellState(cell), note = cell.length > 3 ? string(cell[3]) : null;
	return state || note ? [STATES[state], note].filter(Boolean).join(": ") : "";
}

function makeCell(cell, name) {
	const state = cellState(cell), reason = cellReason(cell), td = make("td", {}, cell[0]);
	td.dataset.state = STATES[state];
	td.dataset.column = name;
	td.dataset.value = cell[1] === null ? "" : cell[1];
	if (state >= HAS_VALUE)
		td.classList.add("absent");
	if (reason)
		td.title = reason;
	if (cell.length > 3 && cell[3] >= 0) {
		td.classList.add("because");
		td.setAttribute("aria-label", `${cell[0]}, ${reason}`);
	}
	return td;
}

const rowOf = ([parent, depth, name, pid, tid, calls, open, flags, kind, wallShare, cpuShare, offShare, cells, parts,
	delay], index) =>
	({ index, parent: parent - 1, depth, name, pid, tid, calls, open, root: (flags & 1) !== 0, context: (flags & 2) !== 0,
		kind: string(kind), wallShare, cpuShare, offShare, cells, parts, delay, path: [] });

function readRows(list) {
	const rows = list.map(rowOf);
	for (const row of rows)
		if (!row.root)
			row.path = [...(row.parent >= 0 ? rows[row.parent].path : []), row.name];
	return rows;
}

// What the time was spent on, where that was watched for: parts that add up.
function fillParts(bar, row) {
	const known = row.parts.map((cell) => Math.max(0, cell[1] || 0)), sum = known.reduce((a, b) => a + b, 0);
	const told = [];
	known.forEach((value, i) => {
		if (!(value > 0))
			return;
		const name = report.parts[i], share = 100 * value / sum;
		bar.append(make("i", { className: name === "residual" ? "unknown" : name.replace("blocked.", "part-"), style: `width: ${share}%` }));
		told.push(`${name} ${row.parts[i][0]}, ${share.toFixed(1)} %${cellReason(row.parts[i]) ? ` (${cellReason(row.parts[i])})` : ""}`);
	});
	return told.join("; ");
}

// How much of it was waiting for block devices, by the kernel's own accounting: below the parts, since it is in several.
function fillDelay(bar, row) {
	if (!row.delay)
		return "";
	const whole = row.parts.reduce((sum, cell) => sum + Math.max(0, cell[1] || 0), 0), share = 100 * row.delay[1] / whole;
	if (row.delay[1] > 0 && whole > 0)
		bar.append(make("i", { className: "delay", style: `width: ${Math.min(100, share)}%` }));
	const text = row.delay[1] === null ? row.delay[0] : `${row.delay[0]}, ${whole > 0 ? share.toFixed(1) : "0.0"} %`;
	return `; for block devices ${text}${cellReason(row.delay) ? ` (${cellReason(row.delay)})` : ""}`;
}

function makeBar(row) {
	const bar = make("div", {}), td = make("td", { className: "bar" }, bar);
	const of = row.wallShare[1] === null ? 100 : row.wallShare[1];
	const say = (label, cell) => `${label} ${cell[0]}${cellReason(cell) ? ` (${cellReason(cell)})` : ""}`;
	bar.style.width = `${Math.max(0, Math.min(100, of))}%`;
	if (row.parts) {
		td.title = `${say("of wall", row.wallShare)}; ${fillParts(bar, row)}${fillDelay(bar, row)}`;
	} else {
		let rest = 100;
		for (const [kind, cell] of [["cpu", row.cpuShare], ["off", row.offShare]])
			if (cell[1] > 0) {
				bar.append(make("i", { className: kind, style: `width: ${Math.min(rest, cell[1])}%` }));
				rest -= Math.min(rest, cell[1]);
			}
		if (row.cpuShare[1] === null || row.offShare[1] === null)
			bar.append(make("i", { className: "unknown", style: `width: ${rest}%` }));
		td.title = `${say("of wall", row.wallShare)}; of it ${say("on a CPU", row.cpuShare)}, ${say("off", row.offShare)}`;
	}
	bar.setAttribute("role", "img");
	bar.setAttribute("aria-label", td.title);
	return td;
}

// The order of a table: by place, those without one as they come.
function columnOrder() {
	return report.columns.map((column, index) => ({ ...column, index }))
		.sort((a, b) => (a.place || 1e6) - (b.place || 1e6) || a.index - b.index);
}

class Table {
	constructor(element, rows, columns, noun) {
		Object.assign(this, { element, rows, columns, noun, sort: null, up: false, most: 400, filter: "", flat: false });
		this.manyProcesses = new Set(rows.map((row) => row.pid)).size > 1;
	}

	value(row, key) {
		if (key === "name")
			return row.name;
		if (key === "calls")
			return row.calls;
		const cell = key === "share" ? row.wallShare : row.cells[key];
		return cell[1];
	}

	compare(a, b) {
		const x = this.value(a, this.sort), y = this.value(b, this.sort);
		if (x === null || y === null) // what has no value comes last, whichever way
			return (x === null) - (y === null) || a.index - b.index;
		const order = typeof x === "string" ? (x < y ? -1 : x > y ? 1 : 0) : x - y;
		return (this.up ? order : -order) || a.index - b.index;
	}

	matches(row) {
		const name = row.root ? row.name : row.path.join(";");
		return name.toLowerCase().includes(this.filter);
	}

	// Depth first, those beside each other sorted; all in one list when flat or filtered.
	ordered() {
		const compare = (a, b) => this.compare(a, b);
		if (this.flat || this.filter) {
			const rows = this.rows.filter((row) => (!this.filter || this.matches(row)) && !(this.flat && row.context));
			return this.sort === null ? rows : rows.sort(compare);
		}
		if (this.sort === null)
			return this.rows;
		const children = new Map(), out = [], stack = [];
		for (const row of this.rows) {
			if (!children.has(row.parent))
				children.set(row.parent, []);
			children.get(row.parent).push(row);
		}
		for (let at = -1; ; at = out[out.length - 1].index) {
			for (const row of (children.get(at) || []).sort(compare).reverse())
				stack.push(row);
			if (!stack.length)
				return out;
			out.push(stack.pop());
		}
	}

	heading(key, title, tip, text) {
		const th = make("th", { scope: "col", className: text ? "text" : "" });
		const button = make("button", { type: "button", title: tip, tabIndex: -1 }, title);
		button.addEventListener("click", () => {
			if (this.sort !== key)
				[this.sort, this.up] = [key, key === "name"];
			else if (this.up === (key === "name"))
				this.up = !this.up;
			else
				this.sort = null;
			this.draw();
			this.element.querySelector(`th[data-key="${key}"] button`).focus();
		});
		th.dataset.key = key;
		if (this.sort === key) {
			th.setAttribute("aria-sort", this.up ? "ascending" : "descending");
			button.append(this.up ? " ▲" : " ▼");
		}
		th.append(button);
		return th;
	}

	nameCell(row) {
		const line = make("div", {}), td = make("td", { className: "name" }, line), list = this.flat || this.filter;
		const label = (list && !row.root ? row.path.join(";") : row.name) || '""';
		if (!list && row.depth)
			line.append(make("span", { className: "tree", ariaHidden: "true" }, `${"  ".repeat(row.depth - 1)}└ `));
		if (this.choose) {
			const button = make("button", { type: "button", tabIndex: -1, title: row.root ? row.name : row.path.join(";") }, label);
			button.addEventListener("click", () => this.choose(row));
			line.append(button);
		} else {
			line.append(make("span", { title: label }, label));
		}
		if (row.tid && row.root)
			line.append(make("span", { className: "kind" }, `  thread ${row.tid}`));
		else if (row.pid && row.root && this.manyProcesses)
			line.append(make("span", { className: "kind" }, `  ${row.pid}`));
		if (row.kind)
			line.append(make("span", { className: "kind" }, `  ${row.kind}`));
		td.dataset.path = row.path.join(";");
		return td;
	}

	rowElement(row) {
		const tr = make("tr", { className: row.context ? "context" : "" });
		const calls = make("td", { title: row.open ? `${row.open} of them open` : "" }, row.root ? "" : formatCount(row.calls));
		tr.dataset.row = row.index;
		calls.dataset.column = "calls";
		calls.dataset.value = row.calls;
		tr.append(this.nameCell(row), calls);
		for (const column of this.columns) {
			if (column.shown)
				tr.append(makeCell(row.cells[column.index], column.name));
			if (column.name === this.bars)
				tr.append(makeCell(row.wallShare, "share"), makeBar(row));
		}
		if (this.chosen === row)
			tr.classList.add("chosen");
		return tr;
	}

	draw() {
		const rows = this.ordered(), head = make("tr", {}), body = make("tbody", {});
		head.append(this.heading("name", this.noun, "", true), this.heading("calls", "calls", "times it was begun, open ones included"));
		for (const column of this.columns) {
			if (column.shown)
				head.append(this.heading(column.index, column.title, `${column.name}: ${column.meaning}`));
			if (column.name === this.bars)
				head.append(this.heading("share", "%", "share of the wall time of its process or thread"),
					make("th", { scope: "col", className: "text" }, make("span", {}, "cpu, off")));
		}
		for (const row of rows.slice(0, this.most))
			body.append(this.rowElement(row));
		this.element.replaceChildren(make("thead", {}, head), body);
		this.left = rows.length - this.most;
		if (this.drawn)
			this.drawn();
	}
}

let regions = null;

function showRegions() {
	const columns = columnOrder();
	regions = new Table($("table"), readRows(report.rows), columns, "region");
	regions.bars = "wall"; // the column behind which they are
	regions.choose = (row) => chooseRow(row);
	regions.drawn = () => {
		$("more").hidden = regions.left <= 0;
		$("more").textContent = `Show more: ${formatCount(Math.max(0, regions.left))} rows are left`;
	};
	$("regions").hidden = !report.rows.length;
	$("filter").addEventListener("input", () => {
		regions.filter = $("filter").value.toLowerCase();
		regions.draw();
	});
	$("flat").addEventListener("change", () => {
		regions.flat = $("flat").checked;
		regions.draw();
	});
	$("more").addEventListener("click", () => {
		regions.most += 2000;
		regions.draw();
	});
	for (const column of columns) {
		const box = make("input", { type: "checkbox", checked: column.shown });
		box.addEventListener("change", () => {
			column.shown = box.checked;
			regions.draw();
		});
		$("columns").append(make("label", { title: column.meaning }, box, ` ${column.name}`));
	}
	const keys = regions.rows.some((row) => row.parts)
		? [["user", "user"], ["kernel", "kernel"], ["runnable", "waiting for a CPU"], ["part-disk", "disk"], ["part-futex", "lock"],
			["part-io", "socket, pipe"], ["part-sleep", "sleep"], ["part-other", "blocked otherwise"], ["unknown", "not known"]]
		: [["cpu", "on a CPU"], ["off", "off: waiting, or runnable without a CPU"], ["unknown", "not known"]];
	if (regions.rows.some((row) => row.delay && row.delay[1] > 0))
		keys.push(["delay", "of it for block devices, as the kernel accounts it"]);
	for (const [kind, words] of keys)
		$("bar-legend").append(make("span", {}, make("i", { className: kind }), words));
	$("bar-legend").append(
		make("span", {}, "≈ estimate, ~ scaled, - not counted, n/a unavailable: what is dotted has a reason, told when it is chosen"));
	for (const event of ["click", "focusin"])
		document.addEventListener(event, (e) => {
			const td = e.target.closest ? e.target.closest("td.because") : null;
			if (td)
				$("reason").textContent = `${td.dataset.column} ${td.title}`;
		});
	regions.draw();
}

function showWindows() {
	const table = new Table($("window-table"), readRows(report.windows), columnOrder(), "window");
	for (const column of table.columns)
		column.shown = column.windows && table.rows.some((row) => row.cells[column.index][1] !== null);
	$("windows").hidden = !table.rows.length && !report.timeline.length;
	table.draw();
	showTimeline();
}

// Each single window as a bar on the time of the run; what is warm-up or cool-down is paler. Below it the regions that ran in it:
// of those whose times a trace knows, from when the first call began until the last one ended.
function showTimeline() {
	const body = make("tbody", {}), whole = Math.max(1, report.duration, ...report.timeline.map((window) => window[2]));
	const place = (from, to) => ({ left: `${100 * from / whole}%`, width: `${100 * (to - from) / whole}%` });
	for (const [name, begin, end, from, to, open, text, inside] of report.timeline) {
		const all = make("i", { className: "outer" }), part = make("i", {});
		Object.assign(all.style, place(begin, end));
		Object.assign(part.style, place(from, to));
		body.append(make("tr", {}, make("td", { className: "name" }, name), make("td", {}, formatTime(begin)),
			make("td", {}, formatTime(end - begin)), make("td", { className: "time" }, make("div", {}, all, part)),
			make("td", { className: "text wrap" }, open ? `${text}; it was never ended` : text)));
		for (const [region, first, last, calls, self, share] of inside) {
			const bar = make("div", {});
			if (last) {
				bar.append(make("i", { className: "inner" }));
				Object.assign(bar.firstChild.style, place(first, last));
			}
			body.append(make("tr", { className: "inner" }, make("td", { className: "name" }, `  ${string(region)}`),
				make("td", {}, last ? formatTime(first) : ""), make("td", {}, last ? formatTime(last - first) : ""),
				make("td", { className: "time" }, bar),
				make("td", { className: "text wrap" }, `${share} %: ${formatTime(self)} in ${formatCount(calls)} calls`)));
		}
	}
	if (report.untimed)
		body.append(make("tr", {}, make("td", { className: "name" }, `and ${formatCount(report.untimed)} more`)));
	const head = ["window", "at", "lasted", `0 to ${formatTime(whole)}`, "what stands out"].map((title, i) =>
		make("th", { scope: "col", className: i > 2 ? "text" : "" }, make("span", {}, title)));
	if (report.timeline.length)
		$("timeline").append(make("thead", {}, make("tr", {}, ...head)), body);
}

// How long requests of a device in a direction took: a bar for each half of a power of two.
function latencyTable(name, bars) {
	const most = Math.max(...bars.map(([, , count]) => count)), sum = bars.reduce((all, [, , count]) => all + count, 0);
	const body = make("tbody", {}), title = `${name}: latency of ${formatCount(sum)} requests`;
	for (const [least, end, count] of bars) {
		const bar = make("i", { className: "cpu" });
		bar.style.width = `${100 * count / most}%`;
		body.append(make("tr", {}, make("td", {}, formatTime(least)), make("td", {}, formatTime(end)), make("td", {}, formatCount(count)),
			make("td", {}, formatShare(count, sum)), make("td", { className: "bar", title: `${formatCount(count)} of ${formatCount(sum)}` },
				make("div", {}, bar))));
	}
	const head = ["at least", "less than", "requests", "%", ""].map((text, i) =>
		make("th", { scope: "col", className: i === 4 ? "text" : "" }, make("span", {}, text)));
	const box = make("div", { className: "scroll", tabIndex: 0 }, make("table", {}, make("thead", {}, make("tr", {}, ...head)), body));
	box.setAttribute("role", "region");
	box.setAttribute("aria-label", title);
	walkTable(box);
	return make("div", { className: "latency" }, make("h3", {}, title), box);
}

function showDevices() {
	$("devices").hidden = !report.block;
	if (!report.block)
		return;
	const { columns, rows } = report.block, body = make("tbody", {});
	let device = "";
	for (const [name, side, cells, bars] of rows) {
		device = side ? device : name;
		body.append(make("tr", {}, make("td", { className: "name" }, make("div", {},
			side ? make("span", { className: "tree", ariaHidden: "true" }, "└ ") : null, make("span", {}, name))),
			...cells.map((cell, i) => (cell ? makeCell(cell, columns[i]) : make("td", {})))));
		if (bars.length)
			$("latencies").append(latencyTable(`${device} ${name}`, bars));
	}
	const head = ["block device", ...columns].map((title) => make("th", { scope: "col" }, make("span", {}, title)));
	if (rows.length)
		$("device-table").append(make("thead", {}, make("tr", {}, ...head)), body);
	sayLines($("device-said"), report.devices);
}

function showTotals() {
	const body = make("tbody", {});
	for (const [name, cell, source, ratio] of report.totals)
		body.append(make("tr", {}, make("td", { className: "name" }, name), makeCell(cell, name), make("td", {}, ratio),
			make("td", { className: "text" }, source), make("td", { className: "text wrap" }, cellReason(cell))));
	const head = ["total", "value", "ratio", "source", "state"].map((title, i) =>
		make("th", { scope: "col", className: i === 1 || i === 2 ? "" : "text" }, make("span", {}, title)));
	$("total-table").append(make("thead", {}, make("tr", {}, ...head)), body);
	$("totals").hidden = !report.totals.length;
}

// A table is one stop of the Tab key; arrows walk in it.
function walkTable(box) {
	box.addEventListener("keydown", (event) => {
		const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
		if (!step || event.ctrlKey || event.altKey || event.metaKey)
			return;
		const lines = [...box.querySelectorAll("tr")], at = event.target.closest("td, th");
		const row = at ? lines.indexOf(at.parentNode) + step[0] : 0, column = at ? at.cellIndex + step[1] : 0;
		const cell = lines[row] && lines[row].cells[column];
		event.preventDefault();
		if (!cell)
			return;
		const target = cell.querySelector("button") || cell;
		target.tabIndex = -1;
		target.focus();
	});
}

// ---- samples: reading -----------------------------------------------------------------------------------

function unpack(text, n, signed) {
	const bytes = atob(text), out = new Float64Array(n);
	for (let i = 0, at = 0; i < n; i++) {
		let value = 0, scale = 1, byte;
		do {
			byte = bytes.charCodeAt(at++);
			value += (byte & 127) * scale;
			scale *= 128;
		} while (byte > 127);
		out[i] = !signed ? value : value % 2 ? -(value + 1) / 2 : value / 2;
	}
	return out;
}

function summed(list) {
	for (let i = 1; i < list.length; i++)
		list[i] += list[i - 1];
	return list;
}

const OBJECT_KERNEL = 1;
const COLOURS = { region: 0, program: 1, library: 2, kernel: 3, other: 4 };

function colourOf([name, object], samples) {
	if (object === undefined)
		return COLOURS.other;
	if (object < 0)
		return COLOURS.program;
	const [kind, path] = samples.objects[object];
	if (kind === OBJECT_KERNEL || path === "[vdso]")
		return COLOURS.kernel;
	return /\.so(\.|$)/.test(path) ? COLOURS.library : COLOURS.program;
}

function hash(text) {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++)
		h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	return (h >>> 0) / 4294967296;
}

// The rows of each key below n, one key after the other.
function rowsBy(keys, n) {
	const start = new Int32Array(n + 1), rows = new Int32Array(keys.length);
	for (const key of keys)
		start[key + 1]++;
	for (let key = 0; key < n; key++)
		start[key + 1] += start[key];
	keys.forEach((key, row) => { rows[start[key]++] = row; });
	return rows;
}

// Labels are names of functions, and behind them those of regions.
function readSamples(samples) {
	const nodes = samples.nodes, rows = samples.rows, parent = unpack(samples.parent, nodes);
	for (let i = 0; i < nodes; i++)
		parent[i] = parent[i] ? i - parent[i] : -1;
	const count = unpack(samples.count, rows), weight = unpack(samples.weight, rows, true);
	for (let i = 0; i < rows; i++)
		weight[i] += count[i] * samples.period;
	const paths = [];
	for (const [above, name] of samples.regions)
		paths.push([...(above < 0 ? [] : paths[above]), name]);
	const functions = samples.names.length;
	const labels = [...samples.names.map(([name]) => name), "[region not known]",
		...samples.regions.map(([, name]) => `[region] ${name}`)];
	const region = summed(unpack(samples.region, rows, true));
	return { ...samples, parent, name: unpack(samples.name, nodes), count, weight, paths, labels, functions, region,
		byRegion: rowsBy(region, samples.regions.length + REGION_FIRST),
		thread: summed(unpack(samples.thread, rows)),
		node: summed(unpack(samples.node, rows, true)),
		colours: labels.map((_, i) => (i < functions ? colourOf(samples.names[i], samples) : COLOURS.region)),
		hashes: labels.map(hash) };
}

// ---- samples: a tree of those in a scope ------------------------------------------------------------------

const REGION_NONE = 0, REGION_UNKNOWN = 1, REGION_FIRST = 2;

// Which of samples.region are in the scope: of one, with what is inside it or without.
function scopeRegions(samples, scope, inner) {
	const wanted = new Uint8Array(samples.regions.length + REGION_FIRST);
	for (let i = 0; i < wanted.length; i++)
		wanted[i] = scope === null || scope === i || (inner && i >= REGION_FIRST && samples.regions[i - REGION_FIRST][0] >= 0 &&
			wanted[samples.regions[i - REGION_FIRST][0] + REGION_FIRST]) ? 1 : 0;
	return wanted;
}

class Tree {
	constructor(samples, { scope, inner, frames, thread, process }) {
		this.samples = samples;
		this.parent = [-1];
		this.label = [-1];
		this.self = [0];
		this.count = [0];
		this.frames = frames;
		this.regionNodes = new Map();
		this.fill(scopeRegions(samples, scope, inner), thread, process);
		this.total();
		this.order();
	}

	add(parent, label) {
		this.parent.push(parent);
		this.label.push(label);
		this.self.push(0);
		this.count.push(0);
		return this.parent.length - 1;
	}

	base(region) {
		if (!this.frames || region === REGION_NONE)
			return 0;
		if (!this.regionNodes.has(region)) {
			const { regions, functions } = this.samples, above = region >= REGION_FIRST ? regions[region - REGION_FIRST][0] : -1;
			const parent = above < 0 ? 0 : this.base(above + REGION_FIRST);
			this.regionNodes.set(region, this.add(parent, functions + region - 1));
		}
		return this.regionNodes.get(region);
	}

	// One region after the other: known has the nodes below the base of one, or of all where there is one base.
	fill(wanted, thread, process) {
		const { byRegion, region, node, parent, name, threads } = this.samples;
		const known = new Int32Array(parent.length), found = new Int32Array(parent.length), path = [];
		for (const row of byRegion) {
			const of = threads[this.samples.thread[row]];
			if (!wanted[region[row]] || (thread !== null && thread !== of[2]) || (process !== null && process !== of[1]))
				continue;
			const base = this.base(region[row]);
			let at = node[row];
			for (path.length = 0; at >= 0 && found[at] !== base + 1; at = parent[at])
				path.push(at);
			let here = at < 0 ? base : known[at];
			while (path.length) {
				at = path.pop();
				here = known[at] = this.add(here, name[at]);
				found[at] = base + 1;
			}
			this.self[here] += this.samples.weight[row];
			this.count[here] += this.samples.count[row];
		}
	}

	// Parents come before their children.
	total() {
		this.n = this.parent.length;
		this.all = Float64Array.from(this.self);
		this.samplesIn = Float64Array.from(this.count);
		for (let i = this.n - 1; i > 0; i--) {
			this.all[this.parent[i]] += this.all[i];
			this.samplesIn[this.parent[i]] += this.samplesIn[i];
		}
	}

	// Those beside each other by name. Nodes of a depth lie in rank[start[depth]] .. by their place from the left.
	order() {
		const { n, parent, label, all } = this, { labels } = this.samples;
		const byName = labels.map((_, i) => i).sort((a, b) => (labels[a] < labels[b] ? -1 : labels[a] > labels[b] ? 1 : a - b));
		const place = new Float64Array(labels.length + 1);
		byName.forEach((at, i) => { place[at] = i; });
		const first = new Int32Array(n + 1), list = new Int32Array(n);
		for (let i = 1; i < n; i++)
			first[parent[i] + 1]++;
		for (let i = 0; i < n; i++)
			first[i + 1] += first[i];
		const next = first.slice();
		for (let i = 1; i < n; i++)
			list[next[parent[i]]++] = i;
		this.first = first; // children of a node: list[first[node]] .. list[first[node + 1] - 1]
		this.list = list;
		this.depth = new Int32Array(n);
		this.left = new Float64Array(n);
		const levels = [[0]];
		for (let depth = 0; levels[depth].length; depth++) {
			levels.push([]);
			for (const node of levels[depth]) {
				let left = this.left[node];
				if (first[node + 1] - first[node] > 1)
					list.subarray(first[node], first[node + 1]).sort((a, b) => place[label[a]] - place[label[b]]);
				for (let i = first[node]; i < first[node + 1]; i++) {
					const child = list[i];
					this.depth[child] = depth + 1;
					this.left[child] = left;
					left += all[child];
					levels[depth + 1].push(child);
				}
			}
		}
		levels.pop();
		this.levels = levels;
	}

	name(node) {
		return node ? this.samples.labels[this.label[node]] : "all";
	}

	ancestors(node) {
		const path = [];
		for (let at = node; at >= 0; at = this.parent[at])
			path.unshift(at);
		return path;
	}

	// Own and total weight of each function, of which a total counts once however often it is in a stack.
	sums() {
		const open = new Int32Array(this.samples.labels.length + 1), sums = new Map(), stack = [0];
		while (stack.length) {
			const node = stack.pop();
			if (node < 0) {
				open[this.label[~node]]--;
				continue;
			}
			const label = this.label[node];
			if (node && label < this.samples.functions) {
				if (!sums.has(label))
					sums.set(label, { label, self: 0, total: 0, count: 0 });
				const sum = sums.get(label);
				sum.self += this.self[node];
				sum.count += this.count[node];
				sum.total += open[label] ? 0 : this.all[node];
			}
			if (node) {
				open[label]++;
				stack.push(~node);
			}
			for (let i = this.first[node]; i < this.first[node + 1]; i++)
				stack.push(this.list[i]);
		}
		return [...sums.values()];
	}
}

// ---- the graph ------------------------------------------------------------------------------------------

const ROW = 18;
const FONT = '12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';

const flame = {
	tree: null, zoom: 0, at: 0, hot: -1, matched: null, upside: false, pending: false,

	set(tree) {
		Object.assign(this, { tree, zoom: 0, at: 0, hot: -1 });
		this.search();
		this.resize();
		this.scrollHome();
		this.changed();
	},

	height() {
		return this.tree.levels.length * ROW;
	},

	resize() {
		if (!this.tree)
			return;
		$("spacer").style.height = `${this.height()}px`;
		this.width = $("spacer").clientWidth;
		this.view = Math.min(this.height(), $("flame").clientHeight || this.height());
		const canvas = $("canvas"), ratio = window.devicePixelRatio || 1;
		canvas.width = Math.round(this.width * ratio);
		canvas.height = Math.round(this.view * ratio);
		canvas.style.height = `${this.view}px`;
		this.draw();
	},

	scrollHome() {
		$("flame").scrollTop = this.upside ? 0 : this.height();
	},

	top(depth) {
		return (this.upside ? depth : this.tree.levels.length - 1 - depth) * ROW;
	},

	depthAt(y) {
		const row = Math.floor(y / ROW);
		return this.upside ? row : this.tree.levels.length - 1 - row;
	},

	scale() {
		return this.width / (this.tree.all[this.zoom] || 1);
	},

	// The node of a level that covers a place, or the last one before it; an index of the level, -1: none.
	find(level, place) {
		let low = 0, high = level.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.tree.left[level[middle]] <= place)
				low = middle + 1;
			else
				high = middle;
		}
		return low - 1;
	},

	hit(x, y) {
		const level = this.tree.levels[this.depthAt(y)];
		if (!level)
			return -1;
		const place = this.tree.left[this.zoom] + x / this.scale(), node = level[this.find(level, place)];
		return node !== undefined && place < this.tree.left[node] + this.tree.all[node] ? node : -1;
	},

	draw() {
		if (this.pending || !this.tree)
			return;
		this.pending = true;
		requestAnimationFrame(() => {
			this.pending = false;
			this.paint();
		});
	},

	paint() {
		const context = $("canvas").getContext("2d"), ratio = window.devicePixelRatio || 1, style = getComputedStyle(document.documentElement);
		const scroll = $("flame").scrollTop, from = Math.floor(scroll / ROW), to = Math.ceil((scroll + this.view) / ROW);
		this.dark = style.colorScheme === "dark";
		this.panel = style.getPropertyValue("--panel");
		this.ink = style.getPropertyValue("--text");
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, this.width, this.view);
		context.font = FONT;
		context.textBaseline = "middle";
		this.letter = context.measureText("MMMMMMMMMM").width / 10;
		for (let row = from; row < to && row < this.tree.levels.length; row++)
			this.paintLevel(context, this.depthAt(row * ROW), row * ROW - scroll);
	},

	paintLevel(context, depth, y) {
		const { tree, zoom } = this, level = tree.levels[depth], scale = this.scale(), start = tree.left[zoom], end = start + tree.all[zoom];
		let done = -1;
		for (let i = Math.max(0, this.find(level, start)); i < level.length && tree.left[level[i]] < end; i++) {
			const node = level[i], x0 = Math.max(0, (tree.left[node] - start) * scale);
			const x1 = Math.min(this.width, (tree.left[node] + tree.all[node] - start) * scale);
			// What is narrower than half a pixel is drawn if nothing is there yet.
			if (x1 <= 0 || x1 <= done)
				continue;
			done = Math.max(x0 + 0.5, x1);
			this.paintNode(context, node, x0, Math.max(x1 - x0, 0.5), y);
		}
	},

	colour(node, above) {
		const { samples } = this.tree, label = this.tree.label[node];
		const light = (this.dark ? 62 : 74) - (above ? 12 : 0), h = node ? samples.hashes[label] : 0;
		if (!node)
			return this.dark ? "#8d979f" : "#c9ced3";
		if (this.matched && this.matched[label])
			return `hsl(300 85% ${this.dark ? 68 : 72}%)`;
		const kind = samples.colours[label];
		if (kind === COLOURS.region)
			return `hsl(${206 + 10 * h} 62% ${light}%)`;
		if (kind === COLOURS.kernel)
			return `hsl(${262 + 22 * h} 48% ${light + 4}%)`;
		if (kind === COLOURS.other)
			return `hsl(0 0% ${light}%)`;
		if (samples.kind !== "cpu")
			return `hsl(${172 + 22 * h} 46% ${light - 2}%)`;
		return kind === COLOURS.library ? `hsl(${56 + 14 * h} 66% ${light - 6}%)` : `hsl(${18 + 26 * h} 84% ${light - 4}%)`;
	},

	paintNode(context, node, x, width, y) {
		const above = node !== this.zoom && this.tree.depth[node] < this.tree.depth[this.zoom];
		context.globalAlpha = above ? 0.55 : 1;
		context.fillStyle = this.colour(node, above);
		context.fillRect(x, y, Math.max(0.5, width > 3 ? width - 0.75 : width), ROW - 1);
		if (node === this.at || node === this.hot) {
			context.globalAlpha = 1;
			context.strokeStyle = this.ink;
			context.lineWidth = node === this.at ? 2 : 1;
			context.strokeRect(x + 1, y + 1, Math.max(0.5, width - 2.5), ROW - 3);
		}
		const letters = Math.floor((width - 7) / this.letter);
		if (letters < 3)
			return;
		const region = node && this.tree.label[node] > this.tree.samples.functions;
		const name = region ? this.tree.name(node).slice("[region] ".length) : this.tree.name(node);
		context.globalAlpha = 1;
		context.font = `${region ? "bold " : ""}${FONT}`;
		context.fillStyle = "#14110d";
		context.fillText(name.length > letters ? `${name.slice(0, letters - 1)}…` : name, x + 4, y + ROW / 2);
	},

	// ---- what is chosen

	describe(node) {
		const { tree } = this, { samples } = tree, weight = (w) => (samples.clock ? formatTime(w) : formatCount(w));
		const pieces = [`${weight(tree.all[node])}, ${formatShare(tree.all[node], tree.all[0])} of all`];
		if (this.zoom && node !== this.zoom && tree.depth[node] > tree.depth[this.zoom])
			pieces.push(`${formatShare(tree.all[node], tree.all[this.zoom])} of ${tree.name(this.zoom)}`);
		pieces.push(`${formatCount(tree.samplesIn[node])} samples, ${formatCount(tree.count[node])} its own`);
		const called = node && tree.label[node] < samples.functions ? placeOf(samples, tree.label[node]) : "";
		return { name: tree.name(node), text: pieces.join("; "), place: called };
	},

	say(node) {
		const { name, text, place } = this.describe(node);
		$("frame").replaceChildren(make("strong", {}, name), make("br", {}), text, make("span", { className: "soft" }, place ? `; ${place}` : ""));
	},

	choose(node) {
		this.at = node;
		this.say(node);
		this.show(node);
		this.draw();
	},

	// Scrolls a node's level into view.
	show(node) {
		const y = this.top(this.tree.depth[node]), box = $("flame");
		if (y < box.scrollTop)
			box.scrollTop = y;
		else if (y + ROW > box.scrollTop + box.clientHeight)
			box.scrollTop = y + ROW - box.clientHeight;
	},

	zoomTo(node) {
		this.zoom = node;
		this.at = node;
		this.search();
		this.changed();
		this.show(node);
		this.draw();
	},

	changed() {
		const nav = $("path");
		nav.replaceChildren();
		this.tree.ancestors(this.zoom).forEach((node, i) => {
			if (i)
				nav.append(make("span", { ariaHidden: "true" }, "›"));
			const button = make("button", { type: "button", disabled: node === this.zoom, title: this.tree.name(node) }, this.tree.name(node));
			button.addEventListener("click", () => this.zoomTo(node));
			nav.append(button);
		});
		this.say(this.at);
	},

	// To the next frame in a direction that lies in the view.
	walk(key) {
		const { tree } = this, out = key === (this.upside ? "ArrowUp" : "ArrowDown"), level = tree.levels[tree.depth[this.at]];
		if (key === "ArrowLeft" || key === "ArrowRight") {
			const next = level[level.indexOf(this.at) + (key === "ArrowLeft" ? -1 : 1)];
			if (next !== undefined && this.inView(next))
				this.choose(next);
		} else if (out) {
			if (tree.parent[this.at] >= 0)
				this.choose(tree.parent[this.at]);
		} else {
			let widest = -1;
			for (const node of tree.list.subarray(tree.first[this.at], tree.first[this.at + 1]))
				if (widest < 0 || tree.all[node] > tree.all[widest])
					widest = node;
			if (widest >= 0)
				this.choose(widest);
		}
	},

	inView(node) {
		const { tree, zoom } = this;
		return tree.left[node] + tree.all[node] > tree.left[zoom] && tree.left[node] < tree.left[zoom] + tree.all[zoom];
	},

	// ---- searching

	search() {
		const text = $("search").value, { tree } = this;
		let expression = null;
		$("search").removeAttribute("aria-invalid");
		try {
			expression = text ? new RegExp(text, /[A-Z]/.test(text) ? "" : "i") : null;
		} catch (error) {
			$("search").setAttribute("aria-invalid", "true");
			$("matched").textContent = "no regular expression";
		}
		this.matched = expression ? tree.samples.labels.map((label) => expression.test(label)) : null;
		if (this.matched)
			this.sumMatched();
		else if (!$("search").hasAttribute("aria-invalid"))
			$("matched").textContent = "";
		this.draw();
	},

	// Stacks with a match count once, whichever frames of them match.
	sumMatched() {
		const { tree, zoom, matched } = this, below = new Uint8Array(tree.n), functions = new Set();
		let sum = 0, samples = 0;
		below[zoom] = 1;
		for (let i = zoom; i < tree.n; i++) {
			if (i !== zoom)
				below[i] = below[tree.parent[i]];
			if (!below[i] || (!matched[tree.label[i]] && i !== zoom) || (i === zoom && !(i && matched[tree.label[i]])))
				continue;
			functions.add(tree.label[i]);
			if (below[i] === 1) {
				sum += tree.all[i];
				samples += tree.samplesIn[i];
			}
			below[i] = 2;
		}
		const weight = tree.samples.clock ? `, ${formatTime(sum)}` : "";
		$("matched").textContent = `matched ${formatShare(sum, tree.all[zoom])}${weight}, ${formatCount(samples)} samples, ${functions.size} names`;
	},
};

function placeOf(samples, label) {
	const [, object, file, line] = samples.names[label];
	if (object === undefined)
		return "";
	const source = file >= 0 ? `${string(file)}${line ? `:${line}` : ""}` : "";
	return [source, object < 0 ? "in several objects" : `in ${samples.objects[object][1]}`].filter(Boolean).join(" ");
}

// ---- the graph's surroundings -----------------------------------------------------------------------------

const FUNCTIONS = 40;
const KINDS = { cpu: "On CPU", off: "Off CPU" };
const kinds = report.samples.map(readSamples);
const view = { samples: kinds[0], process: null, sumsBy: "self" };

function rebuild() {
	const number = (id) => ($(id).value === "" ? null : Number($(id).value));
	const thread = number("thread");
	flame.set(new Tree(view.samples, { scope: number("scope"), inner: $("inner").checked, frames: $("frames").checked, thread,
		process: view.process }));
	showFunctions();
}

function showFunctions() {
	const { tree } = flame, { samples } = tree, weight = (w) => (samples.clock ? formatTime(w) : formatCount(w));
	const sums = tree.sums().sort((a, b) => b[view.sumsBy] - a[view.sumsBy] || b.self - a.self || a.label - b.label);
	const head = make("tr", {}, make("th", { scope: "col", className: "text" }, make("span", {}, "function"))), body = make("tbody", {});
	for (const [key, title] of [["self", "self"], ["total", "total"]]) {
		const button = make("button", { type: "button", tabIndex: -1 }, title, view.sumsBy === key ? " ▼" : "");
		const th = make("th", { scope: "col" }, button);
		if (view.sumsBy === key)
			th.setAttribute("aria-sort", "descending");
		button.addEventListener("click", () => {
			view.sumsBy = key;
			showFunctions();
		});
		head.append(th, make("th", { scope: "col" }, make("span", {}, "%")));
	}
	head.append(make("th", { scope: "col", className: "text" }, make("span", {}, "where")));
	for (const sum of sums.slice(0, FUNCTIONS)) {
		const name = samples.labels[sum.label], button = make("button", { type: "button", title: name, tabIndex: -1 }, name);
		button.addEventListener("click", () => setSearch(`^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`));
		body.append(make("tr", {}, make("td", { className: "name" }, button), make("td", {}, weight(sum.self)),
			make("td", {}, formatShare(sum.self, tree.all[0])), make("td", {}, weight(sum.total)),
			make("td", {}, formatShare(sum.total, tree.all[0])), make("td", { className: "text" }, placeOf(samples, sum.label))));
	}
	$("functions").replaceChildren(make("thead", {}, head), body);
	$("functions-title").textContent = sums.length > FUNCTIONS ? `Functions: ${FUNCTIONS} of ${formatCount(sums.length)}` : "Functions";
}

function setSearch(text) {
	$("search").value = text;
	flame.search();
	$("graph").scrollIntoView({ block: "nearest" });
}

function showScopes() {
	const { samples } = view, option = (value, text) => make("option", { value }, text);
	const used = new Set(samples.region), several = new Set(samples.threads.map(([process]) => process)).size > 1;
	$("scope").replaceChildren(option("", "all samples"));
	if (samples.regions.length)
		$("scope").append(option(REGION_NONE, "outside of regions"));
	if (used.has(REGION_UNKNOWN))
		$("scope").append(option(REGION_UNKNOWN, "not known"));
	samples.paths.forEach((path, i) => $("scope").append(option(i + REGION_FIRST, path.join(";") || '""')));
	$("thread").replaceChildren(option("", "all"));
	for (const [, pid, tid, command] of samples.threads)
		$("thread").append(option(tid, `${tid}${several || pid !== tid ? ` of ${pid}` : ""} ${(string(command) || "").split(" ")[0].replace(/.*\//, "")}`));
	$("thread-field").hidden = samples.threads.length < 2;
}

// A row of the table: its region, of its process or thread.
function chooseRow(row) {
	if (!view.samples)
		return;
	const { samples } = view, path = row.path.join(";");
	const region = row.root ? "" : samples.paths.findIndex((one) => one.join(";") === path) + REGION_FIRST;
	regions.chosen = row;
	for (const tr of regions.element.querySelectorAll("tbody tr"))
		tr.classList.toggle("chosen", Number(tr.dataset.row) === row.index);
	if (region === REGION_FIRST - 1) {
		$("reason").textContent = `${path}: no sample was taken in it`;
		return;
	}
	$("scope").value = region;
	view.process = row.pid || null;
	$("thread").value = row.tid || "";
	rebuild();
	$("graph").scrollIntoView();
	$("flame").focus({ preventScroll: true });
}

function showLegend() {
	const swatch = (colour, text) => make("span", {}, make("i", { style: `background: ${colour}` }), text);
	const cpu = view.samples.kind === "cpu";
	$("legend").replaceChildren(swatch("hsl(210 62% 70%)", "region"), swatch(cpu ? "hsl(30 84% 68%)" : "hsl(182 46% 68%)", "program"),
		...(cpu ? [swatch("hsl(62 66% 66%)", "library")] : []), swatch("hsl(272 48% 74%)", "kernel"), swatch("hsl(0 0% 72%)", "not known"),
		swatch("hsl(300 85% 70%)", "matched"));
}

function setKind(samples) {
	const { clock, event } = samples;
	view.samples = samples;
	$("graph-title").textContent = `Flame graph: ${clock ? `time ${samples.kind === "off" ? "off a" : "on a"} CPU` : event}`;
	for (const button of $("kinds").children)
		button.setAttribute("aria-pressed", String(button.dataset.kind === samples.kind));
	showScopes();
	showLegend();
	rebuild();
}

function showGraph() {
	$("graph").hidden = !kinds.length;
	if (!kinds.length)
		return;
	if (kinds.length > 1)
		for (const samples of kinds) {
			const button = make("button", { type: "button" }, KINDS[samples.kind] || samples.kind);
			button.dataset.kind = samples.kind;
			button.addEventListener("click", () => setKind(samples));
			$("kinds").append(button);
		}
	for (const id of ["scope", "thread", "inner", "frames"])
		$(id).addEventListener("change", () => {
			view.process = null;
			rebuild();
		});
	$("search").addEventListener("input", () => flame.search());
	$("flip").addEventListener("click", () => {
		flame.upside = !flame.upside;
		$("flip").setAttribute("aria-pressed", String(flame.upside));
		flame.scrollHome();
		flame.draw();
	});
	listen($("flame"), $("canvas"));
	setKind(kinds[0]);
	new ResizeObserver(() => flame.resize()).observe($("flame"));
}

function listen(box, canvas) {
	const at = (event) => {
		const place = canvas.getBoundingClientRect();
		return flame.hit(event.clientX - place.left, event.clientY - place.top + box.scrollTop);
	};
	canvas.addEventListener("mousemove", (event) => {
		const node = at(event);
		if (node === flame.hot)
			return;
		flame.hot = node;
		flame.say(node < 0 ? flame.at : node);
		flame.draw();
	});
	canvas.addEventListener("mouseleave", () => {
		flame.hot = -1;
		flame.say(flame.at);
		flame.draw();
	});
	canvas.addEventListener("click", (event) => {
		const node = at(event);
		if (node >= 0)
			flame.zoomTo(node);
	});
	box.addEventListener("scroll", () => flame.draw());
	box.addEventListener("focus", () => flame.choose(flame.at));
	box.addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (event.key.startsWith("Arrow"))
			flame.walk(event.key);
		else if (event.key === "Enter" || event.key === " ")
			flame.zoomTo(flame.at);
		else if (event.key === "Home")
			flame.zoomTo(0);
		else
			return;
		event.preventDefault();
	});
}

document.addEventListener("keydown", (event) => {
	const typing = event.target.matches("input[type=search], select");
	if (event.key === "/" && !typing && kinds.length) {
		event.preventDefault();
		$("search").focus();
		$("search").select();
	} else if (event.key === "Escape" && flame.tree) {
		if (typing && event.target.value) {
			event.target.value = "";
			event.target.dispatchEvent(new Event("input"));
		} else if (flame.zoom) {
			flame.zoomTo(flame.tree.parent[flame.zoom]);
		} else if ($("search").value) {
			setSearch("");
		}
	}
});

$("theme").addEventListener("click", () => setTheme(themes[(themes.indexOf($("theme").dataset.value) + 1) % themes.length]));
document.querySelectorAll(".scroll").forEach(walkTable);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => flame.draw());
showFacts();
showRegions();
showWindows();
showDevices();
showGraph();
showTotals();
let theme = "auto";
try {
	theme = localStorage.getItem("spark-theme") || theme;
} catch (error) {
	theme = "auto";
}
setTheme(themes.includes(theme) ? theme : "auto");
