import {
  Client as NewClient,
  StreamableHTTPClientTransport as NewTransport,
} from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, describe, expect, it } from 'vitest';
import { MAX_RESULT_BYTES, resultOf } from '../../src/plugins/mcp-tools/tool-answer.ts';
import { openBill } from '../../src/service/bill.ts';
import { openFolder, openIssuing } from '../issued/issuing.ts';
import { openProgram, type Program } from '../support/program.ts';
import { trustedFile } from './documents.ts';

const SERIES = `"A series of all countries."
query Series($from: Int!, $to: Int!) {
  observations(metricKeys: ["population_total"], fromYear: $from, toYear: $to, scope: NATIONAL) {
    country { code } year value
  }
}`;
const BELOW = `"A series below each country."
query Below($page: Int = 1985) {
  countries { code name observations(metricKeys: ["population_total"], fromYear: $page, toYear: 2024) { id year value unit } }
}`;
const CARD = '"A name."\nquery Card { country(code: "KE") { name } }';

const file = trustedFile([SERIES, BELOW, CARD]);
afterAll(() => file.remove());

const ENV = { MCP: 'on', TRUSTED_DOCUMENTS: file.path, CACHE_URL: 'memory:' };
/** Tokens that clients take of one answer. */
const MAX_TOKENS = 25_000;

const ERAS = ['2025', '2026-07-28'] as const;

async function connected(program: Pick<Program, 'url'>, era: (typeof ERAS)[number], authorization?: string) {
  const url = new URL(program.url.replace('/graphql', '/mcp'));
  const requestInit = authorization === undefined ? {} : { headers: { authorization } };
  const about = { name: 'test', version: '1' };
  if (era === '2025') {
    const client = new OldClient(about);
    await client.connect(new OldTransport(url, { requestInit }));
    return client;
  }
  const client = new NewClient(about, { versionNegotiation: { mode: { pin: era } } });
  await client.connect(new NewTransport(url, { requestInit }));
  return client as unknown as OldClient;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Told = { readonly text: string; readonly content: any; readonly bytes: number };

async function told(client: OldClient, name: string, given: object = {}): Promise<Told> {
  const result = await client.callTool({ name, arguments: { ...given } });
  const [{ text }] = result.content as [{ text: string }];
  return { text, content: result.structuredContent, bytes: Buffer.byteLength(JSON.stringify(result)) };
}

describe.each(ERAS)('an answer to a client of %s', (era) => {
  it('an answer of a tool comes in pages if it is longer than clients take, at no further call', async () => {
    await using program = await openProgram({ env: ENV });
    const client = await connected(program, era, `Bearer ${program.sandbox.keys.team}`);
    const asked = { from: 2000, to: 2024 };
    const rows: unknown[] = [];
    const first = await told(client, 'Series', asked);
    const calls = program.requests().length;
    const { of } = first.content.page;
    expect(of).toBeGreaterThan(1);
    expect(first.text).toContain(`Page 1 of ${of}. For the rest ask again with "page": 2`);
    expect(first.text).toMatch(new RegExp(`^Cost: ${calls} call\\(s\\) to the metered service`));
    for (let page = 1; page <= of; page += 1) {
      const { content, text, bytes } = await told(client, 'Series', { ...asked, page });
      expect(bytes / 4).toBeLessThanOrEqual(MAX_TOKENS);
      expect(bytes).toBeLessThanOrEqual(MAX_RESULT_BYTES);
      expect(content.page).toEqual({ number: page, of, ...(page < of ? { next: page + 1 } : {}) });
      const here = content.data.observations;
      // The table has the same rows, each once and without the names of fields.
      const [last] = here.slice(-1);
      expect(text).toContain('\nobservations:\ncountry.code,year,value\n');
      expect(text.endsWith(`\n${last.country.code},${last.year},${last.value}`)).toBe(true);
      expect(text).not.toContain('{');
      rows.push(...here);
    }
    const whole = await program.ask(SERIES, { variables: asked });
    expect(rows.length).toBeGreaterThan(1_200);
    expect(rows).toEqual(whole.data.observations);
    expect([program.requests(), whole.upstream.calls]).toEqual([[], 0]);
    const beyond = await told(client, 'Series', { ...asked, page: of + 1 });
    expect(beyond.content).toMatchObject({ data: null, errors: [{ code: 'BAD_USER_INPUT' }] });
    for (const page of [0, 1.5, 'x', -1])
      expect((await told(client, 'Series', { ...asked, page })).content.errors[0].code).toBe(
        'BAD_USER_INPUT',
      );
    expect([program.requests(), program.problems]).toEqual([[], []]);
  });

  it('an answer of a tool says before any call that there are pages, by a name that no variable has', async () => {
    await using program = await openProgram({ env: ENV });
    const client = await connected(program, era, `Bearer ${program.sandbox.keys.team}`);
    const { tools } = await client.listTools();
    const [series, below] = tools;
    expect(series?.inputSchema.properties).toHaveProperty(
      'page.description',
      expect.stringContaining('60 KB'),
    );
    expect(below?.inputSchema.properties).toHaveProperty('answer_page');
    expect(program.requests()).toEqual([]);
    const countries: string[] = [];
    const first = await told(client, 'Below');
    program.requests();
    for (let page = 1; page <= first.content.page.of; page += 1) {
      const { content, bytes } = await told(client, 'Below', { answer_page: page });
      expect(bytes).toBeLessThanOrEqual(MAX_RESULT_BYTES);
      countries.push(...content.data.countries.map(({ code }: { code: string }) => code));
    }
    expect(new Set(countries).size).toBe(54);
    expect(countries).toEqual(countries.toSorted());
    expect(program.requests()).toEqual([]);
  });

  it('an answer of a tool runs under an issued key for callers who bring none, within its budget', async () => {
    using folder = openFolder();
    const env = { ...ENV, CACHE_URL: folder.cacheUrl, MCP_KEY: 'models' };
    await using program = await openIssuing({ ...folder, env });
    const client = await connected(program, era);
    expect((await told(client, 'Card')).content.errors[0].code).toBe('KEY_EXPIRED');
    await program.issue({ name: 'models', perDay: 1 });
    await expect.poll(async () => (await told(client, 'Card')).content.data?.country?.name).toBe('Kenya');
    expect(program.requests()).toHaveLength(1);
    const spent = await told(client, 'Series', { from: 2020, to: 2020 });
    expect(spent.content.errors[0].code).toBe('KEY_BUDGET_SPENT');
    expect(program.requests()).toEqual([]);
    // Elsewhere a key is needed as ever.
    expect((await program.ask(SERIES, { key: null, variables: { from: 2020, to: 2020 } })).status).toBe(401);
    await program.gather();
    const { usage } = await program.desk.usage({});
    expect(usage).toContainEqual(expect.objectContaining({ key: 'models', document: 'Card', calls: 1 }));
  });
});

describe('a budget of tools', () => {
  it('a budget of tools is one for a key, in whichever way it is written, and by either era', async () => {
    await using program = await openProgram({ env: { ...ENV, MCP_BUDGET: '3', CACHE_URL: 'none' } });
    const { team } = program.sandbox.keys;
    const codes: string[] = [];
    for (const era of ERAS)
      for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'Bearer   ', 'bEaReR  ']) {
        const { content } = await told(await connected(program, era, scheme + team), 'Card');
        codes.push(content.errors?.[0].code ?? 'ok');
      }
    expect(codes).toEqual([...Array(3).fill('ok'), ...Array(7).fill('OPERATION_TOO_EXPENSIVE')]);
    expect(program.requests()).toHaveLength(3);
  });

  it('a budget of tools is one for all issued keys of a name', async () => {
    using folder = openFolder();
    const env = { ...ENV, CACHE_URL: folder.cacheUrl, MCP_BUDGET: '1', CACHE_TTL_SECONDS: '0' };
    await using program = await openIssuing({ ...folder, env });
    const first = await program.issue({ name: 'model' });
    const { key: second } = await program.desk.rotate('model');
    const answers = [];
    for (const key of [first, second])
      answers.push((await told(await connected(program, '2026-07-28', `Bearer ${key}`), 'Card')).content);
    expect(answers).toMatchObject([
      { upstream: { calls: 1 } },
      { errors: [{ code: 'OPERATION_TOO_EXPENSIVE' }] },
    ]);
    expect(program.requests()).toHaveLength(1);
  });

  it('a budget of tools that is spent says when it is worth asking again, unless that never is', async () => {
    await using program = await openProgram({ env: { ...ENV, MCP_BUDGET: '1', CACHE_URL: 'none' } });
    const client = await connected(program, '2025', `Bearer ${program.sandbox.keys.team}`);
    await told(client, 'Card');
    expect((await told(client, 'Card')).content.errors).toMatchObject([
      { code: 'OPERATION_TOO_EXPENSIVE', retryable: true, resetsAt: expect.stringMatching(/:00:00\.000Z$/) },
    ]);
    const dear = await told(client, 'Series', { from: 1950, to: 2024 });
    expect(dear.content.errors).toMatchObject([{ planned: expect.any(Number), retryable: false }]);
    expect(program.requests()).toHaveLength(1);
  });
});

describe('pages', () => {
  const upstream = openBill();
  const pagesOf = (data: unknown) => {
    const first = resultOf({ data, upstream }, 1);
    const pages = [first];
    const { page: told } = first.structuredContent as { page?: { of: number } };
    const { of = 1 } = told ?? {};
    for (let page = 2; page <= of; page += 1) pages.push(resultOf({ data, upstream }, page));
    for (const page of pages) {
      expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(MAX_RESULT_BYTES);
      expect(page.isError).toBeUndefined();
    }
    // biome-ignore lint/suspicious/noExplicitAny: data of every shape
    return pages.map(({ structuredContent }) => (structuredContent as any).data);
  };
  const rows = (count: number, text = '') => Array.from({ length: count }, (_, i) => ({ i, text }));

  it.each([
    ['a list below objects', { country: { code: 'KE', observations: rows(9_000) } }],
    ['lists under aliases', { a: rows(3_000), b: rows(10), c: rows(3_000) }],
    [
      'lists in lists',
      {
        countries: [
          { code: 'KE', all: rows(4_000) },
          { code: 'NG', all: rows(4_000) },
        ],
      },
    ],
    ['many small members', Object.fromEntries(rows(4_000).map((row) => [`alias${row.i}`, row]))],
    ['texts full of quotes', { rows: rows(900, '"\\\n"'.repeat(20)) }],
    ['texts of other scripts', { rows: rows(900, 'ናይሮቢ'.repeat(20)) }],
    ['members that differ', { rows: rows(4_000).map(({ i }) => ({ [`name${i}`]: i })) }],
    ['what nests', { a: { b: { c: { d: [{ e: [{ f: rows(9_000) }] }] } } } }],
  ])("pages of a tool's answer have all of %s, in its order", (_, data) => {
    const pages = pagesOf(data);
    expect(pages.length).toBeGreaterThan(1);
    const found = pages.flatMap((page) => JSON.stringify(page).match(/"i":\d+|"name\d+":\d+/g) ?? []);
    const wanted = JSON.stringify(data).match(/"i":\d+|"name\d+":\d+/g) ?? [];
    expect(found).toEqual(wanted);
  });

  it("pages of a tool's answer tell whose each list is", () => {
    const pages = pagesOf({ country: { code: 'KE', name: 'Kenya', observations: rows(9_000) } });
    expect(pages.every(({ country }) => country.code === 'KE' && country.name === 'Kenya')).toBe(true);
  });

  it("pages of a tool's answer of one value that is too long are a refusal", () => {
    const { structuredContent, isError } = resultOf({ data: { record: 'x'.repeat(70_000) }, upstream }, 1);
    expect([isError, structuredContent]).toMatchObject([
      true,
      { data: null, errors: [{ code: 'OPERATION_TOO_EXPENSIVE', limit: MAX_RESULT_BYTES }] },
    ]);
  });

  it("pages of a tool's answer leave room for errors and warnings, however long these are", () => {
    const long = 'x'.repeat(30_000);
    const warnings = rows(500).map(({ i }) => ({
      code: 'UNKNOWN_COUNTRY',
      message: `${i} ${long.slice(0, 900)}`,
    }));
    const errors = rows(500).map(({ i }) => ({
      message: `${i} ${long}`,
      code: 'UPSTREAM_TIMEOUT',
      detail: long,
    }));
    const result = resultOf({ data: { rows: rows(9_000) }, upstream, warnings, errors }, 1);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(MAX_RESULT_BYTES);
    expect(result.structuredContent).toMatchObject({
      page: { number: 1 },
      data: { rows: expect.any(Array) },
    });
  });
});
