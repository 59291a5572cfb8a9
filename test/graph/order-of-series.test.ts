import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { draws } from '../support/draws.ts';
import { openFixedService } from '../support/fixed-service.ts';
import { openProgram } from '../support/program.ts';
import { SENT_ROW } from '../support/sent-row.ts';

const sent = (metric_key: string, year: number, period: string, place: string | null, source: string) => ({
  ...SENT_ROW,
  ...{ metric_key, year, period, location_name: place, source, as_of_period: null, value: year },
});

/** Rows in the order that the schema describes: of one time, the whole country, places by name, and sources by key. */
const SERIES = [
  sent('m', 2022, '2022', null, 'a'),
  sent('m', 2023, '2023-Q1', null, 'a'),
  sent('m', 2023, '2023-Q4', 'Mombasa', 'a'),
  sent('m', 2023, '2023', null, 'a'),
  sent('m', 2023, '2023', null, 'b'),
  sent('m', 2023, '2023-A1', 'Kisumu', 'a'),
  sent('m', 2023, '2023', 'Nairobi', 'a'),
];
const OTHER = [sent('n', 2021, '2021', null, 'a'), sent('n', 2022, '2022', null, 'a')];

const FIELDS = 'period locationName source { key }';
const NAMES = 'countryCodes: ["KE"], metricKeys: ["m"]';
const WAYS = [
  `{ x: observations(${NAMES}) { ${FIELDS} } }`,
  `{ x: observations(countryCodes: ["KE"], metricKeys: ["m", "n"], fromYear: 2022, scope: ALL) { ${FIELDS} } }`,
  `{ country(code: "KE") { x: observations(metricKeys: ["m"]) { ${FIELDS} } observation(metricKey: "n") { year } } }`,
  `{ x: observations(${NAMES}, fromYear: 2022, toYear: 2023) { ${FIELDS} } }`,
];
const WANTED = SERIES.map(({ period, location_name, source }) => `${period} ${location_name} ${source}`);

// biome-ignore lint/suspicious/noExplicitAny: rows of whatever was asked for
const named = (rows: readonly any[]) =>
  rows.map(({ period, locationName, source }) => `${period} ${locationName} ${source.key}`);

const PAGE = `query ($after: String) { observationsConnection(${NAMES}, first: 2, after: $after) {
  nodes { ${FIELDS} } pageInfo { endCursor hasNextPage } } }`;

const orders = fc.shuffledSubarray([...SERIES, ...OTHER], { minLength: SERIES.length + OTHER.length });

describe('the rows of a series', () => {
  it('the rows of a series stand in the one order that the schema describes, whatever call brings them, and in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(orders, { minLength: 4, maxLength: 4 }), async (sentAs) => {
        await using service = await openFixedService({ rows: [] });
        for (const env of [{ CACHE_URL: 'memory:' }, { CACHE_URL: 'none' }]) {
          await using program = await openProgram({ upstreamUrl: service.url, env });
          for (const [i, text] of WAYS.entries()) {
            service.revise(sentAs[i] ?? []);
            const { data, upstream } = await program.ask(text);
            // Rows of the other indicator come after those of the first.
            expect(named(data.x ?? data.country.x).slice(0, WANTED.length)).toEqual(WANTED);
            if (env.CACHE_URL === 'none') expect(upstream.calls).toBeGreaterThan(0);
            else if (i === 3) expect(upstream.calls).toBe(0);
          }
        }
      }),
      { numRuns: draws(20, 3) },
    );
  }, 120_000);

  it('the rows of a series have cursors that go on under another key, by other calls', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(orders, { minLength: 4, maxLength: 4 }), async (sentAs) => {
        await using service = await openFixedService({ rows: [] });
        await using program = await openProgram({
          upstreamUrl: service.url,
          env: { CACHE_URL: 'none' },
        });
        const seen: string[] = [];
        let after: string | null = null;
        for (const [i, rows] of sentAs.entries()) {
          service.revise(rows);
          const key = i % 2 === 0 ? 'key-one' : 'key-two';
          const { data, upstream } = await program.ask(PAGE, { key, variables: { after } });
          const { nodes, pageInfo } = data.observationsConnection;
          seen.push(...named(nodes));
          after = pageInfo.endCursor;
          expect(pageInfo.hasNextPage).toBe(i < 3);
          expect(upstream.calls).toBe(1);
        }
        expect(seen).toEqual(WANTED);
      }),
      { numRuns: draws(20, 3) },
    );
  }, 120_000);
});
