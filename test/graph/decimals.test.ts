import { describe, expect, it } from 'vitest';
import { differenceOf, percentAbove, percentOf, quotientOf } from '../../src/shared/decimals.ts';
import { openProgram } from '../support/program.ts';

type Row = Readonly<Record<string, unknown>>;
interface Derived {
  readonly indicator: { readonly key: string };
  readonly change: number;
  readonly growthPercent: number;
  readonly per: { readonly value: number };
}

describe('numbers that are derived', () => {
  it('numbers that are derived go by the digits of their operands, and not by binary fractions', async () => {
    await using program = await openProgram();
    const values: Readonly<Record<string, readonly [number, number]>> = {
      exports_goods_services_usd: [693.09, 727.46],
      gdp_current_usd: [0.1, 0.3],
    };
    program.sandbox.faults.set({
      kind: 'shape',
      route: '/v1/data',
      patch: ({ data, ...rest }) => ({
        ...rest,
        data: data.map((row: Row) => ({
          ...row,
          value: values[String(row.metric_key)]?.[row.year === 2020 ? 0 : 1],
        })),
      }),
    });
    const { data, upstream } = await program.ask(`{
      observations(countryCodes: ["KE"], metricKeys: ["exports_goods_services_usd", "gdp_current_usd"], fromYear: 2020, toYear: 2021) {
        indicator { key } year change growthPercent per(metricKey: "gdp_current_usd") { value }
      }
    }`);
    expect(upstream.byRoute).toEqual({ '/v1/data': 1 });
    const of2021 = data.observations.filter(({ year }: Row) => year === 2021);
    expect(
      Object.fromEntries(
        of2021.map(({ indicator, change, growthPercent, per }: Derived) => [
          indicator.key,
          [change, growthPercent, per.value],
        ]),
      ),
    ).toEqual({
      exports_goods_services_usd: [34.37, 4.95895193986351, 727.46 / 0.3],
      gdp_current_usd: [0.2, 200, 1],
    });
  });

  it.for([
    [differenceOf, 727.46, 693.09, 34.37],
    [differenceOf, 1e-7, 3e-7, -2e-7],
    [differenceOf, 1e21, 1, 1e21],
    [differenceOf, 0.1234567890123456, 0.1234567890123455, 1e-16],
    [differenceOf, 1.7e308, -1.7e308, Number.POSITIVE_INFINITY],
    [quotientOf, 0.3, 0.1, 3],
    [quotientOf, 10, 3, 10 / 3],
    [quotientOf, -2, 3, -2 / 3],
    [quotientOf, 1e300, 1e-300, Number.POSITIVE_INFINITY],
    [percentOf, 0.07, 0.1, 70],
    [percentOf, 1e22, 1e20, 10_000],
    [percentAbove, 1.1, 1, 10],
    [percentAbove, 0.3, 0.1, 200],
    [percentAbove, 1e-9, 1e-10, 900],
  ] as const)('numbers that are derived are rounded once: %s', ([derived, a, b, result]) => {
    expect(derived(a, b)).toBe(result);
  });

  it('numbers that are derived are those of binary fractions where they are whole', () => {
    for (let i = 1; i < 1000; i += 1) {
      const [a, b] = [Math.floor(2 ** 53 / i), i * 7919];
      expect([quotientOf(a, b), differenceOf(a, b)]).toEqual([a / b, a - b]);
    }
  });

  it('a picture of differences and percentages has the decimals of its figures', async () => {
    const points = [
      { at: 2020, value: 693.09, low: null, high: null },
      { at: 2021, value: 727.46, low: null, high: null },
    ];
    // Loaded without its types, which are those of a page.
    const { measured } = await import(
      String(new URL('../../clients/graphiql/src/chart/measured.ts', import.meta.url))
    );
    const picture = { lines: [{ points }], unit: 'USD' };
    const shown = (measure: string) => measured(picture, { measure, base: 2020 }).lines[0].points[1].value;
    expect(['difference', 'percent', 'index'].map(shown)).toEqual([
      34.37, 4.95895193986351, 104.95895193986351,
    ]);
  });
});
