import { describe, expect, it } from 'vitest';
import { type Baseline, compare, type Figures } from '../../bench/check/baseline.ts';

const BEFORE: Figures = { calls: 0, callsAtOnce: 0.2, bytes: 1000, characters: 5000 };

const baseline = (change: Partial<Figures> = {}, node = '24.1.0'): Baseline => ({
  node,
  figures: { 'c warm': { ...BEFORE, ...change } },
});

describe('what an operation costs against the baseline', () => {
  it.for<[string, Partial<Figures>, grown: RegExp[], notes: RegExp[]]>([
    ['the same', {}, [], []],
    ['a call more', { calls: 1 }, [/^c warm: upstream calls per operation grew by 1, from 0 to 1$/], []],
    [
      'a call of ten more',
      { callsAtOnce: 0.3 },
      [/ten at once grew by 0\.1 \(50 %\), from 0\.2 to 0\.3$/],
      [],
    ],
    ['more bytes', { bytes: 1060 }, [/^c warm: bytes .* grew by 60 \(6 %\), from 1,000 to 1,060$/], []],
    ['a few bytes more', { bytes: 1050 }, [], []],
    ['fewer bytes', { bytes: 900 }, [], [/fell by 100 \(10 %\), from 1,000 to 900; run --update/]],
    ['a few bytes fewer', { bytes: 950 }, [], []],
    ['more source', { characters: 5500 }, [/source run per operation grew by 500 \(10 %\)/], []],
    ['fewer calls', { callsAtOnce: 0.1 }, [], [/fell by 0\.1/]],
  ])('the cost of an operation is held against the baseline: %s', ([, change, grown, notes]) => {
    expect(compare(baseline(change), baseline())).toEqual({
      grown: grown.map((line) => expect.stringMatching(line)),
      notes: notes.map((line) => expect.stringMatching(line)),
    });
  });

  it('calls alone are compared with the baseline if the major version of Node is another', () => {
    expect(compare(baseline({ calls: 1, bytes: 2000, characters: 9000 }, '26.0.0'), baseline())).toEqual({
      grown: [expect.stringContaining('upstream calls')],
      notes: [expect.stringContaining('bytes and characters are not compared')],
    });
  });

  it('an operation that the baseline does not have fails the comparison', () => {
    const { grown } = compare(baseline(), { ...baseline(), figures: {} });
    expect(grown).toEqual(['c warm: is not in the baseline']);
  });
});
