import { LRUCache } from 'lru-cache';
import type { Steps } from '../async/steps.ts';
import type { Pair } from '../planner/cover.ts';
import { type Demand, pairOf } from '../planner/demand.ts';
import { type Learned, mayNameYears } from '../planner/learned.ts';
import { choosingModes, type ModeLimits, type ModePlan, type RowsWithin } from '../planner/modes.ts';
import { widened } from '../planner/year-range.ts';

/** Plans kept at most, and the most demands of a plan that is worth its memory. */
const MAX_PLANS = 64;
const MAX_DEMANDS = 300;

/** Plans by the knowledge of one service. */
const plans = new WeakMap<Learned, LRUCache<string, ModePlan>>();

/**
 * Plans which demands to ask for as latest, as series, and within some years. The same demands come again: in two
 * stages of one operation, and under other keys. As long as nothing else has been learned of the service, their plan is
 * the same.
 */
export function* planningModes(
  demands: readonly Demand[],
  limits: ModeLimits,
  learned: Learned,
): Steps<ModePlan> {
  const rowsWithin: RowsWithin = mayNameYears(learned) ? (years) => learned.rowsWithin(widened(years)) : null;
  const isPlain = demands.every(({ mode }) => mode === 'latest');
  if (isPlain || demands.length > MAX_DEMANDS)
    return yield* choosingModes(demands, limits, learned.seriesRows, rowsWithin);
  const name = [
    learned.rowsVersion,
    rowsWithin === null,
    ...Object.values(limits),
    ...demands.map(({ key }) => key),
  ].join('\n');
  const known = plansOf(learned).get(name);
  if (known !== undefined) return known;
  const plan = yield* choosingModes(demands, limits, learned.seriesRows, rowsWithin);
  const kept = withoutCallers(plan);
  plansOf(learned).set(name, kept);
  return kept;
}

function plansOf(learned: Learned): LRUCache<string, ModePlan> {
  let known = plans.get(learned);
  if (known === undefined) {
    known = new LRUCache({ max: MAX_PLANS });
    plans.set(learned, known);
  }
  return known;
}

/** A plan of the same pairs, without anybody's entries. */
function withoutCallers({ latest, series, ranges }: ModePlan): ModePlan {
  const plain = (pairs: readonly Pair[]) =>
    pairs.map(({ countryCode, metricKey }) => pairOf(countryCode, metricKey));
  return {
    latest: plain(latest),
    series: plain(series),
    ranges: ranges.map(({ years, pairs }) => ({ years, pairs: plain(pairs) })),
  };
}
