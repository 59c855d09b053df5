// SPDX-License-Identifier: MIT
// Drives a page of --format html in a browser: export-html.js PROGRAM FOLDER PAGE ROWS; a line "ok NAME" or
// "not ok NAME: WHY" for each check. ROWS are those of the CSV report: path|process|thread|calls|column=value,state|...
"use strict";
const fs = require("fs");
const { Browser } = require("./browser.js");

const [program, folder, page, rowsFile, devicesPage, delaysPage] = process.argv.slice(2);

function is(name, got, want) {
	const [g, w] = [JSON.stringify(got), JSON.stringify(want)];
	console.log(g === w ? `ok ${name}` : `not ok ${name}: got ${g}, want ${w}`);
}

const check = (name, good, why) => is(name, good ? true : [false, why], true);

// ---- tables

const PATHS = "[...document.querySelectorAll('#table tbody td.name')].map((td) => td.dataset.path)";

async function tables(browser) {
	const want = fs.readFileSync(rowsFile, "utf8").trim().split("\n");
	await browser.ask("for (const box of document.querySelectorAll('#columns input')) if (!box.checked) box.click(); true");
	const got = await browser.ask(`[...document.querySelectorAll('#table tbody tr')].map((tr) => [tr.querySelector('td.name').dataset.path,
		tr.querySelector('[data-column=calls]').dataset.value, ...[...tr.querySelectorAll('td[data-column]')]
		.filter((td) => td.dataset.column !== "calls" && td.dataset.column !== "share")
		.map((td) => [td.dataset.column, td.dataset.value, td.dataset.state.replace(" ", "_")])])`);
	const text = (row) => [row[0], row[1], ...row.slice(2).map(([name, value, state]) =>
		`${name}=${value === "" ? "" : Number(value)},${state}`).sort()].join("|");
	const wanted = want.map((line) => {
		const [path, , , calls, ...cells] = line.split("|");
		return [path, calls, ...cells.map((cell) => cell.replace(/=([^,]+),/, (_, value) => `=${Number(value)},`)).sort()].join("|");
	});
	is("the table has the rows of the CSV report", got.map(text), wanted);
}

async function sorting(browser) {
	const before = await browser.ask(PATHS);
	const values = "[...document.querySelectorAll('#table tbody td[data-column=\"wall\"]')].map((td) => Number(td.dataset.value))";
	await browser.ask("document.getElementById('flat').click()");
	const heading = "[...document.querySelectorAll('#table th button')].find((button) => button.textContent.startsWith('wall'))";
	await browser.ask(`${heading}.click()`);
	const falling = await browser.ask(values);
	is("sorted, greatest first", falling, [...falling].sort((a, b) => b - a));
	await browser.ask(`${heading}.click()`);
	is("and the other way", await browser.ask(values), [...falling].reverse());
	is("as assistants hear it", await browser.ask("document.querySelector('#table th[aria-sort]').getAttribute('aria-sort')"), "ascending");
	await browser.ask(`${heading}.click()`);
	await browser.ask("document.getElementById('flat').click()");
	is("and as it was", await browser.ask(PATHS), before);
	await browser.ask("const f = document.getElementById('filter'); f.value = 'INNER'; f.dispatchEvent(new Event('input'))");
	const filtered = await browser.ask(PATHS);
	check("filtered by name", filtered.length && filtered.every((path) => path.includes("inner")), filtered);
	await browser.ask("f.value = ''; f.dispatchEvent(new Event('input'))");
}

// ---- the graph

const TOTAL = "flame.tree.all[0]", AT = "flame.tree.name(flame.at)", ZOOM = "flame.tree.name(flame.zoom)";

async function scopes(browser) {
	const all = await browser.ask(TOTAL);
	const sum = await browser.ask("view.samples.weight.reduce((a, b) => a + b, 0)");
	is("the graph has all samples", all, sum);
	await browser.ask("[...document.querySelectorAll('#table td.name button')].find((b) => b.parentNode.parentNode.dataset.path === 'outer').click()");
	const outer = await browser.ask(TOTAL);
	check("a region has a part of them", outer > 0 && outer < all, [outer, all]);
	await browser.ask("document.getElementById('inner').click()");
	const own = await browser.ask(TOTAL);
	check("without inner regions less", own > 0 && own < outer, [own, outer]);
	await browser.ask("document.getElementById('inner').click(); const s = document.getElementById('scope'); s.value = ''; s.dispatchEvent(new Event('change'))");
	is("and all again", await browser.ask(TOTAL), all);
}

async function searching(browser) {
	await browser.ask("document.body.focus(); document.activeElement.blur()");
	await browser.key("/");
	is("/ goes to the search", await browser.ask("document.activeElement.id"), "search");
	await browser.type("^(work|leaf)$");
	const share = await browser.ask(`(() => { const t = flame.tree; let sum = 0;
		for (let i = 1; i < t.n; i++) { const hit = t.ancestors(i).filter((at) => at && /^(work|leaf)$/.test(t.name(at)));
			if (hit[0] === i) sum += t.all[i]; } return three(100 * sum / t.all[0]); })()`);
	const matched = await browser.ask("document.getElementById('matched').textContent");
	check("the share that matches", matched.startsWith(`matched ${share} %`) && Number(share) > 0, [matched, share]);
	await browser.ask("const q = document.getElementById('search'); q.value = '('; q.dispatchEvent(new Event('input'))");
	is("what is no expression is said", await browser.ask("[q.getAttribute('aria-invalid'), document.getElementById('matched').textContent]"),
		["true", "no regular expression"]);
	await browser.key("Escape");
	is("Escape empties it", await browser.ask("[q.value, document.getElementById('matched').textContent]"), ["", ""]);
}

async function zooming(browser) {
	await browser.ask("document.getElementById('flame').focus()");
	await browser.key("ArrowUp");
	await browser.key("ArrowUp");
	const at = await browser.ask(AT), total = await browser.ask(TOTAL);
	check("arrows walk up", at !== "all" && (await browser.ask("document.getElementById('frame').textContent")).startsWith(at), at);
	await browser.key("Enter");
	is("Enter zooms", await browser.ask(ZOOM), at);
	check("with a path back", await browser.ask("document.querySelectorAll('#path button').length") === 3, at);
	await browser.key("ArrowDown");
	check("and down", await browser.ask(AT) !== at, at);
	await browser.key("Escape");
	check("Escape goes out by one", await browser.ask("flame.zoom > 0 && flame.zoom === flame.tree.parent[flame.tree.levels[2][0]] || flame.tree.depth[flame.zoom] === 1"), at);
	await browser.key("Escape");
	is("and to all", await browser.ask(ZOOM), "all");
	const [x, y, name] = await browser.ask(`(() => { document.getElementById('canvas').scrollIntoView({ block: "center" });
		const box = document.getElementById('canvas').getBoundingClientRect(), t = flame.tree, level = t.levels[1];
		const node = level.reduce((a, b) => t.all[b] > t.all[a] ? b : a);
		return [box.left + (t.left[node] + t.all[node] / 2) * flame.scale(), box.top + flame.top(1) - document.getElementById('flame').scrollTop + 9, t.name(node)]; })()`);
	await browser.click(x, y);
	is("a click zooms", await browser.ask(ZOOM), name);
	await browser.ask("document.querySelector('#path button').click()");
	is("a crumb goes back", [await browser.ask(ZOOM), await browser.ask(TOTAL)], ["all", total]);
	is("the canvas is painted", await browser.ask(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
		const c = document.getElementById('canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
		let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; done(n > c.width * 10); })))`), true);
}

async function tabbing(browser) {
	await browser.ask("document.activeElement.blur(); document.querySelector('#regions .scroll').focus()");
	for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"])
		await browser.key(key);
	check("arrows walk in a table", await browser.ask("document.activeElement.closest('td') && document.activeElement.closest('tr').rowIndex") === 2, "");
	await browser.ask("document.querySelector('.skip').focus()");
	const seen = new Set();
	for (let i = 0; i < 100 && !(seen.has("search") && seen.has("flame")); i++) {
		await browser.key("Tab");
		seen.add(await browser.ask("document.activeElement.id"));
	}
	is("Tab reaches all parts", ["theme", "filter", "scope", "search", "flame"].filter((id) => !seen.has(id)), []);
}

// ---- block devices

async function devices(browser) {
	await browser.open(devicesPage, { width: 400 });
	is("devices: no wider than 400 px", await browser.ask(NARROW), [400, 400]);
	await browser.open(devicesPage, { width: 1280 });
	is("devices: a row each", await browser.ask("[...document.querySelectorAll('#device-table tbody tr')].map((tr) => tr.querySelector('td.name').textContent.replace('└ ', ''))"),
		await browser.ask("report.block.rows.map(([name]) => name)"));
	is("devices: each value where it belongs", await browser.ask(`[...document.querySelectorAll('#device-table td[data-column]')].map((td) => [td.dataset.column, td.dataset.value])`),
		await browser.ask("report.block.rows.flatMap(([, , cells]) => cells.map((cell, i) => [cell, i]).filter(([cell]) => cell).map(([cell, i]) => [report.block.columns[i], String(cell[1] === null ? '' : cell[1])]))"));
	const bars = "[...document.querySelectorAll('#latencies tbody')].map((body) => [...body.rows].map((row) => row.querySelector('i').getBoundingClientRect().width))";
	const want = await browser.ask("report.block.rows.map((row) => row[3]).filter((bars) => bars.length).map((bars) => bars.map((bar) => bar[2]))");
	const widths = await browser.ask(bars);
	check("devices: bars are as long as there are requests", widths.length === want.length && widths.every((row, i) => row.every((width, k) =>
		Math.abs(width / Math.max(...row) - want[i][k] / Math.max(...want[i])) < 0.02)), JSON.stringify([widths, want]));
	if (want.length) {
		await browser.ask("document.querySelector('#latencies .scroll').focus()");
		await browser.key("ArrowDown");
		await browser.key("ArrowDown");
		is("devices: arrows walk among the bars", await browser.ask("document.activeElement.closest('tr') && document.activeElement.closest('tr').rowIndex"), 1);
	}
	is("devices: what is missing is said", await browser.ask("document.getElementById('device-said').textContent.includes('of all processes')"), true);
	is("devices: contrast", await browser.ask(CONTRAST), []);
	await browser.open(devicesPage, { width: 1280, dark: true });
	is("devices: contrast, dark", await browser.ask(CONTRAST), []);
	await browser.open(page, { width: 1280 });
	is("devices: none where nobody asked", await browser.ask("document.getElementById('devices').hidden"), true);
}

// ---- waits for block devices, as the kernel accounts them

async function delays(browser) {
	const stripes = "[...document.querySelectorAll('#table td.bar i.delay')].map((i) => i.getBoundingClientRect().width / i.parentElement.getBoundingClientRect().width)";
	const titles = "[...document.querySelectorAll('#table td.bar')].map((td) => td.title)";
	await browser.open(delaysPage, { width: 1280 });
	const shares = await browser.ask("report.rows.filter((row) => row[14] && row[14][1] > 0).map((row) => row[14][1] / row[13].reduce((sum, cell) => sum + (cell[1] || 0), 0))");
	const drawn = await browser.ask(stripes);
	check("delays: a stripe for each, as long as its share", shares.length && drawn.length === shares.length && drawn.every((width, i) =>
		Math.abs(width - shares[i]) < 0.02), JSON.stringify([drawn, shares]));
	const said = (await browser.ask(titles)).filter((title) => title.includes("; for block devices "));
	is("delays: said beside the bar", said.map((title) => Number(title.match(/for block devices [^,]+, ([0-9.]+) %/)[1])),
		shares.map((share) => Number((100 * share).toFixed(1))));
	is("delays: in the legend", await browser.ask("document.querySelectorAll('#bar-legend i.delay').length"), 1);
	is("delays: contrast", await browser.ask(CONTRAST), []);
	await browser.open(delaysPage, { width: 400 });
	is("delays: no wider than 400 px", await browser.ask(NARROW), [400, 400]);
	await browser.open(page, { width: 1280 });
	is("delays: none where nobody asked", await browser.ask(`[${stripes}.length, document.querySelectorAll('#bar-legend i.delay').length]`), [0, 0]);
}

// ---- how it looks

const BACK = "getComputedStyle(document.body).backgroundColor";
const NARROW = "[document.documentElement.scrollWidth, innerWidth]";

// By the formula of WCAG 2; of text that is shown, with its own or its nearest background.
const CONTRAST = `(() => {
	const part = (c) => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
	const light = (rgb) => { const [r, g, b] = rgb.match(/[0-9.]+/g).map(Number); return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b); };
	const back = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$/.test(c)) return c; } return "rgb(255, 255, 255)"; };
	const bad = [];
	for (const e of document.querySelectorAll("body *"))
		if (e.offsetParent && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) {
			const [a, b] = [light(getComputedStyle(e).color), light(back(e))].sort((x, y) => y - x);
			if ((a + 0.05) / (b + 0.05) < 4.5) bad.push(e.tagName + " " + e.className + " " + e.textContent.slice(0, 20));
		}
	return bad.slice(0, 5); })()`;

async function looks(browser) {
	const light = await browser.ask(BACK);
	is("contrast, light", await browser.ask(CONTRAST), []);
	await browser.open(page, { width: 1280, dark: true });
	const dark = await browser.ask(BACK);
	check("dark where the system is", dark !== light, dark);
	is("contrast, dark", await browser.ask(CONTRAST), []);
	await browser.ask("document.getElementById('theme').click()");
	is("light when that is chosen", await browser.ask(BACK), light);
	await browser.ask("document.getElementById('theme').click()");
	is("or dark", await browser.ask(BACK), dark);
	await browser.ask("document.getElementById('theme').click()");
	for (const width of [400, 1280]) {
		await browser.open(page, { width });
		is(`no wider than ${width} px`, await browser.ask(NARROW), [width, width]);
	}
}

// ---- what else it must not do

async function main() {
	const browser = new Browser(program, folder), faults = [], requests = [];
	browser.listeners.push(({ method, params }) => {
		if (method === "Runtime.exceptionThrown" || method === "Log.entryAdded" || method === "Runtime.consoleAPICalled")
			faults.push(JSON.stringify(params).slice(0, 300));
		if (method === "Network.requestWillBeSent" && !/^(data|file):/.test(params.request.url))
			requests.push(params.request.url);
	});
	const limit = setTimeout(() => {
		console.log("not ok in time: the browser does not answer");
		browser.child.kill("SIGKILL");
		process.exit(1);
	}, 500000);
	try {
		const ms = await browser.open(page, { width: 1280 });
		console.log(`# opened in ${ms} ms`);
		for (const part of [scopes, searching, zooming, sorting, tables, tabbing, looks, devices, delays])
			await part(browser);
	} catch (error) {
		console.log(`not ok to the end: ${String(error.message).split("\n")[0]}`);
	}
	is("no errors on the console", faults, []);
	is("nothing from the network", requests, []);
	clearTimeout(limit);
	await browser.close();
}

main();
