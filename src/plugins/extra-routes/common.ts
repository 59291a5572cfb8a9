import { type ResponsePath, responsePathAsArray } from 'graphql';
import {
  type Endpoint,
  Failure,
  type FieldContext,
  leftOutOf,
  type RowList,
  sumOf,
  withLeftOut,
} from '../../plugin/index.ts';

/** Both inclusive. */
export interface YearsParams {
  readonly startYear?: number | undefined;
  readonly endYear?: number | undefined;
}

/** The specification names no paths for these routes, so the service may lack any of them. */
export const ofPart = (tag: Endpoint['tag']) =>
  ({ isPublic: false, tag, isOptional: true, caching: 'ttl' }) as const;

/** Specified: rows of a list whose route has no `limit`, or isn't asked with one. */
const DEFAULT_ROWS = 100;

/** Calls for one list beyond the first. */
const MAX_FURTHER_CALLS = 24;

/** How to ask for the rest of a list that the service cuts. */
interface NarrowedParts<Params extends YearsParams, Row> {
  /** @returns null if the service has no list for the parameters */
  readonly ask: (params: Params) => Promise<RowList<Row> | null>;
  /** The `limit` that is asked with; null if the route takes none. */
  readonly limit: number | null;
  /** Splits parameters into parts that cover all possible rows; null if it can't. */
  readonly partsOf?: (params: Params) => readonly Params[] | null;
  /** Returns the year to which the service applies `start_year` and `end_year`; null if the row doesn't say. */
  readonly yearOf: (row: Row) => number | null;
  /** Applies the filters. */
  readonly passes: (row: Row, params: Params) => boolean;
  /** True if every row has a year. Otherwise only the service's own count proves that years cover them all. */
  readonly areAllDated: boolean;
}

interface NarrowedList<Row> {
  readonly rows: readonly Row[];
  /** Null if the list is complete. */
  readonly lack: Lack | null;
}

interface Lack {
  /** Missing rows; null if it isn't known whether there are any. */
  readonly count: number | null;
}

/** Asks in parts for a list that is as long as an answer may be, or shorter than the service's own count. */
export async function narrowed<Params extends YearsParams, Row>(
  params: Params,
  { ask, limit, partsOf, yearOf, passes, areAllDated }: NarrowedParts<Params, Row>,
): Promise<NarrowedList<Row> | null> {
  let callsLeft = MAX_FURTHER_CALLS;

  /** Null if the service refuses the parameters, or no further call is allowed. */
  async function askForPart(part: Params): Promise<RowList<Row> | null> {
    try {
      return await ask(part);
    } catch (error) {
      const isNoMore =
        error instanceof Failure && ['BAD_USER_INPUT', 'OPERATION_TOO_EXPENSIVE'].includes(error.code);
      if (isNoMore) return null;
      throw error;
    }
  }

  /** False if the service has ignored the parameters. */
  function isOf(part: Params, row: Row): boolean {
    const { startYear, endYear } = part;
    if (!passes(row, part)) return false;
    if (startYear === undefined && endYear === undefined) return true;
    const year = yearOf(row);
    return year !== null && year >= (startYear ?? year) && year <= (endYear ?? year);
  }

  /** Splits years into two ranges at the median of the rows; null if there is no smaller range. */
  function inYears(whole: Params, rows: readonly Row[]): readonly Params[] | null {
    const { startYear, endYear } = whole;
    const years = rows.map(yearOf).filter((year) => year !== null);
    const middle = years.sort((a, b) => a - b)[Math.floor(years.length / 2)];
    if (middle === undefined || (startYear !== undefined && startYear === endYear)) return null;
    const end = startYear === undefined || middle > startYear ? middle - 1 : middle;
    return [
      { ...whole, endYear: end },
      { ...whole, startYear: end + 1 },
    ];
  }

  async function completed(whole: Params, list: RowList<Row>): Promise<NarrowedList<Row>> {
    const { rows, total, received } = list;
    const lack = lackOf(list, limit);
    const cut = { rows, lack };
    if (lack === null) return cut;
    const byKind = partsOf?.(whole) ?? null;
    const isByYears = byKind === null;
    const isCounted = total !== null && total > received;
    // Without a count, rows without a year would be lost unnoticed.
    if (isByYears && !areAllDated && !isCounted) return cut;
    const pieces = byKind ?? inYears(whole, rows);
    if (pieces === null || pieces.length > callsLeft) return cut;
    callsLeft -= pieces.length;

    const lists: NarrowedList<Row>[] = [];
    for (const piece of pieces) {
      const part = await askForPart(piece);
      if (part === null || !part.rows.every((row) => isOf(piece, row))) return cut;
      lists.push(await completed(piece, part));
    }
    const undated = isByYears ? rows.filter((row) => yearOf(row) === null) : [];
    const all = [...lists.flatMap((part) => part.rows), ...undated];
    if (!holdsAllOf(rows, all, yearOf)) return cut;
    const leftOut = sumOf(lists.map((part) => leftOutOf(part.rows)));
    return { rows: withLeftOut(all, leftOut), lack: lackOfSum(list, all.length, lists) };
  }

  const first = await ask(params);
  return first && completed(params, first);
}

function lackOf(list: RowList<unknown>, limit: number | null): Lack | null {
  const { received, total } = list;
  if (total !== null && total > received) return { count: total - received };
  const isFull =
    (limit !== null && received >= limit) ||
    (list.limit !== null && received >= list.limit) ||
    // The service may have ignored a limit that it doesn't confirm.
    (received === DEFAULT_ROWS && total === null && (limit === null || list.limit === null));
  return isFull ? { count: null } : null;
}

/** A service may leave out the last year of a range, so no year may have fewer rows than at first. */
function holdsAllOf<Row>(
  first: readonly Row[],
  all: readonly Row[],
  yearOf: (row: Row) => number | null,
): boolean {
  const counts = new Map<number | null, number>();
  for (const row of all) counts.set(yearOf(row), (counts.get(yearOf(row)) ?? 0) + 1);
  for (const row of first) counts.set(yearOf(row), (counts.get(yearOf(row)) ?? 0) - 1);
  return [...counts.values()].every((count) => count >= 0);
}

function lackOfSum(
  { total, received }: RowList<unknown>,
  count: number,
  lists: readonly NarrowedList<unknown>[],
): Lack | null {
  // A count that equals the rows of its answer may only count these.
  if (total !== null && total > received) return total > count ? { count: total - count } : null;
  return lists.some(({ lack }) => lack !== null) ? { count: null } : null;
}

const FIRST_YEAR = 1900;
const LAST_YEAR = 2100;

const MAX_TOP = 20;

interface YearsArgs {
  readonly fromYear?: number | null | undefined;
  readonly toYear?: number | null | undefined;
}

export function yearsOf({ fromYear, toYear }: YearsArgs): YearsParams {
  for (const [name, year] of Object.entries({ fromYear, toYear })) {
    if (year == null || (year >= FIRST_YEAR && year <= LAST_YEAR)) continue;
    throw new Failure(
      'BAD_USER_INPUT',
      `${name} is a year from ${FIRST_YEAR} to ${LAST_YEAR}; this is ${year}.`,
    );
  }
  if (fromYear != null && toYear != null && fromYear > toYear)
    throw new Failure('BAD_USER_INPUT', `fromYear (${fromYear}) is after toYear (${toYear}).`);
  return { startYear: fromYear ?? undefined, endYear: toYear ?? undefined };
}

export function topOf(top: number | null | undefined): number | undefined {
  if (top == null) return undefined;
  if (top >= 1 && top <= MAX_TOP) return top;
  throw new Failure('BAD_USER_INPUT', `top is from 1 to ${MAX_TOP}; this is ${top}.`);
}

export function checkNotEmpty(texts: Readonly<Record<string, string | null | undefined>>): void {
  for (const [name, text] of Object.entries(texts)) {
    if (text?.trim() === '')
      throw new Failure('BAD_USER_INPUT', `\`${name}\` is empty: leave it out to ask for all.`);
  }
}

export async function warnedOfLack<Row>(
  context: FieldContext,
  path: ResponsePath,
  route: string,
  loading: Promise<NarrowedList<Row> | null>,
): Promise<readonly Row[] | null> {
  const list = await loading;
  if (list === null) return null;
  const { rows, lack } = list;
  if (lack !== null) {
    const count = lack.count === null ? {} : { count: lack.count };
    const message =
      lack.count === null
        ? `The service sent ${rows.length} rows, as many as an answer may hold, so that others may be missing. Ask for less at a time.`
        : `The service has ${lack.count} more rows than the ${rows.length} that can be had of it. Ask for less at a time.`;
    context.warn({ code: 'ROWS_LEFT_OUT', message, path: responsePathAsArray(path), route, ...count }, rows);
  }
  return context.warned(() => path, rows);
}
