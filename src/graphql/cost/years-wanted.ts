import { type Demand, pairKey } from '../../observations/planner/demand.ts';

/** A wanted year of each range: a figure of any other year wouldn't answer the demand. */
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
