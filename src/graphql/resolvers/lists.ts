import { Buffer } from 'node:buffer';
import { loadedOnce } from '../../observations/loaders/batch-gate.ts';
import { mapValue, type PromiseOrValue } from '../../shared/async/promises.ts';
import { Failure } from '../../shared/errors.ts';
import type { GraphContext, Page } from '../schema/context.ts';
import type { OrderDirection } from '../schema/generated.ts';
import type { Naming, Order } from './ordering.ts';

/** The meaning of a global identifier: a type of the graph and the key of one of its objects. */
interface GlobalId {
  readonly type: 'Country' | 'Indicator' | 'Observation' | 'Office' | 'Source' | 'Ticker';
  readonly key: readonly string[];
}

/** The meaning of a cursor: a row of a list. */
interface RowId extends GlobalId {
  /** Index among the rows with this key, from 0: the service may list an object twice. */
  readonly nth: number;
}

/** The least and most parts of a key. Further parts distinguish objects that are otherwise alike. */
const KEY_PARTS: Readonly<Record<GlobalId['type'], readonly [least: number, most: number]>> = {
  Country: [1, 1],
  Indicator: [1, 1],
  Observation: [7, 11],
  Office: [3, 4],
  Source: [1, 1],
  Ticker: [2, 2],
};

/** Types whose key begins with a country code, which is put into URLs. */
const OF_COUNTRIES: ReadonlySet<GlobalId['type']> = new Set(['Country', 'Observation', 'Office']);

export function encodeId(type: GlobalId['type'], ...key: readonly string[]): string {
  return Buffer.from(JSON.stringify([type, ...key])).toString('base64url');
}

/** @throws Failure BAD_USER_INPUT if the text is no identifier of ours */
export function decodeId(id: string): GlobalId {
  try {
    const [type, ...key] = JSON.parse(Buffer.from(id, 'base64url').toString()) as string[];
    const isString = key.every((part) => typeof part === 'string');
    if (type !== undefined && Object.hasOwn(KEY_PARTS, type) && isString) {
      const typeName = type as GlobalId['type'];
      const isCodeSound = !OF_COUNTRIES.has(typeName) || /^[A-Z]{2}$/.test(key[0] ?? '');
      const [least, most] = KEY_PARTS[typeName];
      if (key.length >= least && key.length <= most && isCodeSound) return { type: typeName, key };
    }
  } catch {
    // Falls through: every invalid identifier gets the same error.
  }
  throw new Failure('BAD_USER_INPUT', 'This is no identifier of this graph. Use one that a field `id` gave.');
}

/** Fields to order by, the first one first; null or omitted: not at all. */
type OrderBy<Field extends string> =
  | readonly { readonly field: Field; readonly direction?: OrderDirection | undefined }[]
  | null
  | undefined;

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

/** Orders codes and keys by their code units. */
export function byCode<Row>(read: (row: Row) => string | null): Order<Row> {
  return orderBy(read, (a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

/** Orders names alphabetically: accents and case decide last. */
export function byName<Row>(read: (row: Row) => string | null): Order<Row> {
  return orderBy(read, collator.compare);
}

type PagingArgs<Field extends string> = {
  readonly orderBy?: OrderBy<Field>;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
};

/**
 * The wanted page; checked before any call.
 * @throws Failure BAD_USER_INPUT if the arguments make no sense
 */
function pagingOf(args: PagingArgs<string>, type: GlobalId['type'], maxRows: number) {
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

/** Identifies rows by a key, and those that share it by their position among them. */
function namedBy<Row>(type: GlobalId['type'], keyOf: (row: Row) => readonly string[]): Naming<Row, RowId> {
  return {
    cursorsOf(rows, list) {
      const nameOfRow = (row: Row) => JSON.stringify(keyOf(row));
      const counts = new Map(rows.map((row) => [nameOfRow(row), 0]));
      const nths = new Map<Row, number>();
      for (const row of list) {
        const name = nameOfRow(row);
        const count = counts.get(name);
        if (count === undefined) continue;
        nths.set(row, count);
        counts.set(name, count + 1);
      }
      return rows.map((row) => encodeCursor({ type, key: keyOf(row), nth: nths.get(row) ?? 0 }));
    },
    find(list, { key, nth }) {
      const named = list.filter((row) => keyOf(row).every((part, i) => part === key[i]));
      return named[nth] ?? named.at(-1) ?? null;
    },
  };
}

/** Loads the code of searches, sort orders and pages, which few operations use. */
export const lists = loadedOnce(() => import('./ordering.ts'));

/**
 * Makes the lists of one type.
 * @param naming the key of each row, or another way to identify rows
 */
export function createListing<Row, Field extends string>(
  type: GlobalId['type'],
  orders: Readonly<Record<Field, Order<Row>>>,
  naming: ((row: Row) => readonly string[]) | Naming<Row, RowId>,
) {
  const names = typeof naming === 'function' ? namedBy(type, naming) : naming;

  /** Sorts rows stably in the wanted order. */
  function ordered(
    rows: PromiseOrValue<readonly Row[]>,
    wanted: OrderBy<Field>,
    context: GraphContext,
  ): PromiseOrValue<readonly Row[]> {
    if (wanted == null || wanted.length === 0) return rows;
    return mapValue(rows, (list) => lists(context, ({ sorted }) => sorted(list, wanted, orders, context)));
  }

  return {
    ordered,
    /**
     * The keys of the rows that a page will contain, before they are loaded.
     * @param keys those of all rows
     * @param inOrder the same in the order of the list; null if that isn't known: then only a page of all rows can be told
     */
    expectedKeys(
      args: PagingArgs<Field>,
      context: GraphContext,
      keys: readonly string[],
      inOrder: readonly string[] | null,
    ): readonly string[] {
      const { after, before, count, isFromEnd } = pagingOf(args, type, context.maxListItems);
      if (after === null && before === null && keys.length <= count) return keys;
      const positionOf = (id: GlobalId) => (inOrder ?? []).indexOf(id.key[0] ?? '');
      const [start, end] = [after ? positionOf(after) : -1, before ? positionOf(before) : keys.length];
      if (inOrder === null || (after && start < 0) || end < 0) return [];
      const between = inOrder.slice(start + 1, end);
      return isFromEnd ? between.slice(Math.max(0, between.length - count)) : between.slice(0, count);
    },
    /**
     * Loads rows and returns the wanted page of them.
     * @throws Failure BAD_USER_INPUT if the arguments make no sense, before any call
     */
    page(
      args: PagingArgs<Field>,
      context: GraphContext,
      load: () => PromiseOrValue<readonly Row[]>,
    ): PromiseOrValue<Page<Row>> {
      const paging = pagingOf(args, type, context.maxListItems);
      const paged = (rows: readonly Row[], list: readonly Row[]) =>
        lists(context, ({ pageOf }) => pageOf(paging, names, list, rows));
      return mapValue(load(), (rows) =>
        mapValue(ordered(rows, args.orderBy, context), (list) => paged(rows, list)),
      );
    },
  };
}

/** Marks an identifier as a cursor, which `node` refuses. */
const CURSOR = 'Cursor';

export function encodeCursor({ type, key, nth }: RowId): string {
  const parts = [CURSOR, type, ...key, ...(nth === 0 ? [] : [nth])];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/**
 * The row that a cursor of a list of some type stands for.
 * @param argument the argument that gave it
 * @throws Failure BAD_USER_INPUT if the text is no cursor of such a list
 */
function decodeCursor(cursor: string, type: GlobalId['type'], argument: string): RowId {
  try {
    const [mark, ...id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    const nth = typeof id.at(-1) === 'number' ? Number(id.pop()) : 0;
    const decoded = decodeId(Buffer.from(JSON.stringify(id)).toString('base64url'));
    if (mark === CURSOR && decoded.type === type) return { ...decoded, nth };
  } catch {
    // Falls through: every invalid cursor gets the same error.
  }
  throw new Failure(
    'BAD_USER_INPUT',
    `\`${argument}\` is no cursor of this list. Use one that its \`pageInfo\` or \`edges\` gave, or leave it out to begin at the end of the list that it counts from.`,
  );
}
