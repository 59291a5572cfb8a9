import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/config.ts';
import { openPublishing } from '../address/publishing.ts';
import { openProgram } from '../support/program.ts';
import { CARD, RANKED, trustedFile } from './documents.ts';

/** As the interfaces of models take them: one tool beyond makes each request of a session fail. */
const NAME = /^[\w-]{1,64}$/;
const MOST_WORDS = 1_024;

const LONG = 'ThePopulationOfAllCountriesOfOneRegionSinceOneYearWithTheirSourcesAndTheirBounds';
const NEAR = 'PopulationAndGrowthOfTheCountriesOfOneRegionSinceOneYearABCD';
const named = (name: string, field: string, words = 'Countries.') =>
  `# ${words}\nquery ${name} { countries { ${field} } }`;

async function openTools(texts: readonly string[]) {
  const file = trustedFile(texts);
  const program = await openProgram({ env: { MCP: 'on', TRUSTED_DOCUMENTS: file.path } }).finally(
    file.remove,
  );
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${program.sandbox.keys.team}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(program.url.replace('/graphql', '/mcp')), { requestInit }),
  );
  const close = program[Symbol.asyncDispose].bind(program);
  return Object.assign(program, {
    client,
    async [Symbol.asyncDispose]() {
      await client.close();
      await close();
    },
  });
}

describe('names and words of tools', () => {
  it.for([
    ['one of eighty letters', [named(LONG, 'code')]],
    ['several that begin alike', ['code', 'name', 'iso3'].map((field, i) => named(`${LONG}${i}`, field))],
    ['several of one long name', ['code', 'name', 'iso3'].map((field) => named(LONG, field))],
    ['several of one name, whose suffix has no room', ['code', 'name'].map((field) => named(NEAR, field))],
    ['one with a long description', [named('Words', 'code', 'All countries. '.repeat(200))]],
  ] as const)('tools have names and words that models take: %s', async ([, texts]) => {
    await using program = await openTools(texts);
    const { tools } = await program.client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names.filter((name) => !NAME.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(texts.length + 2);
    for (const { description = '' } of tools) expect(description.length).toBeLessThanOrEqual(MOST_WORDS);
    for (const { description, inputSchema } of tools) {
      expect(Object.keys(inputSchema.properties ?? {}).filter((name) => !NAME.test(name))).toEqual([]);
      if (!description?.startsWith('Finds') && !description?.startsWith('Tells'))
        expect(description).toMatch(/Costs 1 call\(s\)/);
    }
    for (const name of names.slice(0, texts.length)) {
      const { structuredContent } = await program.client.callTool({ name, arguments: {} });
      expect(structuredContent).toMatchObject({ data: { countries: expect.any(Array) } });
    }
    // The same names again, whatever the program is.
    await using again = await openTools(texts);
    expect((await again.client.listTools()).tools.map(({ name }) => name)).toEqual(names);
  });

  it('a variable that is longer than models take is refused at the start, by name', async () => {
    const text = `# Countries.\nquery Some($${LONG}: [CountryCode!]) { countries(codes: $${LONG}) { code } }`;
    await expect(openTools([text])).rejects.toThrow(ConfigError);
    await expect(openTools([text])).rejects.toThrow(
      `Some has the variable ${LONG}; tools take 64 characters.`,
    );
  });

  it('public documents have identifiers of operations that models take', async () => {
    const name = 'a'.repeat(64);
    await using program = await openPublishing({ published: { [name]: { document: 'Bars', key: 'page' } } });
    await program.issue({ name: 'page' });
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
    const { paths } = (await (await program.at('/openapi.json')).json()) as any;
    const ids = Object.values<{ get: { operationId: string } }>(paths).map(({ get }) => get.operationId);
    expect(ids.filter((id) => !NAME.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(9);
  });
});

type Schema = Readonly<Record<string, unknown>>;

/** Values that a schema excludes. */
function excluded(schema: Schema): readonly unknown[] {
  const { type, enum: values, minimum, maximum, maxLength, pattern, items } = schema;
  const others: Readonly<Record<string, readonly unknown[]>> = {
    string: [5, true, ['KE'], {}],
    integer: ['1', 1.5, true, [1], {}],
    number: ['1', true, [1]],
    boolean: ['true', 1],
    array: ['KE', 1, {}, true],
    object: ['{}', 1, []],
  };
  return [
    ...(others[String(type)] ?? []),
    ...(values === undefined ? [] : ['NO_SUCH_VALUE']),
    ...(typeof minimum === 'number' ? [minimum - 1] : []),
    ...(typeof maximum === 'number' ? [maximum + 1] : []),
    ...(typeof maxLength === 'number' ? ['a'.repeat(maxLength + 1)] : []),
    ...(pattern === undefined ? [] : ['Kenya', '']),
    ...(items === undefined ? [] : excluded(items as Schema).map((item) => [item])),
  ];
}

const EVERY = `# Figures.
query Every($codes: [CountryCode!], $metrics: [String!], $latest: Boolean, $from: Int, $scope: ObservationScope) {
  observations(countryCodes: $codes, metricKeys: $metrics, latest: $latest, fromYear: $from, scope: $scope) { value }
}`;

describe('what a schema of ours excludes', () => {
  it('no tool runs with an argument that its schema excludes', async () => {
    await using program = await openTools([CARD, RANKED, EVERY]);
    const { tools } = await program.client.listTools();
    const fitting: Readonly<Record<string, unknown>> = {
      code: 'KE',
      metric: 'population_total',
      words: 'population',
      tool: 'Card',
      metrics: ['population_total'],
    };
    let tries = 0;
    for (const { name, inputSchema } of tools) {
      const {
        properties = {},
        required = [],
        $defs = {},
      } = inputSchema as unknown as {
        properties: Readonly<Record<string, Schema>>;
        required: readonly string[];
        $defs: Readonly<Record<string, Schema>>;
      };
      const good = Object.fromEntries(
        Object.keys(properties).flatMap((key) => (key in fitting ? [[key, fitting[key]]] : [])),
      );
      const bad = [
        { ...good, noSuchArgument: 1 },
        ...required.map((key) => ({ ...good, [key]: undefined })),
        ...Object.entries(properties).flatMap(([key, schema]) => {
          const of =
            typeof schema.$ref === 'string' ? ($defs[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema;
          return excluded(of).map((value) => ({ ...good, [key]: value }));
        }),
      ];
      for (const given of bad) {
        tries += 1;
        const { isError, structuredContent } = await program.client.callTool({ name, arguments: given });
        expect([name, given, isError]).toEqual([name, given, true]);
        expect(structuredContent).toMatchObject({
          upstream: { calls: 0 },
          errors: [{ code: 'BAD_USER_INPUT' }],
        });
      }
    }
    expect(tries).toBeGreaterThan(50);
    expect(program.requests()).toEqual([]);
    const { structuredContent } = await program.client.callTool({ name: 'Card', arguments: { code: 'KE' } });
    expect(structuredContent).toMatchObject({ data: { country: { capital: 'Nairobi' } } });
  });

  it('no public document runs with a parameter that its description excludes', async () => {
    await using program = await openPublishing();
    await program.issue({ name: 'page' });
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
    const { paths } = (await (await program.at('/openapi.json')).json()) as any;
    program.requests();
    let tries = 0;
    for (const [path, { get }] of Object.entries<{ get: { parameters: { name: string; schema: Schema }[] } }>(
      paths,
    ))
      for (const { name, schema } of get.parameters) {
        const of = schema.type === 'array' ? (schema.items as Schema) : schema;
        // An address has only texts, and an empty one is an empty list.
        const isNumber = of.type === 'integer';
        if (of.pattern === undefined && of.enum === undefined && !isNumber) continue;
        const wrong = excluded(of).filter((value) =>
          typeof value === 'string' ? value !== '' && !isNumber : typeof value === 'number',
        );
        for (const value of wrong) {
          tries += 1;
          const { status } = await program.at(`${path}?${name}=${encodeURIComponent(String(value))}`);
          expect([path, name, value, status]).toEqual([path, name, value, 400]);
        }
      }
    expect(tries).toBeGreaterThan(20);
    expect(program.requests()).toEqual([]);
  });
});
