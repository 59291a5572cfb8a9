import type { Demand, RowsOf } from '../../observations/planner/demand.ts';

/** Rows of an answer that are planned for: lengths of series are guessed by those of other countries. */
const ROWS = 950;

/** Blocks that are made at once, of several countries: later ones know better how long series are. */
const MOST_BLOCKS = 4;

/** Indicators of some countries, which are asked for by one call. */
interface Block {
  readonly demands: Demand[];
  rows: number;
}

/**
 * Takes the series of the next countries, in a call for each block: as many countries as have the fewest calls each. A planner
 * that saw all series at once would guess all of their lengths, and each call shows more of them.
 * @param series one for each pair
 * @param rowsOf expected rows, 0 for what has none
 */
export function nextBlocks(series: readonly Demand[], rowsOf: RowsOf): readonly (readonly Demand[])[] {
  const byCountry = [...Map.groupBy(series, ({ countryCode }) => countryCode).values()];
  let best: readonly Block[] = [];
  let fewest = Number.POSITIVE_INFINITY;
  for (let count = 1; count <= byCountry.length; count += 1) {
    const blocks = blocksOf(byCountry.slice(0, count).flat(), rowsOf);
    if (count > 1 && blocks.length > MOST_BLOCKS) break;
    if (blocks.length / count >= fewest) continue;
    best = blocks;
    fewest = blocks.length / count;
  }
  return best.map(({ demands }) => demands);
}

/** Packs indicators into blocks, the longest first, each into the first that has room for it. */
function blocksOf(series: readonly Demand[], rowsOf: RowsOf): readonly Block[] {
  const byIndicator = [...Map.groupBy(series, ({ metricKey }) => metricKey).values()].map((demands) => ({
    demands,
    rows: demands.reduce((sum, { countryCode, metricKey }) => sum + rowsOf(countryCode, metricKey), 0),
  }));
  const blocks: Block[] = [];
  for (const { demands, rows } of byIndicator.sort((one, other) => other.rows - one.rows)) {
    const block = blocks.find((some) => some.rows + rows <= ROWS);
    if (block === undefined) blocks.push({ demands: [...demands], rows });
    else {
      block.demands.push(...demands);
      block.rows += rows;
    }
  }
  return blocks;
}
