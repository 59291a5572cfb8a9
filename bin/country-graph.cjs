#!/usr/bin/env node
// Read by any Node, so it is written as old ones read it: the program itself would fail them with a fault of
// syntax, or of a module that is missing.
'use strict';
const fs = require('node:fs');
const { enableCompileCache } = require('node:module');
const path = require('node:path');
const v8 = require('node:v8');

const LEAST = [22, 19];
const ROOT = path.join(__dirname, '..');
const here = process.versions.node.split('.').map(Number);

if (here[0] < LEAST[0] || (here[0] === LEAST[0] && here[1] < LEAST[1])) {
  console.error(
    `Country Graph needs Node ${LEAST.join('.')} or newer, and this is Node ${process.versions.node}.`,
  );
  process.exitCode = 1;
} else {
  // Before the program is loaded, which is when the engine first makes up its mind about the second.
  // Under load the engine comes to take objects of one operation for long-lived, and puts them in a place that only a full
  // collection looks through: with that, young collections take ten times as long, and the slowest answers with them.
  v8.setFlagsFromString('--no-allocation-site-pretenuring');
  // After some seconds without load it collects for the least memory, and throws away the code that it has compiled:
  // the next load begins at half the rate. The most that it can be made to wait, in milliseconds.
  v8.setFlagsFromString('--gc-memory-reducer-start-delay-ms=2147483647');
  // A second start finds the code of the first one compiled, its types taken out.
  enableCompileCache();
  const runsBuilt = isBuilt();
  // Loads a build at once, and TypeScript too if Node can.
  const load = (name) =>
    require(
      path.join(
        ROOT,
        runsBuilt ? `lib/program/${name}.cjs` : `src/${name === 'main' ? 'cli' : 'config'}/${name}.ts`,
      ),
    );
  // A worker has been started as it is to be.
  const isServing = process.argv[2] === 'serve' && !process.channel;
  const canBegin = isServing && typeof process.execve === 'function';
  // How much garbage the budget has room for.
  if (isServing) v8.setFlagsFromString(load('memory-budget').heapGrowthFlagIn(process.env));
  const start = canBegin ? load('memory-budget').startOf(process.env, process.execArgv) : null;
  if (start === null) load('main');
  else {
    // The same process begins anew: flags of the engine and settings of the system's allocator can't be given later.
    const args = [process.execPath, ...process.execArgv, ...start.flags, ...process.argv.slice(1)];
    process.execve(process.execPath, args, { ...start.env, ...process.env });
  }
}

/** Returns true for the package, and for a checkout in which no source has changed since the build: else it runs as it stands. */
function isBuilt() {
  const sources = path.join(ROOT, 'src');
  if (!fs.existsSync(sources)) return true;
  const built = path.join(ROOT, 'lib/program/main.cjs');
  return (
    fs.existsSync(built) &&
    Math.max(...[sources, path.join(ROOT, 'schema'), path.join(ROOT, 'package-lock.json')].map(newestMs)) <=
      newestMs(built)
  );
}

/** Returns the instant at which a file was written, or the newest of all in a folder, in milliseconds. */
function newestMs(file) {
  const stat = fs.statSync(file);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...fs.readdirSync(file).map((name) => newestMs(path.join(file, name))));
}
