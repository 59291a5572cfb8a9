import { expect, it } from 'vitest';
import { written } from '../../src/graphql/execution/json-pieces.ts';
import { Flow, timeSliced } from '../../src/shared/async/turns.ts';

const stringify = (value: unknown) => timeSliced({ flow: new Flow() }, written(value));

const rows = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    year: i,
    unit: i % 3 === 0 ? null : `"${i}"`,
    of: { key: 'é' },
  }));

it.for<[string, unknown]>([
  ['nothing', null],
  ['a text', '"quoted"'],
  ['a short list', { rows: rows(3) }],
  ['a long list', { before: 1, rows: rows(5_001), after: [] }],
  ['a long list under an object', { country: { code: 'KE', rows: rows(2_500), none: null } }],
  ['long lists in a list', { countries: [{ rows: rows(3_000) }, null, { rows: [] }, { rows: rows(2_100) }] }],
  ['members that have no JSON', { rows: rows(2_001), symbol: Symbol('none'), missing: undefined }],
])('stringify writes %s as JSON.stringify does', async ([, value]) => {
  expect((await stringify(value)).join('')).toBe(JSON.stringify(value));
});

it('stringify lets others have their turns while it writes what takes long', async () => {
  let turns = 0;
  let isOver = false;
  const count = () => {
    if (isOver) return;
    turns += 1;
    setImmediate(count);
  };
  setImmediate(count);
  await stringify({ rows: rows(200_000) });
  isOver = true;
  expect(turns).toBeGreaterThan(1);
});

it('stringify writes no text that the engine would give pages of its own', async () => {
  const pieces = await stringify({ countries: [{ rows: rows(20_000) }, { rows: rows(20_000) }] });
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(100_000);
  expect(pieces.length).toBeLessThan(2_000);
});
