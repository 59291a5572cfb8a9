import { describe, expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';

const CODES = '["KE", "NG", "GH", "ZA", "EG"]';
const FIGURE = 'observation(metricKey: "population_total") { value }';
const OFFICES = 'offices { name }';
const TICKERS = 'tickers { symbol }';

/** One operation in a minute of five calls, of a plan that nothing is known of. */
async function ask(selection: string, env: Record<string, string> = {}) {
  await using program = await openProgram({ env });
  const reply = await program.ask(`{ countries(codes: ${CODES}) { ${selection} } }`, {
    key: program.sandbox.keys.free ?? '',
  });
  return { ...reply, asked: program.requests().map((request) => request.split(/[ ?]/)[1]) };
}

// biome-ignore lint/suspicious/noExplicitAny: countries with whatever was asked for
const filled = (countries: readonly any[], field: string) =>
  countries.filter((country) => country[field] !== null).length;

describe('in a minute of five calls', () => {
  it.each([
    ['after', `${OFFICES} ${FIGURE}`],
    ['before', `${FIGURE} ${OFFICES}`],
  ])(
    'in a minute of five calls, figures go before single records that stand %s them',
    async (_, selection) => {
      const { data, errors, asked, upstream } = await ask(selection);
      expect(filled(data.countries, 'observation')).toBe(5);
      expect(filled(data.countries, 'offices')).toBe(4);
      expect(errors.map(({ path, extensions }) => [path?.[2], extensions.code])).toEqual([
        ['offices', 'RATE_LIMITED'],
      ]);
      expect(asked[0]).toBe('/v1/data');
      expect(upstream.calls).toBe(6);
    },
  );

  it('in a minute of five calls, lists that serve several objects go before single records too', async () => {
    const { data } = await ask(`${OFFICES} ${TICKERS} ${FIGURE}`);
    expect(filled(data.countries, 'observation')).toBe(5);
    expect(filled(data.countries, 'tickers')).toBe(5);
    // The list of listings takes two calls: it is longer than a page without `limit`.
    expect(filled(data.countries, 'offices')).toBe(2);
  });

  it('in a minute of five calls, single records go in the order of the document', async () => {
    const { data, asked } = await ask(`${OFFICES} signals { record } ${FIGURE}`);
    expect(filled(data.countries, 'observation')).toBe(5);
    expect(filled(data.countries, 'offices')).toBe(4);
    expect(filled(data.countries, 'signals')).toBe(0);
    const offices = ['KE', 'NG', 'GH', 'ZA'].map((code) => `/v1/government/structure/${code}`);
    expect(asked.slice(0, 5)).toEqual(['/v1/data', ...offices]);
  });

  it('in a minute of five calls, a record goes at once if figures wait for it', async () => {
    const below = 'profile { indicators { indicator { observation(countryCode: "KE") { value } } } }';
    const { data, asked } = await ask(`${below} ${FIGURE}`, { BATCH_HOLD_MS: '5000' });
    expect(filled(data.countries, 'profile')).toBeGreaterThan(3);
    expect(asked[0]).toBe('/v1/countries/KE/profile');
  });
});
