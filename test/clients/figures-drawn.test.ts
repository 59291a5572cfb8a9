import { expect, it } from 'vitest';
import { createDice } from '../oracle/dice.ts';
import type { Operation } from '../oracle/operations.ts';
import { drawPageOperation } from '../oracle/page-operations.ts';
import { draws } from '../support/draws.ts';
import { movingClock } from '../support/moving-clock.ts';
import { openProgram } from '../support/program.ts';
import { openPage } from './holding.ts';

/** Operations of one visit to a page. */
const OPERATIONS = 50;

const CODES = ['KE', 'NG', 'GH', 'ZA', 'ke', 'SO'];
const KEYS = [
  'population_total',
  'life_expectancy',
  'gdp_current_usd',
  'inflation_cpi_annual_pct',
  'policy_rate_pct',
  'net_migration_total',
];
const NAMES = {
  codes: CODES,
  keys: KEYS,
  odd: {
    names: { code: 'ZZ', key: 'no_such_metric' },
    fields: ['freshness { stale }', 'growthPercent', 'record', 'country { capital }', 'citation'],
    args: ['maxAge: 100', 'orderBy: [{ field: VALUE }]'],
    mayBeReversed: true,
  },
};

const codesOf = (
  warnings: readonly { readonly code: string; readonly name?: string; readonly path: unknown }[] = [],
) => warnings.map(({ code, name, path }) => JSON.stringify([code, name, path])).sort();

it.for(Array.from({ length: draws(40, 4) }, (_, i) => i))(
  'drawn operations have the same answers with held figures as without, at no further call: visit %i',
  async (visit) => {
    const dice = createDice('figures held', visit);
    const times = [
      movingClock(Date.parse('2026-11-10T12:00:30Z')),
      movingClock(Date.parse('2026-11-10T12:00:30Z')),
    ];
    const [pageTime, plainTime] = times as [(typeof times)[0], (typeof times)[0]];
    // A gateway that fetches along what it guesses to be wanted next guesses from other operations here than there.
    const env = { CACHE_URL: 'memory:', BATCH_OVERFETCH_ROWS: '0' };
    const open = ({ clock }: typeof pageTime) => openProgram({ env, clock, sandbox: { now: clock.now } });
    await using program = await open(pageTime);
    await using plain = await open(plainTime);
    const now = () => ({ wallMs: pageTime.clock.now(), steadyMs: pageTime.clock.now() });
    using page = openPage(program, { clock: now });
    let spared = 0;
    let held = 0;
    const calls = { page: 0, plain: 0 };
    const recent: Operation[] = [];
    for (let i = 0; i < OPERATIONS; i += 1) {
      // Pages ask much the same again and again.
      const again = recent.length > 0 && dice.chance(0.3) ? dice.pick(recent) : null;
      const { text, variables } = again ?? drawPageOperation(dice, NAMES);
      if (again === null) recent.push({ text, variables });
      const seconds = dice.chance(0.2) ? dice.between(1, 200) : 0;
      for (const { pass } of times) pass(seconds);
      const shown = await page.ask(text, variables);
      const wanted = await plain.ask(text, { variables });
      const place = `${i}: ${text}\n${JSON.stringify(variables)}`;
      expect({ place, data: shown.data, errors: shown.errors }).toEqual({
        place,
        data: wanted.data,
        errors: wanted.errors,
      });
      expect([place, ...codesOf(shown.extensions?.warnings)]).toEqual([
        place,
        ...codesOf(wanted.extensions?.warnings as never),
      ]);
      calls.page += shown.extensions?.upstream?.calls ?? 0;
      calls.plain += wanted.upstream?.calls ?? 0;
      expect([place, calls.page]).toEqual([place, Math.min(calls.page, calls.plain)]);
      spared += shown.extensions?.client?.spared ?? 0;
      held += shown.extensions?.client?.held ?? 0;
    }
    expect(program.requests()).toHaveLength(calls.page);
    expect(spared).toBeGreaterThan(0);
    expect(held).toBeGreaterThan(0);
  },
);
