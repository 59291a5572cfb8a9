import { Buffer } from 'node:buffer';
import { mapValue, type PromiseOrValue, sortedInTurns } from '../async/turns.ts';
import { Failure } from '../errors.ts';
import type { GraphContext, Page } from '../graph/context.ts';
import type { OrderDirection } from '../graph/generated.ts';

/** The meaning of a global identifier: a type of the graph and the key of one of its objects. */
export interface GlobalId {
  readonly type: 'Country' | 'Indicator' | 'Observation' | 'Office' | 'Source' | 'Ticker';
  /** Parts of the key, as many as the type has. */
  readonly key: readonly string[];
}

/**
 * The least and the most parts of a key. Parts beyond the least are there only if they are needed to tell two objects
 * apart.
 */
const KEY_PARTS: Readonly<Record<GlobalId['type'], readonly [least: number, most: number]>> = {
  Country: [1, 1],
  Indicator: [1, 1],
  Observation: [7, 9],
  Office: [3, 4],
  Source: [1, 1],
  Ticker: [2, 2],
};

/** Types whose key begins with a country code, which goes into addresses. */
const OF_COUNTRIES: ReadonlySet<GlobalId['type']> = new Set(['Country', 'Observation', 'Office']);

export function encodeId(type: GlobalId['type'], ...key: readonly string[]): string {
  return Buffer.from(JSON.stringify([type, ...key])).toString('base64url');
}

/** @throws Failure BAD_USER_INPUT if the text is no identifier of ours */
export function decodeId(id: string): GlobalId {
  try {
    const [type, ...key] = JSON.parse(Buffer.from(id, 'base64url').toString()) as string[];
    const isText = key.every((part) => typeof part === 'string');
    if (type !== undefined && Object.hasOwn(KEY_PARTS, type) && isText) {
      const known = type as GlobalId['type'];
      const isCodeSound = !OF_COUNTRIES.has(known) || /^[A-Z]{2}$/.test(key[0] ?? '');
      const [least, most] = KEY_PARTS[known];
      if (key.length >= least && key.length <= most && isCodeSound) return { type: known, key };
    }
  } catch {
    // Falls through to the one answer for all texts that are no identifier.
  }
  throw new Failure('BAD_USER_INPUT', 'This is no identifier of this graph. Use one that a field `id` gave.');
}

/** Fields to order by, the first one first; null or omitted: not at all. */
type OrderBy<Field extends string> =
  | readonly { readonly field: Field; readonly direction?: OrderDirection | undefined }[]
  | null
  | undefined;

/** Compares rows by one of their fields; a row without a value comes last in either direction. */
type Order<Row> = (a: Row, b: Row, sign: 1 | -1) => number;

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

function sorted<Row, Field extends string>(
  rows: readonly Row[],
  wanted: NonNullable<OrderBy<Field>>,
  orders: Readonly<Record<Field, Order<Row>>>,
  { batchGate, caller }: GraphContext,
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
  const sorting = sortedInTurns(caller, rows, compare);
  // Fields selected below the rows may ask for figures too.
  return sorting instanceof Promise ? batchGate.closeDuring(sorting) : sorting;
}

/** Arguments of a connection. */
interface PagingArgs<Field extends string> {
  readonly orderBy?: OrderBy<Field>;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

/** The rows of a list that a page has. */
interface Paging {
  readonly after: GlobalId | null;
  readonly before: GlobalId | null;
  readonly count: number;
  /** True if they are counted from the end. */
  readonly isFromEnd: boolean;
}

/** The way to name the rows of a list. */
interface Naming<Row> {
  /** Identifiers of some rows of a list, in their order. */
  idsOf(rows: readonly Row[], list: readonly Row[]): readonly string[];
  /** The row of an identifier, which may be of an earlier release of the dataset. */
  find(list: readonly Row[], id: GlobalId): Row | null;
}

/**
 * The wanted page, before anything is asked for.
 * @throws Failure BAD_USER_INPUT if the arguments make no sense
 */
function pagingOf(args: PagingArgs<string>, type: GlobalId['type'], maxRows: number): Paging {
  const { first, after, last, before } = args;
  if (first != null && last != null) {
    throw new Failure(
      'BAD_USER_INPUT',
      'A page is counted from one end: give `first` or `last`, and not both.',
    );
  }
  for (const [name, count] of Object.entries({ first, last })) {
    if (count == null || (count >= 0 && count <= maxRows)) continue;
    throw new Failure(
      'BAD_USER_INPUT',
      `\`${name}\` is from 0 to ${maxRows} (MAX_LIST_ITEMS); this is ${count}. Ask for several pages.`,
    );
  }
  return {
    after: after == null ? null : decodeCursor(after, type, 'after'),
    before: before == null ? null : decodeCursor(before, type, 'before'),
    count: first ?? last ?? maxRows,
    isFromEnd: last != null,
  };
}

/**
 * A page of a list.
 * @param list rows in the wanted order
 * @param unordered the same rows as they come: rows that are alike are named by their order there
 * @throws Failure BAD_USER_INPUT if a cursor names a row that the list doesn't have
 */
function pageOf<Row>(
  { after, before, count, isFromEnd }: Paging,
  naming: Naming<Row>,
  list: readonly Row[],
  unordered: readonly Row[],
): Page<Row> {
  const positionOf = (id: GlobalId, argument: string) => {
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
      cursors ??= naming.idsOf(nodes, unordered).map(cursorOf);
      return cursors;
    },
  };
}

/** Names rows that each have a key of their own. */
function namedBy<Row>(type: GlobalId['type'], keyOf: (row: Row) => readonly string[]): Naming<Row> {
  return {
    idsOf: (rows) => rows.map((row) => encodeId(type, ...keyOf(row))),
    find: (list, { key }) => list.find((row) => keyOf(row).every((part, i) => part === key[i])) ?? null,
  };
}

/** The lists of one type. */
export interface Listing<Row, Field extends string> {
  /** Puts rows in the wanted order; rows that are alike in all of it stay as they are. */
  ordered(
    rows: PromiseOrValue<readonly Row[]>,
    orderBy: OrderBy<Field>,
    context: GraphContext,
  ): PromiseOrValue<readonly Row[]>;
  /**
   * Loads rows, and makes the wanted page of them.
   * @throws Failure BAD_USER_INPUT if the arguments make no sense, before anything is asked for
   */
  page(
    args: PagingArgs<Field>,
    context: GraphContext,
    load: () => PromiseOrValue<readonly Row[]>,
  ): PromiseOrValue<Page<Row>>;
}

/** @param naming the key that each row has of its own, or another way to name rows */
export function createListing<Row, Field extends string>(
  type: GlobalId['type'],
  orders: Readonly<Record<Field, Order<Row>>>,
  naming: ((row: Row) => readonly string[]) | Naming<Row>,
): Listing<Row, Field> {
  const names = typeof naming === 'function' ? namedBy(type, naming) : naming;
  const ordered: Listing<Row, Field>['ordered'] = (rows, orderBy, context) => {
    if (orderBy == null || orderBy.length === 0) return rows;
    return mapValue(rows, (list) => sorted(list, orderBy, orders, context));
  };
  return {
    ordered,
    page(args, context, load) {
      const paging = pagingOf(args, type, context.maxListItems);
      return mapValue(load(), (rows) =>
        mapValue(ordered(rows, args.orderBy, context), (list) => pageOf(paging, names, list, rows)),
      );
    },
  };
}

/** Marks an identifier as a cursor: `node` takes none. */
const CURSOR = 'Cursor';

/** The cursor of a row with this identifier. */
function cursorOf(id: string): string {
  const { type, key } = decodeId(id);
  return Buffer.from(JSON.stringify([CURSOR, type, ...key])).toString('base64url');
}

/**
 * The row that a cursor of a list of some type stands for.
 * @param argument the argument that gave it
 * @throws Failure BAD_USER_INPUT if the text is no cursor of such a list
 */
function decodeCursor(cursor: string, type: GlobalId['type'], argument: string): GlobalId {
  try {
    const [mark, ...id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as string[];
    const decoded = decodeId(Buffer.from(JSON.stringify(id)).toString('base64url'));
    if (mark === CURSOR && decoded.type === type) return decoded;
  } catch {
    // Falls through to the one answer for all texts that are no cursor.
  }
  throw new Failure(
    'BAD_USER_INPUT',
    `\`${argument}\` is no cursor of this list. Use one that its \`pageInfo\` or \`edges\` gave, or leave it out to begin at the end of the list that it counts from.`,
  );
}
