import type { Cell, Grid, Part } from './grid.ts';

/** The most cells to try all partitions of: 3^11 steps, about a millisecond. */
export const FEW_CELLS = 12;

/** The best partition of some cells: one part, and the best partition of the rest. */
interface Partition {
  readonly calls: number;
  readonly rows: number;
  /** Sum of the squares of all parts' rows: least if they are equal. */
  readonly squares: number;
  readonly part: Part | null;
  readonly rest: Partition | null;
}

/** The fewest parts there are; of those the fewest rows, then the most equal. Each cell has to fit a call alone. */
export function fewestParts(grid: Grid, cells: readonly Cell[]): readonly Part[] {
  const sets = 1 << cells.length;
  /** By set of cells, as bits; null if one call can't bring it. */
  const partOf: (Part | null)[] = [null];
  for (let set = 1; set < sets; set += 1) {
    const withoutOne = set & (set - 1);
    const isPossible = withoutOne === 0 || partOf[withoutOne] !== null;
    partOf.push(isPossible ? partAround(grid, cells, set) : null);
  }
  const best: Partition[] = [{ calls: 0, rows: 0, squares: 0, part: null, rest: null }];
  for (let set = 1; set < sets; set += 1) best.push(bestOf(set, partOf, best));
  const parts: Part[] = [];
  for (let one = best.at(-1); one?.part; one = one.rest ?? undefined) parts.push(one.part);
  return parts;
}

function partAround(grid: Grid, cells: readonly Cell[], set: number): Part | null {
  const chosen = cells.filter((_, index) => ((set >> index) & 1) === 1);
  return grid.enclose(
    [...new Set(chosen.map(({ line }) => line))],
    [...new Set(chosen.map(({ column }) => column))],
  );
}

/** Tries each part that has the first cell of the set. */
function bestOf(set: number, partOf: readonly (Part | null)[], best: readonly Partition[]): Partition {
  const others = set & (set - 1);
  let least: Partition | null = null;
  for (let left = others; ; left = (left - 1) & others) {
    const part = partOf[set ^ left] ?? null;
    if (part !== null) {
      const partition = withPart(best[left] as Partition, part);
      if (least === null || isLess(partition, least)) least = partition;
    }
    if (left === 0) break;
  }
  return least as Partition;
}

function withPart(rest: Partition, part: Part): Partition {
  return {
    calls: rest.calls + 1,
    rows: rest.rows + part.rows,
    squares: rest.squares + part.rows ** 2,
    part,
    rest,
  };
}

function isLess(one: Partition, than: Partition): boolean {
  return (one.calls - than.calls || one.rows - than.rows || one.squares - than.squares) < 0;
}
