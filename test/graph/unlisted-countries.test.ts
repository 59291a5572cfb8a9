import { describe, expect, it } from 'vitest';
import { COVERED_COUNTRIES } from '../../src/service/records/countries.ts';
import { openFixedService } from '../support/fixed-service.ts';
import { openProgram } from '../support/program.ts';
import { SENT_ROW } from '../support/sent-row.ts';

const LISTED = ['ke', 'ug', 'tz', 'ng', 'gh', 'za', 'sn', 'ly', 'mz', 'ao'];
const KEYS = ['one', 'two', 'three'];
const COVERED = [...COVERED_COUNTRIES].map((code) => code.toLowerCase());

const ROWS = LISTED.flatMap((country_code, i) =>
  KEYS.map((metric_key) => {
    const named = { country_code, metric_key, year: 2024, period: '2024', value: i, location_name: null };
    return { ...SENT_ROW, ...named, as_of_period: null };
  }),
);

/** A service that lists ten countries, and refuses a call that names any other, or an unknown metric, without a word on which. */
async function open({ status = 404, countries = LISTED, known = LISTED, env = {} } = {}) {
  const service = await openFixedService({
    rows: ROWS,
    countries,
    refuses: (codes, keys) =>
      (codes.some((code) => !known.includes(code.toLowerCase())) ||
        keys.some((key) => !KEYS.includes(key.toLowerCase()))) && { status, detail: 'No.' },
  });
  const program = await openProgram({ upstreamUrl: service.url, env: { CACHE_URL: 'memory:', ...env } });
  return {
    ask: program.ask,
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

const ranked = (key: string) =>
  `{ countries { observation(metricKey: "${key}") { value rank { position of } } } }`;

/** The figure of each country of the list, and its place among them. */
const RANKED = LISTED.map((_, i) => ({ observation: { value: i, rank: { position: 10 - i, of: 10 } } }));
const UNRANKED = RANKED.map(({ observation: { value } }) => ({ observation: { value, rank: null } }));

describe('names that the service neither lists nor knows', () => {
  it('figures rank among the listed countries, if the service refuses all covered ones together by a 404 without words', async () => {
    await using program = await open();
    const { data, errors, upstream } = await program.ask(ranked('one'));
    expect({ data, errors }).toEqual({ data: { countries: RANKED }, errors: [] });
    expect(upstream.byRoute).toEqual({ '/v1/countries': 1, '/v1/data': 2 });
    // The refused ones are cached.
    for (const key of ['two', 'three']) {
      const later = await program.ask(ranked(key));
      expect(later.data).toEqual({ countries: RANKED });
      expect(later.upstream.byRoute).toEqual({ '/v1/data': 1 });
    }
  });

  it('a figure ranks among the listed countries beside an indicator that has no figures, though no list has come before', async () => {
    await using program = await open({ env: { CACHE_URL: 'none' } });
    const text =
      '{ country(code: "KE") { one: observation(metricKey: "one") { rank { of } } none: observation(metricKey: "none") { value } } }';
    const { data, errors, upstream } = await program.ask(text);
    expect({ data, errors }).toEqual({
      data: { country: { one: { rank: { of: 10 } }, none: null } },
      errors: [],
    });
    // One of them asks for the indicator once more, to be sure.
    expect(upstream.byRoute).toEqual({ '/v1/countries': 1, '/v1/data': 5 });
  });

  it('figures rank among the listed countries, if the service refuses all others as malformed', async () => {
    await using program = await open({ status: 422 });
    const { data, errors, upstream } = await program.ask(ranked('one'));
    expect({ data, errors }).toEqual({ data: { countries: RANKED }, errors: [] });
    expect(upstream.byRoute).toEqual({ '/v1/countries': 1, '/v1/data': 2 });
    const later = await program.ask(ranked('two'));
    expect(later.data).toEqual({ countries: RANKED });
    expect(later.upstream.byRoute).toEqual({ '/v1/data': 1 });
  });

  it('a figure ranks among the listed countries before any list has come, if the service refuses two others as malformed', async () => {
    const isCovered = (code: string) => !['sc', 'st'].includes(code.toLowerCase());
    const known = COVERED.filter(isCovered);
    await using program = await open({ status: 422, known, countries: known });
    const { data, errors, upstream } = await program.ask(
      '{ country(code: "KE") { observation(metricKey: "one") { rank { of } } } }',
    );
    expect({ data, errors }).toEqual({
      data: { country: { observation: { rank: { of: 10 } } } },
      errors: [],
    });
    expect(upstream.calls).toBeLessThanOrEqual(8);
  });

  it('a country that a query ranks among by its code fails, if the service refuses it as malformed before any list has come', async () => {
    await using program = await open({ status: 422 });
    const { errors } = await program.ask(
      '{ country(code: "KE") { observation(metricKey: "one") { rank(among: ["SC"]) { of } } } }',
    );
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
  });

  it('figures of listed countries come first, and a rank alone fails with a search that is given up, where a list is seen to lack some', async () => {
    await using program = await open({ countries: LISTED.slice(0, -1) });
    await program.ask('{ observations(countryCodes: ["AO"], metricKeys: ["one"], latest: true) { value } }');
    const { data, errors, upstream } = await program.ask(ranked('two'));
    expect(data).toEqual({ countries: UNRANKED.slice(0, -1) });
    expect(new Set(errors.map(({ path = [] }) => path.at(-1)))).toEqual(new Set(['rank']));
    // Nothing tells 44 names apart but calls, and nobody has named them. Four parts are asked for once more, to be sure.
    expect(upstream.byRoute).toEqual({ '/v1/countries': 1, '/v1/data': 20 });
  });

  it('figures of listed indicators come beside fifty unknown ones that are refused together without words', async () => {
    await using program = await open();
    const keys = JSON.stringify([...KEYS, ...Array.from({ length: 50 }, (_, i) => `unknown_${i}`)]);
    const text = `{ observations(countryCodes: ["KE", "UG"], metricKeys: ${keys}, latest: true) { value } }`;
    const { data, errors, upstream } = await program.ask(text);
    expect({ data, errors }).toEqual({
      data: { observations: [0, 0, 0, 1, 1, 1].map((value) => ({ value })) },
      errors: [],
    });
    expect(upstream.byRoute).toEqual({ '/v1/data': 2, '/v1/indicators': 1 });
  });

  it.each([
    ['countries', '["KE", "XA", "XB", "XC"]', '["one"]'],
    ['indicators', '["KE"]', '["one", "unknown_1", "unknown_2", "unknown_3"]'],
  ])(
    'a list of %s that the operation has is not loaded again to find refused names, though nothing is cached',
    async (list, codes, keys) => {
      await using program = await open({ env: { CACHE_URL: 'none' } });
      const figures = `observations(countryCodes: ${codes}, metricKeys: ${keys}, latest: true) { value }`;
      const { data, errors, upstream } = await program.ask(`{ ${list} { name } ${figures} }`);
      expect({ rows: data?.observations, errors }).toEqual({ rows: [{ value: 0 }], errors: [] });
      expect(upstream.byRoute).toEqual({ [`/v1/${list}`]: 1, '/v1/data': 2 });
    },
  );
});
