import { type GraphQLResolveInfo, responsePathAsArray } from 'graphql';
import type { GraphContext } from '../graph/context.ts';
import type { Soon } from '../upstream/soon.ts';

type Path = GraphQLResolveInfo['path'];

/** Warns of codes that name no country. */
export function warnOfCountries({ warnings }: GraphContext, path: Path, codes: readonly string[]): void {
  for (const name of codes) {
    const message = `The service covers no country of the code ${name}.`;
    warnings.add({ code: 'UNKNOWN_COUNTRY', message, path: responsePathAsArray(path), name });
  }
}

/** Passes figures on, with a warning of rows that came with them and belong to nothing that can be asked for. */
export function warnedOfLeftOut<Figures>(
  { loaders, warnings }: GraphContext,
  path: () => Path,
  figures: Soon<Figures>,
): Soon<Figures> {
  // What is there at once is held, and answers with such rows are not.
  if (!(figures instanceof Promise)) return figures;
  const where = path();
  return figures.then((there) => {
    for (const { route, count, detail } of loaders.observations.leftOut()) {
      const message = `The answer had ${count} rows that name no country there is; they are left out.`;
      warnings.add({
        code: 'ROWS_LEFT_OUT',
        message,
        path: responsePathAsArray(where),
        route,
        count,
        detail,
      });
    }
    return there;
  });
}
