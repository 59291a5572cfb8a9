import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { Drawer } from '../../src/plugins/public-pages/drawer.ts';
import type { DrawingOrder } from '../../src/shared/drawings.ts';
import { packageFile } from '../../src/shared/own-version.ts';
import { SERVICE } from '../../src/shared/source-names.ts';
import { draws } from '../support/draws.ts';
import { FIGURE, openPublishing } from './publishing.ts';

const CODES = ['KE', 'NG', 'ZA', 'GH', 'UG', 'TZ', 'ET', 'ML', 'SN', 'TD', 'EG', 'MA'];
const YEARS = [2015, 2016, 2017, 2018, 2019];

/** Texts of a drawing, with plain spaces. */
const textsOf = (svg: string) =>
  [...svg.matchAll(/<text[^>]*>([^<]*)/g)].map(([, text = '']) => text.replace(/&#160;|\u00a0/g, ' '));

const NUMBER = /^−?\d[\d.,]*( (million|billion|trillion|quadrillion))?$/;
const UNITS: Readonly<Record<string, number>> = {
  million: 1e6,
  billion: 1e9,
  trillion: 1e12,
  quadrillion: 1e15,
};

function readLabel(label: string): number {
  const [digits = '', unit = ''] = label.replace('−', '-').replaceAll(',', '').split(' ');
  return Number(digits) * (UNITS[unit] ?? 1);
}

interface Row {
  readonly country_code: string;
  readonly year: number;
}

/** The picture of five years of two countries, whose rows the service sends as `patched`. */
async function pictured(picture: object, patched: (row: Row) => object, path = '/c/p.svg') {
  const documents = {
    p: `query P { observations(countryCodes: ["KE", "NG"], metricKeys: ["population_total"], fromYear: 2015, toYear: 2019) { ${FIGURE} } }`,
  };
  const published = { p: { document: 'P', key: 'page', picture } };
  await using program = await openPublishing({ documents, published });
  await program.issue({ name: 'page' });
  program.sandbox.faults.set({
    kind: 'shape',
    route: '/v1/data',
    patch: (body) => ({ ...body, data: body.data.map(patched) }),
  });
  const reply = await program.at(path);
  expect([reply.status, reply.headers.get('content-type')]).toEqual([
    200,
    path.includes('.png') ? 'image/png' : 'image/svg+xml; charset=utf-8',
  ]);
  expect(program.requests()).toHaveLength(1);
  return Buffer.from(await reply.arrayBuffer());
}

/** Its texts, with a value for each figure: those of Kenya from 0 to 4, and then those of Nigeria. */
async function textsFor(picture: object, value: (i: number) => number) {
  const patched = (row: Row) => ({
    ...row,
    value: value(row.year - 2015 + (/^ke$/i.test(row.country_code) ? 0 : 5)),
  });
  return textsOf(String(await pictured(picture, patched)));
}

describe('labels of numbers', () => {
  it.for([
    ['an exchange rate', [1510.2, 1510.4, 1510.6, 1510.9]],
    ['an index', [100.01, 100.02, 100.03, 100.04]],
    ['a small country', [1_234_567, 1_234_570, 1_234_575, 1_234_580]],
    ['billions', [100.1e9, 100.2e9, 100.3e9, 100.35e9]],
    ['across a million', [999_000, 999_500, 1_000_100, 1_000_900]],
    ['below zero', [-0.000_101, -0.000_102, -0.000_103, -0.000_104]],
    ['far apart', [3, 40_000, 5e9, 6e12]],
    ['quadrillions', [1e15, 2.5e15, -4e15, 7e15]],
  ] as const)(
    'labels of numbers of %s differ, and stand at even steps, as on the axis',
    async ([, values]) => {
      const texts = await textsFor({ kind: 'lines' }, (i) => values[i % values.length] ?? 0);
      const labels = texts.filter((text) => NUMBER.test(text) && !/^20\d\d$/.test(text));
      expect(labels.length).toBeGreaterThan(2);
      expect(new Set(labels).size).toBe(labels.length);
      const steps = labels.map(readLabel).map((value, i, all) => value - (all[i - 1] ?? Number.NaN));
      for (const step of steps.slice(1)) expect(step / (steps[1] ?? 0)).toBeCloseTo(1, 3);
    },
  );

  it('labels of numbers tell the ends of small pictures apart', async () => {
    const texts = await textsFor({ kind: 'small-pictures' }, (i) => 1_234_567 + (i % 5) * 3);
    expect(texts.filter((text) => text === '1,234,567 to 1,234,579')).toHaveLength(2);
  });

  it('labels of numbers tell bars apart', async () => {
    const texts = await textsFor({ kind: 'ranking' }, (i) => 1_234_567 + Math.floor(i / 5));
    expect(texts).toEqual(expect.arrayContaining(['1,234,567', '1,234,568']));
  });
});

describe('a logarithmic scale', () => {
  const NOTE = '5 figures are zero or less, which a logarithmic scale has no place for.';
  it('a logarithmic scale leaves out what is zero or less, and says so', async () => {
    for (const kind of ['lines', 'small-pictures']) {
      const texts = await textsFor({ kind, isLog: true }, (i) => (i < 5 ? 10 ** i : -i));
      expect(texts).toContain(NOTE);
      expect(texts.join(' ')).not.toMatch(/−|NaN/);
    }
  });

  it('a logarithmic scale is linear if nothing is above zero', async () => {
    for (const value of [0, -1]) {
      const texts = await textsFor({ kind: 'lines', isLog: true }, (i) => value * i || 0);
      expect(texts).toContain('The scale is linear, since no figure is above zero.');
      expect(texts).toContain('0');
    }
  });
});

it('bars of zeros have no length', async () => {
  const svg = String(await pictured({ kind: 'ranking' }, (row) => ({ ...row, value: 0 })));
  const bars = /<g aria-label="bar"[^>]*>(.*?)<\/g>/s.exec(svg)?.[1] ?? '';
  const widths = [...bars.matchAll(/ width="([^"]+)"/g)].map(([, width]) => Number(width));
  expect(widths).toEqual([0, 0]);
});

// biome-ignore lint/suspicious/noControlCharactersInRegex: what XML forbids
const NOT_OF_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/u;

describe('words of the service that XML has no place for', () => {
  it.for(['country_name', 'unit', 'metric_name', 'source', 'location_name'])(
    'words of the service that XML has no place for are left out in %s',
    async (field) => {
      const word = 'a\u0000b\u0008c\u001bd\ufffee\uffff\ud800f';
      const svg = String(await pictured({}, (row) => ({ ...row, [field]: word })));
      expect(NOT_OF_XML.exec(svg)).toBeNull();
      await pictured({}, (row) => ({ ...row, [field]: 'wo\u0001rd' }), '/c/p.png');
    },
  );

  it('words of the service that XML has no place for leave a letter of two halves whole where a name is cut', async () => {
    const svg = String(
      await pictured({}, (row) => ({ ...row, country_name: '𞤆𞤵𞤤𞤢𞥄𞤪'.repeat(4) }), '/c/p.svg?width=320'),
    );
    expect(svg).not.toMatch(/\ufffd/);
    expect(NOT_OF_XML.exec(svg)).toBeNull();
  });
});

describe('letters of a PNG', () => {
  /** Its bytes, and its height for one of its SVG. */
  async function drawn(name: string) {
    const patched = (row: Row) => ({ ...row, country_name: name });
    const png = await pictured({}, patched, '/c/p.png');
    const svg = String(await pictured({}, patched));
    return { png, ratio: png.readUInt32BE(20) / Number(/ height="(\d+)"/.exec(svg)?.[1]) };
  }

  it.for([
    ['Arabic', 'مصر', 'قطر'],
    ['Ethiopic', 'አማርኛ', 'ትግርኛ'],
    ["N'Ko", 'ߒߞߏ', 'ߞߊߘ'],
    ['Tifinagh', 'ⵜⴰⵎⴰ', 'ⵍⵎⵖⵔ'],
    ['Vai', 'ꕙꔤ', 'ꕢꖺ'],
    ['Adlam', '𞤆𞤵𞤤', '𞤀𞤣𞤢'],
    ['Latin', 'ɓɗŋẹ', 'ƙƴɔṣ'],
  ] as const)('letters of a PNG of %s are its own, not boxes', async ([, one, other]) => {
    const [first, second] = [await drawn(one), await drawn(other)];
    expect(first.png.equals(second.png)).toBe(false);
    expect([first.ratio, second.ratio]).toEqual([2, 2]);
  });

  it('letters of a PNG that no font has are told in a note, which the SVG has no need of', async () => {
    expect((await drawn('日本')).ratio).toBeGreaterThan(2);
  });
});

const drawer = new Drawer(
  packageFile('dist/graphiql/pictures/picture-worker.js'),
  { isSynthetic: false, sourceNames: new Map(), attribution: SERVICE, maxPixels: 1e6 },
  { heapMb: 256, waitingBytes: 1e6, engineFlags: [] },
);
afterAll(() => drawer.close());

const VALUES = [
  0,
  1,
  -1,
  3,
  2.5,
  5e-324,
  -5e-324,
  1e-310,
  1e-300,
  1e308,
  -1e308,
  Number.MAX_VALUE,
  1e21,
  1e100,
  -1e100,
  1e-100,
  1e15,
  1e15 + 0.125,
  1 + Number.EPSILON,
];

const KINDS = ['lines', 'small-pictures', 'ranking', 'map', 'scatter'] as const;

describe('values that no scale can hold', () => {
  it.for(KINDS)('values that no scale can hold leave no mark that is no number: %s', async (kind) => {
    const values = fc.uniqueArray(fc.constantFrom(...VALUES), { minLength: 1, maxLength: 4 });
    const orders = fc.record({
      kind: fc.constant(kind),
      isLog: fc.boolean(),
      measure: fc.constantFrom('value', 'index', 'difference', 'percent'),
      first: values,
      second: values,
      countries: fc.constantFrom(2, 12),
      years: fc.constantFrom(1, 3),
      isBounded: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(orders, async ({ first, second, countries, years, isBounded, ...look }) => {
        const pick = (of: readonly number[], i: number) => of[i % of.length] ?? 0;
        const observations = CODES.slice(0, countries).flatMap((code, i) =>
          YEARS.slice(0, years).flatMap((year, j) =>
            [first, second].map((of, k) => ({
              value: pick(of, i + j),
              unit: `unit ${k}`,
              year,
              isModelled: false,
              estimateLow: isBounded ? pick(second, i) : null,
              estimateHigh: isBounded ? pick(first, j) : null,
              locationName: null,
              country: { code, name: code },
              indicator: { key: `m${k}`, name: `Measure ${k}`, unit: null },
            })),
          ),
        );
        const order: DrawingOrder = {
          form: 'svg',
          query: `{ observations(metricKeys: ["m0", "m1"]) { ${FIGURE} } }`,
          operationName: undefined,
          variables: {},
          body: JSON.stringify({ data: { observations } }),
          look: look as DrawingOrder['look'],
          theme: 'light',
          width: 640,
          isBare: false,
        };
        const { bytes } = await drawer.draw(order, 'one').drawing;
        expect(bytes ?? '').not.toMatch(/NaN|Infinity|undefined/);
      }),
      { numRuns: draws(400, 30) },
    );
  });
});
