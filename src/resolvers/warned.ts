import { type GraphQLResolveInfo, responsePathAsArray } from 'graphql';
import type { GraphContext } from '../graph/context.ts';
import { leftOutOf } from '../upstream/records/left-out.ts';
import type { Soon } from '../upstream/soon.ts';

type Path = GraphQLResolveInfo['path'];

/** Warns of codes that name no country. */
export function warnOfCountries({ warnings }: GraphContext, path: Path, codes: readonly string[]): void {
  for (const name of codes) {
    const message = `The service covers no country of the code ${name}.`;
    warnings.add({ code: 'UNKNOWN_COUNTRY', message, path: responsePathAsArray(path), name });
  }
}

/** A list, having warned of what it lacks of what the service sent. */
export function warned<List extends object | null>(
  { warnings }: GraphContext,
  path: () => Path,
  list: List,
): List {
  const leftOut = list === null ? null : leftOutOf(list);
  if (leftOut === null) return list;
  const { count, first } = leftOut;
  const { route = '', detail = '' } = first.fields;
  const message = `What can't be read of the service's answer is left out (${detail}).`;
  const warning = { code: 'ROWS_LEFT_OUT' as const, message, path: responsePathAsArray(path()) };
  warnings.add({ ...warning, route, count, detail }, leftOut);
  return list;
}

/** As {@link warned}, for the list of a field that may still be loading. */
export function warnedWhenThere<List extends object | null>(
  context: GraphContext,
  info: GraphQLResolveInfo,
  list: Soon<List>,
): Soon<List> {
  if (!(list instanceof Promise)) return warned(context, () => info.path, list);
  // Once the list is there, it is the turn of other objects.
  const { path } = info;
  return list.then((there) => warned(context, () => path, there));
}
