/**
 * `npm run structure`: sizes and circles of the source, each beside its bound in
 * `scripts/structure/bounds.json`. Ends with exit code 1 if one is beyond it. `--accept` writes numbers that
 * are better; `--all` prints more than the largest ten; `--places <name>` the places that a number counts;
 * `--picture` draws the layers, and the plugins beside them, for ARCHITECTURE.md.
 */
import { globSync, readFileSync } from 'node:fs';
import { normalize } from 'node:path';
import { measure } from './structure/measure.ts';
import { hold } from './structure/ratchet.ts';

const paths = globSync('src/**/*.{ts,tsx}', { exclude: (path) => path.endsWith('node_modules') });
const { measures, functions, files, picture } = measure(
  paths.map((path) => ({ path: normalize(path), text: readFileSync(path, 'utf8') })),
);

const at = process.argv.indexOf('--places');
if (process.argv.includes('--picture')) console.log(picture);
else if (at === -1) report();
else showPlaces(process.argv[at + 1] ?? '');

function showPlaces(name: string): void {
  const found = measures[name];
  if (found !== undefined) for (const place of found.places) console.log(place);
  else console.error(`Nothing is counted by that name, but: ${Object.keys(measures).join(', ')}`);
}

function report(): void {
  const shown = process.argv.includes('--all') ? Number.POSITIVE_INFINITY : 10;
  for (const [kind, list] of Object.entries({ functions, files })) {
    console.log(`Largest ${kind} of ${list.length}`);
    for (const { name, lines } of list.slice(0, shown)) console.log(`${String(lines).padStart(5)}  ${name}`);
    console.log();
  }
  const numbers = Object.fromEntries(Object.entries(measures).map(([name, { value }]) => [name, value]));
  if (!hold('structure', numbers)) process.exitCode = 1;
}
