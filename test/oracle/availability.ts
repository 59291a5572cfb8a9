import type { Lookup } from './reference.ts';
import type { RowFact, World } from './world.ts';

interface Item {
  readonly country: { readonly code: string };
  readonly indicator: { readonly key: string };
  readonly firstYear: number | null;
  readonly lastYear: number | null;
  readonly figures: number;
  readonly sources: readonly { readonly key: string }[];
  readonly isComplete: boolean;
}

/** Pairs that one question is about. */
const MOST = { codes: 5, keys: 20 };

/** Returns the question for what is cached of the figures that an operation has looked up; null if it has none. */
export function availabilityOf({ countries, indicators }: World, lookups: readonly Lookup[]): string | null {
  const names = (of: 'codes' | 'keys', known: readonly string[], most: number) => {
    const asked = new Set(lookups.flatMap((lookup) => (lookup.mode === undefined ? [] : (lookup[of] ?? []))));
    return known.filter((name) => asked.has(name)).slice(0, most);
  };
  const codes = names(
    'codes',
    countries.map(({ code }) => code),
    MOST.codes,
  );
  const keys = names(
    'keys',
    indicators.map(({ key }) => key),
    MOST.keys,
  );
  if (codes.length === 0 || keys.length === 0) return null;
  const fields = 'country { code } indicator { key } firstYear lastYear figures sources { key } isComplete';
  const ofCode = (code: string) =>
    `${code}: country(code: "${code}") { availability(metricKeys: ${JSON.stringify(keys)}) { ${fields} } }`;
  return `{ ${codes.map(ofCode).join(' ')} }`;
}

/** Tells what is wrong with an answer to that, as far as the truth shows. */
export function wrongAvailability(
  { rows }: World,
  data: Readonly<Record<string, { readonly availability: readonly Item[] } | null>>,
): string[] {
  const pairs = Map.groupBy(
    rows.filter(({ value }) => value !== null),
    ({ country, metric }) => `${country} ${metric}`,
  );
  return Object.values(data)
    .flatMap((country) => country?.availability ?? [])
    .flatMap((item) => {
      const name = `${item.country.code} ${item.indicator.key}`;
      const isRight = isTrue(item, pairs.get(name) ?? []);
      return isRight ? [] : [`${name}: ${JSON.stringify(item)}, of ${pairs.get(name)?.length ?? 0} rows`];
    });
}

function isTrue(item: Item, rows: readonly RowFact[]): boolean {
  const { firstYear, lastYear, figures, isComplete } = item;
  const years = rows.map(({ year }) => year).sort((a, b) => a - b);
  const sources = [...new Set(rows.map(({ source }) => source))].sort();
  const told = item.sources.map(({ key }) => key);
  const count = new Set(rows.map(copyOf)).size;
  if (isComplete)
    return (
      figures === count &&
      firstYear === (years[0] ?? null) &&
      lastYear === (years.at(-1) ?? null) &&
      told.join() === sources.join()
    );
  return (
    figures <= count &&
    told.every((source) => sources.includes(source)) &&
    [firstYear, lastYear].every((year) =>
      figures === 0 ? year === null : years.includes(year ?? Number.NaN),
    )
  );
}

/** Rows that say the same are one figure. */
function copyOf({
  year,
  period,
  asOfPeriod,
  place,
  value,
  unit,
  source,
  status,
  release,
  retrievedAt,
}: RowFact) {
  return JSON.stringify([year, period, asOfPeriod, place, value, unit, source, status, release, retrievedAt]);
}
