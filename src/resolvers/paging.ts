import { Failure } from '../errors.ts';
import { cursorOf, decodeCursor, encodeId, type GlobalId } from '../graph/ids.ts';
import type { Page } from '../graph/sources.ts';

/** Arguments of a connection. */
export interface PagingArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

/** The rows of a list that a page has. */
export interface Paging {
  readonly after: GlobalId | null;
  readonly before: GlobalId | null;
  readonly count: number;
  /** True if they are counted from the end. */
  readonly isFromEnd: boolean;
}

/** The way to name the rows of a list. */
export interface Naming<Row> {
  /** Identifiers of some rows of a list, in their order. */
  idsOf(rows: readonly Row[], list: readonly Row[]): readonly string[];
  /** The row of an identifier, which may be of an earlier release of the dataset. */
  find(list: readonly Row[], id: GlobalId): Row | null;
}

/**
 * The wanted page, before anything is asked for.
 * @throws Failure BAD_USER_INPUT if the arguments make no sense
 */
export function pagingOf(args: PagingArgs, type: GlobalId['type'], maxRows: number): Paging {
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
export function pageOf<Row>(
  { after, before, count, isFromEnd }: Paging,
  naming: Naming<Row>,
  list: readonly Row[],
  unordered: readonly Row[] = list,
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
export function namedBy<Row>(type: GlobalId['type'], keyOf: (row: Row) => readonly string[]): Naming<Row> {
  return {
    idsOf: (rows) => rows.map((row) => encodeId(type, ...keyOf(row))),
    find: (list, { key }) => list.find((row) => keyOf(row).every((part, i) => part === key[i])) ?? null,
  };
}
