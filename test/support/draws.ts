/**
 * Gives how many are drawn: all of them with `DRAWS=all`, as in the campaigns of CI (`npm run test:drawn`), else few, so that
 * `npm test` takes less than three minutes.
 */
export function draws(all: number, few = Math.ceil(all / 5)): number {
  return process.env.DRAWS === 'all' ? all : few;
}

/** Gives the rows of a long table that are tried: all of them in the campaigns, likewise, else the first of each few. */
export function drawn<Row>(rows: readonly Row[], few = 4): readonly Row[] {
  return rows.filter((_, at) => at % draws(1, few) === 0);
}
