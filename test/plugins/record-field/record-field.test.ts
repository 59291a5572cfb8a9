import { describe, expect, it } from 'vitest';
import { definePlugin, recordField } from '../../../src/plugin/index.ts';
import { plugins } from '../../../src/plugins.ts';
import { openProgram } from '../../support/program.ts';

const pluginOf = (sdl: string, resolvers: Readonly<Record<string, Readonly<Record<string, never>>>>) =>
  definePlugin({ name: 'own', settings: {}, open: () => ({ schema: [{ sdl, resolvers }] }) });

const OWN = pluginOf(
  `extend type Country { initial(upper: Boolean = true): String @upstream(takes: ONCE) }
   extend type Indicator { words: Int @upstream(takes: ONCE) }
   extend type Source { isKnown: Boolean @upstream(takes: ONCE) }
   extend type Observation { thousands: Float }
   extend type Ticker { place(separator: String = ":"): String }`,
  {
    Country: {
      initial: recordField('Country', ['name'], ({ name }, { upper }: { upper: boolean }) =>
        upper ? name?.[0] : name?.[0]?.toLowerCase(),
      ),
    },
    Indicator: { words: recordField('Indicator', ['name'], ({ name }) => name?.split(' ').length) },
    Source: { isKnown: recordField('Source', ['lastSuccessfulRefresh', 'nextRun'], () => true) },
    Observation: { thousands: recordField('Observation', ['value'], ({ value }) => value / 1_000) },
    Ticker: {
      place: recordField(
        'Ticker',
        ['exchangeCode', 'symbol'],
        ({ exchangeCode, symbol }, { separator }: { separator: string }) =>
          `${exchangeCode}${separator}${symbol}`,
      ),
    },
  } as never,
);

const ROW = 'observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true)';
const WORDS = { words: expect.any(Number) };

describe('a field of a plugin over what the graph knows', () => {
  it.each([
    ['{ country(code: "UG") { initial } }', { country: { initial: 'U' } }, 1],
    [
      '{ country(code: "UG") { name initial(upper: false) } }',
      { country: { name: 'Uganda', initial: 'u' } },
      1,
    ],
    [
      '{ countries(codes: ["UG", "KE"]) { initial } }',
      { countries: [{ initial: 'U' }, { initial: 'K' }] },
      1,
    ],
    ['{ country(code: "XX") { initial } }', { country: null }, 1],
    [`{ ${ROW} { country { initial } } }`, { observations: [{ country: { initial: 'K' } }] }, 1],
    [
      `{ ${ROW} { country { name initial } } }`,
      { observations: [{ country: { name: 'Kenya', initial: 'K' } }] },
      1,
    ],
    [`{ ${ROW} { indicator { words } } }`, { observations: [{ indicator: WORDS }] }, 1],
    ['{ indicator(key: "population_total") { words } }', { indicator: WORDS }, 1],
    [`{ ${ROW} { thousands } }`, { observations: [{ thousands: 57_500 }] }, 1],
    [
      `{ ${ROW} { value thousands change } }`,
      { observations: [{ value: 57_500_000, thousands: 57_500, change: 1_201_802 }] },
      1,
    ],
    [
      '{ country(code: "KE") { observation(metricKey: "population_total") { thousands } } }',
      { country: { observation: { thousands: 57_500 } } },
      1,
    ],
    ['{ ticker(exchangeCode: "NGX", symbol: "SYN003") { place } }', { ticker: { place: 'NGX:SYN003' } }, 2],
    [
      '{ ticker(exchangeCode: "NGX", symbol: "SYN003") { place(separator: "/") symbol } }',
      { ticker: { place: 'NGX/SYN003', symbol: 'SYN003' } },
      2,
    ],
    [`{ ${ROW} { source { isKnown } } }`, { observations: [{ source: { isKnown: true } }] }, 2],
  ])(
    'a field of a plugin over what the graph knows is right alone and beside its siblings, at the price of the list: %s',
    async (query, data, calls) => {
      await using program = await openProgram({ shipped: [...plugins, OWN] });
      const priced = await program.ask(query, { headers: { 'x-explain': '1' } });
      expect(program.requests()).toEqual([]);
      const answer = await program.ask(query);
      expect([answer.data, answer.errors]).toEqual([data, []]);
      expect([priced.extensions.explain, answer.upstream.calls, program.requests().length]).toEqual([
        expect.objectContaining({ calls }),
        calls,
        calls,
      ]);
    },
  );

  it('a field of a plugin over what the graph knows is refused at the start where it says nothing of the list', async () => {
    const unsaid = pluginOf('extend type Country { initial: String }', {
      Country: { initial: recordField('Country', ['name'], ({ name }) => name?.[0]) },
    } as never);
    await expect(openProgram({ shipped: [...plugins, unsaid] })).rejects.toThrow(
      "The plugin own can't be put into the graph: Country.initial may load a list of the service, so its SDL has to say @upstream(takes: ONCE).",
    );
  });
});
