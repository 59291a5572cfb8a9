/** How finely the outlines of countries are drawn: a map that is small has fewer points. */

/** A point of an outline, and the radius, in pixels, of the smallest globe on which it makes a difference. */
export type Position = readonly [longitude: number, latitude: number, radius: number];

/** The first ring is the outline, the others are holes. */
export type Rings = readonly (readonly Position[])[];

/** Degrees of the middle of the map, an azimuthal projection with equal areas. */
export const MIDDLE = { longitude: 18, latitude: 2 };

/** Square pixels of the triangle of a point and its neighbours from which on the point makes a difference. */
const SEEN = 0.1;

/** Pixels of the radius of the globe of the largest map. */
export const LARGEST_RADIUS = 500;

/** The radius of the smallest globe on which a point makes a difference, by the triangle's area where the radius is 1. */
export const leastRadius = (area: number) => Math.ceil(Math.sqrt(SEEN / area));

/** Leaves out what a globe of such a radius doesn't show. Neighbours lose the same points of their border. */
export function detailOf(polygons: readonly Rings[], radius: number): readonly Rings[] {
  return polygons
    .map((rings) => rings.map((ring) => ring.filter(([, , least]) => least <= radius)))
    .map((rings) => rings.filter((ring) => ring.length > 3))
    .filter((rings) => rings.length > 0);
}
