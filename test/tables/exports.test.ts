import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { tableFromIPC } from 'apache-arrow';
import { describe, expect, it, vi } from 'vitest';
import { exchange, open } from '../operations/exchange.ts';
import { movingClock } from '../support/moving-clock.ts';
import { openProgram, type Program } from '../support/program.ts';
import { roundTrips } from '../support/quiet.ts';

const CSV = 'text/csv';
const NDJSON = 'application/x-ndjson';
const ARROW = 'application/vnd.apache.arrow.stream';

const FIGURES = `query Figures($codes: [CountryCode!] = ["KE", "NG", "ZA"]) {
  countries(codes: $codes) {
    code
    place: region
    figures: observations(metricKeys: ["population_total", "life_expectancy"], fromYear: 2015) {
      year value isModelled retrievedAt source { key }
    }
  }
}`;
const COLUMNS = [
  'code',
  'place',
  'figures.year',
  'figures.value',
  'figures.isModelled',
  'figures.retrievedAt',
  'figures.source.key',
];

/** The rows that the JSON answer has, made by hand. */
async function expectedRows(program: Program) {
  const { data, upstream, errors } = await program.ask(FIGURES);
  expect(errors).toEqual([]);
  // biome-ignore lint/suspicious/noExplicitAny: as the answer has them
  const rows = data.countries.flatMap(({ code, place, figures }: any) =>
    // biome-ignore lint/suspicious/noExplicitAny: as above
    figures.map(({ year, value, isModelled, retrievedAt, source }: any) => [
      code,
      place,
      year,
      value,
      isModelled,
      retrievedAt,
      source?.key ?? null,
    ]),
  );
  expect(rows.length).toBeGreaterThan(40);
  return { rows: rows as unknown[][], upstream, requests: program.requests() };
}

/** Texts that spreadsheets take for a formula, or for the end of a cell. */
const LEADS = [
  ...['=', '+', '-', '@', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫', '−'].map((sign) => `${sign}1+1`),
  ...['\t', '\r', '\n', '\r\n'].flatMap((end) => [`${end}=1+1`, `${end}text`]),
  ...[
    ' ',
    '\u00a0',
    '\u3000',
    '\u2028',
    '\ufeff',
    '\u200b',
    '\u00ad',
    '\u202e',
    '\u2066',
    '\ufe0f',
    '\0',
    '\v',
    '"',
    "'",
    '“',
    '\ufeff \t"',
  ].map((hidden) => `${hidden}=1+1`),
];

/** RFC 4180, read by the book. */
function cellsOf(csv: string): string[][] {
  const lines: string[][] = [[]];
  for (const [, quoted, plain, end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    lines.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === '\r\n') lines.push([]);
  }
  return lines.slice(0, -1);
}

const DECODERS: readonly [encoding: string, decode: (bytes: Buffer) => Buffer][] = [
  ['gzip', gunzipSync],
  ['br', brotliDecompressSync],
  ['zstd', zstdDecompressSync],
];

/** True if something is a row of a table, as it is about to become a line. */
const isRow = (value: unknown) => typeof value === 'object' && value !== null && 'observations.year' in value;

const asTable = (program: Program, accept: string, query: string, more: object = {}) =>
  exchange(program, { body: { query }, headers: { accept }, ...more });

describe('an answer as a table', () => {
  it('an answer as a table has no cell that a spreadsheet runs, and all others as they are', async () => {
    const plain = ['a=b', '1 - 2', '(-5)', '’s', '"quoted"', ' US dollars', '#1', '€', '5-', '\u00a0%'];
    const texts = [...plain, ...LEADS];
    await using program = await openProgram();
    program.sandbox.faults.set({
      kind: 'shape',
      route: '/v1/data',
      patch: (body) => ({
        ...body,
        data: body.data.map((row: object, i: number) => ({
          ...row,
          unit: texts[i % texts.length],
          value: -5,
        })),
      }),
    });
    const query = '{ observations(metricKeys: ["population_total"], latest: true) { unit value } }';
    const { data } = await program.ask(query);
    const units: string[] = data.observations.map(({ unit }: { unit: string }) => unit);
    expect(new Set(units)).toEqual(new Set(texts));
    const csv = await asTable(program, CSV, query);
    expect(cellsOf(csv.text).slice(1)).toEqual(
      units.map((unit) => [plain.includes(unit) ? unit : `'${unit}`, '-5']),
    );
    const ndjson = await asTable(program, NDJSON, query);
    expect(
      ndjson.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).unit),
    ).toEqual(units);
  });

  it.for([
    ['text/csv; bom=present', true],
    ['text/csv;header=present;BOM=present;q=0.9, application/json;q=0.1', true],
    ['text/csv; bom=absent', false],
    ['text/csv', false],
    ['application/x-ndjson; bom=present', false],
  ] as const)(
    'an answer as a table begins with a byte order mark where that is asked for: %s',
    async ([accept, isMarked]) => {
      await using program = await openProgram();
      const query = '{ countries(codes: ["CI"]) { name } }';
      const plain = await asTable(program, accept.startsWith('text') ? CSV : NDJSON, query);
      const { bytes, headers, status } = await asTable(program, accept, query);
      const mark = Buffer.from(isMarked ? [0xef, 0xbb, 0xbf] : []);
      expect([status, bytes]).toEqual([200, Buffer.concat([mark, plain.bytes])]);
      expect(headers['content-type']).toBe(
        `${plain.headers['content-type']}${isMarked ? '; bom=present' : ''}`,
      );
    },
  );

  it('an answer as a table has cell by cell what its JSON has, in each format, at the same calls', async () => {
    await using program = await openProgram();
    const { rows, upstream, requests } = await expectedRows(program);
    expect(requests).toHaveLength(2);

    const csv = await asTable(program, CSV, FIGURES);
    expect([csv.status, csv.headers['content-type']]).toEqual([
      200,
      'text/csv; charset=utf-8; header=present',
    ]);
    expect(JSON.parse(String(csv.headers['x-upstream-bill']))).toEqual(upstream);
    expect(csv.headers['x-graphql-errors']).toBeUndefined();
    expect(cellsOf(csv.text)).toEqual([
      COLUMNS,
      ...rows.map((row) => row.map((cell) => (cell === null ? '' : String(cell)))),
    ]);
    expect(program.requests()).toEqual(requests);

    const ndjson = await asTable(program, NDJSON, FIGURES);
    const lines = ndjson.text.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      rows.map((row) => Object.fromEntries(COLUMNS.map((name, i) => [name, row[i]]))),
    );
    expect(program.requests()).toEqual(requests);

    const arrow = await asTable(program, ARROW, FIGURES);
    const table = tableFromIPC(arrow.bytes);
    expect(table.schema.fields.map(({ name, type }) => [name, String(type)])).toEqual(
      COLUMNS.map((name, i) => [name, ['Utf8', 'Utf8', 'Int32', 'Float64', 'Bool', 'Utf8', 'Utf8'][i] ?? '']),
    );
    expect(table.toArray().map((row) => COLUMNS.map((name) => row[name as never]))).toEqual(rows);
    expect(program.requests()).toEqual(requests);
    expect(program.problems).toEqual([]);
  });

  it('an answer as an Arrow table has integers of 32 bits and texts of UTF-8, whatever the service sends', async () => {
    const asked =
      'query { observations(countryCodes: ["KE"], metricKeys: ["population_total"]) { year __proto__: locationName } }';
    const tableWith = async (changes: object) => {
      await using program = await openProgram();
      program.sandbox.faults.set({
        kind: 'shape',
        route: '/v1/data',
        patch: (body) => ({ ...body, data: body.data.map((row: object) => ({ ...row, ...changes })) }),
      });
      const table = await asTable(program, ARROW, asked);
      expect(program.requests()).toHaveLength(1);
      return table;
    };
    for (const year of [2_147_483_648, -2_147_483_649, 2015.5]) {
      const { status, text } = await tableWith({ year });
      expect([status, text]).toEqual([502, expect.stringContaining('UPSTREAM_INVALID_RESPONSE')]);
    }
    const long = `\u0000\u2028${'🌍'.repeat(20_000)}`;
    for (const [name, read] of [
      [long, long],
      ['\ud800', '\ufffd'],
    ]) {
      const table = tableFromIPC((await tableWith({ location_name: name, year: 2_147_483_647 })).bytes);
      expect(table.schema.fields.map(String)).toEqual(['year: Int32', '__proto__: Utf8']);
      expect([0, 1].map((i) => table.getChildAt(i)?.get(0))).toEqual([2_147_483_647, read]);
    }
  });

  it('an answer as a table is asked for by GET and by the name of the operation, too, and repeated for nothing', async () => {
    await using program = await open();
    const body = { query: '{ countries(codes: ["KE", "NG"]) { code capital } }' };
    const first = await program.send({ body, headers: { accept: CSV } });
    expect(first.text).toBe('code,capital\r\nKE,Nairobi\r\nNG,Abuja\r\n');
    expect(program.requests()).toHaveLength(1);
    for (const method of ['GET', 'POST'] as const) {
      const again = await program.send({ method, body, headers: { accept: CSV, 'if-none-match': '*' } });
      expect([again.status, again.text]).toEqual([200, first.text]);
      expect(JSON.parse(String(again.headers['x-upstream-bill']))).toMatchObject({ calls: 0 });
      expect([again.headers.etag, again.headers.vary]).toEqual([
        undefined,
        expect.stringContaining('Accept, X-Explain'),
      ]);
    }
    const { hash } = await import('node:crypto');
    const sha256Hash = hash('sha256', body.query, 'hex');
    const extensions = { persistedQuery: { version: 1, sha256Hash } };
    for (const named of [{ ...body, extensions }, { extensions }, { documentId: sha256Hash }]) {
      const answer = await program.send({ body: named, headers: { accept: CSV } });
      expect([answer.status, answer.text]).toEqual([200, first.text]);
    }
    expect(program.requests()).toEqual([]);
  });

  it('an answer as a table is one row where there is no list', async () => {
    await using program = await openProgram();
    const { text } = await asTable(program, CSV, '{ country(code: "KE") { capital region } }');
    expect(text).toBe('country.capital,country.region\r\nNairobi,East Africa\r\n');
    expect(program.requests()).toHaveLength(1);
  });

  it('an answer as a table has a header and nothing else where the list is empty', async () => {
    await using program = await openProgram();
    const { text, headers } = await asTable(program, CSV, '{ countries(codes: []) { code } }');
    expect([text, headers['x-graphql-errors']]).toEqual(['code\r\n', undefined]);
    expect(program.requests()).toEqual([]);
  });
});

describe('what is no table', () => {
  it.for([
    ['several lists', '{ a: countries { code } b: indicators { key } }', /2: a, b\. Ask for one/],
    ['several lists in a list', '{ countries { code tickers { symbol } offices { id } } }', /2: countries\./],
  ] as const)('what is no table is refused before any call: %s', async ([, query, words]) => {
    await using program = await openProgram();
    const { status, text } = await asTable(program, CSV, query);
    const { errors, extensions } = JSON.parse(text);
    expect([status, errors[0].extensions]).toEqual([
      406,
      { code: 'BAD_REQUEST', retryable: false, requestId: 'test' },
    ]);
    expect(errors[0].message).toMatch(words);
    expect(extensions.upstream.calls).toBe(0);
    expect(program.requests()).toEqual([]);
  });

  it('fragments in fragments are refused in no time, however many fields they come to', async () => {
    await using program = await openProgram();
    const fragments = Array.from(
      { length: 150 },
      (_, i) => `fragment F${i} on Country { a: country { ...F${i + 1} } b: country { ...F${i + 1} } }`,
    );
    const query = `{ countries { ...F0 } } ${fragments.join(' ')} fragment F150 on Country { code }`;
    const { status, text } = await asTable(program, CSV, query);
    expect([status, program.requests()]).toEqual([406, []]);
    expect(JSON.parse(text).errors[0].message).toMatch(/more than 2000 fields/);
  });

  it('a field that is selected again and again in many places is refused in no time', async () => {
    await using program = await openProgram();
    const places = Array.from({ length: 300 }, (_, i) => `a${i}: profile { ...F }`);
    const query = `{ countries { ${places.join(' ')} } } fragment F on CountryProfile { ${'record '.repeat(500)} }`;
    const { status, text } = await asTable(program, CSV, query);
    expect([status, program.requests()]).toEqual([406, []]);
    expect(JSON.parse(text).errors[0].message).toMatch(/more than 2000 fields/);
  });

  it('a field by the name of what every object has is null where it is left out', async () => {
    await using program = await openProgram();
    const query = '{ countries(codes: ["KE"]) { code constructor: name @skip(if: true) } }';
    expect((await program.ask(query)).data).toEqual({ countries: [{ code: 'KE' }] });
    const requests = program.requests();
    expect((await asTable(program, CSV, query)).text).toBe('code,constructor\r\nKE,\r\n');
    expect(program.requests()).toEqual(requests);
  });

  it.for([
    ['no key', { key: null }, 401, 'UNAUTHENTICATED', 0],
    ['a wrong key', { key: 'nobody' }, 401, 'UNAUTHENTICATED', 1],
  ] as const)(
    'an answer that is no table is JSON with a status: %s',
    async ([, more, status, code, calls]) => {
      await using program = await openProgram();
      const answer = await asTable(program, CSV, '{ countries { code capital } }', more);
      expect([answer.status, JSON.parse(answer.text).errors[0].extensions.code]).toEqual([status, code]);
      expect(answer.headers['content-type']).toContain('application/graphql-response+json');
      expect(program.requests()).toHaveLength(calls);
    },
  );

  it('a table in a spent minute is 429, and says when to come back', async () => {
    const { clock } = movingClock(Date.parse('2026-11-21T10:00:30Z'));
    await using program = await openProgram({ clock, sandbox: { now: clock.now } });
    const key = program.sandbox.keys.free;
    const ask = () => asTable(program, NDJSON, '{ countries { code capital } }', { key });
    for (let i = 0; i < 5; i += 1) expect((await ask()).status).toBe(200);
    program.requests();
    const { status, headers, text } = await ask();
    expect([status, JSON.parse(text).data]).toEqual([429, { countries: null }]);
    expect(headers['retry-after']).toBe('30');
    expect(program.requests().length).toBeLessThanOrEqual(1);
  });

  it.for([
    ['a syntax error', { query: '{ countries {' }, 400, 'GRAPHQL_PARSE_FAILED'],
    ['a field that is not there', { query: '{ countries { nothing } }' }, 400, 'GRAPHQL_VALIDATION_FAILED'],
    ['an unknown name', { documentId: 'x' }, 404, 'PERSISTED_QUERY_NOT_FOUND'],
    ['a batch', [{ query: '{ health { status } }' }], 406, 'BAD_REQUEST'],
    [
      'an operation that is too dear',
      { query: '{ countries { offices { id } } }' },
      400,
      'OPERATION_TOO_EXPENSIVE',
    ],
  ] as const)('an answer that is no table is JSON that says so: %s', async ([, body, status, code]) => {
    await using program = await openProgram({ env: { MAX_UPSTREAM_CALLS: '3' } });
    const answer = await exchange(program, { body: body as never, headers: { accept: ARROW } });
    expect([answer.status, JSON.parse(answer.text).errors[0].extensions.code]).toEqual([status, code]);
    expect(program.requests()).toEqual([]);
  });

  it('the price of an operation is JSON', async () => {
    await using program = await openProgram();
    const headers = { accept: CSV, 'x-explain': '1' };
    const { text } = await exchange(program, { body: { query: FIGURES }, headers });
    expect(JSON.parse(text).extensions.explain.calls).toBe(2);
    expect(program.requests()).toEqual([]);
  });

  it('an answer that is too long is no table, and says what it has cost', async () => {
    await using program = await openProgram({ env: { MAX_ANSWER_BYTES: '30000' } });
    const query = '{ countries { code observations(metricKeys: ["population_total"]) { year value } } }';
    const { status, text } = await asTable(program, NDJSON, query);
    const { errors, extensions } = JSON.parse(text);
    expect([status, errors[0].extensions.code]).toEqual([400, 'OPERATION_TOO_EXPENSIVE']);
    expect(extensions.upstream.calls).toBeGreaterThan(0);
  });
});

/** Some 4,000 rows. */
const LONG =
  'query { countries { code name officialName observations(metricKeys: ["population_total"]) { year value unit } } }';

describe('a long table', () => {
  it.for([CSV, NDJSON, ARROW])(
    'a long table is sent while it is written, in any encoding: %s',
    async (accept) => {
      await using program = await open();
      const whole = await program.send({ body: { query: LONG }, headers: { accept } });
      expect([whole.status, whole.headers['content-length'], whole.headers['transfer-encoding']]).toEqual([
        200,
        undefined,
        'chunked',
      ]);
      expect(whole.headers.vary).toContain('Accept-Encoding');
      expect(whole.bytes.length).toBeGreaterThan(200_000);
      const calls = program.requests();
      expect(calls.length).toBeGreaterThan(0);
      for (const [encoding, decode] of DECODERS) {
        const headers = { accept, 'accept-encoding': encoding };
        const packed = await program.send({ body: { query: LONG }, headers });
        expect(packed.headers['content-encoding']).toBe(encoding);
        expect(packed.bytes.length).toBeLessThan(whole.bytes.length / 3);
        expect(decode(packed.bytes).equals(whole.bytes)).toBe(true);
      }
      expect(program.requests()).toEqual([]);
      expect(program.problems).toEqual([]);
    },
  );

  it('a long table may be longer than any other answer, and is cut where it would be 16 times as long', async () => {
    await using program = await openProgram({ env: { MAX_ANSWER_BYTES: '300000' } });
    const json = await asTable(program, 'application/json', LONG);
    expect([json.status, json.bytes.length < 300_000]).toEqual([200, true]);
    const table = await asTable(program, NDJSON, LONG);
    expect([table.status, table.bytes.length > 300_000]).toEqual([200, true]);

    // A long text in each of many rows.
    const record = 'a: record b: record c: record d: record e: record f: record';
    const query = `{ countries(codes: ["KE"]) { ${record} observations(metricKeys: ["rainfall_monthly_mm"]) { year } } }`;
    await expect(asTable(program, NDJSON, query)).rejects.toThrow('aborted');
    expect(program.problems.map(String)).toEqual([
      'Error: The table is longer than 4800000 bytes, 16 times MAX_ANSWER_BYTES, and was cut.',
    ]);
  });

  it('a long table is made no further once its reader has left, and no faster than it is read', async () => {
    await using program = await open();
    const made = vi.spyOn(JSON, 'stringify');
    const rows = () => made.mock.calls.filter(([value]) => isRow(value)).length;
    const sent = request(program.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: NDJSON,
        authorization: `Bearer ${program.sandbox.keys.team}`,
      },
    });
    const series = '["population_total", "life_expectancy", "gdp_current_usd", "rainfall_monthly_mm"]';
    // Rows of a kilobyte: all of them are many times what buffers of the system take.
    const names = Array.from('abcdefghijklmnopqrst', (alias) => `${alias}: officialName`).join(' ');
    const query = LONG.replace('["population_total"]', series).replace('officialName', names);
    sent.end(JSON.stringify({ query }));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let before = -1;
    // Reads on while the buffers on the way take any.
    for (let still = 0; still < 5; still += 1) {
      if (rows() > before) still = 0;
      before = rows();
      await roundTrips(program);
    }
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(40_000);
    response.destroy();
    await roundTrips(program);
    expect(rows()).toBeLessThanOrEqual(before + 1_000);
    expect(program.problems).toEqual([]);
    made.mockRestore();
  });
});

describe('what has no place in a table', () => {
  it('what has no place in a table is counted in headers', async () => {
    await using program = await openProgram({ env: { UPSTREAM_RETRIES: '0' } });
    const query = `{
      countries(codes: ["KE", "QQ"]) { code name signals { record } }
    }`;
    program.sandbox.faults.set({ kind: 'status', status: 500, route: '/v1/countries/{code}/signals' });
    const json = await program.ask(query);
    const requests = program.requests();
    expect([json.errors.length, json.extensions.warnings]).toEqual([1, [expect.anything()]]);
    const { status, headers, text } = await asTable(program, CSV, query);
    expect([status, headers['x-graphql-errors'], headers['x-graphql-warnings']]).toEqual([200, '1', '1']);
    expect(headers['cache-control']).toBe('no-store');
    expect(text).toBe('code,name,signals.record\r\nKE,Kenya,\r\n');
    expect(program.requests()).toEqual(requests);
  });
});
