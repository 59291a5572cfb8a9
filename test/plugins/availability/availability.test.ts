import { describe, expect, it } from 'vitest';
import { openFolder, openIssuing } from '../../issued/issuing.ts';
import { openFixedService } from '../../support/fixed-service.ts';
import { openProgram } from '../../support/program.ts';
import { SENT_ROW } from '../../support/sent-row.ts';

const row = (country_code: string, metric_key: string, year: number, source = 'world_bank_wdi') => ({
  ...SENT_ROW,
  country_code,
  metric_key,
  year,
  period: `${year}`,
  as_of_period: null,
  location_name: null,
  source,
});

const ROWS = [
  ...[2010, 2011, 2012].map((year) => row('ke', 'one', year)),
  row('ke', 'one', 2012, 'imf_weo'),
  ...[2001, 2002].map((year) => row('ug', 'one', year)),
  row('ke', 'two', 1999),
];

const FIELDS = 'country { code } indicator { key } firstYear lastYear figures sources { key } isComplete';
const OF_KENYA = `{ country(code: "KE") { availability(metricKeys: ["one", "two", "none"]) { ${FIELDS} } } }`;

async function open(env: Readonly<Record<string, string>> = {}) {
  const service = await openFixedService({ rows: ROWS });
  const program = await openProgram({ upstreamUrl: service.url, env: { CACHE_URL: 'memory:', ...env } });
  return {
    ...program,
    service,
    /** What there is, for no call, as the price says. */
    async there(query: string) {
      const priced = await program.ask(query, { headers: { 'x-explain': '1' } });
      expect(priced.extensions.explain).toMatchObject({ calls: 0, least: 0, most: 0 });
      const { data, errors, upstream } = await program.ask(query);
      expect([errors, upstream.calls]).toEqual([[], 0]);
      return (data.country ?? data.indicator ?? data).availability;
    },
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

const item = (code: string, key: string, further: object) => ({
  country: { code },
  indicator: { key },
  ...further,
});

describe('the availability of figures', () => {
  it('the availability of figures is there after a restart, of all indicators of a cached catalogue', async () => {
    using folder = openFolder();
    const env = { CACHE_URL: folder.cacheUrl };
    const series =
      '{ indicators { key } observations(countryCodes: ["KE"], metricKeys: ["population_total"]) { value } }';
    await using before = await openProgram({ env });
    await before.ask(series);
    await using after = await openProgram({ env: { ...env, OFFLINE: 'on' } });
    const { data, errors } = await after.ask(
      '{ country(code: "KE") { availability { indicator { key } isComplete } } }',
    );
    const population = { indicator: { key: 'population_total' }, isComplete: true };
    expect([data.country.availability, errors]).toEqual([[population], []]);
  });

  it('the availability of figures is that of cached ones: whole series are complete, and latest figures alone are not', async () => {
    await using program = await open();
    expect(await program.there(OF_KENYA)).toEqual([]);
    const latest = '{ country(code: "KE") { observation(metricKey: "two") { value } } }';
    await program.ask(latest);
    const two = { firstYear: 1999, lastYear: 1999, figures: 1, sources: [{ key: 'world_bank_wdi' }] };
    expect(await program.there(OF_KENYA)).toEqual([item('KE', 'two', { ...two, isComplete: false })]);
    await program.ask('{ observations(countryCodes: ["KE"], metricKeys: ["one", "two", "none"]) { value } }');
    const sources = [{ key: 'imf_weo' }, { key: 'world_bank_wdi' }];
    const one = { firstYear: 2010, lastYear: 2012, figures: 4, sources, isComplete: true };
    expect(await program.there(OF_KENYA)).toEqual([
      item('KE', 'one', one),
      item('KE', 'two', { ...two, isComplete: true }),
      item('KE', 'none', { firstYear: null, lastYear: null, figures: 0, sources: [], isComplete: true }),
    ]);
    expect(program.service.requests).toHaveLength(2);
  });

  it('the availability of figures names all indicators and countries that anything is cached of', async () => {
    await using program = await open();
    await program.ask('{ observations(countryCodes: ["KE", "UG"], metricKeys: ["one", "two"]) { value } }');
    program.service.requests.length = 0;
    const keys = await program.there(`{ country(code: "KE") { availability { ${FIELDS} } } }`);
    expect(keys.map((one: { indicator: { key: string } }) => one.indicator.key)).toEqual(['one', 'two']);
    const text = `{ indicator(key: "one") { key availability { ${FIELDS} } } }`;
    await program.ask('{ indicators { key } }');
    const codes = await program.there(text);
    expect(codes).toEqual([
      expect.objectContaining({ country: { code: 'KE' }, figures: 4 }),
      item('UG', 'one', {
        firstYear: 2001,
        lastYear: 2002,
        figures: 2,
        sources: [{ key: 'world_bank_wdi' }],
        isComplete: true,
      }),
    ]);
  });

  it('the availability of figures by indicator counts countries, those that nothing is known of, and years', async () => {
    await using program = await open();
    const fields =
      'indicator { key } countryCount unknownCount firstYear lastYear figures countries { country { code } figures }';
    const of = (args: string) => program.there(`{ availability${args} { ${fields} } }`);
    expect(await of('')).toEqual([]);
    await program.ask(
      '{ observations(countryCodes: ["KE", "UG"], metricKeys: ["one", "two", "none"]) { value } }',
    );
    program.service.requests.length = 0;
    const kenya = { country: { code: 'KE' }, figures: 4 };
    const uganda = { country: { code: 'UG' }, figures: 2 };
    const one = {
      ...{ indicator: { key: 'one' }, countryCount: 2, unknownCount: 52 },
      ...{ firstYear: 2001, lastYear: 2012, figures: 6, countries: [kenya, uganda] },
    };
    const two = {
      ...{ indicator: { key: 'two' }, countryCount: 1, unknownCount: 52 },
      ...{ firstYear: 1999, lastYear: 1999, figures: 1, countries: [{ ...kenya, figures: 1 }] },
    };
    expect(await of('')).toEqual([one, two]);
    expect(await of('(countryCodes: ["ke"])')).toEqual([
      { ...one, countryCount: 1, unknownCount: 0, firstYear: 2010, figures: 4, countries: [kenya] },
      { ...two, unknownCount: 0 },
    ]);
    expect(await of('(search: " TW ")')).toEqual([two]);
    expect(await of('(search: "one two")')).toEqual([]);
    // Uganda has figures before and none after: between its years and Kenya's there are none.
    expect(await of('(fromYear: 2003, toYear: 2009)')).toEqual([]);
    expect(await of('(fromYear: 2012)')).toEqual([
      { ...one, countryCount: 1, firstYear: 2012, figures: 2, countries: [kenya] },
    ]);
    expect(program.service.requests).toEqual([]);
  });

  it.each(['fromYear: 2001, toYear: 2000', `search: "${'a'.repeat(201)}"`])(
    'the availability of figures by indicator refuses what nothing can have: %s',
    async (args) => {
      await using program = await open();
      const { errors, upstream } = await program.ask(`{ availability(${args}) { figures } }`);
      expect([errors.map(({ extensions }) => extensions.code), upstream.calls]).toEqual([
        ['BAD_USER_INPUT'],
        0,
      ]);
    },
  );

  it('the availability of figures is as old as the figures', async () => {
    await using program = await open();
    const before = Date.now();
    await program.ask('{ observations(countryCodes: ["KE"], metricKeys: ["one"]) { value } }');
    const text = '{ country(code: "KE") { availability(metricKeys: ["one"]) { asOf } } }';
    const [{ asOf }] = await program.there(text);
    expect(Date.parse(asOf)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(asOf)).toBeLessThanOrEqual(Date.now());
  });

  it('the availability of figures is told anew each time, though the operation is the same', async () => {
    await using program = await open();
    for (const _ of [1, 2, 3]) expect(await program.there(OF_KENYA)).toEqual([]);
    await program.ask('{ country(code: "KE") { observation(metricKey: "one") { value } } }');
    expect(await program.there(OF_KENYA)).toHaveLength(1);
  });

  it('the availability of figures under one key says nothing of those of another', async () => {
    await using program = await open();
    await program.ask('{ observations(countryCodes: ["KE"], metricKeys: ["one"]) { value } }');
    for (const key of ['made-up', program.sandbox.keys.free]) {
      const { data } = await program.ask(OF_KENYA, { key });
      expect(data.country.availability).toEqual([]);
    }
    const { errors } = await program.ask(OF_KENYA, { key: null });
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(['UNAUTHENTICATED']);
  });

  it('the availability of figures is told by a gateway that works without the service', async () => {
    await using program = await open();
    await program.ask('{ observations(countryCodes: ["KE"], metricKeys: ["one"]) { value } }');
    const { data, errors, upstream } = await program.ask(OF_KENYA, { headers: { 'x-offline': '1' } });
    expect([errors, upstream.calls]).toEqual([[], 0]);
    expect(data.country.availability).toEqual([expect.objectContaining({ figures: 4, isComplete: true })]);
  });

  it('the availability of figures without a cache is that of none', async () => {
    await using program = await open({ CACHE_URL: 'none' });
    await program.ask('{ observations(countryCodes: ["KE"], metricKeys: ["one"]) { value } }');
    expect(await program.there(OF_KENYA)).toEqual([]);
  });

  it('the availability of figures is kept from an issued key that may not read figures', async () => {
    using folder = openFolder();
    await using program = await openIssuing(folder);
    const text =
      '{ country(code: "KE") { code availability(metricKeys: ["population_total"]) { figures } } }';
    const whole = await program.issue({ name: 'whole' });
    const markets = await program.issue({ name: 'markets', tags: ['markets'] });
    const figures = await program.issue({ name: 'figures', tags: ['figures'] });
    await program.ask('{ country(code: "KE") { observation(metricKey: "population_total") { value } } }', {
      key: whole,
    });
    program.requests();
    expect((await program.ask(text, { key: figures })).data.country.availability).toEqual([{ figures: 1 }]);
    const { data, errors } = await program.ask(text, { key: markets });
    expect([data?.country ?? null, errors.map(({ extensions }) => extensions.code)]).toEqual([
      null,
      ['DOCUMENT_NOT_ALLOWED'],
    ]);
    expect(program.requests()).toEqual([]);
  });

  it('the availability of figures refuses a key that no indicator can have', async () => {
    await using program = await open();
    const text = '{ country(code: "KE") { availability(metricKeys: ["two words"]) { figures } } }';
    const { errors, upstream } = await program.ask(text);
    expect([errors.map(({ extensions }) => extensions.code), upstream.calls]).toEqual([
      ['BAD_USER_INPUT'],
      0,
    ]);
  });
});
