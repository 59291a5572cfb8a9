import { checkStrings, Failure, type Turns } from '../../plugin/index.ts';
import type { AvailabilityRecord } from './availability-record.ts';
import type { createCachedRecords } from './cached-records.ts';

/** What is cached of an indicator's figures. */
export interface IndicatorAvailabilityRecord {
  readonly metricKey: string;
  /** Those with a figure of the years that were asked for. */
  readonly countries: readonly AvailabilityRecord[];
  readonly countryCount: number;
  /** Countries of which nothing is cached. */
  readonly unknownCount: number;
  readonly firstYear: number;
  readonly lastYear: number;
  readonly figures: number;
  /** ISO 8601, UTC. */
  readonly asOf: string;
}

export interface Scope {
  readonly search?: string | null;
  readonly countryCodes?: readonly string[] | null;
  readonly fromYear?: number | null;
  readonly toYear?: number | null;
}

/**
 * Sums what is cached by indicator: those of the most countries first, then by key.
 * @throws Failure BAD_USER_INPUT for years or words that nothing can have
 */
export async function availabilityIn(
  { search, countryCodes, fromYear, toYear }: Scope,
  cached: ReturnType<typeof createCachedRecords>,
  turns: Turns,
): Promise<readonly IndicatorAvailabilityRecord[]> {
  checkStrings({ search });
  const from = fromYear ?? Number.NEGATIVE_INFINITY;
  const to = toYear ?? Number.POSITIVE_INFINITY;
  if (from > to)
    throw new Failure('BAD_USER_INPUT', `\`fromYear\` is ${from}, after \`toYear\`, which is ${to}.`);
  const isWanted = (year: number) => year >= from && year <= to;
  const words = (search ?? '').toLowerCase().split(/[\s_]+/);
  const keys = (await cached.metricKeys()).filter((key) => words.every((word) => key.includes(word)));
  const codes = [...new Set(countryCodes ?? cached.countryCodes())];
  const byKey = new Map<string, AvailabilityRecord[]>();
  await turns.each(await cached.of(codes, keys), (record) => {
    const ofKey = byKey.get(record.metricKey);
    if (ofKey === undefined) byKey.set(record.metricKey, [record]);
    else ofKey.push(record);
  });
  const found: IndicatorAvailabilityRecord[] = [];
  await turns.each([...byKey], ([metricKey, known]) => {
    const countries = known.filter(({ years }) => years.some(isWanted));
    if (countries.length === 0) return;
    const years = countries.flatMap((country) => country.years.filter(isWanted));
    found.push({
      metricKey,
      countries,
      countryCount: countries.length,
      unknownCount: codes.length - known.length,
      firstYear: years.reduce((a, b) => Math.min(a, b)),
      lastYear: years.reduce((a, b) => Math.max(a, b)),
      figures: years.length,
      asOf: known.map(({ asOf }) => asOf).sort()[0] ?? '',
    });
  });
  return found.sort((a, b) => b.countryCount - a.countryCount || (a.metricKey < b.metricKey ? -1 : 1));
}
