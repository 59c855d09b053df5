// SPDX-License-Identifier: MIT
// export-npm.js FOLDER FILE: whether a file is valid by speedscope's own schema; FOLDER has its packages.
"use strict";
const fs = require("fs");
const { createRequire } = require("module");

const [folder, file] = process.argv.slice(2);
const Ajv = createRequire(`${folder}/`)("ajv");
const read = (path) => JSON.parse(fs.readFileSync(path, "utf8"));
const valid = new Ajv({ strict: false }).compile(read(`${folder}/node_modules/speedscope/dist/release/file-format-schema.json`));

if (!valid(read(file))) {
	console.log(valid.errors.slice(0, 3));
	process.exit(1);
}
