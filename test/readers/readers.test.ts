import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import polars from 'nodejs-polars';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exchange } from '../operations/exchange.ts';
import { blocksOf } from '../support/markdown.ts';
import { openProgram, type Program } from '../support/program.ts';

/*
 * Tables as other people's programs read them: DuckDB (C++) those of text, Polars (Rust) those of Arrow,
 * since DuckDB reads Arrow streams only by an extension that it downloads.
 */

const QUERY = `{ countries { code name place: region
  figures: observations(metricKeys: ["population_total", "life_expectancy", "idps_total"]) {
    year value isModelled locationName retrievedAt source { key } } } }`;

const COLUMNS = [
  'code',
  'name',
  'place',
  'figures.year',
  'figures.value',
  'figures.isModelled',
  'figures.locationName',
  'figures.retrievedAt',
  'figures.source.key',
];

type Row = Record<string, unknown>;

let program: Program;
let folder: string;
let expected: Row[];

beforeAll(async () => {
  program = await openProgram({ env: { CACHE_URL: 'memory:' } });
  folder = await mkdtemp(join(tmpdir(), 'country-graph-readers-'));
  const { data, errors } = await program.ask(QUERY);
  expect(errors).toEqual([]);
  // biome-ignore lint/suspicious/noExplicitAny: as the answer has them
  expected = data.countries.flatMap(({ figures, ...country }: any) =>
    // biome-ignore lint/suspicious/noExplicitAny: as above
    (figures.length === 0 ? [{}] : figures).map(({ source, ...figure }: any) => {
      const cells = { ...country, ...prefixed({ ...figure, 'source.key': source?.key }) };
      return Object.fromEntries(COLUMNS.map((name) => [name, cells[name] ?? null]));
    }),
  );
  expect(expected.length).toBeGreaterThan(8_000);
  program.requests();
});

afterAll(async () => {
  await program[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const prefixed = (fields: Row) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [`figures.${name}`, value]));

/** Sent while it is written, and at no call, since all of it is held. */
async function tableAs(accept: string): Promise<Buffer> {
  const { status, headers, bytes } = await exchange(program, { body: { query: QUERY }, headers: { accept } });
  expect([status, headers['transfer-encoding'], program.requests()]).toEqual([200, 'chunked', []]);
  return bytes;
}

/** Rows that DuckDB finds in a file, with the types that it gives to columns. */
async function readByDuckDb(file: string, bytes: Buffer, reader: string) {
  const path = join(folder, file);
  await writeFile(path, bytes);
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  try {
    const read = await connection.runAndReadAll(`SELECT * FROM ${reader.replace('FILE', path)}`);
    const types = Object.fromEntries(
      read.columnNames().map((name, i) => [name, String(read.columnTypes()[i])]),
    );
    return { types, rows: read.getRowObjectsJson() as Row[] };
  } finally {
    connection.closeSync();
  }
}

/** DuckDB writes whole numbers of 64 bits, and instants, as texts of its own. */
function plain(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (/year|value/.test(name) && value !== null) return [name, Number(value)];
      if (name.endsWith('retrievedAt') && value !== null) return [name, Date.parse(instantOf(String(value)))];
      return [name, value];
    }),
  );
}

const instantOf = (text: string) => (text.includes('T') ? text : `${text.replace(' ', 'T').slice(0, 23)}Z`);

describe('DuckDB reads', () => {
  it.for([
    ['CSV', 'text/csv', 'table.csv', "read_csv('FILE')"],
    ['NDJSON', 'application/x-ndjson', 'table.ndjson', "read_json('FILE')"],
  ] as const)(
    'DuckDB reads %s, every cell of it, without being told of types',
    async ([, accept, file, reader]) => {
      const { types, rows } = await readByDuckDb(file, await tableAs(accept), reader);
      expect(Object.keys(types)).toEqual(COLUMNS);
      expect(types).toMatchObject({
        code: 'VARCHAR',
        'figures.year': 'BIGINT',
        'figures.value': 'DOUBLE',
        'figures.isModelled': 'BOOLEAN',
        'figures.retrievedAt': expect.stringContaining('TIMESTAMP'),
      });
      expect(rows.map(plain)).toEqual(expected.map(plain));
    },
  );
});

it('DuckDB reads a table as the documents say', async () => {
  const [statement, ...others] = blocksOf(await readFile('docs/tables-and-tools.md', 'utf8'), 'sql');
  expect(others).toEqual([]);
  const query = '{ countries { code name gdp: observation(metricKey: "gdp_current_usd") { value } } }';
  const { data } = await program.ask(query);
  const { bytes } = await exchange(program, {
    body: { query },
    headers: { accept: 'text/csv; bom=present' },
  });
  const { rows } = await readByDuckDb(
    'gdp.csv',
    bytes,
    `(${statement?.replace(/;\s*$/, '').replace('gdp.csv', 'FILE')})`,
  );
  const known = data.countries.filter(({ gdp }: { gdp: object | null }) => gdp !== null);
  expect(program.requests()).toHaveLength(1);
  expect(rows.length).toBe(known.length);
  expect(new Set(rows.map(({ code }) => code))).toContain('NA');
});

it('Polars reads the stream of Arrow, every cell of it, by its types', async () => {
  const bytes = await tableAs('application/vnd.apache.arrow.stream');
  const frame = polars.readIPCStream(bytes);
  expect(frame.columns).toEqual(COLUMNS);
  const types = ['String', 'String', 'String', 'Int32', 'Float64', 'Bool', 'String', 'String', 'String'];
  expect(frame.dtypes.map(String)).toEqual(types.map((type) => `DataType(${type})`));
  expect(frame.toRecords()).toEqual(expected);
});
