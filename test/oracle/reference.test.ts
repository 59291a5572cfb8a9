import { describe, expect, it } from 'vitest';
import { drawHabits } from './habits.ts';
import { answer, figureIdOf } from './reference.ts';
import { drawWorld, type RowFact } from './world.ts';

const HABITS = drawHabits(1, 0);
const WORLD = drawWorld(1, 0, HABITS, 0);

/** A national figure of the calendar year 2020. */
const FIGURE: RowFact = {
  ...(WORLD.rows[0] as RowFact),
  year: 2020,
  period: '2020',
  slot: { frequency: 'year', year: 2020, nth: 1 } as RowFact['slot'],
  place: null,
  value: 1,
  source: 'one',
  release: 'first',
};

/** Looks for the identifier of a figure in a world that has some rows; returns the release that comes, and the remarks. */
function foundBy(figure: RowFact, rows: readonly RowFact[]) {
  const id = figureIdOf(figure);
  const text = 'query($id: ID!) { node(id: $id) { ... on Observation { datasetVersion } } }';
  const { data, remarks } = answer({ ...WORLD, rows: [...rows] }, HABITS, { text, variables: { id } });
  const node = data?.node as { readonly datasetVersion: string } | null;
  return [node?.datasetVersion ?? null, remarks.some(({ code }) => code === 'REVISED_SINCE')];
}

describe("the oracle's own answer to the identifier of a figure", () => {
  it('the figure itself is found where it is still there, and is not taken for revised', () => {
    const revised = { ...FIGURE, release: 'second' };
    expect(foundBy(FIGURE, [revised, FIGURE])).toEqual(['first', false]);
  });

  it("today's figure of its year, period, place and source takes its place, in any spelling of the period", () => {
    const second = { ...FIGURE, release: 'second' };
    expect(foundBy(FIGURE, [second])).toEqual(['second', true]);
    expect(foundBy(FIGURE, [{ ...second, period: '2020-A1' }])).toEqual(['second', true]);
    // One that is spelled as before comes before a newer one that is not.
    const third = { ...FIGURE, release: 'third', period: '2020A', retrievedAt: '2999-01-01T00:00:00.000Z' };
    expect(foundBy(FIGURE, [third, second])).toEqual(['second', true]);
  });

  it.each<[string, Partial<RowFact>]>([
    ['country', { country: 'ZZ' }],
    ['indicator', { metric: 'other' }],
    ['year', { year: 2021, period: '2021', slot: { ...FIGURE.slot, year: 2021 } }],
    ['period', { period: '2020-Q1', slot: { ...FIGURE.slot, frequency: 'quarter' } }],
    ['place', { place: 'Elsewhere' }],
    ['source', { source: 'two' }],
  ])('nothing takes its place but a figure of the same %s', (_, other) => {
    expect(foundBy(FIGURE, [{ ...FIGURE, release: 'second', ...other }])).toEqual([null, false]);
  });

  it('a row without a value takes the place of no figure', () => {
    expect(foundBy(FIGURE, [{ ...FIGURE, release: 'second', value: null }])).toEqual([null, false]);
  });
});
