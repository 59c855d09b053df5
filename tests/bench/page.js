// SPDX-License-Identifier: MIT
// page.js PROGRAM FOLDER PAGE: how many ms a browser takes to open a page and draw it, the best of three.
"use strict";
const { Browser } = require("../e2e/browser.js");

(async () => {
	const [program, folder, page] = process.argv.slice(2), browser = new Browser(program, folder), times = [];
	for (let i = 0; i < 3; i++)
		times.push(await browser.open(page, { width: 1280 }));
	console.log(Math.min(...times));
	await browser.close();
})();
