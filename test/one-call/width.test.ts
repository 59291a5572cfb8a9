import { describe, expect, it } from 'vitest';
import type { Fault } from '../../src/sandbox/faults.ts';
import { openProgram, type Program } from '../support/program.ts';
import { settled } from '../support/quiet.ts';

const WIDGETS = [
  '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }',
  '{ country(code: "ng") { name observation(metricKey: "population_total") { value } } }',
  '{ countries(codes: ["ET", "EG"]) { observation(metricKey: "life_expectancy") { value year } } }',
  '{ observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) { value } }',
  '{ observations(countryCodes: ["GH", "ZA"], metricKeys: ["gdp_current_usd"], latest: true) { value } }',
  '{ indicator(key: "life_expectancy") { observation(countryCode: "KE") { value } } }',
  '{ country(code: "KE") { a: observation(metricKey: "gdp_current_usd") { value source { key } } } }',
  '{ country(code: "TZ") { observation(metricKey: "mobile_subscriptions_per_100") { value } } }',
  '{ countries { code observation(metricKey: "population_total") { value } } }',
  '{ country(code: "UG") { name capital } }',
];

describe('operations under one key', () => {
  it('operations under one key make one data call for a page of ten on the free plan, and no call is refused', async () => {
    await using program = await openProgram();
    const { ask, sandbox } = program;
    const replies = await Promise.all(WIDGETS.map((query) => ask(query, { key: sandbox.keys.free })));
    expect(replies.flatMap(({ errors }) => errors)).toEqual([]);
    expect(sandbox.log.filter(({ path }) => path === '/v1/data')).toHaveLength(1);
    expect(sandbox.log.filter(({ status }) => status !== 200)).toEqual([]);
    // Adds the bills up to the calls sent: nobody paid for another's.
    const sent = replies.reduce((sum, { upstream }) => sum + upstream.calls, 0);
    expect(sent).toBe(sandbox.log.length);
    expect(replies.filter(({ upstream }) => upstream.byRoute['/v1/data'] === 1)).toHaveLength(1);
  });

  it('operations under one key get the same answers as each would alone', async () => {
    await using together = await openProgram();
    await using apart = await openProgram();
    const merged = await Promise.all(WIDGETS.map((query) => together.ask(query)));
    for (const [i, query] of WIDGETS.entries()) {
      const alone = await apart.ask(query);
      expect(merged[i]?.data).toEqual(alone.data);
    }
  });

  it.each(['none', 'memory:'])(
    'operations under one key get the figures they share, of any age that each insists on (%s)',
    async (store) => {
      await using program = await openProgram({ env: { CACHE_URL: store, BATCH_WINDOW_MS: '20' } });
      const kinds = ['latest: true', 'latest: true, toYear: 2015', '', 'fromYear: 2000, toYear: 2004'];
      const ages = ['', ', maxAge: 0', ', maxAge: 60', ', maxAge: 0', ''];
      const asking = (kind: string, age: string) =>
        `{ observations(countryCodes: ["KE", "NG"], metricKeys: ["life_expectancy"] ${kind}${age}) { year value }
         country(code: "KE") { observation(metricKey: "population_total"${age}) { value } } }`;
      for (const kind of kinds) {
        const queries = [...ages.map((age) => asking(kind, age)), asking('latest: true', ', maxAge: 0')];
        const replies = await Promise.all(queries.map((query) => program.ask(query)));
        expect(replies.flatMap(({ errors }) => errors)).toEqual([]);
        const alone = await program.ask(asking(kind, ''));
        for (const reply of replies.slice(0, ages.length)) expect(reply.data).toEqual(alone.data);
        const sent = replies.reduce((sum, { upstream }) => sum + upstream.calls, 0);
        expect(sent).toBeLessThanOrEqual(2);
      }
      expect(program.problems).toEqual([]);
    },
  );

  describe.each(['none', 'memory:'])(
    'while a call is on its way that brings more than was asked for (%s)',
    (store) => {
      const figureOf = (code: string, key: string, kind: string) =>
        `observations(countryCodes: ["${code}"], metricKeys: ["${key}"], ${kind}) { year value country { code } indicator { key } }`;
      const corners = (kind: string) =>
        `{ a: ${figureOf('KE', 'life_expectancy', kind)} b: ${figureOf('NG', 'population_total', kind)} }`;
      const another = (kind: string) => `{ a: ${figureOf('NG', 'life_expectancy', kind)} }`;
      const open = (sandbox = {}) =>
        openProgram({ sandbox, env: { CACHE_URL: store, UPSTREAM_RETRIES: '0' } });
      /** Asks for two corners of a rectangle, and for another one while its call is on its way. */
      async function askOneAfterTheOther(program: Program, kind: string, fault?: Fault) {
        const { sandbox } = program;
        const arrived = Promise.withResolvers<void>();
        sandbox.faults.set({ kind: 'paused', until: arrived.promise });
        if (fault !== undefined) sandbox.faults.set(fault);
        const first = program.ask(corners(kind));
        await expect.poll(() => sandbox.log.length).toBe(1);
        const second = program.ask(another(kind));
        await settled(program);
        arrived.resolve();
        return Promise.all([first, second]);
      }

      it.each(['latest: true', 'latest: false', 'latest: true, maxAge: 60'])(
        'operations under one key while a call is on its way that brings more than was asked for wait for it (%s)',
        async (kind) => {
          await using program = await open();
          const [first, second] = await askOneAfterTheOther(program, kind);
          expect(program.requests()).toHaveLength(1);
          expect([first.errors, second.errors]).toEqual([[], []]);
          expect([first.upstream, second.upstream]).toMatchObject([
            { calls: 1, shared: 0 },
            { calls: 0, shared: 1 },
          ]);
          await using alone = await open();
          expect(second.data).toEqual((await alone.ask(another(kind))).data);
        },
      );

      it('operations under one key while a call is on its way that brings more than was asked for have the rest of it fetched if it is cut, and nothing twice', async () => {
        await using program = await open({ maxRows: 100 });
        const [first, second] = await askOneAfterTheOther(program, 'latest: false');
        expect([first.errors, second.errors]).toEqual([[], []]);
        const sent = program.requests();
        expect(sent).toEqual([...new Set(sent)]);
        expect(first.upstream.calls + second.upstream.calls).toBe(sent.length);
        await using alone = await open();
        expect(second.data).toEqual((await alone.ask(another('latest: false'))).data);
        expect(first.data).toEqual((await alone.ask(corners('latest: false'))).data);
      });

      it('operations under one key while a call is on its way that brings more than was asked for fail with it', async () => {
        await using program = await open();
        const down: Fault = { kind: 'status', status: 503 };
        const replies = await askOneAfterTheOther(program, 'latest: true', down);
        expect(program.requests()).toHaveLength(1);
        const codes = replies.map(({ errors }) => errors.map(({ extensions }) => extensions.code));
        expect(codes).toEqual([['UPSTREAM_UNAVAILABLE', 'UPSTREAM_UNAVAILABLE'], ['UPSTREAM_UNAVAILABLE']]);
      });
    },
  );

  it('operations under one key lose nothing when one of them is given up', async () => {
    await using program = await openProgram({ env: { BATCH_WINDOW_MS: '50' } });
    const { ask, sandbox } = program;
    const isLeft = Promise.withResolvers<void>();
    sandbox.faults.set({ kind: 'paused', until: isLeft.promise });
    const leaving = new AbortController();
    const left = ask(WIDGETS[0] as string, { signal: leaving.signal });
    const stays = ask(WIDGETS[6] as string);
    await expect.poll(() => sandbox.log.length).toBe(1);
    leaving.abort();
    await expect(left).rejects.toThrow('aborted');
    await settled(program);
    isLeft.resolve();
    expect((await stays).data.country.a.value).toEqual(expect.any(Number));
    expect(sandbox.log.map(({ aborted }) => aborted)).toEqual([false]);
    await expect.poll(() => program.operations.length).toBe(2);
    expect(program.problems).toEqual([]);
  });

  it('operations under one key are not tied to a batch that was given up just before they came', async () => {
    await using program = await openProgram();
    const { ask, sandbox } = program;
    sandbox.faults.set({ kind: 'hang', times: 1 });
    const leaving = new AbortController();
    const left = ask(WIDGETS[0] as string, { signal: leaving.signal });
    await expect.poll(() => sandbox.log.length).toBe(1);
    leaving.abort();
    await expect(left).rejects.toThrow('aborted');
    const reply = await ask(WIDGETS[0] as string);
    expect(reply.errors).toEqual([]);
    expect(reply.data.country.observation.value).toEqual(expect.any(Number));
    expect(reply.upstream.calls).toBe(1);
  });

  it('operations under one key never share with operations under another key', async () => {
    await using program = await openProgram();
    const { ask, sandbox } = program;
    const [team, analyst, forbidden] = await Promise.all(
      [sandbox.keys.team, sandbox.keys.analyst, sandbox.keys.forbidden].map((key) =>
        ask(WIDGETS[0] as string, { key }),
      ),
    );
    expect(team?.data).toEqual(analyst?.data);
    expect(forbidden?.errors.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN']);
    expect(sandbox.log.map(({ key }) => key).sort()).toEqual(['analyst', 'forbidden', 'team']);
  });
});
