import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

/** Asks in a process of its own, and prints after each answer the wings of fields that are loaded, and the calls so far. */
const SCRIPT = `
  import { registerHooks } from 'node:module';
  const seen = [];
  registerHooks({
    resolve(specifier, context, next) {
      const [name] = /(?<=wings\\/)(derived|citations)(?=\\.ts$)/.exec(specifier) ?? [];
      if (name !== undefined) seen.push(name);
      return next(specifier, context);
    },
  });
  const { openProgram } = await import('./test/support/program.ts');
  const program = await openProgram();
  for (const fields of JSON.parse(process.argv[1])) {
    const { errors } = await program.ask('{ countries(codes: ["KE", "NG"]) { observation(metricKey: "population_total") { ' + fields + ' } } }');
    console.log(JSON.stringify({ errors: errors.length, seen: [...new Set(seen)], calls: program.requests().length }));
  }
  await program[Symbol.asyncDispose]();
`;

it('fields derived of figures, and citations, are loaded by the first that asks for one, at no further call', async () => {
  const fields = [
    'value',
    'value citation',
    'value per(metricKey: "gdp_current_usd") { value } change',
    'change citation',
  ];
  const { stdout } = await run(process.execPath, [
    '--input-type=module',
    '-e',
    SCRIPT,
    JSON.stringify(fields),
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
  ]);
});
