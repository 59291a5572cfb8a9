import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openProgram, type Program } from '../support/program.ts';
import { ADVICE_SDL, startAdvice } from './advice-subgraph.ts';
import { askedAfter, FAULTS } from './faults.ts';
import { isLeftOut, type Subgraph, startGrafbase } from './grafbase.ts';
import type { Router } from './routers.ts';

const TEAM = 'Bearer demo-team';

let advice: Awaited<ReturnType<typeof startAdvice>>;
beforeAll(async () => {
  advice = await startAdvice();
});
afterAll(() => advice[Symbol.asyncDispose]());

async function subgraphsOf({ url }: Program): Promise<readonly Subgraph[]> {
  const sdl = await (await fetch(new URL('/schema.graphql', url))).text();
  return [
    { name: 'country-graph', sdl, url },
    { name: 'advice', sdl: ADVICE_SDL, url: advice.url },
  ];
}

const routesOf = (program: Program) => program.requests().map((request) => request.replace(/\?.*/, ''));

describe.skipIf(isLeftOut)("Grafbase's engine", () => {
  it("Grafbase's engine composes both subgraphs, and gets what each has of the other at the calls of one", async () => {
    await using program = await openProgram();
    await using router = await startGrafbase(await subgraphsOf(program));
    const ours = await router.ask('{ countries { code name advice } }', TEAM);
    expect([ours.data.countries.length, ours.errors]).toEqual([54, undefined]);
    expect(ours.data.countries).toContainEqual({
      code: 'KE',
      name: 'Kenya',
      advice: 'KE: ask about East Africa.',
    });
    expect(routesOf(program)).toEqual(['GET /v1/countries']);

    const theirs = await router.ask(
      `{ warnings { code name
        population: observation(metricKey: "population_total") { value }
        life: observation(metricKey: "life_expectancy") { value } } }`,
      TEAM,
    );
    expect([theirs.data.warnings.length, theirs.errors]).toEqual([54, undefined]);
    for (const { name, population, life } of theirs.data.warnings)
      expect([typeof name, typeof population.value, typeof life.value]).toEqual([
        'string',
        'number',
        'number',
      ]);
    expect(routesOf(program)).toEqual(['GET /v1/countries', 'GET /v1/data']);

    const required = await router.ask('{ warnings { code advice } }', TEAM);
    expect([required.data.warnings.length, required.errors]).toEqual([54, undefined]);
    expect(routesOf(program)).toEqual(['GET /v1/countries']);
  });

  it("Grafbase's engine keeps no more than the number of a status that is not 200", async () => {
    await using program = await openProgram();
    await using router = await startGrafbase(await subgraphsOf(program));
    const { errors = [] } = await router.ask('{ countries { name } }', undefined);
    expect(errors).toMatchObject([
      { message: 'Request failed with status code: 401', extensions: { code: 'SUBGRAPH_REQUEST_ERROR' } },
    ]);
  });
});

describe.skipIf(isLeftOut)("Grafbase's engine with SUBGRAPH=on", () => {
  let program: Program;
  let router: Router;
  beforeAll(async () => {
    program = await openProgram({ env: { SUBGRAPH: 'on', MAX_UPSTREAM_CALLS: '3' } });
    router = await startGrafbase(await subgraphsOf(program));
  });
  afterAll(async () => {
    await router?.[Symbol.asyncDispose]();
    await program?.[Symbol.asyncDispose]();
  });

  const ofField = Object.keys(FAULTS).map((fault) => [fault, 'countries'] as const);
  const ofEntity = ['a key that is not permitted', 'a spent minute'].map(
    (fault) => [fault, 'warnings'] as const,
  );
  it.for([...ofField, ...ofEntity])(
    "Grafbase's engine with SUBGRAPH=on tells the code of %s, from `%s`",
    async ([fault, root]) => {
      const told = await askedAfter(program, router, FAULTS[fault], root);
      expect(told.length).toBeGreaterThan(0);
      for (const extensions of told) expect(extensions).toMatchObject(FAULTS[fault]?.told ?? {});
    },
  );

  /** Version 0.103.0 ends the connection of its client then. */
  it.for(['no key', 'an operation that is too dear'])(
    "Grafbase's engine with SUBGRAPH=on has no answer where there is no data of entities at all: %s",
    async (fault) => {
      await expect(askedAfter(program, router, FAULTS[fault], 'warnings')).rejects.toThrow('fetch failed');
    },
  );
});
