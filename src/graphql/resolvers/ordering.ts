import { leftOutOf, sumOf, withLeftOut } from '../../service/records/envelope.ts';
import type { IndicatorRecord } from '../../service/records/reference.ts';
import type { PromiseOrValue } from '../../shared/async/promises.ts';
import { sortedInTurns } from '../../shared/async/turns.ts';
import { Failure } from '../../shared/errors.ts';
import { plain } from '../../shared/plain-text.ts';
import type { GraphContext, Page } from '../schema/context.ts';
import type { OrderDirection } from '../schema/generated.ts';

interface CatalogueFilter {
  /** Words, all of which an indicator has; null or omitted: any. */
  readonly search?: string | null | undefined;
  /** Key of a source; null or omitted: any. */
  readonly source?: string | null | undefined;
}

/** The matching indicators. The list carries a warning if some have no publisher and so may be missing. */
export function searched(
  list: readonly IndicatorRecord[],
  { search, source }: CatalogueFilter,
): readonly IndicatorRecord[] {
  const words = wordsIn(search ?? '');
  if (words.length === 0 && source == null) return list;
  const named = words.length === 0 ? list : list.filter((item) => hasAll(item, words));
  if (source == null) return named;
  const wanted = source.toLowerCase();
  const isOf = ({ sources }: IndicatorRecord) => sources.some((key) => key.toLowerCase() === wanted);
  const undecided = named.filter((item) => !isOf(item)).map(({ sources }) => leftOutOf(sources));
  return withLeftOut(named.filter(isOf), sumOf(undecided));
}

function hasAll({ key, name, record }: IndicatorRecord, words: readonly string[]): boolean {
  const description = typeof record.description === 'string' ? record.description : '';
  const text = plain(`${key} ${name ?? ''} ${description}`);
  return words.every((word) => text.includes(word));
}

/** The distinct words of a search. */
export function wordsIn(search: string): readonly string[] {
  return [...new Set(plain(search).split(/\s+/).filter(Boolean))];
}

/** Compares rows by one of their fields; a row without a value comes last in either direction. */
export type Order<Row> = (a: Row, b: Row, sign: 1 | -1) => number;

/** Sorts rows stably in the wanted order. */
export function sorted<Row, Field extends string>(
  rows: readonly Row[],
  wanted: readonly { readonly field: Field; readonly direction?: OrderDirection | undefined }[],
  orders: Readonly<Record<Field, Order<Row>>>,
  { batchGate, caller }: GraphContext,
): PromiseOrValue<readonly Row[]> {
  if (rows.length < 2) return rows;
  // A repeated field makes no difference: rows are sorted by it already.
  const named = wanted.filter(({ field }, i) => wanted.findIndex((one) => one.field === field) === i);
  const steps = named.map(({ field, direction }): { order: Order<Row>; sign: 1 | -1 } => ({
    order: orders[field],
    sign: direction === 'DESC' ? -1 : 1,
  }));
  const compare = (a: Row, b: Row) => {
    for (const { order, sign } of steps) {
      const difference = order(a, b, sign);
      if (difference !== 0) return difference;
    }
    return 0;
  };
  const sorting = sortedInTurns(caller, rows, compare);
  // Fields selected below the rows may need figures too.
  return sorting instanceof Promise ? batchGate.closeDuring(sorting) : sorting;
}

/** The way to name the rows of a list. */
export interface Naming<Row, Id> {
  /** Cursors of some rows of a list, in their order; unique within the list. */
  cursorsOf(rows: readonly Row[], list: readonly Row[]): readonly string[];
  /** The row of a cursor, which may be of an earlier release of the dataset. */
  find(list: readonly Row[], id: Id): Row | null;
}

/** The rows of a list that a page has. */
interface Paging<Id> {
  readonly after: Id | null;
  readonly before: Id | null;
  readonly count: number;
  /** True if they are counted from the end. */
  readonly isFromEnd: boolean;
}

/**
 * A page of a list.
 * @param list rows in the wanted order
 * @param unordered the same rows as received, whose order numbers rows that are alike
 * @throws Failure BAD_USER_INPUT if a cursor names a row that the list doesn't have
 */
export function pageOf<Row, Id>(
  { after, before, count, isFromEnd }: Paging<Id>,
  naming: Naming<Row, Id>,
  list: readonly Row[],
  unordered: readonly Row[],
): Page<Row> {
  const positionOf = (id: Id, argument: string) => {
    const row = naming.find(unordered, id);
    const position = row === null ? -1 : list.indexOf(row);
    if (position >= 0) return position;
    throw new Failure(
      'BAD_USER_INPUT',
      `The row that \`${argument}\` names is not in this list, or no longer. Page with the arguments that the cursor came with, or begin anew without it.`,
    );
  };
  let start = after === null ? 0 : positionOf(after, 'after') + 1;
  let end = Math.max(start, before === null ? list.length : positionOf(before, 'before'));
  if (isFromEnd) start = Math.max(start, end - count);
  else end = Math.min(end, start + count);
  const nodes = start === 0 && end === list.length ? list : list.slice(start, end);
  let cursors: readonly string[] | undefined;
  return {
    nodes,
    totalCount: list.length,
    hasNextPage: end < list.length,
    hasPreviousPage: start > 0,
    cursors() {
      cursors ??= naming.cursorsOf(nodes, unordered);
      return cursors;
    },
  };
}
