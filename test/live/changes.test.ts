import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changesBetween, digestOf } from '../../src/graphql/live/figures.ts';
import { observationId } from '../../src/graphql/resolvers/observation-ids.ts';
import { decodeObservations, type ObservationRecord } from '../../src/service/records/observations.ts';

function rowsOf(
  figures: readonly {
    readonly year: number;
    readonly value: number;
    readonly release?: string | null;
    readonly retrieved?: string;
  }[],
): readonly ObservationRecord[] {
  const data = figures.map(({ year, value, release = null, retrieved = '2026-01-01T00:00:00Z' }) => ({
    country_code: 'ke',
    country_name: 'Kenya',
    metric_key: 'population_total',
    metric_name: 'Population',
    year,
    period: String(year),
    value,
    unit: 'persons',
    source: 'world_bank_wdi',
    value_status: 'reported',
    dataset_version: release,
    retrieved_at: retrieved,
  }));
  return decodeObservations({ data }, '/v1/data', 0).rows;
}

const said = (before: readonly ObservationRecord[], now: readonly ObservationRecord[]) =>
  changesBetween(before, now).map(({ kind, observation, before }) => [
    kind,
    observation.year,
    observation.value,
    before?.value ?? null,
  ]);

describe('changes', () => {
  it('changes are additions, revisions and removals', () => {
    const before = rowsOf([
      { year: 2023, value: 1 },
      { year: 2024, value: 2 },
    ]);
    const now = rowsOf([
      { year: 2024, value: 3 },
      { year: 2025, value: 0 },
    ]);
    expect(said(before, now)).toEqual([
      ['REVISED', 2024, 3, 2],
      ['ADDED', 2025, 0, null],
      ['REMOVED', 2023, 1, 1],
    ]);
  });

  it('changes are none where figures were only retrieved anew', () => {
    const before = rowsOf([{ year: 2024, value: 2 }]);
    const now = rowsOf([{ year: 2024, value: 2, retrieved: '2026-02-01T00:00:00Z' }]);
    expect(changesBetween(before, now)).toEqual([]);
    expect(digestOf(now)).toBe(digestOf(before));
  });

  it('changes are revisions where the release of the dataset is another', () => {
    const before = rowsOf([
      { year: 2024, value: 2, release: 'a' },
      { year: 2023, value: 1, release: 'a' },
    ]);
    const now = rowsOf([
      { year: 2024, value: 3, release: 'b' },
      { year: 2025, value: 4, release: 'b' },
    ]);
    expect(said(before, now)).toEqual([
      ['REVISED', 2024, 3, 2],
      ['ADDED', 2025, 4, null],
      ['REMOVED', 2023, 1, 1],
    ]);
  });

  it('changes turn the one rows into the others, whatever both are', () => {
    const figure = fc.record({
      year: fc.integer({ min: 2000, max: 2006 }),
      value: fc.integer({ min: 0, max: 2 }),
      release: fc.constantFrom(null, 'a', 'b'),
    });
    const rows = fc.array(figure, { maxLength: 8 }).map(rowsOf);
    fc.assert(
      fc.property(rows, rows, (before, now) => {
        const said = (row: ObservationRecord) => `${observationId(row)} ${row.value}`;
        const held = before.map(said);
        for (const { kind, observation, before: old } of changesBetween(before, now)) {
          if (old !== null) expect(held.splice(held.indexOf(said(old)), 1)).toEqual([said(old)]);
          if (kind !== 'REMOVED') held.push(said(observation));
        }
        expect(held.sort()).toEqual(now.map(said).sort());
        expect(changesBetween([], now)).toHaveLength(now.length);
        expect(digestOf(before) === digestOf(now)).toBe(changesBetween(before, now).length === 0);
      }),
    );
  });
});
