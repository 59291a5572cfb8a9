import type { Dimension } from '../../observations/planner/learned.ts';
import { mapValue, type PromiseOrValue } from '../../shared/async/promises.ts';
import type { GraphContext } from '../schema/context.ts';
import { doubtKeys, type Path, warnOfCountries, warnOfKeys } from './warned.ts';

/**
 * The names that may have figures: metric keys, or country codes. If the list is cached for the key, fresh and complete,
 * names that it lacks are warned of and not asked for. Otherwise the service decides, since no call is spent on a
 * list.
 */
export function existingNames(
  dimension: Dimension,
  context: GraphContext,
  path: () => Path,
  names: readonly string[],
): PromiseOrValue<readonly string[]> {
  const { loaders, batchGate } = context;
  const listed = loaders.listed[dimension];
  if (names.every((name) => listed.has(name))) return names;
  const cachedNames = loaders.cachedNames(dimension);
  // Read before any await: the objects of a field share one `info`, which moves on to the next (`FieldInfo`).
  const where = cachedNames instanceof Promise ? path() : undefined;
  const here = () => where ?? path();
  /** Names without a list are left to the service, and a warning names the keys that it has nothing for. */
  const asked = (pending: readonly string[]) => {
    if (dimension === 'metrics') doubtKeys(context, pending, here);
    return pending;
  };
  if (cachedNames === null) return asked(names);
  const existing = mapValue(cachedNames, (cachedNames) => {
    if (cachedNames === null) return asked(names);
    const missing = names.filter((name) => !cachedNames.has(name));
    // A case-sensitive service may lack this key though a similar one is listed.
    asked(names.filter((name) => cachedNames.has(name) && !cachedNames.names.includes(name)));
    if (missing.length === 0) return names;
    loaders.servedBy(cachedNames);
    if (dimension === 'countries') warnOfCountries(context, here(), missing);
    else warnOfKeys(context, here(), missing, cachedNames.names);
    const absent = new Set(missing);
    return names.filter((name) => !absent.has(name));
  });
  // Figures of them are asked for next.
  return existing instanceof Promise ? batchGate.closeDuring(existing) : existing;
}
