import { createClient } from '@redis/client';
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isScalarType,
} from 'graphql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { extraRoutes } from '../../src/plugins/extra-routes/plugin.ts';
import { Terms } from '../../src/plugins/issued-keys/key.ts';
import { openPublishing } from '../address/publishing.ts';
import { freePort } from '../support/free-port.ts';
import { schemaOf } from '../support/plugin-host.ts';
import { openProgram } from '../support/program.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { CARD, RANKED, trustedFile } from '../tools/documents.ts';

/** As long as a body has room for, and as an address has. */
const LONG = 'a '.repeat(400_000);
const LONG_PARAMETER = 'a'.repeat(12_000);

const SAMPLES: Readonly<Record<string, unknown>> = {
  Int: 1,
  Float: 1,
  Boolean: true,
  CountryCode: 'KE',
  DateTime: '2026-01-01T00:00:00Z',
};

const takesText = (type: GraphQLInputType) => {
  const { name } = getNamedType(type);
  return isScalarType(getNamedType(type)) && !['Int', 'Float', 'Boolean'].includes(name);
};

function sampleOf(type: GraphQLInputType, text: string): unknown {
  if (isNonNullType(type)) return sampleOf(type.ofType, text);
  if (isListType(type)) return [sampleOf(type.ofType, text)];
  if (takesText(type)) return type.name === '_Any' ? { __typename: 'Indicator', key: text } : text;
  if (!isInputObjectType(type)) return SAMPLES[getNamedType(type).name];
  const fields = Object.values(type.getFields()).filter(({ type: field }) => isNonNullType(field));
  return Object.fromEntries(fields.map((field) => [field.name, sampleOf(field.type, text)]));
}

type Path = readonly GraphQLField<unknown, unknown>[];

/** The ways from the root to each type, the shortest each. */
function pathsFrom(root: GraphQLObjectType): ReadonlyMap<GraphQLObjectType, Path> {
  const paths = new Map<GraphQLObjectType, Path>([[root, []]]);
  for (const [type, path] of paths)
    for (const field of Object.values(type.getFields())) {
      const next = getNamedType(field.type);
      if (isObjectType(next) && !paths.has(next)) paths.set(next, [...path, field]);
    }
  return paths;
}

const argumentsOf = (field: GraphQLField<unknown, unknown>, wanted: GraphQLArgument | null) =>
  field.args.filter((argument) => argument === wanted || isRequiredArgument(argument));

/** An operation that gives one argument a value: by a variable, and all that has to be given beside it, short. */
function operationOf(
  path: Path,
  field: GraphQLField<unknown, unknown>,
  wanted: GraphQLArgument,
  given: string,
) {
  const variables: Record<string, unknown> = { text: sampleOf(wanted.type, given) };
  const definitions = [`$text: ${wanted.type}`];
  const written = [...path, field].map((step) => {
    const given = argumentsOf(step, step === field ? wanted : null).map((argument) => {
      if (argument === wanted) return `${argument.name}: $text`;
      const name = `v${definitions.length}`;
      definitions.push(`$${name}: ${argument.type}`);
      variables[name] = sampleOf(argument.type, 'KE');
      return `${argument.name}: $${name}`;
    });
    return `${step.name}${given.length === 0 ? '' : `(${given.join(', ')})`}`;
  });
  const type = getNamedType(field.type);
  const below = isLeafType(type) ? '' : '{ __typename }';
  const [last = '', ...before] = written.toReversed();
  const body = before.reduce((inner, step) => `${step} { ${inner} }`, `${last} ${below}`);
  return { text: `query(${definitions.join(', ')}) { ${body} }`, variables };
}

const schema = await schemaOf([extraRoutes], { EXTRA_ROUTES: 'trade,policy' });
const query = schema.getQueryType() as GraphQLObjectType;
/** Operations that give each argument of the graph that takes text one, and their variables. */
const operationsWith = (given: string) =>
  [...pathsFrom(query)].flatMap(([type, path]) =>
    Object.values(type.getFields()).flatMap((field) =>
      field.args
        .filter((argument) => takesText(argument.type))
        .map((argument) => {
          const { text, variables } = operationOf(path, field, argument, given);
          return [`${type.name}.${field.name}(${argument.name}:)`, text, variables] as const;
        }),
    ),
  );

describe('the longest texts', () => {
  it('the longest texts are refused by each argument of the graph, before any work', async () => {
    const operations = operationsWith(LONG);
    expect(operations.length).toBeGreaterThan(40);
    await using program = await openProgram({ env: { EXTRA_ROUTES: 'trade,policy' } });
    for (const [name, text, variables] of operations) {
      const { data, errors } = await program.ask(text, { variables });
      expect([name, data ?? null, errors.map(({ extensions }) => extensions.code)]).toEqual([
        name,
        null,
        ['BAD_USER_INPUT'],
      ]);
      expect([name, errors[0]?.message]).toEqual([
        name,
        expect.stringMatching(
          /^Variable "\$text" has a text of 800000 characters; this gateway takes 4096\.$/,
        ),
      ]);
    }
    // What stands in the text of an operation is bounded as well.
    for (const written of [JSON.stringify(LONG), `"""${LONG}"""`]) {
      const { errors } = await program.ask(`{ indicators(search: ${written}) { key } }`);
      expect(errors.map(({ extensions }) => extensions.code)).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    }
    const { errors } = await program.ask(
      `query($a: String = ${JSON.stringify(LONG)}) { indicators(search: $a) { key } }`,
    );
    expect(errors).toHaveLength(1);
    expect([program.requests(), program.problems]).toEqual([[], []]);
  });

  it.skipIf(!hasRedis)(
    'the longest texts that are taken make names of one line in Redis, up to 2 kB',
    async () => {
      await using redis = await startRedis();
      const env = { EXTRA_ROUTES: 'trade,policy', CACHE_URL: redis.url, CACHE_TIMEOUT_MS: '2000' };
      await using program = await openProgram({ env });
      let calls = 0;
      for (const given of ['€'.repeat(200), '\u0000\u0007\u001b\u2028', 'a\r\nSET b c\r\n'])
        for (const [, text, variables] of operationsWith(given)) {
          const { upstream } = await program.ask(text, { variables });
          calls += upstream.calls;
        }
      expect(program.requests()).toHaveLength(calls);
      const client = await createClient({ url: redis.url }).connect();
      const names = await client.keys('*');
      client.destroy();
      const lengths = names.map((name) => Buffer.byteLength(name));
      expect([Math.max(...lengths) > 1_500, Math.max(...lengths) < 2_048]).toEqual([true, true]);
      expect(names.filter((name) => /[\r\n\u2028]/.test(name))).toEqual([]);
      expect(program.problems).toEqual([]);
    },
  );

  it('the longest texts are refused by each argument of each tool', async () => {
    const file = trustedFile([CARD, RANKED]);
    onTestFinished(() => file.remove());
    await using program = await openProgram({ env: { MCP: 'on', TRUSTED_DOCUMENTS: file.path } });
    const sent = async (method: string, params: object) => {
      const response = await fetch(program.url.replace('/graphql', '/mcp'), {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          authorization: `Bearer ${program.sandbox.keys.team}`,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
      return (await response.json()) as any;
    };
    const { result } = await sent('tools/list', {});
    let tried = 0;
    for (const { name, inputSchema } of result.tools)
      for (const [argument, { type, items }] of Object.entries<{ type?: string; items?: { type?: string } }>(
        inputSchema.properties,
      )) {
        if (type !== 'string' && items?.type !== 'string') continue;
        tried += 1;
        const required = Object.fromEntries(inputSchema.required.map((one: string) => [one, 'Card']));
        const given = { ...required, [argument]: type === 'string' ? LONG : [LONG] };
        const { result: told } = await sent('tools/call', { name, arguments: given });
        expect([name, argument, told.structuredContent.errors?.[0].code]).toEqual([
          name,
          argument,
          'BAD_USER_INPUT',
        ]);
      }
    expect(tried).toBeGreaterThan(6);
    for (const params of [{ name: LONG }, { name: 'Card', arguments: { [LONG]: 1 } }]) {
      const { error, result: told } = await sent('tools/call', params);
      expect((error?.message ?? told.structuredContent.errors[0].message).length).toBeLessThan(1_000);
    }
    expect([program.requests(), program.problems]).toEqual([[], []]);
  });

  it('the longest texts are refused by each parameter of each address', async () => {
    await using program = await openPublishing();
    await program.issue({ name: 'page' });
    const described = (await (await program.at('/openapi.json')).json()) as {
      paths: Record<string, { get: { parameters?: { name: string; schema: { type?: string } }[] } }>;
    };
    let tried = 0;
    for (const [path, { get }] of Object.entries(described.paths))
      for (const { name } of get.parameters ?? []) {
        tried += 1;
        const { status } = await program.at(`${path}?${name}=${LONG_PARAMETER}`);
        expect([path, name, status >= 400 && status < 500]).toEqual([path, name, true]);
      }
    expect(tried).toBeGreaterThan(20);
    for (const path of [
      `/c/${LONG_PARAMETER}`,
      `/oembed?url=${LONG_PARAMETER}`,
      `/c/lines?${'a&'.repeat(6_000)}`,
    ]) {
      const { status } = await program.at(path);
      expect([path.slice(0, 20), status >= 400 && status < 500]).toEqual([path.slice(0, 20), true]);
    }
    expect([program.requests(), program.problems]).toEqual([[], []]);
  });

  it('the longest texts are refused by each term of a key, and each address of operators', async () => {
    const [OPERATOR_KEY, port] = ['operator-key-0123456789', await freePort()];
    await using program = await openPublishing({ env: { OPERATOR_KEY, ADMIN_PORT: String(port) } });
    const call = async (method: string, path: string, body?: object) => {
      const response = await fetch(`http://localhost:${port}${path}`, {
        method,
        headers: { authorization: `Bearer ${OPERATOR_KEY}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      await response.text();
      return response.status;
    };
    for (const term of Object.keys(Terms.shape))
      for (const text of [LONG, LONG_PARAMETER]) {
        const terms = { name: 'long', [term]: ['origins', 'tags'].includes(term) ? [text] : text };
        const status = await call('POST', '/keys', terms);
        expect([term, status === 400 || status === 413]).toEqual([term, true]);
      }
    for (const [method, path] of [
      ['GET', `/keys/${LONG_PARAMETER}`],
      ['DELETE', `/keys/${LONG_PARAMETER}`],
      ['POST', `/keys/${LONG_PARAMETER}/rotate`],
      ['GET', `/usage?key=${LONG_PARAMETER}`],
      ['GET', `/usage?days=${LONG_PARAMETER}`],
    ] as const) {
      const status = await call(method, path, method === 'POST' ? {} : undefined);
      expect([path.slice(0, 12), status >= 400 && status < 500]).toEqual([path.slice(0, 12), true]);
    }
    expect([program.requests(), program.problems]).toEqual([[], []]);
  });
});
