import { type GraphQLResolveInfo, responsePathAsArray } from 'graphql';
import type { GraphContext } from '../graph/context.ts';

type Path = GraphQLResolveInfo['path'];

/** Warns of codes that name no country. */
export function warnOfCountries({ warnings }: GraphContext, path: Path, codes: readonly string[]): void {
  for (const name of codes) {
    const message = `The service covers no country of the code ${name}.`;
    warnings.add({ code: 'UNKNOWN_COUNTRY', message, path: responsePathAsArray(path), name });
  }
}
