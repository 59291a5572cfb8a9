import { type TickersParams, tickers } from '../upstream/endpoints.ts';
import { type LeftOut, leftOutOf, sumOf, withLeftOut } from '../upstream/records/left-out.ts';
import { type TickerRecord, unreadIn } from '../upstream/records/markets.ts';

export interface TickerFilter {
  readonly exchangeCode?: string | null | undefined;
  readonly countryCode?: string | null | undefined;
  readonly instrumentType?: string | null | undefined;
}

export type FilterName = keyof TickerFilter;

/** Returns the filters to ask with, widest first, so that one answer can meet several fields. */
export function narrowings({ exchangeCode, countryCode, instrumentType }: TickersParams): TickersParams[] {
  const country = countryCode === undefined ? [] : [{ countryCode }];
  const exchange = exchangeCode === undefined ? [] : [{ exchangeCode }];
  const both = exchangeCode === undefined || countryCode === undefined ? [] : [{ exchangeCode, countryCode }];
  const wide = [...country, ...exchange, ...both];
  if (instrumentType === undefined) return wide;
  return wide.length === 0
    ? [{ instrumentType }]
    : [...wide, ...wide.map((filter) => ({ ...filter, instrumentType }))];
}

/** Spells a filter as it is sent. Kinds of listings are spelt as the service spells them, if it has shown how. */
export function spelt(
  { exchangeCode, countryCode, instrumentType }: TickerFilter,
  known: readonly TickerRecord[],
): TickersParams {
  const type = known.find((row) => passes(row, { instrumentType }))?.instrumentType ?? instrumentType;
  return {
    ...(exchangeCode == null ? {} : { exchangeCode: exchangeCode.toUpperCase() }),
    ...(countryCode == null ? {} : { countryCode: countryCode.toUpperCase() }),
    ...(instrumentType == null || type == null ? {} : { instrumentType: type }),
  };
}

/** Returns the listings that pass a filter; a listing that may pass and doesn't say so is left out, and told. */
export function chosen(rows: readonly TickerRecord[], filter: TickerFilter): readonly TickerRecord[] {
  const leftOut = sumOf([leftOutOf(rows), undecided(rows, filter)]);
  return withLeftOut(
    rows.filter((row) => passes(row, filter)),
    leftOut,
  );
}

/** Counts the listings that are left out since they lack the field of the filter, and might pass. */
function undecided(rows: readonly TickerRecord[], filter: TickerFilter): LeftOut | null {
  const faults = rows.flatMap((row) => {
    const unread = FILTERED.filter((field) => filter[field] != null && unreadIn(row, field, tickers.route));
    const [field] = unread;
    if (field === undefined) return [];
    const others = { ...filter, ...Object.fromEntries(unread.map((name) => [name, null])) };
    return passes(row, others) ? (unreadIn(row, field, tickers.route) ?? []) : [];
  });
  const [first] = faults;
  return first ? { count: faults.length, first } : null;
}

/** Filters of fields that a listing may lack. */
const FILTERED = ['countryCode', 'instrumentType'] as const;

export function passes(
  row: TickerRecord,
  { exchangeCode, countryCode, instrumentType }: TickerFilter,
): boolean {
  return (
    (exchangeCode == null || row.exchangeCode.toUpperCase() === exchangeCode.toUpperCase()) &&
    (countryCode == null || row.countryCode === countryCode.toUpperCase()) &&
    (instrumentType == null || row.instrumentType?.toUpperCase() === instrumentType.toUpperCase())
  );
}
