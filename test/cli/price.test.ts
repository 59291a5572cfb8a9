import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type PriceOptions, price } from '../../src/cli/prices/price.ts';
import { operationsIn } from '../../src/cli/prices/project-operations.ts';
import { openSandbox } from '../../src/cli/serve.ts';
import { plugins } from '../../src/plugins.ts';

/** A project of files by their names, in a folder of its own. */
function project(files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'prices-'));
  const add = (some: typeof files) => {
    for (const [name, text] of Object.entries(some)) writeFileSync(join(folder, name), text);
  };
  add(files);
  const out = join(folder, 'graphql-prices.json');
  const patterns = [join(folder, '*.{ts,graphql}')];
  return {
    add,
    patterns,
    inFolder: (name: string) => join(folder, name),
    written: () => JSON.parse(readFileSync(out, 'utf8')),
    price: (options: Partial<PriceOptions> = {}) =>
      price(patterns, { out, visit: [], ...options }, { env: {}, plugins, openSandbox }),
  };
}

const CHART = `
import { gql } from '@apollo/client';
export const CHART = gql\`
  query Chart($codes: [CountryCode!]!) {
    countries(codes: $codes) { ...Row }
  }
  \${ROW}
\`;
`;
const ROW = `
export const ROW = graphql(/* GraphQL */ \`
  fragment Row on Country { name observation(metricKey: "population_total") { value } }
\`);
`;
const DEAR = 'query Start { countries { name offices { name } } }';
const CHEAP = 'query Start { countries { name } }';

describe('operations of a project', () => {
  it('operations of a project are found in documents and in template literals, with fragments of other files', async () => {
    const { patterns, inFolder } = project({ 'chart.ts': CHART, 'row.ts': ROW, 'start.graphql': CHEAP });
    const found = await operationsIn(patterns);
    expect(found.map(({ name, file }) => [name, file])).toEqual([
      ['Chart', inFolder('chart.ts')],
      ['Start', inFolder('start.graphql')],
    ]);
    expect(found[0]?.text).toContain('fragment Row on Country');
  });

  it.each([
    [
      'a text that is no GraphQL',
      { 'a.ts': 'const A = 1;\n\ngql`\n  query A { countries { }\n`' },
      /a\.ts is no GraphQL in line 4/,
    ],
    [
      'two operations of one name',
      { 'a.graphql': CHEAP, 'b.graphql': DEAR },
      /Start is defined in .*a\.graphql and in .*b\.graphql/,
    ],
    [
      'two operations without a name',
      { 'a.ts': 'gql`{ countries { name } }`; gql`{ sources { key } }`' },
      /a\.ts has several operations without a name/,
    ],
    ['no operation', { 'a.ts': 'export {}' }, /There is no operation in/],
    [
      'a field that is not there',
      { 'a.graphql': '{ planets }' },
      /has no price: Cannot query field "planets"/,
    ],
  ])('operations of a project with %s are refused', async (_, files, message) => {
    await expect(project(files).price()).rejects.toThrow(message);
  });
});

describe('the file of prices', () => {
  it('the file of prices has an operation a line, cold and warm, and what a visit costs', async () => {
    const { price, written } = project({ 'chart.ts': CHART, 'row.ts': ROW, 'start.graphql': CHEAP });
    const { report } = await price({ visit: [['Start', 'Chart', 'Chart']] });
    expect(written()).toMatchObject({
      operations: {
        Chart: { cold: 2, warm: 1, byRoute: { '/v1/countries': 1, '/v1/data': 1 } },
        Start: { cold: 1, warm: 0, byRoute: { '/v1/countries': 1 } },
      },
      visits: [{ operations: ['Start', 'Chart', 'Chart'], each: [1, 1, 0], calls: 2 }],
    });
    expect(report).toMatch(/Chart +2 +1/);
    expect((await price({ check: true })).isAsExpected).toBe(true);
  });

  it('the file of prices fails a check where a change made one call into 55, and says which field did and what to write', async () => {
    const { add, price, written } = project({ 'start.graphql': CHEAP });
    await price();
    add({ 'start.graphql': DEAR });
    const { report, isAsExpected } = await price({ check: true });
    expect(isAsExpected).toBe(false);
    expect(report).toMatch(
      /Start \(.*start\.graphql\): calls 1 → 55 cold, 0 → 54 warm\. Most go to \/v1\/government\/structure\/\{code\} for countries\.offices: a call for each country\. Select it for the countries that are shown/,
    );
    expect(report).toContain('Prices that have risen: 1.');
    expect(written().operations.Start.cold).toBe(1);
  });

  it('the file of prices fails a check where it is out of date or missing, and where variables name no operation', async () => {
    const { add, price, inFolder } = project({ 'start.graphql': CHEAP });
    await expect(price({ check: true })).rejects.toThrow(/There is no .*graphql-prices\.json/);
    await price();
    add({ 'more.graphql': 'query More { sources { key } }', 'variables.json': '{"Strat": {}}' });
    const { report, isAsExpected } = await price({ check: true });
    expect([isAsExpected, report]).toEqual([false, expect.stringContaining('More (')]);
    await expect(price({ variables: inFolder('variables.json') })).rejects.toThrow(
      'There is no operation "Strat". There are More, Start.',
    );
  });
});
