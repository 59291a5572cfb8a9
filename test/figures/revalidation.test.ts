import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { draws } from '../support/draws.ts';
import type { ProgramOptions } from '../support/program.ts';
import { openTimedProgram } from '../support/timed-program.ts';

/** Start after the last runs of the sandbox's sources. */
const START = Date.parse('2026-11-10T12:00:30Z');

const folder = mkdtempSync(join(tmpdir(), 'country-graph-'));
afterAll(() => rmSync(folder, { recursive: true }));

const CODES = ['KE', 'NG', 'GH', 'ZA', 'EG', 'MA'];

async function open(env: ProgramOptions['env'] = {}) {
  const program = await openTimedProgram({ startMs: START, env: { CACHE_RENEWAL: 'on', ...env } });
  const figures = (codes: readonly string[], key = 'population_total') =>
    program.ask(
      `{ observations(countryCodes: ${JSON.stringify(codes)}, metricKeys: ["${key}"], latest: true) {
        value retrievedAt source { key } freshness { fetchedAt stale } } }`,
    );
  return Object.assign(program, {
    figures,
    /** Asks for each country by itself, so that each takes a call. */
    async figuresOneByOne() {
      for (const code of CODES) await figures([code]);
    },
  });
}

describe('figures past their time', () => {
  it('figures past their time are renewed by one call where their source has not changed', async () => {
    await using program = await open();
    await program.figuresOneByOne();
    expect(program.requests()).toHaveLength(6);
    program.pass(400);
    const replies = [];
    for (const code of CODES) replies.push(await program.figures([code]));
    expect(program.requests()).toEqual(['GET /v1/platform/etl-status']);
    expect(replies.map(({ upstream }) => upstream.calls)).toEqual([1, 0, 0, 0, 0, 0]);
    for (const { data, upstream } of replies) {
      // Renewed figures are as old as before, and no longer past their time.
      expect(data.observations[0].freshness).toEqual({ fetchedAt: '2026-11-10T12:00:30.000Z', stale: false });
      expect(upstream).toMatchObject({ cached: 1 });
      expect(upstream.stale).toBeUndefined();
    }
  });

  it('figures past their time are asked for anew where it has', async () => {
    await using program = await open();
    await program.figuresOneByOne();
    const { data } = await program.figures(['KE']);
    program.requests();
    program.pass(400);
    program.sandbox.refresh(data.observations[0].source.key);
    const again = await program.figures(['KE']);
    expect(program.requests()).toEqual([
      'GET /v1/platform/etl-status',
      'GET /v1/data?country_codes=KE&latest=true&metric_keys=population_total',
    ]);
    expect(again.data.observations[0].retrievedAt).toBe(new Date(START + 400_000).toISOString());
  });

  it('figures past their time are asked for anew where the service has not said enough of their source', async () => {
    await using program = await open();
    await program.figuresOneByOne();
    program.requests();
    program.pass(400);
    program.sandbox.faults.set({
      kind: 'shape',
      route: '/v1/platform/etl-status',
      patch: (body) => ({
        data: body.data.map((row: object) => ({ ...row, last_successful_refresh: null })),
      }),
    });
    await program.figures(['KE']);
    expect(program.requests()).toHaveLength(2);
  });

  it('figures past their time are asked for anew as long as the day that their source names alone may hide a run', async () => {
    await using program = await open();
    const etlStatus = { kind: 'shape', route: '/v1/platform/etl-status' } as const;
    program.sandbox.faults.set({
      ...etlStatus,
      patch: (body) => ({
        data: body.data.map((row: object) => ({ ...row, last_successful_refresh: '2026-11-10' })),
      }),
    });
    const look = 'GET /v1/platform/etl-status';
    const data = (code: string) =>
      `GET /v1/data?country_codes=${code}&latest=true&metric_keys=population_total`;
    await program.figuresOneByOne();
    program.requests();
    program.pass(400);
    await program.figuresOneByOne();
    const [first, ...others] = program.requests();
    expect([first, others]).toEqual([look, CODES.map(data)]);
    // Asks once more for figures of that day, which may have come before its last run; later ones are as good
    // as new.
    program.pass(12 * 3_600);
    await program.figuresOneByOne();
    expect(program.requests().filter((request) => request !== look)).toEqual(CODES.map(data));
    program.pass(400);
    await program.figuresOneByOne();
    expect(program.requests()).toEqual([look]);
  });

  it('figures past their time that are absent are renewed only where no source has changed', async () => {
    await using program = await open();
    const absent = () => program.figures(CODES, 'median_income_usd');
    await program.figuresOneByOne();
    await absent();
    program.pass(400);
    program.requests();
    await absent();
    expect(program.requests()).toEqual(['GET /v1/platform/etl-status']);
    program.sandbox.refresh('acled_events');
    program.pass(400);
    await program.figuresOneByOne();
    program.requests();
    await absent();
    expect(program.requests()).toHaveLength(1);
  });
});

/** Sources of population_total, as the catalogue names them. */
const NAMINGS = {
  'names both sources': { sources: ['world_bank_wdi', 'un_wpp'] },
  'names the one that brought the rows': { sources: ['world_bank_wdi'] },
  'names another one': { sources: ['un_wpp'] },
  'names one in place of a list': { sources: undefined, source: 'world_bank_wdi' },
  'names none': { sources: [] },
};

/** A catalogue that lists sources and leaves one out can't be known to be wrong. */
const WRONG = NAMINGS['names the one that brought the rows'];

/** A service whose catalogue names sources so, and which has newer rows of population_total by country. */
async function openRevised(naming: object) {
  const program = await open();
  const newer = new Map<string, { value: number; source: string }>();
  const { faults } = program.sandbox;
  faults.set({
    kind: 'shape',
    route: '/v1/indicators',
    patch: ({ data }) => ({
      data: data.map((row: { metric_key: string }) =>
        row.metric_key === 'population_total' ? { ...row, ...naming } : row,
      ),
    }),
  });
  faults.set({
    kind: 'shape',
    route: '/v1/data',
    patch: ({ data }) => ({
      data: data.map((row: { country_code: string }) => ({
        ...row,
        source: 'world_bank_wdi',
        ...newer.get(row.country_code.toUpperCase()),
      })),
    }),
  });
  const holdCatalogue = () => program.ask('{ indicators { key } }');
  return Object.assign(program, { newer, holdCatalogue });
}

describe('a newer figure from another source of the metric', () => {
  it.for(
    Object.entries(NAMINGS).flatMap(([what, naming]) =>
      ([true, false] as const).map((isHeld) => [what, isHeld, naming] as const),
    ),
  )(
    'a newer figure from another source of the metric is never missed where the catalogue %s (held: %s)',
    async ([, isHeld, naming]) => {
      await using program = await openRevised(naming);
      if (isHeld) await program.holdCatalogue();
      await program.figuresOneByOne();
      program.pass(400);
      program.newer.set('KE', { value: 7, source: 'un_wpp' });
      program.sandbox.refresh('un_wpp');
      const isForeseen = !isHeld || naming !== WRONG;
      program.requests();
      const { data, upstream } = await program.figures(['KE']);
      if (isForeseen) {
        expect(data.observations).toMatchObject([{ value: 7, source: { key: 'un_wpp' } }]);
        expect(upstream.byRoute).toEqual({ '/v1/platform/etl-status': 1, '/v1/data': 1 });
      } else {
        expect(upstream.byRoute).toEqual({ '/v1/platform/etl-status': 1 });
      }
    },
  );

  it('a newer figure from another source of the metric costs nothing where only sources of other metrics have changed', async () => {
    await using program = await openRevised(NAMINGS['names both sources']);
    await program.holdCatalogue();
    await program.figuresOneByOne();
    program.pass(400);
    program.sandbox.refresh('acled_events');
    const { upstream } = await program.figures(['KE']);
    expect(upstream.byRoute).toEqual({ '/v1/platform/etl-status': 1 });
  });

  it('a newer figure from another source of the metric is never missed, whatever changes when', async () => {
    const step = fc.record({
      seconds: fc.constantFrom(1, 100, 250, 299, 301, 400, 900),
      revised: fc.option(
        fc.record({
          code: fc.constantFrom(...CODES),
          source: fc.constantFrom('world_bank_wdi', 'un_wpp'),
        }),
      ),
      holdsCatalogue: fc.boolean(),
      asked: fc.subarray(CODES, { minLength: 1 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(NAMINGS['names both sources'], NAMINGS['names none']),
        fc.array(step, { minLength: 3, maxLength: 12 }),
        async (naming, steps) => {
          await using program = await openRevised(naming);
          await program.figuresOneByOne();
          let at = START;
          let value = 0;
          const revisedAt = new Map<string, number>();
          for (const { seconds, revised, holdsCatalogue, asked } of steps) {
            program.pass(seconds);
            at += seconds * 1000;
            if (revised !== null) {
              value += 1;
              program.newer.set(revised.code, { value, source: revised.source });
              program.sandbox.refresh(revised.source);
              revisedAt.set(revised.code, at);
            }
            if (holdsCatalogue) await program.holdCatalogue();
            for (const code of asked) {
              const { data } = await program.figures([code]);
              // Sees every revision that is older than the time for which data may be served without asking.
              const isDue = at - (revisedAt.get(code) ?? at) >= 300_000;
              if (isDue) expect(data.observations).toMatchObject([{ value: program.newer.get(code)?.value }]);
            }
          }
        },
      ),
      { numRuns: draws(15, 3) },
    );
  });
});

describe('the call for it', () => {
  it.for([
    ['memory', 'memory:'],
    ['SQLite', `sqlite:${join(folder, 'revalidation.sqlite')}`],
  ] as const)(
    'the call that renews figures is not spent on figures that no look makes young enough, held in %s',
    async ([, url]) => {
      await using program = await open({ CACHE_URL: url });
      await program.figuresOneByOne();
      program.pass(400);
      const strict = await program.ask(
        `{ observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true, maxAge: 0) { value } }`,
      );
      expect(strict.upstream.byRoute).toEqual({ '/v1/data': 1 });
    },
  );

  it('the call that renews figures leaves what is known of a figure as it was where nothing new is known', async () => {
    await using program = await open();
    await program.figuresOneByOne();
    program.pass(400);
    await program.figures(['KE']);
    program.pass(100);
    const once = `{ observations(countryCodes: ["NG"], metricKeys: ["population_total"], latest: true, maxAge: 0) { value } }`;
    expect((await program.ask(once)).upstream.byRoute).toEqual({ '/v1/data': 1 });
    expect((await program.figures(['KE'])).upstream.calls).toBe(0);
  });

  it('the call that renews figures is not spent where it saves no more than it costs', async () => {
    await using program = await open();
    await program.figures(CODES);
    program.requests();
    program.pass(400);
    await program.figures(CODES);
    expect(program.requests()).toHaveLength(1);
    expect(program.requests()).not.toContain('GET /v1/platform/etl-status');
  });

  it('the call that renews figures is spent at once where many calls are at stake', async () => {
    await using program = await open();
    const wide = '{ countries { code } indicators { key } observations(latest: true) { value } }';
    const first = await program.ask(wide);
    expect(first.upstream.byRoute['/v1/data']).toBeGreaterThan(10);
    program.pass(400);
    const again = await program.ask(wide);
    expect(again.upstream.byRoute).toEqual({
      '/v1/countries': 1,
      '/v1/indicators': 1,
      '/v1/platform/etl-status': 1,
    });
    expect(again.data.observations).toHaveLength(first.data.observations.length);
  });

  it('the call that renews figures is spent once an interval, whatever came of it', async () => {
    await using program = await open();
    await program.figuresOneByOne();
    program.pass(400);
    program.requests();
    program.sandbox.faults.set({ kind: 'status', status: 500, route: '/v1/platform/etl-status' });
    await program.figures(['KE']);
    await program.figures(['NG']);
    const asked = program.requests().filter((request) => request.includes('etl-status'));
    // One call, and its retries.
    expect(asked).toHaveLength(3);
  });

  it('the call that renews figures is spared where somebody has just asked for the sources', async () => {
    await using program = await open();
    await program.figuresOneByOne();
    program.pass(400);
    await program.ask('{ sources { key } }');
    program.requests();
    await program.figures(['KE']);
    expect(program.requests()).toEqual([]);
  });

  it('the call that renews figures is never spent with CACHE_RENEWAL=off', async () => {
    await using program = await open({ CACHE_RENEWAL: 'off' });
    await program.figuresOneByOne();
    program.pass(400);
    program.requests();
    await program.figuresOneByOne();
    expect(program.requests().filter((request) => request.includes('etl-status'))).toEqual([]);
  });

  it('the call that renews figures does not count where a field insists on younger figures', async () => {
    await using program = await open();
    await program.figuresOneByOne();
    program.pass(400);
    await program.figures(['KE']);
    program.pass(100);
    program.requests();
    const strict = (maxAge: number) =>
      program.ask(
        `{ observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true, maxAge: ${maxAge}) { value } }`,
      );
    // The sources were looked at 100 seconds ago.
    expect((await strict(150)).upstream.calls).toBe(0);
    expect((await strict(50)).upstream.byRoute).toEqual({ '/v1/data': 1 });
  });
});
