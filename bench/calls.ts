import { deepStrictEqual } from 'node:assert';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parse } from 'graphql';
import { openProgram } from '../test/support/program.ts';
import { createPlainGateway } from './plain-gateway.ts';

/** Operations that take more than one data call, and why they have to. */
const REASONS: Readonly<Record<string, string>> = {
  'all-indicators-of-all-countries': 'row limit: 11,178 rows at 1,000 a call',
  'place-newer-than-country': 'depends on an earlier observation',
  'series-over-the-limit': 'row limit: about 4,000 rows at 1,000 a call',
};

interface Row {
  readonly name: string;
  readonly ours: number;
  readonly oursData: number;
  readonly plain: number;
  readonly plainData: number;
  readonly naive: number;
}

/** Runs one operation on both gateways, with nothing cached. Throws if the responses differ. */
async function compare(file: string): Promise<Row> {
  const query = readFileSync(file, 'utf8');
  await using program = await openProgram();
  const { sandbox, service } = program;
  const reply = await program.ask(query);
  const plain = createPlainGateway(service.url);
  const { result, bill } = await plain.run(parse(query), sandbox.keys.team);
  await plain.close();
  deepStrictEqual(JSON.parse(JSON.stringify(result.data)), reply.data, `${file}: the responses differ`);
  return {
    name: basename(file, '.graphql'),
    ours: reply.upstream.calls,
    oursData: reply.upstream.byRoute['/v1/data'] ?? 0,
    plain: bill.calls,
    plainData: bill.byRoute['/v1/data'] ?? 0,
    naive: reply.upstream.naive,
  };
}

/** Runs ten concurrent operations of one page, under the key of the free plan. */
async function comparePage(): Promise<Row & { readonly refused: number }> {
  const codes = ['KE', 'NG', 'ZA', 'EG', 'GH', 'TZ', 'UG', 'RW', 'MA', 'TN'];
  const queries = codes.map(
    (code) => `{ country(code: "${code}") { observation(metricKey: "population_total") { value } } }`,
  );
  await using program = await openProgram();
  const { sandbox, service } = program;
  const replies = await Promise.all(queries.map((query) => program.ask(query, { key: sandbox.keys.free })));
  const ours = sandbox.log.length;
  sandbox.log.clear();
  const plain = createPlainGateway(service.url);
  const runs = await Promise.all(queries.map((query) => plain.run(parse(query), sandbox.keys.team)));
  await plain.close();
  const plainCalls = runs.reduce((sum, { bill }) => sum + bill.calls, 0);
  return {
    name: 'ten widgets at once, free plan',
    ours,
    oursData: ours,
    plain: plainCalls,
    plainData: plainCalls,
    naive: replies.reduce((sum, { upstream }) => sum + upstream.naive, 0),
    refused: replies.filter(({ errors }) => errors.length > 0).length,
  };
}

/** @returns true if no operation takes more data calls than it has a reason for, and no widget was rejected */
export async function printCalls(): Promise<boolean> {
  const rows: Row[] = [];
  for (const file of globSync('bench/operations/*.graphql').sort()) rows.push(await compare(file));
  const page = await comparePage();
  rows.push(page);

  console.log(`## Upstream calls of ${rows.length} operations, with nothing cached\n`);
  console.log(
    'Plain: the same resolvers with DataLoader and its default scheduling. Field: one call per field.\n',
  );
  console.log(
    `| ${'operation'.padEnd(32)} | ours | of data | plain | of data | field | why more than one data call |`,
  );
  console.log(`|${'-'.repeat(34)}|-----:|--------:|------:|--------:|------:|---|`);
  const entry = (value: number, width: number) => String(value).padStart(width);
  for (const { name, ours, oursData, plain, plainData, naive } of rows) {
    const reason = oursData > 1 ? (REASONS[name] ?? 'NO REASON') : '';
    console.log(
      `| ${name.padEnd(32)} | ${entry(ours, 4)} | ${entry(oursData, 7)} | ${entry(plain, 5)} | ${entry(plainData, 7)} | ${entry(naive, 5)} | ${reason} |`,
    );
  }
  const total = (of: (row: Row) => number) => rows.reduce((sum, row) => sum + of(row), 0);
  const [ours, plain, naive] = [
    total((row) => row.ours),
    total((row) => row.plain),
    total((row) => row.naive),
  ];
  console.log(
    `\nIn total: plain ${(plain / ours).toFixed(2)} ×, field ${(naive / ours).toFixed(1)} × as many calls as ours.\n`,
  );
  return page.refused === 0 && rows.every(({ name, oursData }) => oursData <= 1 || name in REASONS);
}
