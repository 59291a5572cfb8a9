import { composeServices as composeByApollo } from '@apollo/composition';
import { composeServices as composeByGuild } from '@theguild/federation-composition';
import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';
import { ADVICE_SDL, startAdvice } from './advice-subgraph.ts';
import { ROUTERS } from './routers.ts';

async function sdlOf(url: string): Promise<string> {
  return (await fetch(new URL('/schema.graphql', url))).text();
}

function servicesOf(sdl: string, graphUrl: string, adviceUrl: string) {
  return [
    { name: 'country-graph', typeDefs: parse(sdl), url: graphUrl },
    { name: 'advice', typeDefs: parse(ADVICE_SDL), url: adviceUrl },
  ];
}

describe('composition with another subgraph', () => {
  it('composition with another subgraph has no error and no hint by Apollo', async () => {
    await using program = await openProgram();
    const services = servicesOf(await sdlOf(program.url), 'http://a.test', 'http://b.test');
    const { errors = [], hints = [] } = composeByApollo(services);
    expect([errors.map(String), hints.map(String)]).toEqual([[], []]);
  });

  it('composition with another subgraph has no error by the Guild', async () => {
    await using program = await openProgram();
    const services = servicesOf(await sdlOf(program.url), 'http://a.test', 'http://b.test');
    expect(composeByGuild(services).errors ?? []).toEqual([]);
  });

  it('composition with another subgraph keeps what a router prices by, in hundredths of a call', async () => {
    await using program = await openProgram();
    const { supergraphSdl } = composeByApollo(
      servicesOf(await sdlOf(program.url), 'http://a.test', 'http://b.test'),
    );
    expect(supergraphSdl).toMatch(/ countries\([\s\S]*?\n {2}\): \[Country!\][^\n]*@cost\(weight: 2\)/);
    expect(supergraphSdl).toContain('@listSize(assumedSize: 54)');
  });
});

describe.for(Object.keys(ROUTERS))('through %s', (name) => {
  async function open(env: Readonly<Record<string, string>> = {}) {
    const opened = new AsyncDisposableStack();
    const program = opened.use(await openProgram({ env }));
    const advice = opened.use(await startAdvice());
    const services = servicesOf(await sdlOf(program.url), program.url, advice.url);
    const { supergraphSdl = '' } = composeByApollo(services);
    const router = opened.use(await (ROUTERS[name] as (typeof ROUTERS)[string])(supergraphSdl));
    return { program, router, [Symbol.asyncDispose]: () => opened.disposeAsync() };
  }
  const byRoute = (requests: readonly string[]) =>
    Object.fromEntries(
      [...Map.groupBy(requests, (request) => request.replace(/^GET |\?.*$/g, ''))].map(([route, all]) => [
        route,
        all.length,
      ]),
    );

  it('through a router, our countries get what lives elsewhere, and needs what is ours', async () => {
    await using scene = await open();
    const { data, errors } = await scene.router.ask('{ countries { code name advice } }', 'Bearer demo-team');
    expect(errors).toBeUndefined();
    expect(data.countries).toHaveLength(54);
    expect(data.countries.find(({ code }: { code: string }) => code === 'KE')).toEqual({
      code: 'KE',
      name: 'Kenya',
      advice: 'KE: ask about East Africa.',
    });
    expect(byRoute(scene.program.requests())).toEqual({ '/v1/countries': 1 });
  });

  it('through a router, 54 countries of theirs with two figures each cost one data call', async () => {
    await using scene = await open();
    const { data, errors } = await scene.router.ask(
      `{ warnings { code level name
        population: observation(metricKey: "population_total") { value }
        life: observation(metricKey: "life_expectancy") { value } } }`,
      'Bearer demo-team',
    );
    expect(errors).toBeUndefined();
    expect(data.warnings).toHaveLength(54);
    for (const { name, population, life } of data.warnings) {
      expect([typeof name, typeof population.value, typeof life.value]).toEqual([
        'string',
        'number',
        'number',
      ]);
    }
    expect(byRoute(scene.program.requests())).toEqual({ '/v1/countries': 1, '/v1/data': 1 });
  });

  it('through a router, a field of theirs that requires one of ours costs the list once', async () => {
    await using scene = await open();
    const { data, errors } = await scene.router.ask('{ warnings { code advice } }', 'Bearer demo-team');
    expect(errors).toBeUndefined();
    expect(data.warnings).toHaveLength(54);
    expect(byRoute(scene.program.requests())).toEqual({ '/v1/countries': 1 });
  });

  it('through a router, a country of theirs that is none of ours fails alone', async () => {
    await using scene = await open();
    const { data, errors = [] } = await scene.router.ask(
      '{ drafts { code name observation(metricKey: "population_total") { value } } }',
      'Bearer demo-team',
    );
    const value = expect.any(Number);
    expect(data.drafts).toEqual([
      { code: 'KE', name: 'Kenya', observation: { value } },
      { code: 'KEN', name: null, observation: null },
      { code: 'UG', name: 'Uganda', observation: { value } },
    ]);
    // Hive Gateway tells it once for each field below, and leaves the place in the list out.
    expect(errors.length).toBeGreaterThan(0);
    const place = name === 'Hive Gateway' ? ['drafts'] : ['drafts', 1];
    for (const { path, extensions } of errors)
      expect([path?.slice(0, place.length), extensions.code]).toEqual([place, 'BAD_USER_INPUT']);
    expect(byRoute(scene.program.requests())).toEqual({ '/v1/countries': 1, '/v1/data': 1 });
  });

  it("through a router, the caller's key comes through, and is asked for where there is none", async () => {
    await using scene = await open();
    await scene.router.ask('{ countries { name } }', 'Bearer demo-analyst');
    expect(scene.program.sandbox.log.map(({ key }) => key)).toEqual(['analyst']);
    const { errors = [] } = await scene.router.ask('{ countries { name } }', undefined);
    expect(errors.map(({ extensions }) => extensions.code)).toContain('UNAUTHENTICATED');
  });

  it('through a router, an error of ours arrives with its code and when to come back', async () => {
    await using scene = await open();
    scene.program.sandbox.faults.set({
      kind: 'status',
      status: 429,
      body: { detail: "rate limit exceeded for plan 'free': 5 requests per minute" },
    });
    const { data, errors = [] } = await scene.router.ask(
      '{ warnings { code observation(metricKey: "population_total") { value } } }',
      'Bearer demo-free',
    );
    expect(data.warnings).toHaveLength(54);
    expect(errors.length).toBeGreaterThan(0);
    for (const { extensions } of errors) {
      expect(extensions).toMatchObject({
        code: 'RATE_LIMITED',
        retryable: true,
        plan: 'free',
        requestsPerMinute: 5,
      });
      expect(Date.parse(String(extensions.retryAt))).toBeGreaterThan(Date.now() - 60_000);
    }
  });
});
