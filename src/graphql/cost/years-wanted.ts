import { type Demand, pairKey } from '../../observations/planner/demand.ts';

/** A year of each demanded range, for the stand-in's figures: one of another year wouldn't settle the demand. */
export function createYearsWanted() {
  const wanted = new Map<string, number[]>();
  return {
    of: (countryCode: string, metricKey: string) => wanted.get(pairKey(countryCode, metricKey)) ?? null,
    add({ pairKey: key, years }: Demand) {
      const year = years && (years.to ?? years.from);
      const before = wanted.get(key) ?? [];
      if (year !== null && !before.includes(year)) wanted.set(key, [...before, year]);
    },
  };
}

export type YearsWanted = ReturnType<typeof createYearsWanted>;
