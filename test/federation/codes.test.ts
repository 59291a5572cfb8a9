import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openProgram, type Program } from '../support/program.ts';
import { ADVICE_SDL, startAdvice } from './advice-subgraph.ts';
import { askedAfter, FAULTS } from './faults.ts';
import { ROUTERS, type Router } from './routers.ts';

const ACCEPTS = ['application/json', 'application/graphql-response+json, application/json;q=0.9'];

const ROOTS = { 'from a field of ours': 'countries', 'from an entity': 'warnings' };

describe.for(['off', 'on'])('with SUBGRAPH=%s', (subgraph) => {
  let program: Program;
  let advice: Awaited<ReturnType<typeof startAdvice>>;
  let supergraphSdl: string;
  beforeAll(async () => {
    program = await openProgram({ env: { SUBGRAPH: subgraph, MAX_UPSTREAM_CALLS: '3' } });
    advice = await startAdvice();
    const sdl = await (await fetch(new URL('/schema.graphql', program.url))).text();
    const services = [
      { name: 'country-graph', typeDefs: parse(sdl), url: program.url },
      { name: 'advice', typeDefs: parse(ADVICE_SDL), url: advice.url },
    ];
    supergraphSdl = composeServices(services).supergraphSdl ?? '';
  });
  afterAll(async () => {
    await advice[Symbol.asyncDispose]();
    await program[Symbol.asyncDispose]();
  });

  for (const [name, start] of Object.entries(ROUTERS)) {
    describe.for(ACCEPTS)(`through ${name} that accepts %s`, (accept) => {
      let router: Router;
      beforeAll(async () => {
        router = await start(supergraphSdl, { accept });
      });
      afterAll(() => router[Symbol.asyncDispose]());

      for (const [from, root] of Object.entries(ROOTS)) {
        // Leaves out whole answers of refusals without the setting: their status says so, unless a router
        // asks for entities.
        it.for(subgraph === 'on' || root === 'warnings' ? Object.keys(FAULTS) : [])(
          `the code of %s arrives ${from}`,
          async (fault) => {
            const told = await askedAfter(program, router, FAULTS[fault], root);
            expect(told.length).toBeGreaterThan(0);
            for (const extensions of told) expect(extensions).toMatchObject(FAULTS[fault]?.told ?? {});
          },
        );
      }
    });
  }
});
