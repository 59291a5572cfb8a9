/**
 * `npm run licences`: counts the licences of the packages that `npm ci --omit=dev` installs, as their `package.json` states
 * them. Ends with exit code 1 if one is not allowed by `scripts/allowed-licences.ts`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { isAllowed, licenceIn } from './allowed-licences.ts';
import { readLock, runTimePackages } from './run-time-packages.ts';

const counts = new Map<string, number>();
const rejected: string[] = [];
for (const [folder, { optional = false }] of Object.entries(runTimePackages(readLock()))) {
  const file = new URL(`../${folder}/package.json`, import.meta.url);
  if (!existsSync(file)) {
    // Optional packages may be for another platform.
    if (!optional) rejected.push(`${folder}: not installed`);
    continue;
  }
  const licence = licenceIn(JSON.parse(readFileSync(file, 'utf8')));
  counts.set(licence, (counts.get(licence) ?? 0) + 1);
  if (!isAllowed(licence)) rejected.push(`${folder}: ${licence}`);
}

const sorted = [...counts].sort(([, one], [, other]) => other - one);
console.log(sorted.map(([licence, count]) => `${count} ${licence}`).join(', '));
if (rejected.length > 0) {
  console.error(`Packages without an allowed licence (scripts/allowed-licences.ts):\n${rejected.join('\n')}`);
  process.exitCode = 1;
}
