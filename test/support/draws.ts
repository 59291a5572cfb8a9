/**
 * Gives how many are drawn: all of them in CI, which sets `DRAWS=all` (.ci/run), else few, so that `npm test` takes
 * less than three minutes.
 */
export function draws(all: number, few = Math.ceil(all / 5)): number {
  return process.env.DRAWS === 'all' ? all : few;
}

/** Gives the rows of a long table that are tried: all of them in CI, likewise, else the first of each few. */
export function drawn<Row>(rows: readonly Row[], few = 4): readonly Row[] {
  return rows.filter((_, at) => at % draws(1, few) === 0);
}
