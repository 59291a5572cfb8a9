import { type ResponsePath, responsePathAsArray } from 'graphql';
import { warned } from '../../graphql/resolvers/warned.ts';
import type { GraphContext } from '../../graphql/schema/context.ts';
import { DEFAULT_ROWS } from '../../observations/loaders/listings.ts';
import { leftOutOf, type RowList, sumOf, withLeftOut } from '../../service/records/envelope.ts';
import type { Tag } from '../../service/rights.ts';
import { Failure } from '../../shared/errors.ts';

/** Years to ask for, both included; a side that is left out is open. */
export interface YearsParams {
  readonly startYear?: number | undefined;
  readonly endYear?: number | undefined;
}

/** What the routes have in common that the specification names no paths for: the service may lack any. */
export const ofPart = (tag: Tag) => ({ isPublic: false, tag, isOptional: true, caching: 'ttl' }) as const;

/** Calls that one list may take beyond its first. */
const MAX_FURTHER_CALLS = 24;

/** Ways to ask a route that cuts its answers for the rest. */
interface NarrowedParts<Params extends YearsParams, Row> {
  /** @returns null if the service has no list for the parameters */
  readonly ask: (params: Params) => Promise<RowList<Row> | null>;
  /** The `limit` that is asked with; null if the route takes none. */
  readonly limit: number | null;
  /** Splits parameters into parts that have all rows between them, of any content; null if there are none. */
  readonly partsOf?: (params: Params) => readonly Params[] | null;
  /** Returns the year that the service's `start_year` and `end_year` go by; null if the row doesn't say. */
  readonly yearOf: (row: Row) => number | null;
  /** True if a row passes the filters. */
  readonly passes: (row: Row, params: Params) => boolean;
  /** True if every row that there is has a year: otherwise only the service's own count proves that years have them all. */
  readonly areAllDated: boolean;
}

interface NarrowedList<Row> {
  readonly rows: readonly Row[];
  /** Null if the list is whole. */
  readonly lack: Lack | null;
}

interface Lack {
  /** Rows that are not there; null if nobody knows that any is missing. */
  readonly count: number | null;
}

/**
 * Returns all rows that the service has. If an answer is as long as one may be, or shorter than the service's own
 * count, the list is asked for in parts, which are shown to have all of it or say their lack.
 */
export async function narrowed<Params extends YearsParams, Row>(
  params: Params,
  parts: NarrowedParts<Params, Row>,
): Promise<NarrowedList<Row> | null> {
  const first = await parts.ask(params);
  return first && completed(params, first, parts, { left: MAX_FURTHER_CALLS });
}

/** Returns the lack of a list that can't be asked for otherwise. */
function lackOf(list: RowList<unknown>, limit: number | null): Lack | null {
  const { received, total } = list;
  if (total !== null && total > received) return { count: total - received };
  const isFull =
    (limit !== null && received >= limit) ||
    (list.limit !== null && received >= list.limit) ||
    // A limit that the service doesn't confirm may not have been heeded.
    (received === DEFAULT_ROWS && total === null && (limit === null || list.limit === null));
  return isFull ? { count: null } : null;
}

async function completed<Params extends YearsParams, Row>(
  params: Params,
  list: RowList<Row>,
  parts: NarrowedParts<Params, Row>,
  calls: { left: number },
): Promise<NarrowedList<Row>> {
  const lack = lackOf(list, parts.limit);
  if (lack === null) return { rows: list.rows, lack };
  const cut = { rows: list.rows, lack };
  const byKind = parts.partsOf?.(params) ?? null;
  const isByYears = byKind === null;
  // Without a count, rows that have no year would be lost without a trace.
  if (isByYears && !parts.areAllDated && !(list.total !== null && list.total > list.received)) return cut;
  const pieces = byKind ?? inYears(params, list.rows, parts.yearOf);
  if (pieces === null || pieces.length > calls.left) return cut;
  calls.left -= pieces.length;

  const lists: NarrowedList<Row>[] = [];
  for (const piece of pieces) {
    const part = await asked(piece, parts);
    if (part === null || !part.rows.every((row) => isOf(piece, row, parts))) return cut;
    lists.push(await completed(piece, part, parts, calls));
  }
  const undated = isByYears ? list.rows.filter((row) => parts.yearOf(row) === null) : [];
  const all = [...lists.flatMap(({ rows }) => rows), ...undated];
  if (!holdsAllOf(list.rows, all, parts.yearOf)) return cut;
  const rows = withLeftOut(all, sumOf(lists.map((part) => leftOutOf(part.rows))));
  return { rows, lack: lackOfSum(list, rows.length, lists) };
}

/** True if each year has as many rows as at first: a service may leave out the last year that is named. */
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
  // A count that isn't above the rows of its own answer may be of these alone.
  if (total !== null && total > received) return total > count ? { count: total - count } : null;
  return lists.some(({ lack }) => lack !== null) ? { count: null } : null;
}

/** Asks for a part; null if the service refuses the parameters, or no further call may be sent. */
async function asked<Params extends YearsParams, Row>(
  params: Params,
  { ask }: NarrowedParts<Params, Row>,
): Promise<RowList<Row> | null> {
  try {
    return await ask(params);
  } catch (error) {
    const isNoMore =
      error instanceof Failure && ['BAD_USER_INPUT', 'OPERATION_TOO_EXPENSIVE'].includes(error.code);
    if (isNoMore) return null;
    throw error;
  }
}

/** True if a row belongs to a part; if no row does, the service doesn't heed the parameters. */
function isOf<Params extends YearsParams, Row>(
  params: Params,
  row: Row,
  { passes, yearOf }: NarrowedParts<Params, Row>,
): boolean {
  const { startYear, endYear } = params;
  if (!passes(row, params)) return false;
  if (startYear === undefined && endYear === undefined) return true;
  const year = yearOf(row);
  return year !== null && year >= (startYear ?? year) && year <= (endYear ?? year);
}

/** Splits years into two or three ranges at the middle one of the rows; null if that leaves no smaller one. */
function inYears<Params extends YearsParams, Row>(
  params: Params,
  rows: readonly Row[],
  yearOf: (row: Row) => number | null,
): readonly Params[] | null {
  const { startYear, endYear } = params;
  const years = rows.map(yearOf).filter((year) => year !== null);
  const middle = years.sort((a, b) => a - b)[Math.floor(years.length / 2)];
  if (middle === undefined || (startYear !== undefined && startYear === endYear)) return null;
  const upTo = { ...params, endYear: middle - 1 };
  const from = { ...params, startYear: middle };
  if (startYear === undefined || middle > startYear) return [upTo, from];
  return [
    { ...params, endYear: middle },
    { ...params, startYear: middle + 1 },
  ];
}

const FIRST_YEAR = 1900;
const LAST_YEAR = 2100;

const MAX_TOP = 20;

interface YearsArgs {
  readonly fromYear?: number | null | undefined;
  readonly toYear?: number | null | undefined;
}

/** @throws Failure BAD_USER_INPUT if they are no years, or the wrong way round */
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

/** @throws Failure BAD_USER_INPUT if the service lists no such number */
export function topOf(top: number | null | undefined): number | undefined {
  if (top == null) return undefined;
  if (top >= 1 && top <= MAX_TOP) return top;
  throw new Failure('BAD_USER_INPUT', `top is from 1 to ${MAX_TOP}; this is ${top}.`);
}

/** @throws Failure BAD_USER_INPUT if a text that is to be found is empty */
export function checkNotEmpty(texts: Readonly<Record<string, string | null | undefined>>): void {
  for (const [name, text] of Object.entries(texts)) {
    if (text?.trim() === '')
      throw new Failure('BAD_USER_INPUT', `\`${name}\` is empty: leave it out to ask for all.`);
  }
}

/** Returns the rows of a list, and warns of those it lacks; null if there is no list. */
export async function warnedOfLack<Row>(
  context: GraphContext,
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
    context.warnings.add(
      { code: 'ROWS_LEFT_OUT', message, path: responsePathAsArray(path), route, ...count },
      rows,
    );
  }
  return warned(context, () => path, rows);
}
