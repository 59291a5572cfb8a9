import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

const ON_DEMAND =
  'graphql.cost.(?:pricing|tally)|graphql.execution.incremental|graphql.request.(?:deferrals|deliver.*)|observations.(?:loaders.)?(?:repair|bisected|revalidation|listings)|service.failed-answers|plugins.*';

/** Asks the program, in a process of its own, and prints the calls and the parts loaded on demand that its start and each question take. */
const SCRIPT = `
  import { registerHooks } from 'node:module';
  let seen = new Set();
  registerHooks({
    load(url, context, next) {
      const found = /\\/src\\/(${ON_DEMAND})\\.ts$/.exec(url);
      if (found !== null) seen.add(found[1]);
      return next(url, context);
    },
  });
  const { openProgram } = await import('./test/support/program.ts');
  const program = await openProgram({ env: { CACHE_URL: 'memory:', SUBSCRIPTIONS: 'off', GRAPHIQL: 'off', MCP: 'off' } });
  // The definitions of plugins are loaded at each start.
  const steps = [[0, [...seen].filter((name) => !name.startsWith('plugins')).sort()]];
  seen = new Set();
  for (const text of process.argv.slice(1)) {
    const { upstream } = await program.ask(text);
    steps.push([upstream.calls, [...seen].sort()]);
    seen = new Set();
  }
  await program[Symbol.asyncDispose]();
  console.log(JSON.stringify(steps));
`;

it('neither a start nor a figure loads a part that few ask for, and a question loads those that it needs', async () => {
  const questions = [
    '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }',
    '{ tickers { symbol } }',
    // Prices one that may take more calls than are allowed, and has more rows than the service sends at once.
    '{ observations(metricKeys: ["population_total"]) { value } }',
  ];
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', SCRIPT, ...questions]);
  expect(JSON.parse(stdout)).toEqual([
    [0, []],
    [1, []],
    [2, ['observations/loaders/listings']],
    [6, ['graphql/cost/pricing', 'graphql/cost/tally', 'observations/repair', 'observations/revalidation']],
  ]);
}, 60_000);
