/**
 * The number of random cases to run: all with `DRAWS=all`, as in CI and by `npm run test:drawn`, otherwise few, so that
 * `npm test` takes less than four minutes.
 */
export function draws(all: number, few = Math.ceil(all / 5)): number {
  return process.env.DRAWS === 'all' ? all : few;
}

/** The rows of a long table of cases to run: all with `DRAWS=all`, otherwise one in `few`. */
export function drawn<Row>(rows: readonly Row[], few = 4): readonly Row[] {
  return rows.filter((_, at) => at % draws(1, few) === 0);
}
