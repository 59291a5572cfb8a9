/**
 * CPU time, in microseconds, of each step from the bytes of a body to its records, without load and HTTP:
 * `npm run bench:profile -- reading`, or `-- reading half` if half of the rows change instead of a tenth. No two bodies have
 * the same bytes. Each step is run many times, and the fastest run counts: other load on the machine only slows runs down.
 */

import { createStringPool } from '../../src/observations/string-pool.ts';
import { decodeCountries } from '../../src/service/records/countries.ts';
import { listIn, metaIn } from '../../src/service/records/envelope.ts';
import { decodeObservations } from '../../src/service/records/observations.ts';
import { parsedByRows, type Read } from '../../src/service/repeated-rows.ts';
import { taken } from '../../src/shared/async/turns.ts';
import { isDeep, parseExactly } from '../../src/shared/exact-json.ts';
import { type Bodies, startUpstream, type Upstream } from '../race/service.ts';
import { table } from '../race/table.ts';

const LATEST = 'latest=true&limit=1000';

const BODIES: readonly { readonly name: string; readonly target: string }[] = [
  { name: 'list of countries', target: '/v1/countries' },
  { name: 'one figure', target: `/v1/data?country_codes=KE&metric_keys=population_total&${LATEST}` },
  { name: 'figures of 54', target: `/v1/data?metric_keys=population_total&${LATEST}` },
  {
    name: 'figures of 54 × 3',
    target: `/v1/data?metric_keys=population_total,gdp_current_usd,life_expectancy&${LATEST}`,
  },
  {
    name: '20 series',
    target:
      '/v1/data?country_codes=KE,NG,ZA,EG,GH,TZ,UG,MA,DZ,ET&metric_keys=gdp_current_usd,population_total&start_year=1990&end_year=2024&limit=1000',
  },
];

/** Bodies from one URL, no two with the same bytes. */
const COPIES = 40;
const RUNS = 60;
/** Bytes that are processed in one run of a step, which takes some milliseconds. */
const RUN_BYTES = 4_000_000;

interface Sent {
  readonly chunks: readonly Buffer[];
  readonly bytes: Buffer;
  readonly text: string;
  readonly body: unknown;
}

type Step = readonly [name: string, run: (sent: Sent) => unknown];

const lastOf = new Map<readonly Buffer[], Read>();
const common = createStringPool();

const stepsFor = (target: string): readonly Step[] => {
  const route = target.split('?')[0] ?? '';
  const decode: (body: unknown) => unknown =
    route === '/v1/countries'
      ? (body) => decodeCountries(body, route)
      : (body) => decodeObservations(body, route, 0).rows;
  return [
    ['compare with the previous one', ({ chunks, bytes }) => lastOf.get(chunks)?.bytes.equals(bytes)],
    ['bytes (copy)', ({ chunks }) => Buffer.concat(chunks)],
    ['text', ({ bytes }) => bytes.toString()],
    ['parse: JSON.parse alone', ({ text }) => JSON.parse(text)],
    ['parse: parseExactly', ({ text }) => parseExactly(text)],
    ['parse: by rows', ({ chunks, bytes }) => taken(parsedByRows(lastOf.get(chunks) as Read, bytes))],
    ['nesting', ({ body }) => isDeep(body)],
    ['envelope', ({ body }) => [listIn(body, route), metaIn(body)]],
    ['envelope and records, rows already decoded', ({ body }) => decode(body)],
    ['entries (shared strings)', ({ body }) => common([{ rows: decode(body) as never }])],
    [
      'all of it, whole body',
      ({ chunks }) => {
        const bytes = Buffer.concat(chunks);
        const body = parseExactly(bytes.toString());
        if (isDeep(body)) throw new Error('The body is nested too deeply.');
        return decode(body);
      },
    ],
    [
      'all of it, by rows',
      ({ chunks }) => {
        const bytes = Buffer.concat(chunks);
        const read = taken(parsedByRows(lastOf.get(chunks) as Read, bytes));
        const body = read === undefined ? parseExactly(bytes.toString()) : read.body;
        return decode(body);
      },
    ],
  ];
};

async function bodiesOf(upstream: Upstream, target: string): Promise<Sent[]> {
  const sent: Sent[] = [];
  for (let i = 0; i < COPIES; i += 1) {
    const bytes = Buffer.from(await (await fetch(upstream.url + target)).arrayBuffer());
    // Chunks as they come from a socket.
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += 65_536) chunks.push(bytes.subarray(at, at + 65_536));
    const text = bytes.toString();
    const body = parseExactly(text);
    lastOf.set(chunks, sent.at(-1) ?? { bytes, body });
    sent.push({ chunks, bytes, text, body });
  }
  return sent;
}

/** CPU time in microseconds of one body in one run, garbage collection included. */
function microseconds([, run]: Step, sent: readonly Sent[], count: number): number {
  const before = process.cpuUsage();
  for (let i = 0; i < count; i += 1) run(sent[i % sent.length] as Sent);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

export async function profileReading(bodies: Bodies): Promise<void> {
  await using upstream = await startUpstream(undefined, bodies);
  const columns: Map<string, number>[] = [];
  const head: string[] = ['CPU µs per body'];
  for (const { name, target } of BODIES) {
    const sent = await bodiesOf(upstream, target);
    const size = sent[0]?.bytes.length ?? 1;
    const count = Math.min(2_000, Math.ceil(RUN_BYTES / size));
    const least = new Map<string, number>();
    const steps = stepsFor(target).filter(
      ([step]) => !step.startsWith('entries') || target !== '/v1/countries',
    );
    // Steps are run in turn, so that other load on the machine affects all of them. The first runs are warm-up.
    for (let round = 0; round < RUNS; round += 1) {
      for (const step of steps) {
        const us = microseconds(step, sent, count);
        if (round > RUNS / 4)
          least.set(step[0], Math.min(us, least.get(step[0]) ?? Number.POSITIVE_INFINITY));
      }
    }
    columns.push(least);
    head.push(`${name}, ${(size / 1000).toFixed(1)} KB`);
  }
  const names = [...new Set(columns.flatMap((column) => [...column.keys()]))];
  console.log(
    table(
      head,
      names.map((name) => [name, ...columns.map((column) => column.get(name)?.toFixed(1) ?? '–')]),
    ),
  );
}
