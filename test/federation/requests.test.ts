import { createHash } from 'node:crypto';
import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openProgram, type Program } from '../support/program.ts';
import { ADVICE_SDL, startAdvice } from './advice-subgraph.ts';
import { ROUTERS, startHive } from './routers.ts';

const TEAM = 'Bearer demo-team';
const QUERY = '{ warnings { code name } }';

let program: Program;
let advice: Awaited<ReturnType<typeof startAdvice>>;
let supergraphSdl: string;
beforeAll(async () => {
  program = await openProgram();
  advice = await startAdvice();
  const sdl = await (await fetch(new URL('/schema.graphql', program.url))).text();
  const services = [
    { name: 'country-graph', typeDefs: parse(sdl), url: program.url },
    { name: 'advice', typeDefs: parse(ADVICE_SDL), url: advice.url },
  ];
  supergraphSdl = composeServices(services).supergraphSdl ?? '';
});
afterEach(() => {
  program.requests();
  program.operations.length = 0;
});
afterAll(async () => {
  await advice[Symbol.asyncDispose]();
  await program[Symbol.asyncDispose]();
});

describe('a router that names operations by their hash', () => {
  it.each(Object.keys(ROUTERS))(
    'a router that names operations by their hash is answered: %s',
    async (name) => {
      await using router = await (ROUTERS[name] as (typeof ROUTERS)[string])(supergraphSdl, { apq: true });
      for (const _ of [1, 2]) {
        const { data, errors } = await router.ask(QUERY, TEAM);
        expect([data.warnings.length, errors]).toEqual([54, undefined]);
      }
      expect(program.requests()).toEqual(['GET /v1/countries', 'GET /v1/countries']);
      const unknown = program.operations.filter(({ errorCodes }) => errorCodes.length > 0);
      expect(unknown.map(({ errorCodes }) => errorCodes)).toEqual([['PERSISTED_QUERY_NOT_FOUND']]);
    },
  );
});

describe('a router that asks by GET', () => {
  it('a router that asks by GET is answered where it passes the key on', async () => {
    const methods: unknown[] = [];
    await using router = await startHive(supergraphSdl, {
      transportEntries: { '*.http': { options: { useGETForQueries: true } } },
      plugins: () => [{ onFetch: ({ options }) => void methods.push(options.method) }],
    });
    const { data, errors } = await router.ask('{ countries { code name } }', TEAM);
    expect([data.countries.length, errors, methods]).toEqual([54, undefined, ['GET']]);
    expect(program.requests()).toEqual(['GET /v1/countries']);
  });
});

describe('a router that makes one operation of several', () => {
  it('a router that makes one operation of several is answered, with the figures of all by one call', async () => {
    await using router = await startHive(supergraphSdl, { batching: true });
    const figure = (key: string) => `observation(metricKey: "${key}") { value }`;
    const { data, errors } = await router.ask(
      `{ warnings { code ${figure('population_total')} } drafts: warnings { code ${figure('life_expectancy')} } }`,
      TEAM,
    );
    expect(errors).toBeUndefined();
    for (const list of [data.warnings, data.drafts])
      expect(list[0].observation.value).toEqual(expect.any(Number));
    expect(program.requests()).toEqual([expect.stringContaining('GET /v1/data?')]);
    expect(program.operations).toHaveLength(1);
  });
});

describe('a router that keeps answers', () => {
  it('a router that keeps answers saves calls, and keeps them apart by a digest of the key', async () => {
    const held = new Map<string, unknown>();
    await using router = await startHive(supergraphSdl, {
      cache: {
        get: async (key) => held.get(key) as never,
        set: async (key, value) => void held.set(key, value),
        delete: async (key) => held.delete(key),
        getKeysByPrefix: async (prefix) => [...held.keys()].filter((key) => key.startsWith(prefix)),
      },
      responseCaching: {
        ttl: 60_000,
        session: (request) =>
          createHash('sha256')
            .update(request.headers.get('authorization') ?? '')
            .digest('hex'),
      },
    });
    const figures = '{ country(code: "KE") { name observation(metricKey: "population_total") { value } } }';
    const first = await router.ask(figures, TEAM);
    expect(program.requests()).toHaveLength(2);
    expect((await router.ask(figures, TEAM)).data).toEqual(first.data);
    expect(program.requests()).toEqual([]);
    const { data, errors = [] } = await router.ask(figures, 'Bearer unknown');
    expect([data.country, errors.length]).toEqual([{ name: null, observation: null }, 2]);
    program.requests();
    await router.ask(figures, 'Bearer demo-analyst');
    expect(program.sandbox.log.map(({ key }) => key)).toEqual(['analyst', 'analyst']);
    // Keeps no errors either.
    const sources = '{ sources { key } }';
    program.sandbox.faults.set({ kind: 'status', status: 500 });
    expect((await router.ask(sources, TEAM)).errors).toHaveLength(1);
    program.sandbox.faults.clear();
    expect((await router.ask(sources, TEAM)).errors).toBeUndefined();
    expect(JSON.stringify([...held])).not.toContain('demo-team');
  });
});
