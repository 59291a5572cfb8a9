/**
 * `npm run licences`: the licences of the packages that `npm ci --omit=dev` installs, as each says itself.
 * Ends with exit code 1 if one has a licence that is not on the list.
 */
import { existsSync, readFileSync } from 'node:fs';
import { isAllowed, licenceIn } from './allowed-licences.ts';
import { readLock, runTimePackages } from './run-time-packages.ts';

const counts = new Map<string, number>();
const faults: string[] = [];
for (const [folder, { optional = false }] of Object.entries(runTimePackages(readLock()))) {
  const file = new URL(`../${folder}/package.json`, import.meta.url);
  if (!existsSync(file)) {
    // Passes over optional packages: they may be for another kind of machine.
    if (!optional) faults.push(`${folder}: not installed`);
    continue;
  }
  const licence = licenceIn(JSON.parse(readFileSync(file, 'utf8')));
  counts.set(licence, (counts.get(licence) ?? 0) + 1);
  if (!isAllowed(licence)) faults.push(`${folder}: ${licence}`);
}

const sorted = [...counts].sort(([, one], [, other]) => other - one);
console.log(sorted.map(([licence, count]) => `${count} ${licence}`).join(', '));
if (faults.length > 0) {
  console.error(`Packages without a licence of scripts/allowed-licences.ts:\n${faults.join('\n')}`);
  process.exitCode = 1;
}
