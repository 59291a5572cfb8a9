import { describe, expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';

const rowsOf = (scope: string, others = '') =>
  `{ observations(countryCodes: ["SO", "KE"], metricKeys: ["idps_total"]${scope}${others}) { country { code } locationName year value } }`;
interface Row {
  readonly country: { readonly code: string };
  readonly locationName: string | null;
}
const placesIn = (rows: readonly Row[]) => rows.map(({ locationName }) => locationName);

describe('the scope of observations', () => {
  it('the scope of observations cuts the series that come anyway, at no further call', async () => {
    await using program = await openProgram();
    const all = await program.ask(rowsOf(''));
    const bills = [all.upstream];
    const told: Row[][] = [];
    for (const scope of ['NATIONAL', 'PLACES', 'ALL', 'null']) {
      const { data, errors, upstream } = await program.ask(rowsOf(`, scope: ${scope}`));
      expect(errors).toEqual([]);
      bills.push(upstream);
      told.push(data.observations);
    }
    expect(bills).toEqual(bills.map(() => all.upstream));
    const [nations = [], places = [], whole, unsaid] = told;
    expect([whole, unsaid]).toEqual([all.data.observations, all.data.observations]);
    expect(nations.length * places.length).toBeGreaterThan(0);
    expect(new Set(placesIn(nations))).toEqual(new Set([null]));
    expect(placesIn(places)).not.toContain(null);
    expect(nations.length + places.length).toBe(all.data.observations.length);
  });

  it('the scope of observations leaves the latest figure of a country, where that of a place is newer', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
    const [latest] = (await program.ask(rowsOf('', ', latest: true'))).data.observations;
    expect(latest.locationName).toBe('Eastern Region');
    const { data, upstream } = await program.ask(rowsOf(', scope: NATIONAL', ', latest: true'));
    expect(data.observations.map(({ country }: Row) => country.code)).toEqual(['SO', 'KE']);
    expect(placesIn(data.observations)).toEqual([null, null]);
    const one = await program.ask(
      '{ country(code: "SO") { observation(metricKey: "idps_total") { value } } }',
    );
    expect(data.observations[0].value).toBe(one.data.country.observation.value);
    // Asks for the series of Somalia alone: the newest are known by now.
    expect([upstream.byRoute, program.requests().at(-1)]).toEqual([
      { '/v1/data': 1 },
      expect.stringContaining('country_codes=SO&'),
    ]);
  });

  it('the scope of observations costs no further call where no latest figure is that of a place', async () => {
    await using program = await openProgram();
    for (const scope of ['', ', scope: NATIONAL']) {
      const { upstream } = await program.ask(
        `{ observations(metricKeys: ["population_total"], latest: true${scope}) { value } countries { code } }`,
      );
      expect(upstream.byRoute).toEqual({ '/v1/countries': 1, '/v1/data': 1 });
    }
  });
});

describe('scalars', () => {
  it('scalars say in introspection what they are, and where that is specified', async () => {
    await using program = await openProgram();
    const { data } = await program.ask('{ __schema { types { name kind description specifiedByURL } } }');
    const own = data.__schema.types.filter(({ name }: { name: string }) =>
      /^(CountryCode|DateTime|JSON)$/.test(name),
    );
    expect(own).toHaveLength(3);
    for (const { description, specifiedByURL } of own) {
      expect(description.length).toBeGreaterThan(10);
      expect(specifiedByURL).toMatch(/^https:/);
    }
  });
});
