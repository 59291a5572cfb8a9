import { describe, expect, it } from 'vitest';
import { taken } from '../../src/async/turns.ts';
import { planningModes } from '../../src/figures/estimate.ts';
import { demandFor } from '../../src/plan/demand.ts';
import { createLearned } from '../../src/plan/learned.ts';

const LIMITS = { maxRows: 1000, maxCodes: 250, maxAddress: 6000, overfetchRows: 500 };
const YEARS = { from: 1990, to: 2024 };
const CODES = ['AO', 'EG', 'ET', 'GH', 'KE', 'MA', 'NG', 'RW', 'TZ', 'ZA'];

/** Demands for some years of twenty series. */
const wanted = () =>
  CODES.flatMap((code) => ['m', 'n'].map((metric) => demandFor('series', code, metric, undefined, YEARS)));

describe('the plan for demands that come again', () => {
  it('is the same until other rows are expected', () => {
    const learned = createLearned(() => 0);
    const plan = () => taken(planningModes(wanted(), LIMITS, learned));
    const first = plan();
    expect(first.ranges).toHaveLength(1);
    expect(plan()).toBe(first);
    for (const { countryCode, metricKey } of wanted()) learned.learnSeries(countryCode, metricKey, 10);
    const second = plan();
    expect(second).toMatchObject({ ranges: [], series: { length: 20 } });
    for (const { countryCode, metricKey } of wanted()) learned.learnSeries(countryCode, metricKey, 10);
    expect(plan()).toBe(second);
  });

  it('is another one where the service takes no years, and under other limits', () => {
    const learned = createLearned(() => 0);
    expect(taken(planningModes(wanted(), { ...LIMITS, maxRows: 2_000 }, learned)).ranges).toEqual([]);
    expect(taken(planningModes(wanted(), LIMITS, learned)).ranges).toHaveLength(1);
    learned.learn('yearsParam', 'refused');
    expect(taken(planningModes(wanted(), LIMITS, learned)).ranges).toEqual([]);
  });

  it('keeps nothing of what is held for whoever asked first', () => {
    const learned = createLearned(() => 0);
    const held = wanted().map((demand) => ({ ...demand, entry: { rows: ['a figure of somebody'] } }));
    taken(planningModes(held, LIMITS, learned));
    expect(JSON.stringify(taken(planningModes(wanted(), LIMITS, learned)))).not.toContain('somebody');
  });
});
