#!/usr/bin/env node
// Read by whatever Node is there, so it is written as old ones read it: the program itself would fail them with a fault of
// syntax, or of a module that is missing.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const url = require('node:url');

const LEAST = [22, 19];
const here = process.versions.node.split('.').map(Number);

if (here[0] < LEAST[0] || (here[0] === LEAST[0] && here[1] < LEAST[1])) {
  console.error(
    `Country Graph needs Node ${LEAST.join('.')} or newer, and this is Node ${process.versions.node}.`,
  );
  process.exitCode = 1;
} else {
  // A checkout runs as it stands, the package as it was built.
  const source = path.join(__dirname, '../src/cli/main.ts');
  const main = fs.existsSync(source) ? source : path.join(__dirname, '../lib/cli/main.js');
  import(url.pathToFileURL(main).href);
}
