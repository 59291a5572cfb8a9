import { planarRingArea } from 'topojson-simplify';
import { describe, expect, it } from 'vitest';
import { listsIn } from '../../clients/graphiql/src/chart/answer-lists.ts';
import { codeOf, nameOf } from '../../clients/graphiql/src/chart/countries.ts';
import { detailOf, type Rings } from '../../clients/graphiql/src/chart/detail.ts';
import { placedLabels, placedNames } from '../../clients/graphiql/src/chart/labels.ts';
import {
  counted,
  fullNumber,
  shortColumn,
  shortNumber,
  shortRange,
  yearsOf,
} from '../../clients/graphiql/src/chart/numbers.ts';
import { outlines } from '../../clients/graphiql/src/outlines.ts';
import { countries } from '../../src/sandbox/catalogue/countries.ts';

describe('labels of dots', () => {
  const within = { left: 0, right: 200, top: 0, bottom: 200 };
  const at = (x: number, y: number) => ({ x, y, widths: [15] });

  it('labels of dots stand above their dots, or where there is room, or nowhere', () => {
    expect(placedLabels([at(100, 100)], within)).toEqual([{ x: 100, y: 88, which: 0 }]);
    // Places it at the edge, below.
    expect(placedLabels([at(100, 4)], within)[0]?.y).toBeGreaterThan(4);
    const crowd = Array.from({ length: 30 }, (_, i) => at(100 + (i % 6), 100 + Math.floor(i / 6)));
    const placed = placedLabels([...crowd, at(20, 20)], within);
    expect(placed.at(-1)).toEqual({ x: 20, y: 8, which: 0 });
    expect(placed.filter((place) => place === null).length).toBeGreaterThan(20);
  });

  it('labels of dots are names where there is room, and else codes', () => {
    const texts = [
      ['Cabo Verde', 'CV'],
      ['Mauritius', 'MU'],
    ];
    const place = (x: number, width: number) =>
      placedNames(
        [
          { x, y: 30 },
          { x: x + 8, y: 30 },
        ],
        texts,
        { left: 0, right: width, top: 0, bottom: 60 },
      );
    expect(place(100, 200).map((label) => label?.text)).toEqual(['Cabo Verde', 'Mauritius']);
    expect(place(20, 50).map((label) => label?.text)).toEqual(['CV', 'MU']);
  });

  it('labels of dots leave a legend its room: a name gives way to its code, or stands elsewhere', () => {
    const legend = { left: 0, right: 90, top: 0, bottom: 60 };
    const right = { left: 110, right: 200, top: 0, bottom: 60 };
    const at = (taken: (typeof legend)[]) =>
      placedNames([{ x: 100, y: 30 }], [['Mauritius', 'MU']], { ...within, bottom: 60 }, { taken, dot: 5 });
    expect(at([])[0]).toMatchObject({ x: 100, text: 'Mauritius' });
    expect(at([legend, right])).toEqual([{ x: 100, y: 18, text: 'MU' }]);
    expect(at([within])).toEqual([null]);
  });

  it('labels of dots never lie on another', () => {
    const spots = Array.from({ length: 60 }, (_, i) => at((i * 37) % 190, (i * 53) % 190));
    const boxes = placedLabels(spots, within).flatMap((place) => place ?? []);
    expect(boxes.length).toBeGreaterThan(15);
    for (const [i, a] of boxes.entries())
      for (const b of boxes.slice(i + 1))
        expect(Math.abs(a.x - b.x) >= 15 || Math.abs(a.y - b.y) >= 14).toBe(true);
  });
});

describe('numbers', () => {
  it.for([
    [120e9, '120 billion'],
    [3_500_000, '3.5 million'],
    [1.25e12, '1.25 trillion'],
    [-6e15, '−6 quadrillion'],
    [-44_464, '−44,464'],
    [999_999, '1 million'],
    [999_400, '999,400'],
    [0.0244, '0.0244'],
    [0, '0'],
    [1e300, '1e+300'],
    [-5e-324, '−5e−324'],
  ] as const)('numbers are short on an axis: %d as %s', ([value, text]) => {
    expect(shortNumber(value).replaceAll('\u00a0', ' ')).toBe(text);
  });

  it.for([
    [[1510.2, 1510.25], '1,510.2 | 1,510.25'],
    [[999_800, 1_000_000, 1_000_200], '999,800 | 1,000,000 | 1,000,200'],
    [[0.1, 1, 1e6], '0.1 | 1 | 1 million'],
    [[0, -0.2, 0.1 + 0.2], '0 | −0.2 | 0.3'],
    [[-1e308, 1e308, 0], '−1e+308 | 1e+308 | 0'],
  ] as const)('numbers have the digits that tell them apart beside others: %j', ([values, text]) => {
    const texts = values.map((value) => shortNumber(value, values).replaceAll('\u00a0', ' '));
    expect(texts.join(' | ')).toBe(text);
  });

  it.for([
    [[69.7, 69.28, 100], '69.70 | 69.28 | 100.00'],
    [[16_404.31, 1_234.2, 984.2], '16,404 | 1,234 | 984'],
    [[1_200_000, 984_000, 1_255_000], '1.200 million | 984,000 | 1.255 million'],
    [[-0.5, 0, 12.25], '−0.50 | 0.00 | 12.25'],
    // With the same decimals, two were the same, or one were nothing.
    [[100.25, 1.263, 1.2631], '100.3 | 1.263 | 1.2631'],
    [[12.5, 0.0004], '12.5 | 0.0004'],
    [[1e-12, 0.5], '1e−12 | 0.5'],
  ] as const)(
    'numbers below each other have the same decimals where these tell them apart: %j',
    ([values, text]) => {
      expect(shortColumn(values).join(' | ').replaceAll('\u00a0', ' ')).toBe(text);
    },
  );

  it('numbers share their word in a range', () => {
    const text = (low: number, high: number) => shortRange(low, high).replaceAll('\u00a0', ' ');
    expect(text(1_200_000, 3_400_000)).toBe('1.2 to 3.4 million');
    expect(text(900_000, 3_400_000)).toBe('900,000 to 3.4 million');
    expect(text(7, 7)).toBe('7');
  });

  it('numbers are whole elsewhere', () => {
    expect(fullNumber(-1234567.891)).toBe('−1,234,567.891');
  });

  it('numbers of things are one thing, or several', () => {
    expect([0, 1, 1234].map((count) => counted(count, 'figure'))).toEqual([
      '0 figures',
      '1 figure',
      '1,234 figures',
    ]);
  });

  it('numbers are a range of years', () => {
    expect(yearsOf([{ year: 2000 }, { year: null }, { year: 1990 }])).toBe('1990–2000');
  });
});

describe('countries', () => {
  it.for([
    ['Kenya', 'KE'],
    ["Côte d'Ivoire", 'CI'],
    ['Cabo Verde', 'CV'],
    ['Cape Verde', 'CV'],
    ['Congo - Kinshasa', 'CD'],
    ['DR Congo', 'CD'],
    ['Congo', 'CG'],
    ['Sao Tome and Principe', 'ST'],
    ['Atlantis', undefined],
  ] as const)('countries are known by name: %s', ([name, code]) => expect(codeOf(name)).toBe(code));

  it('countries have the name of the service where no figure has told it', () => {
    const names = countries.map(({ code }) => nameOf(code.toUpperCase()));
    expect(names).toEqual(countries.map(({ name }) => name));
  });

  it('countries have outlines without holes, each with a place for its label', () => {
    const { features } = outlines();
    expect(features).toHaveLength(55);
    for (const { properties, geometry } of features) {
      expect(geometry.coordinates.length).toBeGreaterThan(0);
      expect(properties.centre[1]).toBeGreaterThan(-36);
    }
    const small = features
      .filter(({ properties }) => properties.isSmall)
      .map(({ properties }) => properties.code);
    expect(small.sort()).toEqual(['CV', 'KM', 'MU', 'SC', 'ST']);
    expect([nameOf('EH'), codeOf('Western Sahara')]).toEqual(['Western Sahara', undefined]);
  });

  it('countries take as much of the map of a globe as its projection gives them', () => {
    const { extent } = outlines();
    // As d3-geo has them: geoPath(geoAzimuthalEqualArea().rotate([-18, -2]).scale(1)).bounds(…).
    expect(extent).toEqual({ width: 1.36, height: 1.24 });
  });

  it.for([100, 178, 430])(
    'countries keep the points of a border or lose them together, and each its area, on a globe of %i pixels',
    (radius) => {
      const shapes = outlines().features.map(({ properties: { code }, geometry: { coordinates } }) => ({
        code,
        // Without islets that aren't drawn at this size.
        whole: coordinates.filter((polygon) => detailOf([polygon], radius).length > 0),
        drawn: detailOf(coordinates, radius),
      }));
      /** How many countries have each point. */
      const ownersIn = (all: readonly (readonly Rings[])[]) => {
        const points = all.flatMap((polygons) => [...new Set(polygons.flat(2).map(String))]);
        return new Map(
          Object.entries(Object.groupBy(points, String)).map(([at, same = []]) => [at, same.length]),
        );
      };
      const owners = ownersIn(shapes.map(({ whole }) => whole));
      const kept = ownersIn(shapes.map(({ drawn }) => drawn));
      expect(kept.size).toBeLessThan(owners.size);
      for (const [point, count] of kept) expect([point, count]).toEqual([point, owners.get(point)]);
      const areaOf = (polygons: readonly Rings[]) =>
        polygons.flat().reduce((sum, ring) => sum + planarRingArea(ring.map(([x, y]) => [x, y])), 0);
      for (const { code, whole, drawn } of shapes)
        expect(Math.abs(areaOf(drawn) / areaOf(whole) - 1), code).toBeLessThan(0.1);
    },
  );
});

describe('lists of an answer', () => {
  const query = `{ countries { code ...N figures: observations { value source { key } record tags } } }
    fragment N on Country { name }`;
  const data = {
    countries: [
      {
        code: 'KE',
        name: 'Kenya',
        figures: [
          { value: 1, source: { key: 'a' }, record: { x: 1 }, tags: ['p', 'q'] },
          { value: 2, source: null, record: null, tags: [] },
        ],
      },
      { code: 'NG', name: 'Nigeria', figures: null },
      null,
    ],
  };

  it('lists of an answer are found with the objects that they stand in, the longest first', () => {
    const lists = listsIn(query, undefined, data);
    expect(lists.map(({ path, length }) => [path, length])).toEqual([
      ['countries.figures', 3],
      ['countries', 2],
    ]);
    const { columns, rows } = lists[0]?.table() ?? { columns: [], rows: [] };
    expect(columns).toEqual([
      'code',
      'name',
      'figures.value',
      'figures.source.key',
      'figures.record',
      'figures.tags',
    ]);
    expect(rows).toEqual([
      ['KE', 'Kenya', 1, 'a', '{"x":1}', 'p, q'],
      ['KE', 'Kenya', 2, null, null, ''],
      ['NG', 'Nigeria', null, null, null, null],
    ]);
  });

  it('lists of an answer are the answer itself where it has none', () => {
    const [list] = listsIn('{ country { name capital } }', undefined, {
      country: { name: 'Kenya', capital: null },
    });
    expect(list?.table()).toEqual({ columns: ['country.name', 'country.capital'], rows: [['Kenya', null]] });
    expect(listsIn('{ countries { code } }', undefined, null)).toEqual([]);
    expect(listsIn('{', undefined, data)).toEqual([]);
  });
});
