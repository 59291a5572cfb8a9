import { type Job, timeSliced } from '../async/yielding.ts';
import { type Demand, keyOf, wholeOf } from '../planner/demand.ts';
import type { RangePlan } from '../planner/modes.ts';
import { covers } from '../planner/year-range.ts';
import { modeLimits, type Planning } from './estimate.ts';
import type { Fetch } from './fetch.ts';
import { type HeldDemand, isFresh, type ServingParts } from './held.ts';
import { planningModes } from './mode-plans.ts';

/** A demand, and its entry if that was looked up. */
type MaybeHeld = Demand & Partial<HeldDemand>;

/**
 * Asks for whole series in place of some years, unless a range takes fewer calls. Whole series are better to hold, and
 * all who ask at the same time, for any years, ask for the same. An answer that came as a whole series settles its
 * demand as that too.
 *
 * The stage stands below `lookedUp` if anything is held, since a lookup needs no call, and above all stages that go by
 * the keys of demands.
 */
export function ranged<Wanted extends MaybeHeld>(
  next: Fetch<Wanted>,
  parts: ServingParts & Planning,
): Fetch<Wanted> {
  const inRanges: Fetch<Wanted> = async (demands, sending, settle) => {
    const isRange = await rangesOf(demands, parts, sending.caller);
    // Several ranges may be one whole series, which may be wanted as such besides.
    const asked = new Map<string, { readonly sent: Wanted; readonly askers: Wanted[] }>();
    for (const demand of demands) {
      const isPlain = demand.years === null || isAnsweredBySome(demand, parts) || isRange(demand);
      const sent = isPlain ? demand : wholeOf(demand);
      const known = asked.get(sent.name);
      if (known === undefined) asked.set(sent.name, { sent, askers: [demand] });
      else known.askers.push(demand);
    }
    const sent = [...asked.values()].map((one) => one.sent);
    return next(sent, sending, (demand, outcome) => {
      settle(demand, outcome);
      for (const asker of asked.get(demand.name)?.askers ?? []) {
        if (asker.key !== demand.key) settle(asker, outcome);
      }
    });
  };
  return (demands, sending, settle) =>
    demands.some(({ years }) => years !== null)
      ? inRanges(demands, sending, settle)
      : next(demands, sending, settle);
}

/** True if a held range answers a demand. */
function isAnsweredBySome(demand: MaybeHeld, parts: ServingParts): boolean {
  return demand.entry != null && demand.entry.years !== null && isFresh(demand, parts);
}

/** Tells which demands for some years are better asked for as such, by the ones that are not held. */
async function rangesOf(
  demands: readonly MaybeHeld[],
  parts: ServingParts & Planning,
  job: Job,
): Promise<(demand: Demand) => boolean> {
  const missing = demands.filter((demand) => !isFresh(demand, parts));
  if (!missing.some(({ years }) => years !== null)) return () => false;
  const { ranges } = await timeSliced(job, planningModes(missing, modeLimits(parts), parts.learned));
  const byPair = new Map<string, RangePlan>();
  for (const range of ranges) for (const pair of range.pairs) byPair.set(keyOf(pair), range);
  return (demand) => {
    const range = byPair.get(keyOf(demand));
    return range !== undefined && demand.years !== null && covers(range.years, demand.years);
  };
}
