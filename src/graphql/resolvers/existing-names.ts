import type { Dimension } from '../../observations/planner/learned.ts';
import { mapValue, type PromiseOrValue } from '../../shared/async/turns.ts';
import type { GraphContext } from '../schema/context.ts';
import { doubtKeys, type Path, warnOfCountries, warnOfKeys } from './warned.ts';

/**
 * The names that may have figures: metric keys, or codes of countries. Names that a list lacks are warned of and not
 * asked for, if the list is cached for the key, fresh and whole. Otherwise the service's answer to them counts, since no call
 * is spent on a list.
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
  // Read now: all objects of a field share one `info`, which then is of another (`FieldInfo`).
  const where = cachedNames instanceof Promise ? path() : undefined;
  const here = () => where ?? path();
  /** The service is asked for names that no list tells of, and a warning names the keys that it has nothing of. */
  const asked = (pending: readonly string[]) => {
    if (dimension === 'metrics') doubtKeys(context, pending, here);
    return pending;
  };
  if (cachedNames === null) return asked(names);
  const existing = mapValue(cachedNames, (cachedNames) => {
    if (cachedNames === null) return asked(names);
    const missing = names.filter((name) => !cachedNames.has(name));
    // A service that tells cases apart may know no such key, though one like it is listed.
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
