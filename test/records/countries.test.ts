import { describe, expect, it } from 'vitest';
import { countryNamedIn, decodeCountries } from '../../src/service/records/countries.ts';
import { failureOf, lackOf } from './failure-of.ts';

const ROUTE = '/v1/countries';

const kenya = {
  id: 'ke',
  iso3: 'ken',
  name: 'Kenya',
  official_name: 'Republic of Kenya',
  capital: 'Nairobi',
  region: 'East Africa',
  subregion: 'Sub-Saharan Africa',
  area_km2: 580_367,
  borders: ['et', 'so'],
};

const only = (row: object) => decodeCountries([row], ROUTE)[0];

describe('decodeCountries', () => {
  it('decodeCountries says every field in our words and keeps the row', () => {
    const [record] = decodeCountries({ data: [kenya], meta: { total: 1 } }, ROUTE);
    expect(record).toEqual({
      code: 'KE',
      name: 'Kenya',
      iso3: 'KEN',
      officialName: 'Republic of Kenya',
      capital: 'Nairobi',
      region: 'East Africa',
      subregion: 'Sub-Saharan Africa',
      record: kenya,
    });
    expect(record?.record).toBe(kenya);
  });

  it.each([
    [{ id: 'ke', name: 'Kenya' }],
    [{ code: 'KE', name: 'Kenya' }],
    [{ country_code: 'ke', country_name: 'Kenya' }],
    [{ iso2: 'ke', name: 'Kenya' }],
    [{ alpha2: 'ke', name: ' Kenya ' }],
    [{ id: 17, code: 'ke', name: 'Kenya' }],
    [{ id: 'KEN', iso2: 'ke', name: 'Kenya' }],
    [
      {
        id: 'ke',
        name: 'Kenya',
        iso3: 404,
        capital: '',
        region: { name: 'East' },
        subregion: null,
        official_name: [],
      },
    ],
  ])('decodeCountries reads %j', (row) => {
    expect(only(row)).toEqual({
      code: 'KE',
      name: 'Kenya',
      iso3: null,
      officialName: null,
      capital: null,
      region: null,
      subregion: null,
      record: row,
    });
  });

  it('decodeCountries lets a code of another length through', () => {
    expect(only({ id: 'afr', name: 'Africa' })?.code).toBe('AFR');
  });

  const wrong: [row: unknown, detail: string][] = [
    [{ name: 'Kenya' }, 'data[1].id: expected string, received undefined'],
    [{ id: 17, name: 'Kenya' }, 'data[1].id: expected string, received number'],
    [{ code: '', name: 'Kenya' }, 'data[1].code: expected string, received empty string'],
    ['ke', 'data[1]: expected object, received string'],
    [null, 'data[1]: expected object, received null'],
  ];
  it.each(wrong)('decodeCountries leaves %j out, and says so', (row, detail) => {
    const list = decodeCountries({ data: [kenya, row, { id: 'ug', name: 'Uganda' }] }, ROUTE);
    expect(list.map(({ code }) => code)).toEqual(['KE', 'UG']);
    expect(lackOf(list)).toEqual({ count: 1, detail });
  });

  it('decodeCountries refuses a list of which nothing can be read', () => {
    const failure = failureOf(() => decodeCountries({ data: [{ name: 'Kenya' }, 'ug'] }, ROUTE));
    expect(failure.code).toBe('UPSTREAM_INVALID_RESPONSE');
    expect(failure.fields).toEqual({
      route: ROUTE,
      detail: 'data[0].id: expected string, received undefined',
    });
    expect(lackOf(decodeCountries({ data: [] }, ROUTE))).toBeNull();
  });

  it.each([[{ id: 'ke' }], [{ id: 'ke', name: null, country_name: 7 }]])(
    'decodeCountries keeps %j without a name',
    (row) => {
      expect(only(row)).toMatchObject({ code: 'KE', name: null, record: row });
    },
  );

  it.each([[{ id: 'KEN' }], [{ id: 404, iso3: 'KEN' }], [{ name: 'Kenya', alpha3: 'ken' }]])(
    'decodeCountries knows the country of %j by its alpha-3 code',
    (row) => {
      expect(only(row)?.code).toBe('KE');
    },
  );

  it('decodeCountries refuses a list that is not whole', () => {
    const body = { data: [kenya], meta: { total: 54, page: 1, per_page: 1, total_pages: 54 } };
    expect(failureOf(() => decodeCountries(body, ROUTE)).code).toBe('UPSTREAM_INCOMPLETE');
  });
});

describe('countryNamedIn', () => {
  it.each([
    [
      { country: { code: 'ug', name: 'Uganda' }, name: 'Profile' },
      { code: 'UG', name: 'Uganda' },
    ],
    [{ country: { id: 'ug' } }, { code: 'UG', name: null }],
    [
      { country_code: 'ug', country_name: 'Uganda' },
      { code: 'UG', name: 'Uganda' },
    ],
    [{ country: 'ug' }, { code: 'UG', name: null }],
    [{ country: 'Uganda' }, { code: 'KE', name: null }],
    [
      { id: 'ug', name: 'Uganda' },
      { code: 'UG', name: 'Uganda' },
    ],
    [{ country: {} }, { code: 'KE', name: null }],
    [{}, { code: 'KE', name: null }],
  ])('countryNamedIn reads %j, having asked for whom it names, or for ke', (row, named) => {
    const found = { value: row, place: { route: ROUTE, path: 'data' } };
    expect(countryNamedIn(found, named.code.toLowerCase())).toEqual(named);
    if (named.code === 'KE') return;
    expect(failureOf(() => countryNamedIn(found, 'ke'))).toMatchObject({
      code: 'UPSTREAM_INVALID_RESPONSE',
      fields: { detail: `data.country: expected KE, received ${named.code}` },
    });
  });
});
