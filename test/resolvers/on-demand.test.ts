import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

/** Asks in a process of its own, and prints after each answer the parts for fields and lists that are loaded, and its calls. */
const SCRIPT = `
  import { registerHooks } from 'node:module';
  const seen = [];
  registerHooks({
    resolve(specifier, context, next) {
      const [name] = /(?<=\\/)(derived|citations|ordering)(?=\\.ts$)/.exec(specifier) ?? [];
      if (name !== undefined) seen.push(name);
      return next(specifier, context);
    },
  });
  const { openProgram } = await import('./test/support/program.ts');
  const program = await openProgram();
  for (const operation of JSON.parse(process.argv[1])) {
    const { errors } = await program.ask(operation);
    console.log(JSON.stringify({ errors: errors.length, seen: [...new Set(seen)], calls: program.requests().length }));
  }
  await program[Symbol.asyncDispose]();
`;

const figures = (fields: string) =>
  `{ countries(codes: ["KE", "NG"]) { observation(metricKey: "population_total") { ${fields} } } }`;

it('fields derived of figures, citations, searches, orders and pages are loaded by the first that asks for one, at no further call', async () => {
  const operations = [
    figures('value'),
    figures('value citation'),
    figures('value per(metricKey: "gdp_current_usd") { value } change'),
    figures('change citation'),
    `{ countriesConnection(first: 3, orderBy: [{ field: NAME }]) {
        nodes { observation(metricKey: "life_expectancy") { value } } } }`,
  ];
  const { stdout } = await run(process.execPath, [
    '--input-type=module',
    '-e',
    SCRIPT,
    JSON.stringify(operations),
  ]);
  const told = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(told).toEqual([
    { errors: 0, seen: [], calls: 1 },
    { errors: 0, seen: ['citations'], calls: 1 },
    { errors: 0, seen: ['citations', 'derived'], calls: 1 },
    { errors: 0, seen: ['citations', 'derived'], calls: 1 },
    // The list, and one call for the figures of its page.
    { errors: 0, seen: ['citations', 'derived', 'ordering'], calls: 2 },
  ]);
});
