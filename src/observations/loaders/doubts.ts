import type { ResponsePath } from 'graphql';
import { absenceIn } from '../absences.ts';
import type { Outcome } from '../fetch.ts';
import type { Demand } from '../planner/demand.ts';
import type { Learned } from '../planner/learned.ts';

interface Doubt {
  path: ResponsePath | null;
  /** `none` if no figure has come, `over` if one has. */
  state: 'open' | 'none' | 'over';
}

/**
 * Metrics that an operation asks for though nothing shows that they exist: without a figure for any country, a gap
 * can't be told from a misspelt key.
 */
export function createDoubts({ listed, figured }: Learned) {
  let doubts: Map<string, Doubt> | undefined;

  // A key in another case becomes known by the figures that it brings.
  const isKnown = (key: string) => listed.metrics.has(key) || figured.metrics.has(key);
  const isCountry = (code: string) => listed.countries.size === 0 || listed.countries.has(code);

  const state = {
    left: 0,
    /**
     * @param path of the field that asks; left out if that isn't resolved yet
     * @returns true if it raises the operation's first doubt
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
        // The error may be invisible to the client: that of a figure to compare with.
        if (outcome instanceof Error) continue;
        const absence = absenceIn(outcome);
        // Rows without a value show that the metric exists; an unknown country shows nothing about it.
        if (outcome.length > 0 || absence === 'BLANK') {
          doubt.state = 'over';
          state.left -= 1;
        } else if (absence !== 'NOT_OFFERED' && isCountry(countryCode)) doubt.state = 'none';
      }
    },
    /** Keys without any figure, errors aside, in the order asked, each with its first field. */
    absent(): readonly (readonly [key: string, path: ResponsePath])[] {
      const keys: [string, ResponsePath][] = [];
      for (const [key, { path, state: notes }] of doubts ?? [])
        if (notes === 'none' && path !== null && !listed.metrics.has(key)) keys.push([key, path]);
      return keys;
    },
  };
  return state;
}

export type Doubts = ReturnType<typeof createDoubts>;
