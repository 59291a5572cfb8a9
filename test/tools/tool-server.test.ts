import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { buildSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import type { GatewayRequest } from '../../src/graphql/request/requests.ts';
import { createToolServers } from '../../src/plugins/mcp-tools/tool-server.ts';
import { servicesWith } from '../support/services.ts';

const schema = buildSchema(`
  input Range { from: Int = 1 to: Int! inner: Range }
  input Which @oneOf { key: ID code: String }
  type Query {
    "What the rows are of."
    rows("Which rows." of: [String!], range: Range, which: Which, share: Float): String
  }`);

/** A client of a server whose gateway answers every question with one body. */
async function open(text: string, body: string | (() => never)) {
  const faults: unknown[] = [];
  const asked: unknown[] = [];
  const gateway = servicesWith(schema, {
    persisted: { trusted: [{ id: 'sha256:1', text }] },
    handle(request: GatewayRequest) {
      asked.push(request.body);
      return { status: 200, headers: new Map(), body: typeof body === 'string' ? body : body() };
    },
  });
  const { open: openServer } = createToolServers(gateway, '1', (fault) => faults.push(fault));
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await openServer({ authorization: undefined }).connect(ours);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(theirs);
  return { client, faults, asked };
}

const ROWS = '# Rows.\nquery Rows { rows }';
const BILL = { calls: 3, byRoute: { '/v1/data': 3 }, shared: 0, cached: 0, naive: 3 };

describe('a tool', () => {
  it('a tool keeps all digits of numbers', async () => {
    const body = '{"data":{"rows":12345678901234567890.5},"extensions":{"upstream":{"calls":0}}}';
    const { client } = await open(ROWS, body);
    const { content } = await client.callTool({ name: 'Rows', arguments: {} });
    expect(content).toMatchObject([{ text: expect.stringContaining('rows: 12345678901234567890.5') }]);
  });

  it('a tool answers with no more than a model can read, and says what that has cost', async () => {
    const data = { rows: `"extensions":${'x'.repeat(1_100_000)}` };
    const { client } = await open(ROWS, JSON.stringify({ data, extensions: { upstream: BILL } }));
    const { isError, structuredContent } = await client.callTool({ name: 'Rows', arguments: {} });
    expect(isError).toBe(true);
    expect(structuredContent).toMatchObject({
      data: null,
      upstream: BILL,
      errors: [{ code: 'OPERATION_TOO_EXPENSIVE', retryable: false, limit: 60_000 }],
    });
  });

  it('a tool hands on what came beside errors and warnings', async () => {
    const body = {
      errors: [{ message: 'no', path: ['rows'], extensions: { code: 'RATE_LIMITED', retryAt: 'then' } }],
      data: { rows: null },
      extensions: { upstream: BILL, warnings: [{ code: 'UNKNOWN_COUNTRY' }] },
    };
    const { client } = await open(ROWS, JSON.stringify(body));
    const { isError, structuredContent } = await client.callTool({ name: 'Rows', arguments: {} });
    expect([isError, structuredContent]).toEqual([
      true,
      {
        errors: [{ message: 'no', path: ['rows'], code: 'RATE_LIMITED', retryAt: 'then' }],
        data: { rows: null },
        warnings: [{ code: 'UNKNOWN_COUNTRY' }],
        upstream: BILL,
      },
    ]);
  });

  it('a tool tells the client nothing of a fault of ours, and the operator all of it', async () => {
    const fault = new Error('a secret');
    const { client, faults } = await open(ROWS, () => {
      throw fault;
    });
    const { isError, structuredContent } = await client.callTool({ name: 'Rows', arguments: {} });
    expect(isError).toBe(true);
    expect(structuredContent).toMatchObject({ errors: [{ code: 'INTERNAL_SERVER_ERROR' }] });
    expect(JSON.stringify(structuredContent)).not.toContain('secret');
    expect(faults).toEqual([fault]);
  });

  it('a tool takes input objects, those that hold themselves too, lists and numbers', async () => {
    const text = `# Rows.
      query Rows($of: String!, $range: Range!, $which: Which, $share: Float = 0.5) {
        rows(of: [$of], range: $range, which: $which, share: $share)
      }`;
    const { client, asked } = await open(text, '{"data":null,"extensions":{}}');
    const { tools } = await client.listTools();
    expect(asked).toEqual([
      { documentId: 'sha256:1', operationName: 'Rows', variables: { of: 'name', range: { to: 1 } } },
    ]);
    const int = { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };
    const [rows] = tools;
    expect(rows?.inputSchema).toEqual({
      type: 'object',
      properties: {
        of: { type: 'string', description: 'Which rows.' },
        range: { $ref: '#/$defs/Range' },
        which: { $ref: '#/$defs/Which' },
        share: { type: 'number', default: 0.5 },
        page: expect.objectContaining({ type: 'integer' }),
      },
      required: ['of', 'range'],
      additionalProperties: false,
      $defs: {
        Range: {
          type: 'object',
          properties: {
            from: int,
            to: int,
            inner: { $ref: '#/$defs/Range' },
          },
          required: ['to'],
          additionalProperties: false,
        },
        Which: {
          type: 'object',
          properties: { key: { type: 'string' }, code: { type: 'string' } },
          required: [],
          minProperties: 1,
          maxProperties: 1,
          additionalProperties: false,
        },
      },
    });
    expect(rows?.description).toContain('depends on its arguments');
    expect(rows?._meta).toBeUndefined();
  });
});
