import { deserialize, serialize } from 'node:v8';
import {
  brotliCompressSync,
  brotliDecompressSync,
  constants,
  gunzipSync,
  gzipSync,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib';
import { packing } from '../src/cache/unpacked-store.ts';
import { openProgram } from '../test/support/program.ts';

type Rows = readonly Readonly<Record<string, unknown>>[];

/** Rows as columns: each name is stored once, and so is a value that all rows share. */
function toColumns(rows: Rows): unknown {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return names.map((name) => {
    const values = rows.map((row) => row[name] ?? null);
    return values.every((value) => value === values[0]) ? [name, values[0]] : [name, values];
  });
}

const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** Ways to serialize an entry. */
const WAYS: Readonly<
  Record<string, { pack: (rows: Rows) => string | Buffer; unpack: (packed: never) => unknown }>
> = {
  JSON: { pack: (rows) => JSON.stringify(rows), unpack: (text: string) => JSON.parse(text) },
  'JSON by columns': {
    pack: (rows) => JSON.stringify(toColumns(rows)),
    unpack: (text: string) => JSON.parse(text),
  },
  'V8 serialize': { pack: (rows) => serialize(rows), unpack: (bytes: Buffer) => deserialize(bytes) },
  'JSON, gzip': {
    pack: (rows) => gzipSync(JSON.stringify(rows)).toString('base64'),
    unpack: (text: string) => JSON.parse(gunzipSync(Buffer.from(text, 'base64')).toString()),
  },
  'JSON, brotli 4': {
    pack: (rows) => brotliCompressSync(JSON.stringify(rows), quick).toString('base64'),
    unpack: (text: string) => JSON.parse(brotliDecompressSync(Buffer.from(text, 'base64')).toString()),
  },
  'JSON, zstd': {
    pack: (rows) => `${zstdCompressSync(JSON.stringify(rows)).toString('base64')}`,
    unpack: (text: string) => JSON.parse(zstdDecompressSync(Buffer.from(text, 'base64')).toString()),
  },
  'as stored: zstd if smaller': {
    pack: (rows) => packing.stringify(rows),
    unpack: (text: string) => packing.parse(text),
  },
};

const PASSES = 300;

function medianUs(work: () => unknown): number {
  const times = Array.from({ length: PASSES }, () => {
    const startedAt = performance.now();
    work();
    return (performance.now() - startedAt) * 1000;
  });
  return times.sort((a, b) => a - b)[PASSES / 2] ?? 0;
}

/** Prints the size and the time to serialize a latest figure, a series and the list of countries for a store of strings. */
export async function printPacking(): Promise<void> {
  await using program = await openProgram();
  const { data } = await program.ask(`{
    latest: observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) { record }
    series: observations(countryCodes: ["KE"], metricKeys: ["life_expectancy"]) { record }
    countries { record }
  }`);
  const samples: Record<string, Rows> = Object.fromEntries(
    Object.entries(data as Record<string, { record: Rows[number] }[]>).map(([name, rows]) => [
      name,
      rows.map(({ record }) => record),
    ]),
  );
  console.log(
    '## Serialization of cached values, relative to plain JSON: bytes, time to pack, time to unpack\n',
  );
  const names = Object.keys(samples);
  console.log(
    `| way                         |${names.map((name) => ` ${`${name} (${samples[name]?.length})`.padEnd(19)} |`).join('')}`,
  );
  console.log(`|-----------------------------|${names.map(() => '---------------------|').join('')}`);
  const bases = new Map<string, readonly number[]>();
  for (const [way, { pack, unpack }] of Object.entries(WAYS)) {
    const entries = names.map((name) => {
      const rows = samples[name] ?? [];
      const packed = pack(rows);
      const figures = [
        Buffer.byteLength(packed),
        medianUs(() => pack(rows)),
        medianUs(() => unpack(packed as never)),
      ];
      const base = bases.get(name) ?? figures;
      bases.set(name, base);
      return ` ${figures.map((figure, i) => (figure / (base[i] ?? 1)).toFixed(2).padStart(5)).join('  ')} |`;
    });
    console.log(`| ${way.padEnd(27)} |${entries.map((entry) => entry.padEnd(22)).join('')}`);
  }
  console.log('');
}
