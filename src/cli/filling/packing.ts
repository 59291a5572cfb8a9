import type { Demand, RowsOf } from '../../observations/planner/demand.ts';

/** Rows planned for an answer: fewer than the limit, since the lengths of series are guesses. */
const ROWS = 950;

/** Blocks planned at once for several countries: later ones know the lengths of series better. */
const MOST_BLOCKS = 4;

export interface Block {
  readonly demands: Demand[];
  rows: number;
}

/**
 * Takes the series of the next countries, one call a block: as many countries as need the fewest calls each. Planning all
 * series at once would have to guess all lengths, while each call reveals more of them.
 * @param rowsOf expected rows, 0 for what has none
 */
export function nextBlocks(series: readonly Demand[], rowsOf: RowsOf): readonly Block[] {
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
  return best;
}

/** An answer that is cut takes further calls. */
export const callsOf = ({ rows }: Block) => Math.max(1, Math.ceil(rows / ROWS));

/** First-fit decreasing. */
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
