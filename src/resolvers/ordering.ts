import { mapValue, type PromiseOrValue } from '../async/promise-or-value.ts';
import type { Steps } from '../async/steps.ts';
import { timeSliced } from '../async/yielding.ts';
import type { GraphContext } from '../graph/context.ts';
import type { OrderDirection } from '../graph/generated.ts';

/** Fields to order by, the first one first; null or omitted: not at all. */
export type OrderBy<Field extends string> =
  | readonly { readonly field: Field; readonly direction?: OrderDirection | undefined }[]
  | null
  | undefined;

/** Compares rows by one of their fields; a row without a value comes last in either direction. */
export type Order<Row> = (a: Row, b: Row, sign: 1 | -1) => number;

/** Rows that are ordered, or put together, before others may have a turn. */
const BLOCK = 1024;

const collator = new Intl.Collator('en');

function orderBy<Row, Value>(
  read: (row: Row) => Value | null,
  compare: (a: Value, b: Value) => number,
): Order<Row> {
  return (a, b, sign) => {
    const [left, right] = [read(a), read(b)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return sign * compare(left, right);
  };
}

export function byNumber<Row>(read: (row: Row) => number | null): Order<Row> {
  return orderBy(read, (a, b) => a - b);
}

/** Orders by codes and keys, as they are spelt. */
export function byCode<Row>(read: (row: Row) => string | null): Order<Row> {
  return orderBy(read, (a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

/** Orders by names, as a reader looks for them: accents and case decide last. */
export function byName<Row>(read: (row: Row) => string | null): Order<Row> {
  return orderBy(read, collator.compare);
}

type OrderContext = Pick<GraphContext, 'batchGate' | 'caller'>;

/** Rows in the wanted order, once they are there; rows that are alike in all of it stay as they are. */
export function ordered<Row, Field extends string>(
  rows: PromiseOrValue<readonly Row[]>,
  wanted: OrderBy<Field>,
  orders: Readonly<Record<Field, Order<Row>>>,
  context: OrderContext,
): PromiseOrValue<readonly Row[]> {
  if (wanted == null || wanted.length === 0) return rows;
  return mapValue(rows, (list) => sorted(list, wanted, orders, context));
}

function sorted<Row, Field extends string>(
  rows: readonly Row[],
  wanted: NonNullable<OrderBy<Field>>,
  orders: Readonly<Record<Field, Order<Row>>>,
  { batchGate, caller }: OrderContext,
): PromiseOrValue<readonly Row[]> {
  if (rows.length < 2) return rows;
  // A field that is named again makes no difference: rows that differ in it are in order by then.
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
  if (rows.length <= BLOCK) return rows.toSorted(compare);
  const sorting = timeSliced(caller, sortInSteps(rows, compare));
  // Fields selected below the rows may ask for figures too.
  return sorting instanceof Promise ? batchGate.closeDuring(sorting) : sorting;
}

/** Sorts many rows in blocks, and puts these together two by two. */
function* sortInSteps<Row>(rows: readonly Row[], compare: (a: Row, b: Row) => number): Steps<readonly Row[]> {
  let blocks: (readonly Row[])[] = [];
  for (let start = 0; start < rows.length; start += BLOCK) {
    blocks.push(rows.slice(start, start + BLOCK).sort(compare));
    yield;
  }
  while (blocks.length > 1) {
    const joined: (readonly Row[])[] = [];
    for (let i = 0; i < blocks.length; i += 2)
      joined.push(yield* merge(blocks[i] ?? [], blocks[i + 1] ?? [], compare));
    blocks = joined;
  }
  return blocks[0] ?? [];
}

/** Merges two sorted lists: of rows that are alike, those of the first list come first. */
function* merge<Row>(
  first: readonly Row[],
  second: readonly Row[],
  compare: (a: Row, b: Row) => number,
): Steps<readonly Row[]> {
  const merged: Row[] = [];
  let [i, j] = [0, 0];
  for (;;) {
    const [a, b] = [first[i], second[j]];
    if (a === undefined || b === undefined) return merged.concat(first.slice(i), second.slice(j));
    if (compare(a, b) <= 0) {
      merged.push(a);
      i += 1;
    } else {
      merged.push(b);
      j += 1;
    }
    if (merged.length % BLOCK === 0) yield;
  }
}
