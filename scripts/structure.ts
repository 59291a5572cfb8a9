/**
 * `npm run structure`: how large the house is and how its rooms hang together, each number beside its
 * baseline, the last accepted one, and its target (`scripts/structure/bounds.json`);
 * `scripts/structure/measure.ts` says how each is counted. Ends with exit code 1 if one is worse than its
 * baseline and beyond its target. `--accept` writes those that are better; `--all` prints more than the
 * largest ten; `--places <name>` the places that a number counts.
 */
import { globSync, readFileSync } from 'node:fs';
import { normalize } from 'node:path';
import { measure } from './structure/measure.ts';
import { hold, judge, readBounds } from './structure/ratchet.ts';

const DOCUMENTS = ['ARCHITECTURE.md', 'README.md'];

const paths = globSync('src/**/*.{ts,tsx}', { exclude: (path) => path.endsWith('node_modules') });
const given = [...paths.map(normalize).sort(), ...DOCUMENTS].map((path) => ({
  path,
  text: readFileSync(path, 'utf8'),
}));
const { small, structure } = readBounds();
const house = measure(given, small);
const measured = Object.entries(house.measures);
const numbers = Object.fromEntries(measured.map(([name, { value }]) => [name, value]));

const at = process.argv.indexOf('--places');
if (at === -1) report();
else showPlaces(process.argv[at + 1] ?? '');

function showPlaces(name: string): void {
  const [, found] = measured.find(([one]) => one === name) ?? [];
  if (found !== undefined) for (const place of found.places) console.log(place);
  else console.error(`Nothing is counted by that name, but: ${Object.keys(numbers).join(', ')}`);
}

function report(): void {
  const shown = process.argv.includes('--all') ? Number.POSITIVE_INFINITY : 10;
  const { functions, files, castsByFolder } = house;
  const median = functions[Math.floor(functions.length / 2)]?.lines ?? 0;
  console.log(
    `${functions.length} functions in ${files.length} files; the median function has ${median} lines.`,
  );
  for (const [kind, list] of Object.entries({ functions, files })) {
    console.log(`\nLargest ${kind}`);
    for (const { name, lines } of list.slice(0, shown)) console.log(`${String(lines).padStart(5)}  ${name}`);
  }
  const casts = [...castsByFolder].filter(([, count]) => count > 0).sort(([, a], [, b]) => b - a);
  console.log(`\nCasts: ${casts.reduce((sum, [, count]) => sum + count, 0)}`);
  for (const [folder, count] of casts) console.log(`${String(count).padStart(5)}  ${folder}`);
  console.log();
  const { worse } = judge(numbers, structure);
  if (!hold('structure', numbers)) process.exitCode = 1;
  for (const name of worse) {
    console.error(`\n${name}`);
    for (const place of measured.find(([one]) => one === name)?.[1].places.slice(0, shown) ?? [])
      console.error(`       ${place}`);
  }
}
