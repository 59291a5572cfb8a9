import { type GraphQLResolveInfo, responsePathAsArray } from 'graphql';
import type { GraphContext } from '../../graph/context.ts';
import type { NarrowedList } from '../../loaders/narrowed.ts';
import { warned } from '../warned.ts';

/** Returns the rows of a list, and warns of those it lacks; null if there is no list. */
export async function warnedOfLack<Row>(
  context: GraphContext,
  { path }: Pick<GraphQLResolveInfo, 'path'>,
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
