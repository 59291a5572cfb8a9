import { get } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  begin,
  CHANGED,
  eventsOf,
  type Live,
  LOOK,
  open,
  openLive,
  POPULATION,
  type Subscribing,
} from './live.ts';

/** All lists are held, and a figure: refusals need no call then. */
const WARM = `{ sources { key } indicators { key } countries { code }
  observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) { value } }`;

async function failureOf(program: Live, asked: Subscribing) {
  await program.ask(WARM);
  program.requests();
  const told = open(program, 'ws').subscribe(asked);
  await expect.poll(() => told.isOver).toBe(true);
  expect(told.results).toEqual([]);
  expect(program.requests()).toEqual([]);
  return told.failures[0];
}

describe('what can be no subscription', () => {
  it.each<[what: string, asked: Subscribing, code: string, message: RegExp]>([
    ['a text that is none', { query: 'subscription {' }, 'GRAPHQL_PARSE_FAILED', /Syntax/],
    [
      'a text that nests deeper than a parser can go',
      { query: `subscription ${'{a'.repeat(2_900)}${'}'.repeat(2_900)}` },
      'BAD_REQUEST',
      /nested more than 500 levels/,
    ],
    [
      'variables that nest as deep',
      {
        query: CHANGED,
        variables: { codes: ['KE'], keys: JSON.parse(`${'['.repeat(600)}${']'.repeat(600)}`) },
      },
      'BAD_REQUEST',
      /nested more than 500 levels/,
    ],
    [
      'an unknown field',
      { query: 'subscription { pricesChanged }' },
      'GRAPHQL_VALIDATION_FAILED',
      /pricesChanged/,
    ],
    [
      'two fields at once',
      { query: 'subscription { a: sourceRefreshed { key } b: sourceRefreshed { key } }' },
      'GRAPHQL_VALIDATION_FAILED',
      /only one top level field/,
    ],
    ['a query', { query: '{ sources { key } }' }, 'BAD_REQUEST', /query to \/graphql by POST/],
    ['a malformed code', { query: CHANGED, variables: { codes: ['KEN'] } }, 'BAD_USER_INPUT', /KEN/],
    [
      'a malformed key',
      { query: CHANGED, variables: { codes: ['KE'], keys: ['a b'] } },
      'BAD_USER_INPUT',
      /one word/,
    ],
    [
      'a key that there is not',
      { query: CHANGED, variables: { codes: ['KE'], keys: ['median_income_usd'] } },
      'BAD_USER_INPUT',
      /median_income_usd/,
    ],
    [
      'a source that there is not',
      { query: 'subscription { sourceRefreshed(keys: ["nobody"]) { key } }' },
      'BAD_USER_INPUT',
      /nobody/,
    ],
    [
      'a revision that is far too long',
      { query: CHANGED, variables: { ...POPULATION, since: '0'.repeat(300) } },
      'BAD_USER_INPUT',
      /since/,
    ],
    [
      'a list that is too long',
      { query: CHANGED, variables: { codes: Array(61).fill('KE') } },
      'BAD_USER_INPUT',
      /MAX_LIST_ITEMS/,
    ],
  ])('what can be no subscription is refused at no call: %s', async (_, asked, code, message) => {
    await using program = await openLive({ env: { MAX_LIST_ITEMS: '60' } });
    expect(await failureOf(program, asked)).toMatchObject([
      { message: expect.stringMatching(message), extensions: { code, retryable: false } },
    ]);
  });

  it('subscriptions to figures that take too many calls when all of them change are refused', async () => {
    const query = 'subscription { observationsChanged(latest: true) { revision } }';
    await using program = await openLive({ env: { MAX_UPSTREAM_CALLS: '5' } });
    expect(await failureOf(program, { query })).toMatchObject([
      {
        message: expect.stringContaining('MAX_UPSTREAM_CALLS'),
        extensions: { code: 'OPERATION_TOO_EXPENSIVE', limit: 5 },
      },
    ]);
  });
});

describe('a subscription', () => {
  it('a subscription begins with what is held, and is told at once what that is by now', async () => {
    await using program = await openLive();
    await program.ask(
      '{ observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) { value } }',
    );
    program.pass(100);
    program.revise('world_bank_wdi', 'population_total', 2);
    program.pass(100);
    program.requests();
    const [told] = await begin(program, () =>
      open(program, 'ws').subscribe({ query: CHANGED, variables: POPULATION }),
    );
    await expect.poll(() => told?.results.length).toBe(1);
    expect(told && eventsOf(told)[0].changes).toMatchObject([
      { kind: 'REVISED', observation: { value: 115_000_000 }, before: { value: 57_500_000 } },
    ]);
    expect(program.requests()).toEqual([LOOK, 'GET /v1/indicators', expect.stringContaining('/v1/data')]);
  });

  it('a subscription that comes back is told all there is, unless that is what it knows', async () => {
    await using program = await openLive();
    const client = open(program, 'sse');
    const asked = (since: string) => ({ query: CHANGED, variables: { ...POPULATION, since } });
    const [first] = await begin(program, () => client.subscribe(asked('0')));
    await expect.poll(() => first?.results.length).toBe(1);
    const { revision } = first && eventsOf(first)[0];
    const [same] = await begin(program, () => client.subscribe(asked(revision)));
    program.revise('world_bank_wdi', 'population_total', 2);
    await program.round();
    await expect.poll(() => same?.results.length).toBe(1);
    expect(same && eventsOf(same)[0]).toMatchObject({ isWhole: false, changes: [{ kind: 'REVISED' }] });
    const [late] = await begin(program, () => client.subscribe(asked(revision)));
    await expect.poll(() => late?.results.length).toBe(1);
    expect(late && eventsOf(late)[0]).toMatchObject({ isWhole: true, changes: [{ kind: 'ADDED' }] });
    expect(late && eventsOf(late)[0].revision > revision).toBe(true);
  });

  it('a subscription bills what it has cost to one of those that are told, and further fields to each', async () => {
    await using program = await openLive();
    const client = open(program, 'ws');
    const query = `subscription { observationsChanged(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) {
      changes { observation { value country { capital } } } } }`;
    const told = await begin(
      program,
      () => client.subscribe({ query }),
      () => client.subscribe({ query }),
    );
    program.revise('world_bank_wdi', 'population_total', 2);
    await program.round();
    await expect.poll(() => told.map(({ results }) => results.length)).toEqual([1, 1]);
    const sum: Record<string, number> = {};
    for (const { results } of told) {
      for (const [route, calls] of Object.entries<number>(results[0].extensions.upstream.byRoute))
        sum[route] = (sum[route] ?? 0) + calls;
    }
    const sent: Record<string, number> = {};
    for (const { route } of program.sandbox.log) sent[String(route)] = (sent[String(route)] ?? 0) + 1;
    expect(sum).toEqual(sent);
    expect(told[0]?.results[0].data.observationsChanged.changes[0].observation.country.capital).toBe(
      'Nairobi',
    );
  });

  it('a subscription asks for nothing where no source of its figures has run', async () => {
    await using program = await openLive();
    const [told] = await begin(program, () =>
      open(program, 'ws').subscribe({ query: CHANGED, variables: POPULATION }),
    );
    program.requests();
    program.sandbox.refresh('acled_events');
    await program.round();
    expect(program.requests()).toEqual([LOOK]);
    expect(told?.results).toEqual([]);
  });

  it('a subscription leaves other upgrades of a connection alone', async () => {
    await using program = await openLive();
    const status = await new Promise((resolve, reject) => {
      const headers = {
        connection: 'Upgrade, HTTP2-Settings',
        upgrade: 'h2c',
        'http2-settings': 'AAMAAABkAAQAAP__',
      };
      get(new URL('/health/live', program.url), { headers }, ({ statusCode }) => resolve(statusCode)).on(
        'error',
        reject,
      );
    });
    expect(status).toBe(200);
  });
});
