/** A dot with its label, in pixels. */
export interface Spot {
  readonly x: number;
  readonly y: number;
  /** Width of the label. */
  readonly width: number;
}

interface Box {
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

const boxAt = (x: number, y: number, width: number, height: number): Box => ({
  left: x - width / 2,
  right: x + width / 2,
  top: y - height / 2,
  bottom: y + height / 2,
});

const overlap = (a: Box, b: Box) =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/**
 * Places labels beside their dots, so that none covers another, or a dot: those of lonely dots first.
 * @param within edges that no label crosses
 * @returns the middle of each label; null if there is no room for it
 */
export function placedLabels(
  spots: readonly Spot[],
  within: Box,
): readonly ({ readonly x: number; readonly y: number } | null)[] {
  const dots = spots.map(({ x, y }) => boxAt(x, y, 2 * DOT, 2 * DOT));
  const isNear = (a: Spot, b: Spot) => Math.hypot(a.x - b.x, a.y - b.y) < CROWD;
  const crowds = spots.map((spot) => spots.filter((other) => isNear(spot, other)).length);
  const order = spots.map((_, i) => i).sort((a, b) => (crowds[a] ?? 0) - (crowds[b] ?? 0));
  const taken: Box[] = [];
  const placed: ({ readonly x: number; readonly y: number } | null)[] = spots.map(() => null);
  for (const i of order) {
    const spot = spots[i] as Spot;
    const beside = spot.width / 2 + DOT + 1;
    const above = HEIGHT / 2 + DOT;
    const places = [
      [0, -above],
      [beside, 0],
      [-beside, 0],
      [0, above],
      [beside - 3, -above + 3],
      [-beside + 3, -above + 3],
      [beside - 3, above - 3],
      [-beside + 3, above - 3],
    ] as const;
    for (const [dx, dy] of places) {
      const [x, y] = [spot.x + dx, spot.y + dy];
      const box = boxAt(x, y, spot.width, HEIGHT);
      const isIn =
        box.left >= within.left &&
        box.right <= within.right &&
        box.top >= within.top &&
        box.bottom <= within.bottom;
      if (
        !isIn ||
        taken.some((other) => overlap(box, other)) ||
        dots.some((dot, j) => j !== i && overlap(box, dot))
      )
        continue;
      taken.push(box);
      placed[i] = { x, y };
      break;
    }
  }
  return placed;
}
