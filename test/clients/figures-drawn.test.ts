import { expect, it } from 'vitest';
import { createDice, type Dice } from '../oracle/dice.ts';
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
const LEAVES = [
  'value',
  'year',
  'period',
  'unit',
  'id',
  'valueStatus',
  'locationName',
  'estimateLow',
  '__typename',
];
const BELOW = [
  'country { code }',
  'country { code name }',
  'indicator { key }',
  'indicator { key name unit }',
  'source { key }',
];
const ODD = ['freshness { stale }', 'growthPercent', 'record', 'country { capital }', 'citation'];

interface Drawn {
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Mostly operations whose figures can be held. */
function drawOperation(dice: Dice): Drawn {
  const variables: Record<string, unknown> = {};
  const types: string[] = [];
  const fragments: string[] = [];

  function given(value: unknown, type: string): string {
    if (dice.chance(0.4) && value !== undefined) return JSON.stringify(value);
    const name = `v${types.length}`;
    types.push(`$${name}: ${type}`);
    if (value !== undefined) variables[name] = value;
    return `$${name}`;
  }

  const code = () => (dice.chance(0.04) ? 'ZZ' : dice.pick(CODES));
  const key = () => (dice.chance(0.04) ? 'no_such_metric' : dice.pick(KEYS));
  const codes = () => given(Array.from({ length: dice.between(1, 4) }, code), '[CountryCode!]');
  const keys = () => `metricKeys: ${given(Array.from({ length: dice.between(1, 3) }, key), '[String!]')}`;

  function span(): string[] {
    const [from, to] = [dice.between(1990, 2024), dice.between(2000, 2030)];
    const args = [];
    if (dice.chance(0.7)) args.push(`fromYear: ${given(dice.chance(0.1) ? undefined : from, 'Int')}`);
    if (dice.chance(0.7)) args.push(`toYear: ${given(dice.chance(0.1) ? null : to, 'Int')}`);
    return args;
  }

  function seriesArgs(): string[] {
    const args = dice.chance(0.25) ? [`latest: ${given(true, 'Boolean')}`] : span();
    if (dice.chance(0.2)) args.push(`scope: ${dice.pick(['ALL', 'NATIONAL', 'PLACES'])}`);
    if (dice.chance(0.04)) args.push(dice.pick(['maxAge: 100', 'orderBy: [{ field: VALUE }]']));
    return args;
  }

  function rows(): string {
    const leaves = dice.some(LEAVES, dice.between(1, 4));
    const below = dice.some(BELOW, dice.below(3)).filter((one, i, all) => i === 0 || all[0]?.[0] !== one[0]);
    const odd = dice.chance(0.04) ? [dice.pick(ODD)] : [];
    const own = [...leaves, ...below, ...odd].map((one) =>
      /^\w+$/.test(one) && dice.chance(0.1) ? `a_${one}: ${one}` : one,
    );
    if (dice.chance(0.15)) {
      const name = `F${fragments.length}`;
      fragments.push(`fragment ${name} on Observation { ${own.splice(0, 1).join(' ')} }`);
      own.push(`...${name}`);
    }
    if (dice.chance(0.1)) own.push('... on Observation { value }');
    return `{ ${own.join(' ')} }`;
  }

  function figuresOfCountry(alias: string): string {
    if (dice.chance(0.5)) return `${alias}: observation(metricKey: ${given(key(), 'String!')}) ${rows()}`;
    return `${alias}: observations(${[keys(), ...seriesArgs()].join(', ')}) ${rows()}`;
  }

  function root(alias: string): string {
    const kind = dice.below(3);
    if (kind === 0)
      return `${alias}: observations(${[`countryCodes: ${codes()}`, keys(), ...seriesArgs()].join(', ')}) ${rows()}`;
    const fields = dice.some(['code', 'name', 'id', 'capital'], dice.below(3));
    const figures = Array.from({ length: dice.between(1, 2) }, (_, i) => figuresOfCountry(`f${i}`));
    const head =
      kind === 1 ? `country(code: ${given(code(), 'CountryCode!')})` : `countries(codes: ${codes()})`;
    return `${alias}: ${head} { ${[...fields, ...figures].join(' ')} }`;
  }

  const roots = Array.from({ length: dice.chance(0.2) ? 2 : 1 }, (_, i) => root(`r${i}`));
  const head = types.length === 0 ? 'query' : `query Drawn(${types.join(', ')})`;
  return { text: [`${head} { ${roots.join(' ')} }`, ...fragments].join('\n'), variables };
}

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
    const recent: Drawn[] = [];
    for (let i = 0; i < OPERATIONS; i += 1) {
      // Pages ask much the same again and again.
      const again = recent.length > 0 && dice.chance(0.3) ? dice.pick(recent) : null;
      const { text, variables } = again ?? drawOperation(dice);
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
