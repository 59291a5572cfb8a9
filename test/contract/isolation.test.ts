import { describe, expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';
import { inFlightTogether } from '../support/quiet.ts';

/** One operation over every protected route. */
const EVERYTHING = `{
  countries(codes: ["KE"]) { capital profile { record } signals { record } offices { name } observation(metricKey: "population_total") { value } }
  indicators(keys: ["population_total"]) { unit }
  source(key: "world_bank_wdi") { nextRun }
  ticker(exchangeCode: "RSE", symbol: "SYN001") { name }
}`;

const refused = { code: 'UNAUTHENTICATED', retryable: false, detail: 'Not authenticated' };

describe('operations under different keys, interleaved', () => {
  it('interleaved operations under different keys share no call, on any route', async () => {
    await using program = await openProgram({ sandbox: { latencyMs: 250 } });
    const { ask, sandbox } = program;
    const { team, analyst } = sandbox.keys;
    const replies = await inFlightTogether(program, () =>
      Promise.all([team, analyst, team, analyst].map((key) => ask(EVERYTHING, { key }))),
    );
    for (const reply of replies) {
      expect(reply.errors).toEqual([]);
      expect(reply.data).toEqual(replies[0]?.data);
    }
    const sent = (name: string) => sandbox.log.filter(({ key }) => key === name).map(({ route }) => route);
    // Each key has its own call of each route, and within a key nobody asked twice.
    expect(sent('team').sort()).toEqual(sent('analyst').sort());
    expect(new Set(sent('team')).size).toBe(8);
    expect(sent('team').filter((route) => route !== '/v1/markets/tickers')).toHaveLength(7);
    expect(replies.reduce((sum, { upstream }) => sum + upstream.calls, 0)).toBe(sandbox.log.length);
  });

  it('interleaved operations under different keys give an unknown key nothing of what a known one has just had', async () => {
    await using program = await openProgram({ sandbox: { latencyMs: 20 } });
    const { ask, sandbox } = program;
    const [known, unknown] = await Promise.all([ask(EVERYTHING), ask(EVERYTHING, { key: 'nobody' })]);
    expect(known.errors).toEqual([]);
    const later = await ask(EVERYTHING, { key: 'nobody' });
    for (const reply of [unknown, later]) {
      expect(reply.errors.map(({ extensions: { route: _, ...rest } }) => rest)).toEqual(
        reply.errors.map(() => refused),
      );
      // Says so in the fields of the root once the key is known to be refused, and tries nothing below them.
      expect(reply.errors).toHaveLength(reply === later ? Object.keys(reply.data).length : 8);
      expect(JSON.stringify(reply.data)).not.toMatch(/"(capital|record|name|unit|nextRun|value)":[^n]/);
      expect(reply.status).toBe(401);
      expect(JSON.stringify(reply)).not.toContain('nobody');
    }
    // Counts refusals of the service under the refused key alone.
    expect(new Set(sandbox.log.filter(({ key }) => key === 'unknown').map(({ status }) => status))).toEqual(
      new Set([401]),
    );
    expect(unknown.upstream.calls + later.upstream.calls).toBe(
      sandbox.log.filter(({ key }) => key === 'unknown').length,
    );
  });

  it('interleaved operations under different keys count each key by itself, so that a spent one holds no other back', async () => {
    const clock = { now: () => Date.parse('2026-03-10T12:00:30Z'), sleep: async () => {} };
    await using program = await openProgram({ clock, sandbox: { now: clock.now } });
    const { ask, sandbox } = program;
    const figure =
      '{ country(code: "KE") { observation(metricKey: "population_total") { value } } quota { state callsThisMonth } }';
    const [spent, team] = [await ask(figure, { key: sandbox.keys.spent }), await ask(figure)];
    expect(spent.errors.map(({ extensions }) => extensions.code)).toEqual(['MONTHLY_QUOTA_EXCEEDED']);
    expect(team.errors).toEqual([]);
    const quota = async (key: string) =>
      (await ask('{ quota { state callsThisMonth } }', { key })).data.quota;
    expect(await quota(sandbox.keys.spent)).toEqual({ state: 'MONTH_SPENT', callsThisMonth: 1 });
    expect(await quota(sandbox.keys.team)).toEqual({ state: 'OK', callsThisMonth: 1 });
    expect(sandbox.log).toHaveLength(2);
  });
});

describe('under one key', () => {
  it('each list is asked for once by operations in flight together under one key', async () => {
    await using program = await openProgram();
    const { ask, sandbox } = program;
    const lists = '{ countries { code } indicators { key } sources { key } }';
    const replies = await inFlightTogether(program, () =>
      Promise.all([lists, lists, lists].map((query) => ask(query))),
    );
    expect(sandbox.log.map(({ path }) => path).sort()).toEqual([
      '/v1/countries',
      '/v1/indicators',
      '/v1/platform/etl-status',
    ]);
    expect(replies.reduce((sum, { upstream }) => sum + upstream.calls, 0)).toBe(3);
    expect(replies.reduce((sum, { upstream }) => sum + upstream.shared, 0)).toBe(6);
  });

  it('a list goes on for those who stay when one leaves', async () => {
    await using program = await openProgram();
    const { ask, sandbox } = program;
    let release = () => {};
    const asked = new Promise<void>((resolve) => {
      release = resolve;
    });
    sandbox.faults.set({
      kind: 'latency',
      ms: 200,
      when: () => {
        release();
        return true;
      },
    });
    const leaving = new AbortController();
    const first = ask('{ countries { code } }', { signal: leaving.signal });
    await asked;
    const second = ask('{ countries { name } }');
    await expect.poll(() => sandbox.log.length).toBe(1);
    leaving.abort();
    await expect(first).rejects.toThrow();
    const reply = await second;
    expect(reply.errors).toEqual([]);
    expect(reply.data.countries).toHaveLength(54);
    // Shared the call, which then went on; or came too late for that, and the call ended with its last
    // waiter.
    expect(reply.upstream.shared + reply.upstream.calls).toBe(1);
    expect(sandbox.log.filter(({ aborted }) => aborted)).toHaveLength(reply.upstream.calls);
    expect(program.problems).toEqual([]);
  });

  it('the references of a router, in one operation or in two, become one data call', async () => {
    await using program = await openProgram({ env: { BATCH_WINDOW_MS: '50' } });
    const query =
      'query ($r: [_Any!]!) { _entities(representations: $r) { ... on Country { observation(metricKey: "population_total") { value } } } }';
    const references = (...codes: string[]) => ({
      variables: { r: codes.map((code) => ({ __typename: 'Country', code })) },
    });
    const [first, second] = await Promise.all([
      program.ask(query, references('KE', 'UG')),
      program.ask(query, references('UG', 'TZ')),
    ]);
    expect(first.data._entities[1]).toEqual(second.data._entities[0]);
    expect(program.requests()).toEqual([
      'GET /v1/data?country_codes=KE,TZ,UG&latest=true&metric_keys=population_total',
    ]);
    expect(first.upstream.calls + second.upstream.calls).toBe(1);
    expect(first.upstream.shared + second.upstream.shared).toBe(1);
  });
});
