// SPDX-License-Identifier: MIT
// A page in headless Chromium, driven through a pipe by its DevTools protocol: no package is needed.
"use strict";
const { spawn } = require("child_process");

class Browser {
	// The program, and a folder of its own for all that it writes.
	constructor(program, folder) {
		this.child = spawn(program, ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
			"--remote-debugging-pipe", "--hide-scrollbars", `--user-data-dir=${folder}`, "about:blank"],
			{ stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], env: { ...process.env, HOME: folder } });
		this.number = 0;
		this.waiting = new Map();
		this.listeners = [];
		this.rest = "";
		this.ended = new Promise((resolve) => this.child.on("exit", resolve));
		this.ended.then(() => {
			for (const { reject } of this.waiting.values())
				reject(new Error("the browser ended"));
		});
		this.child.stdio[3].on("error", () => {});
		this.child.stdio[4].on("data", (bytes) => this.read(bytes));
	}

	read(bytes) {
		const messages = (this.rest + bytes).split("\0");
		this.rest = messages.pop();
		for (const message of messages.map((text) => JSON.parse(text))) {
			const waits = this.waiting.get(message.id);
			this.waiting.delete(message.id);
			if (!waits)
				this.listeners.forEach((listener) => listener(message));
			else if (message.error)
				waits.reject(new Error(`${waits.method}: ${message.error.message}`));
			else
				waits.resolve(message.result);
		}
	}

	send(method, params = {}) {
		return new Promise((resolve, reject) => {
			const id = ++this.number;
			this.waiting.set(id, { method, resolve, reject });
			this.child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId: this.session })}\0`);
		});
	}

	// Opens a file in a window of this size; resolves when it has drawn itself, to the ms that it took.
	async open(path, { width, height = 900, dark = false }) {
		if (!this.session) {
			const { targetInfos } = await this.send("Target.getTargets");
			const { sessionId } = await this.send("Target.attachToTarget",
				{ targetId: targetInfos.find(({ type }) => type === "page").targetId, flatten: true });
			this.session = sessionId;
			for (const domain of ["Page", "Runtime", "Log", "Network"])
				await this.send(`${domain}.enable`);
		}
		await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
		await this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
		const loaded = new Promise((resolve) => this.listeners.push((message) =>
			message.method === "Page.loadEventFired" && resolve()));
		const start = Date.now();
		await this.send("Page.navigate", { url: `file://${path}` });
		await loaded;
		await this.settle();
		return Date.now() - start;
	}

	// The value of an expression in the page.
	async ask(expression) {
		const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
		if (exceptionDetails)
			throw new Error(`${expression}: ${(exceptionDetails.exception || {}).description || exceptionDetails.text}`);
		return result.value;
	}

	// Until what was asked for is on the screen.
	settle() {
		return this.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))");
	}

	async key(key, text) {
		await this.send("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", key, code: key, text,
			windowsVirtualKeyCode: { Tab: 9, Enter: 13, Escape: 27, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 }[key] || 0 });
		await this.send("Input.dispatchKeyEvent", { type: "keyUp", key, code: key });
		await this.settle();
	}

	async type(text) {
		await this.send("Input.insertText", { text });
		await this.settle();
	}

	async click(x, y) {
		for (const type of ["mouseMoved", "mousePressed", "mouseReleased"])
			await this.send("Input.dispatchMouseEvent", { type, x, y, button: type === "mouseMoved" ? "none" : "left", clickCount: 1 });
		await this.settle();
	}

	async picture() {
		const { data } = await this.send("Page.captureScreenshot", { format: "png" });
		return Buffer.from(data, "base64");
	}

	async close() {
		await Promise.race([this.send("Browser.close").catch(() => {}), this.ended]);
		await this.ended;
	}
}

module.exports = { Browser };
