/** `npm run bench`: what merging saves, and what it costs in time and memory. Everything printed is from this run. */
import { arch, cpus } from 'node:os';
import { printCalls } from './calls.ts';
import { printMemory } from './memory.ts';
import { printSpeed } from './speed.ts';

console.log(
  `Country Graph benchmark. Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, ${arch()}.`,
);
console.log('The service is the sandbox of this repository on loopback; its figures are synthetic.\n');
const isAsItShouldBe = await printCalls();
await printSpeed();
await printMemory();
if (!isAsItShouldBe) process.exitCode = 1;
