import { describe, expect, it } from 'vitest';
import { inFlightTogether } from '../support/quiet.ts';
import {
  begin,
  CHANGED,
  eventsOf,
  LOOK,
  open,
  openLive,
  POPULATION,
  REFRESHED,
  subscriptionsOf,
  type Told,
  TRANSPORTS,
  valuesOf,
} from './live.ts';

describe.each(TRANSPORTS)('subscriptions over %s', (transport) => {
  it('subscriptions are told what changes, each change once and in order', async () => {
    await using program = await openLive();
    const client = open(program, transport);
    const changes = () => client.subscribe({ query: CHANGED, variables: POPULATION });
    const wider = { codes: ['KE', 'NG'], keys: ['population_total', 'gdp_current_usd'] };
    // Fetches figures of further subscribers together with the first ones, while those look at the sources.
    const told = await inFlightTogether(program, () =>
      begin(program, changes, changes, () => client.subscribe({ query: CHANGED, variables: wider })),
    );
    expect(program.requests().sort()).toEqual([
      'GET /v1/data?country_codes=KE,NG&latest=true&metric_keys=gdp_current_usd,population_total',
      'GET /v1/indicators',
      LOOK,
    ]);
    for (const factor of [2, 3, 4]) {
      program.revise('world_bank_wdi', 'population_total', factor);
      program.pass(60);
      await expect
        .poll(() => told.map(({ results }) => results.length))
        .toEqual([factor - 1, factor - 1, factor - 1]);
      // One look, and one call for the figures of all that its run may have changed.
      expect(program.requests()).toEqual([LOOK, expect.stringMatching(/^GET \/v1\/data\?/)]);
    }
    for (const one of told) {
      expect(one.results.every(({ errors }) => errors === undefined)).toBe(true);
      const revisions = eventsOf(one).map(({ revision }) => revision);
      expect(revisions).toEqual([...new Set(revisions)].sort());
    }
    expect(valuesOf(told[0] as Told)).toEqual([[115_000_000], [172_500_000], [230_000_000]]);
    expect(eventsOf(told[0] as Told)[1]).toMatchObject({
      isWhole: false,
      at: '2026-11-10T12:02:30.000Z',
      changes: [
        { kind: 'REVISED', before: { value: 115_000_000 }, observation: { country: { code: 'KE' } } },
      ],
    });
    expect(eventsOf(told[2] as Told).map(({ changes }) => changes.length)).toEqual([2, 2, 2]);
    expect(program.problems).toEqual([]);
  });

  it('subscriptions are told of each run of a source', async () => {
    await using program = await openLive();
    const client = open(program, transport);
    const [all, one] = await begin(
      program,
      () => client.subscribe({ query: REFRESHED }),
      () => client.subscribe({ query: REFRESHED, variables: { keys: ['un_wpp'] } }),
    );
    expect(program.requests()).toEqual([LOOK]);
    for (const [i, key] of ['un_wpp', 'acled_events', 'un_wpp'].entries()) {
      program.sandbox.refresh(key);
      program.pass(60);
      await expect.poll(() => all?.results.length).toBe(i + 1);
    }
    expect(program.requests()).toEqual([LOOK, LOOK, LOOK]);
    const keys = (told: Told | undefined) => told?.results.map(({ data }) => data.sourceRefreshed.key);
    expect(keys(all)).toEqual(['un_wpp', 'acled_events', 'un_wpp']);
    await expect.poll(() => keys(one)).toEqual(['un_wpp', 'un_wpp']);
  });

  it('subscriptions are told what changes on the day that is all the service says of the last runs', async () => {
    await using program = await openLive();
    const client = open(program, transport);
    program.sandbox.faults.set({
      kind: 'shape',
      route: '/v1/platform/etl-status',
      patch: (body) => ({
        data: body.data.map((row: object) => ({ ...row, last_successful_refresh: '2026-11-10' })),
      }),
    });
    const [changes, runs] = await begin(
      program,
      () => client.subscribe({ query: CHANGED, variables: POPULATION }),
      () => client.subscribe({ query: REFRESHED }),
    );
    program.requests();
    program.revise('world_bank_wdi', 'population_total', 2);
    program.pass(60);
    await expect.poll(() => changes?.results.length).toBe(1);
    // Each look is followed by one for the figures while the day lasts, whether or not they are others: no run is told that nobody knows of.
    expect(program.requests()).toEqual([LOOK, expect.stringMatching(/^GET \/v1\/data\?/)]);
    await program.round();
    expect(program.requests()).toEqual([LOOK, expect.stringMatching(/^GET \/v1\/data\?/)]);
    await program.round(12 * 3_600);
    program.requests();
    await program.round();
    expect(program.requests()).toEqual([LOOK]);
    expect([changes?.results.length, runs?.results.length]).toEqual([1, 0]);
  });

  it('subscriptions are refused without a key, at no call', async () => {
    await using program = await openLive();
    const closed: unknown[] = [];
    const client = open(program, transport, { key: null, onClosed: (...how) => void closed.push(how) });
    const told = client.subscribe({ query: CHANGED, variables: POPULATION });
    await expect.poll(() => told.isOver).toBe(true);
    expect(told.failures).toHaveLength(1);
    if (transport === 'ws') expect(closed).toEqual([[4401, expect.stringContaining('UNAUTHENTICATED')]]);
    else expect(String(told.failures[0])).toContain('401');
    expect(program.requests()).toEqual([]);
  });

  it('subscriptions are refused under a key that the service refuses, with its words', async () => {
    await using program = await openLive();
    const client = open(program, transport, { key: 'nobody-knows-me' });
    const told = client.subscribe({ query: CHANGED, variables: POPULATION });
    await expect.poll(() => told.isOver).toBe(true);
    const errors = transport === 'ws' ? told.failures[0] : told.results[0].errors;
    expect(errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED', retryable: false } }]);
    expect(program.requests()).toEqual([LOOK]);
    expect(await subscriptionsOf(program)).toBe(0);
  });

  it('subscriptions all begin that come at once, however few operations may be under way', async () => {
    await using program = await openLive({
      env: { MAX_CONCURRENT_OPERATIONS: '2', MAX_SUBSCRIPTIONS: '200' },
    });
    const client = open(program, transport);
    const subscribe = () => client.subscribe({ query: CHANGED, variables: POPULATION });
    const told = await begin(program, ...Array.from({ length: 200 }, () => subscribe));
    expect(told.flatMap(({ results, failures }) => [...results, ...failures])).toEqual([]);
    expect(program.requests()).toHaveLength(3);
  });

  it('subscriptions are as many under one key as MAX_SUBSCRIPTIONS says', async () => {
    await using program = await openLive({ env: { MAX_SUBSCRIPTIONS: '2' } });
    const client = open(program, transport);
    const subscribe = (asked = client) => asked.subscribe({ query: CHANGED, variables: POPULATION });
    const [first] = await begin(
      program,
      () => subscribe(),
      () => subscribe(),
    );
    program.requests();
    const third = subscribe();
    await expect.poll(() => third.isOver).toBe(true);
    const errors = transport === 'ws' ? third.failures[0] : third.results[0].errors;
    expect(errors).toMatchObject([
      {
        message: expect.stringContaining('MAX_SUBSCRIPTIONS'),
        extensions: { code: 'OPERATION_TOO_EXPENSIVE', retryable: false, planned: 3, limit: 2 },
      },
    ]);
    expect(program.requests()).toEqual([]);
    // Another key has its own, and one that has ended makes room.
    const other = open(program, transport, { key: 'demo-analyst' });
    await begin(program, () => subscribe(other));
    first?.stop();
    await expect.poll(() => subscriptionsOf(program)).toBe(2);
    await begin(program, () => subscribe());
  });
});
