/**
 * Gives how many are drawn: all of them in CI, which sets `DRAWS=all` (.ci/run), else few, so that `npm test` takes
 * less than three minutes.
 */
export function draws(all: number, few = Math.ceil(all / 5)): number {
  return process.env.DRAWS === 'all' ? all : few;
}
