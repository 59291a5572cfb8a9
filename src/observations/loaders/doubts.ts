import type { ResponsePath } from 'graphql';
import type { Outcome } from '../fetch.ts';
import type { Demand } from '../planner/demand.ts';
import type { Learned } from '../planner/learned.ts';

interface Doubt {
  path: ResponsePath | null;
  /** `open` until an outcome has come: no figure at all (`none`), or one (`over`). */
  state: 'open' | 'none' | 'over';
}

/**
 * Metrics that one operation asks for though nothing tells that there are such: if the service has no figure of one for
 * any country that is asked for, nobody can tell a gap from a misspelt key.
 */
export function createDoubts({ listed, figured }: Learned) {
  let doubts: Map<string, Doubt> | undefined;

  // A key in another case is known if the service takes it: then figures come of it.
  const isKnown = (key: string) => listed.metrics.has(key) || figured.metrics.has(key);
  const isCountry = (code: string) => listed.countries.size === 0 || listed.countries.has(code);

  const state = {
    /** Number of doubts that a figure may still put an end to. */
    left: 0,
    /**
     * Notes that keys are asked for, but none that a list or a figure has shown to be known.
     * @param path of the field that they are for; left out if that isn't resolved yet
     * @returns true if any is doubted for the first time in the operation
     */
    raise(keys: readonly string[], path?: () => ResponsePath): boolean {
      let isFirst = false;
      for (const key of keys) {
        const doubt = doubts?.get(key);
        if (doubt !== undefined) doubt.path ??= path?.() ?? null;
        else if (!isKnown(key)) {
          isFirst ||= doubts === undefined;
          doubts ??= new Map();
          doubts.set(key, { path: path?.() ?? null, state: 'open' });
          state.left += 1;
        }
      }
      return isFirst;
    },
    settle(demands: readonly Demand[], outcomes: readonly Outcome[]): void {
      for (let i = 0; state.left > 0 && i < demands.length; i += 1) {
        const { metricKey, countryCode } = demands[i] as Demand;
        const doubt = doubts?.get(metricKey);
        if (doubt === undefined || doubt.state === 'over') continue;
        const outcome = outcomes[i] as Outcome;
        // An error may be one that nobody is told of: the error of a figure which others were to be compared with.
        if (outcome instanceof Error) continue;
        if (outcome.length > 0) {
          doubt.state = 'over';
          state.left -= 1;
        } else if (isCountry(countryCode)) doubt.state = 'none';
      }
    },
    /** Returns the keys without any figure, errors aside, in the order they were asked for, each with its first field. */
    absent(): readonly (readonly [key: string, path: ResponsePath])[] {
      const keys: [string, ResponsePath][] = [];
      for (const [key, { path, state: notes }] of doubts ?? [])
        if (notes === 'none' && path !== null && !listed.metrics.has(key)) keys.push([key, path]);
      return keys;
    },
  };
  return state;
}
