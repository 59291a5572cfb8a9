/**
 * `npm run structure`: sizes, import cycles and other numbers of the source, and the words of the documents, compared with their bounds in
 * `scripts/structure/bounds.json`. Ends with exit code 1 if one exceeds its bound. `--accept` writes improved baselines;
 * `--all` prints more than the ten largest; `--places <name>` prints the places that a number counts; `--picture` prints
 * the layers and the plugins for ARCHITECTURE.md.
 */
import { globSync, readFileSync } from 'node:fs';
import { normalize } from 'node:path';
import { measure, type Structure } from './structure/measure.ts';
import { checkBounds } from './structure/ratchet.ts';
import { DOCUMENT_WORDS, wordsOfDocuments } from './structure/words.ts';

const paths = globSync('{src,clients/graphiql}/**/*.{ts,tsx}', {
  exclude: (path) => path.endsWith('node_modules'),
});
const { functions, files, picture, ...source } = measure(
  paths.map((path) => ({ path: normalize(path), text: readFileSync(path, 'utf8') })),
);
const measures: Structure['measures'] = { ...source.measures, [DOCUMENT_WORDS]: wordsOfDocuments() };

const at = process.argv.indexOf('--places');
if (process.argv.includes('--picture')) console.log(picture);
else if (at === -1) report();
else showPlaces(process.argv[at + 1] ?? '');

function showPlaces(name: string): void {
  const measured = measures[name];
  if (measured !== undefined) for (const place of measured.places) console.log(place);
  else console.error(`Unknown number; there are: ${Object.keys(measures).join(', ')}`);
}

function report(): void {
  const shown = process.argv.includes('--all') ? Number.POSITIVE_INFINITY : 10;
  for (const [kind, list] of Object.entries({ functions, files })) {
    console.log(`Largest ${kind} of ${list.length}`);
    for (const { name, lines } of list.slice(0, shown)) console.log(`${String(lines).padStart(5)}  ${name}`);
    console.log();
  }
  const numbers = Object.fromEntries(Object.entries(measures).map(([name, { value }]) => [name, value]));
  if (!checkBounds('structure', numbers)) process.exitCode = 1;
}
