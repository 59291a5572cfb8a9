/**
 * The cost of each example operation of the repository in upstream calls, with nothing cached.
 *
 * `node bench/bill.ts` writes `docs/bill.txt`. With `--check` it compares instead, and fails if they differ, so that a
 * change that makes a query more expensive shows as a diff in review.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { WHOLE_GRAPH } from '../test/support/golden-settings.ts';
import { openProgram } from '../test/support/program.ts';

const BILL = 'docs/bill.txt';
const OPERATIONS = ['test/queries/**/*.graphql', 'bench/operations/*.graphql'];

/** Runs one operation on a new gateway over a new sandbox. */
async function billOf(file: string): Promise<string> {
  await using program = await openProgram({ env: WHOLE_GRAPH });
  const variablesFile = file.replace(/\.graphql$/, '.variables.json');
  const variables = existsSync(variablesFile) ? JSON.parse(readFileSync(variablesFile, 'utf8')) : {};
  const { upstream } = await program.ask(readFileSync(file, 'utf8'), { variables });
  const routes = Object.entries(upstream.byRoute)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([route, calls]) => `${calls} ${route}`);
  const columns = [String(upstream.calls).padStart(5), String(upstream.naive).padStart(6), ` ${file}`];
  return `${columns.join('  ')}${routes.length > 0 ? `  (${routes.join(', ')})` : ''}`;
}

const rows: string[] = [];
for (const file of globSync(OPERATIONS).sort()) rows.push(await billOf(file));
const bill = [
  'What each example operation costs cold, in upstream calls, and what it would if each field fetched for itself.',
  'Written by `npm run bill`.',
  '',
  'calls   naive   operation',
  ...rows,
  '',
].join('\n');

if (!process.argv.includes('--check')) {
  writeFileSync(BILL, bill);
} else if (!existsSync(BILL) || readFileSync(BILL, 'utf8') !== bill) {
  const written = existsSync(BILL) ? readFileSync(BILL, 'utf8').split('\n') : [];
  const changed = bill.split('\n').filter((row) => !written.includes(row));
  console.error(`${BILL} is out of date; \`npm run bill\` writes it. Changed rows:\n${changed.join('\n')}`);
  process.exitCode = 1;
}
