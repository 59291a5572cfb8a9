/**
 * `npm run soak -- --budget 256 --minutes 30`: the memory of a gateway under the load of 200 keys, one line per minute. Ends
 * with exit code 1 if it exceeds `MEMORY_MB` or a response is wrong. `--cache redis` stores in Redis, `--workers 2` runs
 * several processes. `--budget` may be repeated: budgets are tested one after the other, or with `--together` at once.
 * `--picture FILE` draws a chart of the result. `--pictures` requests pictures at public URLs instead.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { childrenOf } from '../test/support/descendants.ts';
import { startRedis } from '../test/support/redis.ts';
import { type Listening, startListening } from './race/child.ts';
import { START_ARGS } from './race/servers.ts';
import { short, table } from './race/table.ts';
import { startLoad } from './soak/load.ts';
import { drawSoaks } from './soak/picture.ts';
import { openPictures, startPictureClients } from './soak/pictures.ts';

const { values } = parseArgs({
  options: {
    budget: { type: 'string', multiple: true, default: ['256', '512', '1024'] },
    minutes: { type: 'string', default: '30' },
    rate: { type: 'string', default: '40' },
    keys: { type: 'string', default: '200' },
    cache: { type: 'string', default: 'memory' },
    workers: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    together: { type: 'boolean', default: false },
    picture: { type: 'string' },
    pictures: { type: 'boolean', default: false },
  },
});

const MB = 1_000_000;
const POLL_MS = 250;
const CORES = [0, 1];
const lineMs = Math.min(60_000, Number(values.minutes) * 15_000);

interface Line {
  readonly minute: number;
  readonly rssMb: number;
  readonly mostMb: number;
}

await using upstream = await startListening({ args: ['bench/upstream.ts'], core: CORES });

async function soak(budgetMb: string): Promise<readonly Line[]> {
  await using redis = values.cache === 'redis' ? await startRedis() : null;
  using pictures = values.pictures ? await openPictures() : null;
  await using gateway = await startListening({
    args: START_ARGS,
    core: CORES,
    env: {
      COUNTRY_DATA_URL: upstream.url,
      MEMORY_MB: budgetMb,
      WORKERS: values.workers,
      CACHE_URL: redis?.url ?? 'memory:',
      LOG_LEVEL: 'error',
      ...pictures?.env,
    },
  });
  const seed = Number(values.seed);
  const load = values.pictures
    ? startPictureClients(gateway.url, seed)
    : startLoad({ url: gateway.url, keys: Number(values.keys), perSecond: Number(values.rate), seed });
  const lines: Line[] = [];
  const startedAtMs = performance.now();
  const endsAtMs = startedAtMs + Number(values.minutes) * 60_000;
  for (let lineAtMs = startedAtMs; lineAtMs < endsAtMs - 1; ) {
    lineAtMs += lineMs;
    let mostMb = 0;
    for (; performance.now() < lineAtMs; await pause(POLL_MS)) mostMb = Math.max(mostMb, usedMb(gateway));
    const { operations, turnedAway, wrong, errors, p50Ms, p99Ms } = load.take();
    const minute = (lineAtMs - startedAtMs) / 60_000;
    const line = { minute, rssMb: usedMb(gateway), mostMb };
    lines.push(line);
    console.log(
      `${budgetMb} MB, minute ${short(minute)}: ${short(line.rssMb)} MB, ${short(mostMb)} at most; ${operations} operations, ${turnedAway} rejected, ${wrong} wrong, p50 ${short(p50Ms)} ms, p99 ${short(p99Ms)} ms`,
    );
    for (const error of errors) console.log(`  ${error}`);
    if (!(mostMb <= Number(budgetMb)) || wrong > 0 || operations === 0) process.exitCode = 1;
  }
  load.stop();
  return lines;
}

/** Resident memory of a program. Pages that its processes share count once, as in a container. */
function usedMb({ process: { pid } }: Listening): number {
  if (values.workers === '1') return memoryMb(pid, 'Rss');
  return [pid, ...childrenOf(pid)].reduce<number>((sum, one) => sum + memoryMb(one, 'Pss'), 0);
}

function memoryMb(pid: number | undefined, what: 'Rss' | 'Pss'): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return (Number(new RegExp(`^${what}:\\s+(\\d+)`, 'm').exec(text)?.[1]) * 1024) / MB;
}

const results: (readonly Line[])[] = [];
if (values.together) results.push(...(await Promise.all(values.budget.map(soak))));
else for (const budget of values.budget) results.push(await soak(budget));
if (values.picture !== undefined) {
  const note = values.cache === 'memory' ? '' : 'Redis';
  const series = results.map((points, i) => ({ budgetMb: Number(values.budget[i]), note, points }));
  writeFileSync(values.picture, drawSoaks(series));
}
console.log(
  table(
    ['minute', ...values.budget.map((mb) => `MEMORY_MB=${mb}`)],
    (results[0] ?? []).map(({ minute }, i) => [
      short(minute),
      ...results.map((lines) => short(lines[i]?.rssMb ?? Number.NaN)),
    ]),
  ),
);
process.exit();
