import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { servingStarter } from '../support/serving.ts';
import { openWideService } from '../support/wide-service.ts';

const MEMORY_MB = 256;

/** An entry of a batch asks for so many metrics of all countries, in 60 years: 13,000 rows. */
const ENTRY_METRICS = 4;
const YEARS = Array.from({ length: 60 }, (_, i) => 1965 + i);
const ENTRIES = 10;
const LANES = 4;

const start = servingStarter({});

it.runIf(process.platform === 'linux')(
  'four clients, each with a batch of ten wide operations, keep the program within its memory',
  async () => {
    await using service = await openWideService(ENTRY_METRICS * ENTRIES, YEARS);
    const env = { COUNTRY_DATA_URL: service.url, MEMORY_MB: String(MEMORY_MB), CACHE_URL: 'memory:' };
    const { child, url } = await start({ ...env, LOG_LEVEL: 'silent' });
    const ask = async (body: unknown, lane: number) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer key-${lane}` };
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
      return await response.json();
    };
    const entryOf = (lane: number, entry: number) => {
      const keys = Array.from({ length: ENTRY_METRICS }, (_, i) => `metric_${entry * ENTRY_METRICS + i}`);
      return {
        query: `{ countries { lane${lane}: observations(metricKeys: ${JSON.stringify(keys)}) { value } } }`,
      };
    };
    const lanes = Array.from({ length: LANES }, async (_, lane) => {
      // A key that has been accepted may ask for more.
      await ask({ query: '{ countries { code } }' }, lane);
      return ask(
        Array.from({ length: ENTRIES }, (_, entry) => entryOf(lane, entry)),
        lane,
      );
    });
    for (const answers of await Promise.all(lanes)) {
      expect(answers.map(({ errors }: { errors?: unknown }) => errors)).toEqual(
        Array(ENTRIES).fill(undefined),
      );
    }
    const [, mostKb] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
    expect(Number(mostKb) * 1024).toBeLessThan(1.05 * MEMORY_MB * 1e6);
  },
  120_000,
);
