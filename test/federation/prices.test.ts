import { readFileSync } from 'node:fs';
import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openProgram, type Program } from '../support/program.ts';
import { apolloPrice } from './apollo-prices.ts';
import { type Router, startHive } from './routers.ts';

/** Length that a router is told to assume of lists that don't tell theirs, as `docs/federation.md` has it. */
const LIST_SIZE = 50;

/** A price is told in hundredths of a call. */
const CALL = 100;

const [, README_EXAMPLE = ''] =
  /```graphql\n([\s\S]*?)```/.exec(readFileSync(new URL('../../README.md', import.meta.url), 'utf8')) ?? [];

/** Operations, with the calls that they take while nothing is held. */
const OPERATIONS: readonly (readonly [query: string, calls: number])[] = [
  ['{ countries { code } }', 1],
  [README_EXAMPLE, 2],
  ['{ countries { name observation(metricKey: "population_total") { value year country { code } } } }', 2],
  ['{ countries { code profile { indicators { value source { key } } } } }', 55],
  ['{ countries { code tickers { symbol } } }', 3],
  ['{ country(code: "KE") { code name } }', 1],
  ['{ country(code: "KE") { observation(metricKey: "population_total") { value } } }', 1],
  ['{ country(code: "KE") { name profile { indicators { value } } signals { observations { value } } } }', 3],
  ['{ country(code: "KE") { name offices { name terms { holder } country { code } } } }', 2],
  ['{ country(code: "KE") { observations(metricKeys: ["population_total"]) { year value } } }', 1],
  ['{ indicators { key name sources { key } } }', 1],
  ['{ indicators { key observation(countryCode: "KE") { value } } }', 2],
  ['{ indicator(key: "population_total") { name } }', 1],
  [
    `{ observations(countryCodes: ["KE", "NG"], metricKeys: ["population_total"], latest: true) {
         value country { code } indicator { key } source { key } } }`,
    1,
  ],
  // Prices fields below each row as if there were ten rows.
  [
    `{ observations(countryCodes: ["AO", "BJ", "BW", "CI", "EG", "ET", "GH", "KE", "MA", "NG"],
         metricKeys: ["population_total"], latest: true) { country { profile { indicators { value } } } } }`,
    11,
  ],
  ['{ sources { key nextRun } }', 1],
  // The call that finds out how many rows the service takes at once is made above.
  ['{ tickers { symbol country { code } } }', 1],
  ['{ health { status } platformVersion { version } }', 2],
  ['{ quota { plan } }', 0],
];

let program: Program;
let sdl: string;
let router: Router;
beforeAll(async () => {
  program = await openProgram();
  sdl = await (await fetch(new URL('/schema.graphql', program.url))).text();
  const services = [{ name: 'country-graph', typeDefs: parse(sdl), url: program.url }];
  const { supergraphSdl = '' } = composeServices(services);
  router = await startHive(supergraphSdl, {
    demandControl: { listSize: LIST_SIZE, includeExtensionMetadata: true },
  });
});
afterAll(async () => {
  await router[Symbol.asyncDispose]();
  await program[Symbol.asyncDispose]();
});

describe.for(OPERATIONS)('%s', ([query, calls]) => {
  const near = (price: number) => {
    const called = calls * CALL;
    const said = `${price} for ${calls} calls`;
    expect(price, said).toBeGreaterThanOrEqual(called / 2);
    expect(price, said).toBeLessThanOrEqual(called * 2);
  };

  it('an operation costs Hive Gateway what it takes', async () => {
    program.requests();
    const { extensions, errors } = await router.ask(query, 'Bearer demo-team');
    expect(errors).toBeUndefined();
    expect(program.requests()).toHaveLength(calls);
    near(extensions.cost.estimated);
  });

  it('an operation costs Apollo Router and Cosmo what it takes, by their rules', () =>
    near(apolloPrice(sdl, query, LIST_SIZE)));
});
