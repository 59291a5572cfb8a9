/** Run when the page is built: the outlines of the countries, from those of the world. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { merge } from 'topojson-client';
import { presimplify, sphericalTriangleArea } from 'topojson-simplify';
import type { GeometryCollection, MultiPolygon, Polygon, Topology } from 'topojson-specification';
import { COUNTRY_NUMBERS } from './chart/countries.ts';
import { detailOf, LARGEST_RADIUS, leastRadius, MIDDLE, type Position, type Rings } from './chart/detail.ts';

/** Degree beyond which the Prince Edward Islands lie, of South Africa, further south than the continent. */
const SOUTHERNMOST = -40;
/** Square degrees below which a country would be a few pixels. */
const SMALL = 0.5;

/** A territory that the world's outlines keep apart, of the country whose code it has (ISO 3166-1). */
const PARTS: Readonly<Record<string, string>> = { Somaliland: 'SO' };
/** Shown, so that the map has no hole; the service has no figures of it. */
const NOT_COVERED: Readonly<Record<string, string>> = { '732': 'EH' };
/** The border of Western Sahara in the north: the world's outlines have most of it with Morocco. */
const BORDER = { of: 'MA', south: 'EH', latitude: 27.667 };

export function outlines() {
  const file = createRequire(import.meta.url).resolve('world-atlas/countries-50m.json');
  const topology = JSON.parse(readFileSync(file, 'utf8')) as Topology<{ countries: GeometryCollection }>;
  // Weighed as parts of borders, not of countries, so that both neighbours lose the same points.
  const world = presimplify(topology, sphericalTriangleArea);
  const codes = new Map(Object.entries(COUNTRY_NUMBERS).map(([code, number]) => [number, code]));
  const codeOf = ({
    id,
    properties,
  }: {
    id?: string | number | undefined;
    properties?: object | undefined;
  }) => codes.get(String(id)) ?? NOT_COVERED[String(id)] ?? PARTS[(properties as { name: string }).name];
  const byCode = new Map<string, Rings[]>();
  for (const [code, parts] of Map.groupBy(world.objects.countries.geometries, codeOf)) {
    if (code === undefined) continue;
    const whole = merge(world, parts as (Polygon | MultiPolygon)[]);
    const polygons = (whole.coordinates as unknown as Rings[])
      .filter(([outline = []]) => outline.every(([, latitude]) => latitude > SOUTHERNMOST))
      .map((rings) => rings.map((ring) => ring.map(pointOf)));
    byCode.set(code, polygons);
  }
  moveBorder(byCode);
  const features = [...byCode].map(([code, polygons]) => {
    const [largest] = polygons.toSorted((a, b) => areaOf(b) - areaOf(a));
    const area = polygons.reduce((sum, rings) => sum + areaOf(rings), 0);
    const isSmall = area < SMALL;
    return {
      type: 'Feature',
      properties: { code, centre: middleOf(isSmall ? polygons.flat() : (largest ?? [])), isSmall },
      geometry: {
        type: 'MultiPolygon',
        coordinates: isSmall ? atAnySize(polygons) : detailOf(polygons, LARGEST_RADIUS),
      },
    };
  });
  return { type: 'FeatureCollection', extent: extentOf(features), features };
}

/** Size of the map of a globe with a radius of 1. */
function extentOf(features: readonly { readonly geometry: { readonly coordinates: readonly Rings[] } }[]) {
  const places = features.flatMap(({ geometry }) => geometry.coordinates.flat(2).map(placeOf));
  const reach = (values: readonly number[]) =>
    rounded(values.reduce((a, b) => Math.max(a, b)) - values.reduce((a, b) => Math.min(a, b)));
  return { width: reach(places.map(([x]) => x)), height: reach(places.map(([, y]) => y)) };
}

/** Where the map has a point (Lambert's azimuthal projection with equal areas). */
function placeOf([longitude, latitude]: Position): readonly [x: number, y: number] {
  const [east, north, middle] = [longitude - MIDDLE.longitude, latitude, MIDDLE.latitude].map(
    (degrees) => (degrees * Math.PI) / 180,
  ) as [number, number, number];
  const x = Math.cos(north) * Math.sin(east);
  const y = Math.cos(middle) * Math.sin(north) - Math.sin(middle) * Math.cos(north) * Math.cos(east);
  const towards = Math.sin(middle) * Math.sin(north) + Math.cos(middle) * Math.cos(north) * Math.cos(east);
  const scale = Math.sqrt(2 / (1 + towards));
  return [scale * x, scale * y];
}

/** A hundredth of a degree is about a kilometre, and less than a pixel. */
const rounded = (degrees: number) => Math.round(degrees * 100) / 100;

/** @param area of the triangle with its neighbours, in steradians */
function pointOf([longitude, latitude, area]: Position): Position {
  return [rounded(longitude), rounded(latitude), leastRadius(area)];
}

/** An island of a few pixels would have lost its shape, or be gone. */
function atAnySize(polygons: readonly Rings[]): readonly Rings[] {
  return polygons.map((rings) => rings.map((ring) => ring.map(([x, y]): Position => [x, y, 0])));
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

function middleOf(rings: Rings): readonly [longitude: number, latitude: number] {
  const all = rings.flat();
  const middle = (values: number[]) => (Math.min(...values) + Math.max(...values)) / 2;
  return [rounded(middle(all.map(([x]) => x))), rounded(middle(all.map(([, y]) => y)))];
}

/** Gives what lies south of a border to the area that is there, as one with it. */
function moveBorder(byCode: Map<string, Rings[]>): void {
  const { of, south, latitude } = BORDER;
  const [polygons, neighbours] = [byCode.get(of) ?? [], byCode.get(south) ?? []];
  const cut = (isNorth: boolean) =>
    polygons
      .map(([outline = []]) => [cutAt(outline, latitude, isNorth)])
      .filter(([ring = []]) => ring.length > 3);
  byCode.set(of, cut(true));
  byCode.set(south, joined([...cut(false), ...neighbours]));
}

/** Cuts an outline at a latitude (Sutherland and Hodgman). */
function cutAt(outline: readonly Position[], latitude: number, isNorth: boolean): Position[] {
  const isStored = ([, y]: Position) => (isNorth ? y >= latitude : y <= latitude);
  const ring = outline.flatMap((point, i): Position[] => {
    const before = outline[(i - 1 + outline.length) % outline.length] as Position;
    const share = (latitude - before[1]) / (point[1] - before[1]);
    const crossing: Position = [rounded(before[0] + share * (point[0] - before[0])), latitude, 0];
    return [...(isStored(before) !== isStored(point) ? [crossing] : []), ...(isStored(point) ? [point] : [])];
  });
  const [first] = ring;
  return first === undefined ? [] : [...ring, first];
}

/** Joins polygons along the sides that they share, which are no border then. */
function joined(polygons: readonly Rings[]): Rings[] {
  const sides = new Map<string, readonly [Position, Position]>();
  for (const [outline = []] of polygons) {
    for (const [i, from] of outline.slice(0, -1).entries()) {
      const to = outline[i + 1] as Position;
      if (String(from) === String(to) || sides.delete(`${to} ${from}`)) continue;
      sides.set(`${from} ${to}`, [from, to]);
    }
  }
  const next = new Map([...sides.values()].map(([from, to]) => [String(from), to]));
  const rings: Position[][] = [];
  for (const [start] of [...sides.values()]) {
    const ring: Position[] = [start];
    for (let at = next.get(String(start)); at !== undefined; at = next.get(String(at))) {
      next.delete(String(ring.at(-1)));
      ring.push(at);
    }
    if (ring.length > 3) rings.push(ring);
  }
  return rings.map((ring) => [ring]);
}
