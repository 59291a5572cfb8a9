import { describe, expect, it } from 'vitest';
import { askInParts } from '../../defer/parts.ts';
import { type FixedRoutes, openFixedService } from '../../support/fixed-service.ts';
import { openProgram } from '../../support/program.ts';
import { SENT_ROW } from '../../support/sent-row.ts';

const WHY = { 'x-absences': '1' };

const row = (
  metric_key: string,
  year: number,
  value: number | null = 1,
  location_name: string | null = null,
) => ({
  ...SENT_ROW,
  metric_key,
  year,
  period: `${year}`,
  as_of_period: null,
  location_name,
  value,
});

/** Kenya's figures of one metric, rows without a value of another, and a figure of a place of a third. */
const ROWS = [
  ...[2010, 2011, 2012].map((year) => row('known', year)),
  ...[2010, 2011].map((year) => row('blank', year, null)),
  row('local', 2012, 1, 'Nairobi'),
];

async function open(routes: FixedRoutes = {}, env: Record<string, string> = {}) {
  const service = await openFixedService({ rows: ROWS, ...routes });
  const program = await openProgram({ upstreamUrl: service.url, env: { CACHE_URL: 'memory:', ...env } });
  return {
    ...program,
    /** Asks why; tells the answer, what is absent, and the calls. */
    async why(query: string) {
      service.requests.length = 0;
      const { data, errors, extensions, upstream } = await program.ask(query, { headers: WHY });
      expect(upstream.calls).toBe(service.requests.length);
      return { data, errors, absences: extensions.absences, calls: upstream.calls };
    },
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

const observation = (key: string) => `{ country(code: "KE") { observation(metricKey: "${key}") { value } } }`;
const series = (key: string, further = '') =>
  `{ country(code: "KE") { observations(metricKeys: ["${key}"]${further}) { year } } }`;

/** An operation, and the reason why it has no figure, where the service takes every name. */
const CASES: readonly (readonly [reason: string, query: string])[] = [
  ['NO_FIGURE', observation('nothing')],
  ['NO_FIGURE', series('nothing')],
  ['NO_FIGURE', '{ indicator(key: "known") { observation(countryCode: "UG") { value } } }'],
  ['BLANK', observation('blank')],
  ['BLANK', series('blank')],
  ['BLANK', series('blank', ', latest: true')],
  // It has rows without a value; of the years that are asked for, it may have none at all.
  ['NO_FIGURE', series('blank', ', fromYear: 2015')],
  ['NO_FIGURE', observation('local')],
  ['NO_FIGURE', series('local', ', scope: NATIONAL')],
  ['NO_FIGURE', series('local', ', scope: NATIONAL, latest: true')],
  ['OLDER_ONLY', series('known', ', fromYear: 2013')],
  ['OLDER_ONLY', series('known', ', fromYear: 2013, toYear: 2020')],
  ['OLDER_ONLY', series('known', ', fromYear: 2013, latest: true')],
  ['NEWER_ONLY', series('known', ', toYear: 2009')],
  ['NEWER_ONLY', series('known', ', toYear: 2009, latest: true')],
  ['NEWER_ONLY', series('known', ', fromYear: 1990, toYear: 2009')],
];

const pathOf = (query: string) => [
  query.includes('indicator(') ? 'indicator' : 'country',
  query.includes('observations') ? 'observations' : 'observation',
];

describe('an answer that tells why it has no figure', () => {
  it.for(CASES)(
    'an answer that tells why it has no figure says %s, fetched, cached and repeated: %s',
    async ([reason, query]) => {
      await using program = await open();
      // Without the question, nothing is told, and it is the same answer.
      const untold = await program.ask(query);
      expect(untold.extensions).not.toHaveProperty('absences');
      const expected = [{ path: pathOf(query), reason }];
      for (const calls of [0, 0, 0]) {
        expect(await program.why(query)).toEqual({
          data: untold.data,
          errors: [],
          absences: expected,
          calls,
        });
      }
      expect(program.operations.at(-1)?.repeated).toBe(true);
      // The bytes for those who haven't asked are others.
      expect((await program.ask(query)).extensions).not.toHaveProperty('absences');
      await using cold = await open();
      expect((await cold.why(query)).absences).toEqual(expected);
    },
  );

  it.each(['memory:', 'none'])(
    'an indicator that has rows without a value is not called unknown, with the store %s',
    async (CACHE_URL) => {
      await using program = await open({}, { CACHE_URL });
      for (const query of [observation('blank'), series('blank'), series('blank', ', fromYear: 2010')]) {
        const { extensions, upstream } = await program.ask(query);
        expect(extensions).not.toHaveProperty('warnings');
        expect(upstream.calls).toBeLessThanOrEqual(2);
      }
      // Of one without any row, nothing shows that it exists.
      const { extensions } = await program.ask(series('nothing'));
      expect(extensions.warnings).toEqual([expect.objectContaining({ code: 'UNKNOWN_INDICATOR' })]);
    },
  );

  it('an answer that tells why it has no figure speaks of other years only where they are there', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
    const { data } = await program.ask('{ indicators(hasData: true) { key } }');
    // More series than one call brings: only the years that are asked for are fetched.
    const keys = data.indicators.slice(0, 20).map(({ key }: { readonly key: string }) => key);
    const later = series(keys.join('", "'), ', fromYear: 2090, toYear: 2095');
    const why = async () => {
      const { extensions, upstream } = await program.ask(later, { headers: WHY });
      return { absences: extensions.absences, calls: upstream.calls };
    };
    const path = ['country', 'observations'];
    expect(await why()).toEqual({ absences: [{ path, reason: 'NO_FIGURE' }], calls: 1 });
    expect(await why()).toEqual({ absences: [{ path, reason: 'NO_FIGURE' }], calls: 0 });
    const whole = await program.ask(series(keys.join('", "')));
    expect(whole.data.country.observations.length).toBeGreaterThan(0);
    const { absences, calls } = await why();
    expect(absences).toContainEqual({ path, reason: 'OLDER_ONLY' });
    expect(calls).toBe(0);
  });

  it('an answer that tells why it has no figure needs no cache', async () => {
    await using program = await open({}, { CACHE_URL: 'none' });
    for (const _ of [1, 2]) {
      const { absences, calls } = await program.why(observation('blank'));
      expect([absences, calls]).toEqual([[{ path: ['country', 'observation'], reason: 'BLANK' }], 2]);
    }
  });

  it('an answer that tells why it has no figure lists none where all figures are there', async () => {
    await using program = await open();
    expect((await program.why(observation('known'))).absences).toEqual([]);
  });

  it('an answer that tells why it has no figure names an indicator and a country that the cached lists lack', async () => {
    await using program = await open();
    await program.ask('{ indicators { key } countries { name } }');
    const text = `{
      country(code: "KE") { one: observation(metricKey: "nope") { value } observations(metricKeys: ["nope"]) { value } }
      indicator(key: "known") { observation(countryCode: "UG") { value } observations(countryCodes: ["UG"]) { value } }
      observations(countryCodes: ["UG", "KE"], metricKeys: ["nope"]) { value }
      none: indicator(key: "nope") { observation(countryCode: "KE") { value } }
    }`;
    const { absences, calls } = await program.why(text);
    expect(absences).toEqual(
      expect.arrayContaining([
        { path: ['country', 'one'], reason: 'UNKNOWN_INDICATOR' },
        { path: ['country', 'observations'], reason: 'UNKNOWN_INDICATOR' },
        { path: ['indicator', 'observation'], reason: 'NOT_OFFERED' },
        { path: ['observations'], reason: 'UNKNOWN_INDICATOR' },
        { path: ['observations'], reason: 'NOT_OFFERED' },
        { path: ['indicator', 'observations'], reason: 'NOT_OFFERED' },
        { path: ['none'], reason: 'UNKNOWN_INDICATOR' },
      ]),
    );
    expect([absences, calls]).toEqual([expect.objectContaining({ length: 7 }), 0]);
    // Nothing is missing where nothing is asked for.
    for (const names of ['countryCodes: [], metricKeys: ["nope"]', 'countryCodes: ["UG"], metricKeys: []'])
      expect((await program.why(`{ observations(${names}) { value } }`)).absences).toEqual([]);
  });

  const refusing = (status: number) => ({
    refuses: (codes: readonly string[], keys: readonly string[]) => {
      if (keys.includes('NOPE')) return { status, detail: 'metric not found: nope' };
      return codes.includes('UG') && { status, detail: 'country not found: ug' };
    },
  });

  it('an answer that tells why it has no figure goes by the words of a 404', async () => {
    await using program = await open(refusing(404));
    const text = `{ countries: observations(countryCodes: ["UG"], metricKeys: ["known"]) { value }
      metrics: observations(countryCodes: ["KE"], metricKeys: ["nope"]) { value }
      here: observations(countryCodes: ["KE"], metricKeys: ["known"]) { value } }`;
    for (const _ of ['fetched', 'cached', 'repeated'])
      expect((await program.why(text)).absences).toEqual([
        { path: ['countries'], reason: 'NOT_OFFERED' },
        { path: ['metrics'], reason: 'UNKNOWN_INDICATOR' },
      ]);
  });

  it('an answer that tells why it has no figure says that a name was refused, beside the error', async () => {
    await using program = await open(refusing(422));
    const text = `{ country(code: "KE") { nope: observation(metricKey: "nope") { value }
      list: observations(metricKeys: ["nope"]) { value }
      bad: observation(metricKey: "two words") { value } observation(metricKey: "known") { value } } }`;
    for (const _ of ['fetched', 'cached']) {
      const { absences, errors } = await program.why(text);
      expect(errors.map(({ path }) => path?.at(-1)).toSorted()).toEqual(['bad', 'list', 'nope']);
      expect(absences).toEqual([
        { path: ['country', 'nope'], reason: 'REFUSED' },
        { path: ['country', 'list'], reason: 'REFUSED' },
      ]);
    }
  });

  it('an answer that tells why it has no figure proves nothing by a failure of the service', async () => {
    await using program = await open(
      { refuses: () => ({ status: 500, detail: 'down' }) },
      { UPSTREAM_RETRIES: '0' },
    );
    const { absences, errors } = await program.why(observation('known'));
    expect([errors.length, absences]).toEqual([1, []]);
  });

  it('an answer that tells why it has no figure says that it is not cached where nothing is sent', async () => {
    await using program = await open();
    await program.why(series('known'));
    const text = `{ country(code: "KE") { here: observations(metricKeys: ["known"]) { value }
      older: observations(metricKeys: ["known"], fromYear: 2015) { value }
      observation(metricKey: "blank") { value } list: observations(metricKeys: ["local"]) { value } } }`;
    const { errors, extensions } = await program.ask(text, { headers: { ...WHY, 'x-offline': '1' } });
    expect(errors.map(({ path }) => path?.at(-1)).toSorted()).toEqual(['list', 'observation']);
    expect(extensions.absences).toEqual([
      { path: ['country', 'older'], reason: 'OLDER_ONLY' },
      { path: ['country', 'observation'], reason: 'NOT_HELD' },
      { path: ['country', 'list'], reason: 'NOT_HELD' },
    ]);
  });

  it('an answer that tells why it has no figure names aliases, items and entities by their paths', async () => {
    await using program = await open();
    const text = `{
      countries(codes: ["KE", "UG"]) { code a: observation(metricKey: "known") { value } b: observation(metricKey: "blank") { value } }
      _entities(representations: [{ __typename: "Country", code: "KE" }, { __typename: "Indicator", key: "known" }]) {
        ... on Country { c: observation(metricKey: "nothing") { value } }
        ... on Indicator { observation(countryCode: "UG") { value } }
      }
      observationsConnection(countryCodes: ["KE"], metricKeys: ["nothing"]) { nodes { value } }
    }`;
    const { absences, calls } = await program.why(text);
    expect(absences).toHaveLength(6);
    expect(absences).toEqual(
      expect.arrayContaining([
        { path: ['countries', 1, 'a'], reason: 'NO_FIGURE' },
        { path: ['countries', 0, 'b'], reason: 'BLANK' },
        { path: ['countries', 1, 'b'], reason: 'NO_FIGURE' },
        { path: ['_entities', 0, 'c'], reason: 'NO_FIGURE' },
        { path: ['_entities', 1, 'observation'], reason: 'NO_FIGURE' },
        { path: ['observationsConnection'], reason: 'NO_FIGURE' },
      ]),
    );
    // The latest, and the series of what has a latest row without a value.
    expect(calls).toBeLessThanOrEqual(3);
  });

  it('an answer that tells why it has no figure does so of parts that come later, in the last of them', async () => {
    await using program = await open();
    const text = `{ country(code: "KE") { code observation(metricKey: "blank") { value }
      ... @defer { late: observation(metricKey: "nothing") { value } } } }`;
    const { parts } = await askInParts(program, text, { headers: WHY });
    expect(parts.at(-1)?.payload.extensions.absences).toEqual([
      { path: ['country', 'observation'], reason: 'BLANK' },
      { path: ['country', 'late'], reason: 'NO_FIGURE' },
    ]);
  });

  it('an answer that tells why it has no figure varies by the question, and so does every other', async () => {
    await using program = await open();
    for (const headers of [{}, WHY])
      expect((await program.ask(observation('known'), { headers })).headers.get('vary')).toContain(
        'X-Absences',
      );
  });
});
