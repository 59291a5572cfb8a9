/**
 * `npm run bench`: the calls that merging and caching save, what they cost in time and memory, and the comparison with
 * other gateways. Everything printed is measured in this run. Ends with exit code 1 if a check or a threshold fails.
 */
import { arch, cpus } from 'node:os';
import { printCalls } from './calls.ts';
import { printDay } from './day.ts';
import { printMemory } from './memory.ts';
import { printPacking } from './packing.ts';
import { race } from './race.ts';
import { printSpeed } from './speed.ts';
import { printWeight } from './weight.ts';

console.log(
  `Country Graph benchmark. Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, ${arch()}.`,
);
console.log('The service is the sandbox of this repository on loopback; its figures are synthetic.\n');
const areCallsMerged = await printCalls();
await printDay();
await printSpeed();
await printMemory();
await printPacking();
await printWeight();
const isFastEnough = await race();
if (!areCallsMerged || !isFastEnough) process.exitCode = 1;
