import { expect, it } from 'vitest';
import { openFixedService } from '../support/fixed-service.ts';
import { openProgram } from '../support/program.ts';
import { SENT_ROW } from '../support/sent-row.ts';

const NATIONAL = { ...SENT_ROW, location_name: null };
const [VALUE] = [{ value: SENT_ROW.value }];

/** A service that refuses a call with the country XX. */
const openRefusing = (detail: string, countries: readonly string[] = ['ke', 'ng', 'tz']) =>
  openFixedService({
    countries,
    rows: ['ke', 'ng', 'tz'].map((country_code) => ({ ...NATIONAL, country_code })),
    refuses: (codes) => codes.includes('XX') && { status: 400, detail },
  });

const QUERY = `{
  all: observations(countryCodes: ["KE", "XX", "NG", "TZ"], metricKeys: ["population_total"], latest: true) { value }
  others: observations(countryCodes: ["KE", "NG"], metricKeys: ["population_total"], latest: true) { value }
}`;

it('a refused country that the list of countries lacks is warned of, and the rows of the others are answered', async () => {
  await using service = await openRefusing('Bad Request');
  await using program = await openProgram({ upstreamUrl: service.url, env: { CACHE_URL: 'memory:' } });
  for (const calls of [3, 0]) {
    const { data, errors, upstream, extensions } = await program.ask(QUERY);
    expect([errors, data]).toEqual([[], { all: [VALUE, VALUE, VALUE], others: [VALUE, VALUE] }]);
    expect(extensions.warnings).toMatchObject([{ code: 'UNKNOWN_COUNTRY', name: 'XX', path: ['all'] }]);
    expect(upstream.calls).toBe(calls);
  }
});

it('a refused country that the list of countries lacks is absent as one that is not offered', async () => {
  await using service = await openRefusing('Bad Request');
  await using program = await openProgram({ upstreamUrl: service.url, env: { CACHE_URL: 'memory:' } });
  const nobody =
    'nobody: observations(countryCodes: ["XX"], metricKeys: ["population_total"], latest: true) { value }';
  const { data, errors, upstream, extensions } = await program.ask(QUERY.replace('{', `{ ${nobody}`), {
    headers: { 'x-absences': '1' },
  });
  expect([errors, data]).toEqual([[], { nobody: [], all: [VALUE, VALUE, VALUE], others: [VALUE, VALUE] }]);
  expect(extensions.absences).toEqual([{ path: ['nobody'], reason: 'NOT_OFFERED' }]);
  expect(upstream.calls).toBe(3);
});

it('a refused country of which no list tells is named by the error, and fails the fields that have it', async () => {
  await using service = await openRefusing('Bad Request', ['ke', 'ng', 'tz', 'xx']);
  await using program = await openProgram({ upstreamUrl: service.url, env: { CACHE_URL: 'memory:' } });
  await program.ask('{ country(code: "KE") { observation(metricKey: "population_total") { value } } }');
  for (let again = 0; again < 2; again += 1) {
    const { data, errors } = await program.ask(QUERY);
    expect(data).toEqual({ all: null, others: [VALUE, VALUE] });
    expect(errors).toMatchObject([
      {
        path: ['all'],
        message: 'The service refused the arguments, for XX, population_total.',
        extensions: { code: 'BAD_USER_INPUT', detail: 'Bad Request' },
      },
    ]);
  }
});
