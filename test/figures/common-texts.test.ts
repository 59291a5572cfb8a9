import { expect, it } from 'vitest';
import { createStringPool } from '../../src/observations/string-pool.ts';
import { decodeObservations, type ObservationRecord } from '../../src/service/records/observations.ts';
import { heapBytes } from '../support/heap.ts';
import { SENT_ROW } from '../support/sent-row.ts';

const row = { ...SENT_ROW, country_code: 'KE', note: 'of no kind that is known' };

/** Rows as they come: each text is one of its own. */
function sent(rows: readonly object[]): readonly ObservationRecord[] {
  return decodeObservations(JSON.parse(JSON.stringify({ data: rows })), '/v1/data', 0).rows;
}

it('sharing of common texts changes nothing that a row says, nor what was sent', () => {
  const rows = [
    row,
    { ...row, country_code: 'ke', value: 2 },
    { ...row, as_of_period: null, dataset_version: null },
    { ...row, location_name: ' ', country_name: '' },
  ];
  const [before, after] = [sent(rows), sent(rows)];
  createStringPool()([{ rows: after }]);
  expect(after).toEqual(before);
  expect(after.map(({ record }) => record)).toEqual(rows);
});

it('rows that say the same share one text', () => {
  // Long texts: 16 MB of them are far more than anything else that comes and goes in this process.
  const texts = { metric_name: 'name '.repeat(80), unit: 'unit '.repeat(80) };
  const rows = Array.from({ length: 20_000 }, (_, value) => ({ ...row, ...texts, value }));
  const shareTexts = createStringPool();
  const heldBy = (hold: (rows: readonly ObservationRecord[]) => void) => {
    const before = heapBytes();
    const held = sent(rows);
    hold(held);
    const bytes = heapBytes() - before;
    expect(held).toHaveLength(rows.length);
    return bytes;
  };
  heldBy(() => {});
  expect(heldBy((some) => shareTexts([{ rows: some }]))).toBeLessThan(0.5 * heldBy(() => {}));
});

it("common texts are forgotten, so that they don't become ever more", () => {
  const shareTexts = createStringPool();
  const round = (from: number) => {
    const rows = Array.from({ length: 10_000 }, (_, i) => ({
      ...row,
      unit: `unit ${from + i} ${'x'.repeat(500)}`,
    }));
    shareTexts([{ rows: sent(rows) }]);
  };
  round(0);
  const before = heapBytes();
  for (let i = 1; i < 10; i += 1) round(i * 10_000);
  // 90,000 further units, of 500 bytes each, would be 45 MB.
  expect(heapBytes() - before).toBeLessThan(30e6);
});
