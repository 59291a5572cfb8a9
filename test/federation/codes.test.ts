import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openProgram, type Program } from '../support/program.ts';
import { ADVICE_SDL, startAdvice } from './advice-subgraph.ts';
import { ROUTERS, type Router } from './routers.ts';

const ACCEPTS = ['application/json', 'application/graphql-response+json, application/json;q=0.9'];

interface Fault {
  readonly status?: number;
  readonly detail?: string;
  /** The key that it is met under, one for each: what a key was refused isn't asked for again for a while. */
  readonly key?: string;
  readonly told: Readonly<Record<string, unknown>>;
  /** What is asked of a country. */
  readonly selection?: string;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'no key': { told: { code: 'UNAUTHENTICATED', retryable: false } },
  'an unknown key': {
    key: 'unknown',
    told: { code: 'UNAUTHENTICATED', retryable: false },
  },
  'a key that is not permitted': {
    status: 403,
    detail: 'not for you',
    key: 'demo-analyst',
    told: { code: 'FORBIDDEN', retryable: false, detail: 'not for you' },
  },
  'a spent minute': {
    status: 429,
    detail: "rate limit exceeded for plan 'free': 5 requests per minute",
    key: 'demo-free',
    told: { code: 'RATE_LIMITED', retryable: true, plan: 'free', requestsPerMinute: 5 },
  },
  'an operation that is too dear': {
    key: 'demo-team',
    told: { code: 'OPERATION_TOO_EXPENSIVE', retryable: false, limit: 3 },
    selection: 'profile { record }',
  },
};

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
        // Without the setting, a whole answer of refusals has the status that says so, unless a router asks for entities.
        it.for(subgraph === 'on' || root === 'warnings' ? Object.keys(FAULTS) : [])(
          `the code of %s arrives ${from}`,
          async (fault) => {
            const { status, detail, key, told, selection = 'name' } = FAULTS[fault] as Fault;
            if (status !== undefined) {
              program.sandbox.faults.set({ kind: 'status', status, body: { detail } });
            }
            const authorization = key === undefined ? undefined : `Bearer ${key}`;
            const { errors = [] } = await router.ask(`{ ${root} { code ${selection} } }`, authorization);
            program.sandbox.faults.clear();
            const ours = errors.filter(({ extensions }) => 'requestId' in extensions);
            expect(ours.length).toBeGreaterThan(0);
            for (const { extensions } of ours) expect(extensions).toMatchObject(told);
          },
        );
      }
    });
  }
});
