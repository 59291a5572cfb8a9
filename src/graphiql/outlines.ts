/** Run when the page is built: the outlines of the countries, from those of the world. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { merge } from 'topojson-client';
import type { GeometryCollection, MultiPolygon, Polygon, Topology } from 'topojson-specification';
import { COUNTRY_NUMBERS } from './chart/countries.ts';

type Position = readonly [longitude: number, latitude: number];
/** The first ring is the outline, the others are holes. */
type Rings = readonly (readonly Position[])[];

/** Degree beyond which the Prince Edward Islands lie, of South Africa, further south than the continent. */
const SOUTHERNMOST = -40;
/** Square degrees below which a country would be a few pixels. */
const SMALL = 0.5;

/** A territory that the world's outlines keep apart, of the country whose code it has (ISO 3166-1). */
const PARTS: Readonly<Record<string, string>> = { Somaliland: 'SO' };
/** Shown, so that the map has no hole; the service has no figures of it. */
const NOT_COVERED: Readonly<Record<string, string>> = { '732': 'EH' };

export function outlines() {
  const file = createRequire(import.meta.url).resolve('world-atlas/countries-50m.json');
  const world = JSON.parse(readFileSync(file, 'utf8')) as Topology<{ countries: GeometryCollection }>;
  const codes = new Map(Object.entries(COUNTRY_NUMBERS).map(([code, number]) => [number, code]));
  const codeOf = ({
    id,
    properties,
  }: {
    id?: string | number | undefined;
    properties?: object | undefined;
  }) => codes.get(String(id)) ?? NOT_COVERED[String(id)] ?? PARTS[(properties as { name: string }).name];
  const features = [...Map.groupBy(world.objects.countries.geometries, codeOf)].flatMap(([code, parts]) => {
    if (code === undefined) return [];
    const whole = merge(world, parts as (Polygon | MultiPolygon)[]);
    const polygons = (whole.coordinates as unknown as Rings[])
      .filter(([outline = []]) => outline.every(([, latitude]) => latitude > SOUTHERNMOST))
      .map((rings) => rings.map((ring) => ring.map(rounded)));
    const [largest] = polygons.toSorted((a, b) => areaOf(b) - areaOf(a));
    const area = polygons.reduce((sum, rings) => sum + areaOf(rings), 0);
    return [
      {
        type: 'Feature',
        properties: {
          code,
          centre: middleOf(area < SMALL ? polygons.flat() : (largest ?? [])),
          isSmall: area < SMALL,
        },
        geometry: { type: 'MultiPolygon', coordinates: polygons },
      },
    ];
  });
  return { type: 'FeatureCollection', features };
}

/** A hundredth of a degree is about a kilometre, and less than a pixel. */
function rounded([longitude, latitude]: Position): Position {
  return [Math.round(longitude * 100) / 100, Math.round(latitude * 100) / 100];
}

/** Area in square degrees. */
function areaOf([outline = []]: Rings): number {
  let twice = 0;
  for (const [i, [x, y]] of outline.entries()) {
    const [nextX, nextY] = outline[(i + 1) % outline.length] as Position;
    twice += x * nextY - nextX * y;
  }
  return Math.abs(twice) / 2;
}

function middleOf(rings: Rings): Position {
  const all = rings.flat();
  const middle = (values: number[]) => (Math.min(...values) + Math.max(...values)) / 2;
  return rounded([middle(all.map(([x]) => x)), middle(all.map(([, y]) => y))]);
}
