import { CHARACTER } from './text-width.ts';

/** A dot with its label, in pixels. */
export interface Spot {
  readonly x: number;
  readonly y: number;
  /** Widths of the label: the first that there is room for is taken. */
  readonly widths: readonly number[];
}

export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

const HEIGHT = 14;
/** Half the size of a dot, and of the ring of free ground around it. */
const DOT = 5;
/** Pixels within which dots crowd each other. */
const CROWD = 26;

export const boxAt = (x: number, y: number, width: number, height: number): Box => ({
  left: x - width / 2,
  right: x + width / 2,
  top: y - height / 2,
  bottom: y + height / 2,
});

export const overlap = (a: Box, b: Box) =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** The ground on which labels stand. */
export interface Ground {
  /** Boxes of it that no label may cover, such as those of a legend. */
  readonly taken: readonly Box[];
  /** Half the size of a dot, in pixels, with the ring of free ground around it. */
  readonly dot?: number;
}

/**
 * Writes the first of several texts beside each dot that there is room for: names, or else codes.
 * @returns the text and its middle; null if there is no room for any
 */
export function placedNames(
  dots: readonly { readonly x: number; readonly y: number }[],
  texts: readonly (readonly string[])[],
  within: Box,
  ground?: Ground,
): readonly ({ readonly x: number; readonly y: number; readonly text: string } | null)[] {
  const labels = placedLabels(
    dots.map((dot, i) => ({ ...dot, widths: (texts[i] ?? []).map((text) => text.length * CHARACTER + 2) })),
    within,
    ground,
  );
  return labels.map((label, i) => label && { x: label.x, y: label.y, text: texts[i]?.[label.which] ?? '' });
}

/**
 * Places labels beside their dots, so that none covers another, or a dot: those of lonely dots first.
 * @param within edges that no label crosses
 * @returns the middle of each label, and which of its widths it has; null if there is no room for it
 */
export function placedLabels(
  spots: readonly Spot[],
  within: Box,
  { taken: given, dot = DOT }: Ground = { taken: [] },
) {
  const dots = spots.map(({ x, y }) => boxAt(x, y, 2 * dot, 2 * dot));
  const isNear = (a: Spot, b: Spot) => Math.hypot(a.x - b.x, a.y - b.y) < CROWD;
  const crowds = spots.map((spot) => spots.filter((other) => isNear(spot, other)).length);
  const order = spots.map((_, i) => i).sort((a, b) => (crowds[a] ?? 0) - (crowds[b] ?? 0));
  const taken = [...given];
  const placed: ({ readonly x: number; readonly y: number; readonly which: number } | null)[] = spots.map(
    () => null,
  );
  const isFree = (box: Box, i: number) =>
    box.left >= within.left &&
    box.right <= within.right &&
    box.top >= within.top &&
    box.bottom <= within.bottom &&
    !taken.some((other) => overlap(box, other)) &&
    !dots.some((dot, j) => j !== i && overlap(box, dot));
  // Codes are placed once no more names fit: a name may not take the place of several.
  for (const which of [0, 1]) {
    for (const i of order) {
      const { x, y, widths } = spots[i] as Spot;
      const width = widths[which];
      if (width === undefined || placed[i] !== null) continue;
      const at = placesBeside(width, dot)
        .map(([dx, dy]) => ({ x: x + dx, y: y + dy }))
        .find((place) => isFree(boxAt(place.x, place.y, width, HEIGHT), i));
      if (at === undefined) continue;
      taken.push(boxAt(at.x, at.y, width, HEIGHT));
      placed[i] = { ...at, which };
    }
  }
  return placed;
}

/** Middles of a label beside its dot, the best first. */
function placesBeside(width: number, dot: number): readonly (readonly [dx: number, dy: number])[] {
  const beside = width / 2 + dot + 1;
  const above = HEIGHT / 2 + dot;
  // A corner of a label may come so much nearer to a round dot.
  const nearer = dot / 4;
  return [
    [0, -above],
    [beside, 0],
    [-beside, 0],
    [0, above],
    [beside - nearer, -above + nearer],
    [-beside + nearer, -above + nearer],
    [beside - nearer, above - nearer],
    [-beside + nearer, above - nearer],
  ];
}
