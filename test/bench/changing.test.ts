import { describe, expect, it } from 'vitest';
import { digestOf, settled } from '../../bench/race/settled.ts';
import { changed, changing } from '../../bench/upstream/changing.ts';

const row = (value: unknown, time = '2026-07-24T03:03:40.220314Z') => ({
  country_name: 'Côte d’Ivoire',
  value,
  estimate_low: 53.19,
  retrieved_at: time,
});
const SENT = {
  data: [row(57_500_000), row(59.33), row(-2.4), row(null), row(7), row(0), row(1e-7), row(12.3, 'today')],
  meta: { total: 8, limit: 1000 },
};
const body = changing(Buffer.from(JSON.stringify(SENT)));
const answer = (serial: number) => changed(body, serial).toString();
const NUMBERS = Array.from({ length: 40 }, (_, i) => 1_000_000_001 + i);

describe('an answer of the service of the race', () => {
  it('an answer of the service of the race has other bytes each time, as many of them, and is JSON', () => {
    const answers = NUMBERS.map(answer);
    expect(new Set(answers).size).toBe(NUMBERS.length);
    expect(new Set(answers.map((text) => Buffer.byteLength(text))).size).toBe(1);
    expect(JSON.parse(answers[0] ?? '').meta).toEqual({ serial: NUMBERS[0], total: 8, limit: 1000 });
  });

  it('an answer of the service of the race changes values and times of some rows, of each in time, and says the same without them', () => {
    const [first, ...others] = NUMBERS.map((serial) => JSON.parse(answer(serial)).data);
    const differs = (of: string, at: number) => others.some((data) => data[at][of] !== first[at][of]);
    expect([0, 1, 2, 3, 4, 5, 6, 7].map((at) => differs('value', at))).toEqual([
      true,
      true,
      true,
      false,
      true,
      true,
      false,
      true,
    ]);
    expect(differs('retrieved_at', 0)).toBe(true);
    expect([differs('retrieved_at', 7), differs('estimate_low', 0)]).toEqual([false, false]);
    for (const data of others) expect(digestOf(data)).toBe(digestOf(first));
  });

  it('an answer of the service of the race stays as it is where it has nothing that is counted or changed', () => {
    expect(changed(changing(Buffer.from('{"error":"gone"}')), 7).toString()).toBe('{"error":"gone"}');
  });
});

describe('what answers are compared by', () => {
  it('what the race compares answers by has all but the last digit of a value and the microseconds of a time', () => {
    const one = { value: 59.31, year: 2024, retrievedAt: '2026-07-24T03:03:40.220314Z' };
    const digest = digestOf(one);
    expect(digestOf({ year: 2024, retrievedAt: '2026-07-24T03:03:40.000001Z', value: 59.38 })).toBe(digest);
    for (const other of [{ value: 59.41 }, { year: 2025 }, { retrievedAt: '2026-07-24T03:03:41.220314Z' }])
      expect(digestOf({ ...one, ...other })).not.toBe(digest);
  });

  it('what the race compares answers by knows no order of members, but that of rows', () => {
    expect(digestOf({ a: 1, b: 2 })).toBe(digestOf({ b: 2, a: 1 }));
    expect(digestOf([1, 2])).not.toBe(digestOf([2, 1]));
  });

  it('a letter that was cut in two is no difference between answers of the race', () => {
    expect(settled('"Côte"')).toBe(settled('"C\ufffd\ufffdte"'));
  });
});
