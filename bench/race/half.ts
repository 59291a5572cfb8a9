import { type RowResult, raceRow } from './heats.ts';
import { ROWS } from './rows.ts';
import { MERCURIUS, OURS_COLD_KEYS, PARSING_FLOOR } from './servers.ts';
import { heatTable } from './table.ts';

const CONNECTIONS = 32;

/** Runs rows of figures, a key each, over a service that changes half of its rows from response to response. */
export async function raceHalf(
  seconds: number,
  rounds: number,
  rows: readonly string[] = ['c', 'd', 'e'],
): Promise<RowResult[]> {
  const results: RowResult[] = [];
  for (const row of ROWS.filter(({ letter }) => rows.includes(letter))) {
    console.error(`Row ${row.letter}, half of the rows changed`);
    const servers = [OURS_COLD_KEYS, MERCURIUS, PARSING_FLOOR];
    const load = { connections: [CONNECTIONS], seconds, rounds, halfLoad: false };
    results.push(await raceRow(row, { servers, ...load, bodies: 'half' }));
  }
  return results;
}

export const halfTables = (results: readonly RowResult[]): string =>
  results
    .map((result) => `Row ${result.row.letter}, ${result.row.what}:\n\n${heatTable(result, CONNECTIONS)}`)
    .join('\n\n');

export const halfSection = (results: readonly RowResult[]): string =>
  [
    '## Half of the rows changed',
    'As above with a key each, but half of the rows change from response to response instead of a tenth.',
    halfTables(results),
  ].join('\n\n');
