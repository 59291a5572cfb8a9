import type { GraphQLResolveInfo } from 'graphql';
import { mapValue, type PromiseOrValue } from '../async/promise-or-value.ts';
import type { GraphContext } from '../graph/context.ts';
import type { Dimension } from '../planner/learned.ts';
import { doubtKeys, warnOfCountries, warnOfKeys } from './warned.ts';

/**
 * The names that may have figures: metric keys, or codes of countries. Names that a list lacks are warned of and not
 * asked for, if the list is held for the key, fresh and whole. Else the service's answer to them counts, since no call
 * is spent on a list.
 */
export function knownNames(
  dimension: Dimension,
  context: GraphContext,
  path: () => GraphQLResolveInfo['path'],
  names: readonly string[],
): PromiseOrValue<readonly string[]> {
  const { loaders } = context;
  const listed = loaders.listed[dimension];
  if (names.every((name) => listed.has(name))) return names;
  const found = loaders.heldNames(dimension);
  if (found === null) return asked(dimension, context, path, names);
  // Once it is there, it is the turn of other objects.
  const where = found instanceof Promise ? path() : undefined;
  return mapValue(found, (held) => {
    if (held === null) return asked(dimension, context, () => where ?? path(), names);
    const missing = names.filter((name) => !held.has(name));
    // A service that tells cases apart may know no such key, though one like it is listed.
    const isSpelt = (name: string) => held.names.includes(name);
    asked(
      dimension,
      context,
      () => where ?? path(),
      names.filter((name) => held.has(name) && !isSpelt(name)),
    );
    if (missing.length === 0) return names;
    loaders.servedBy(held);
    if (dimension === 'countries') warnOfCountries(context, where ?? path(), missing);
    else warnOfKeys(context, where ?? path(), missing, held.names);
    const absent = new Set(missing);
    return names.filter((name) => !absent.has(name));
  });
}

/** Names that no list tells of: the service is asked, and a warning names the keys that it has nothing of. */
function asked(
  dimension: Dimension,
  context: GraphContext,
  path: () => GraphQLResolveInfo['path'],
  names: readonly string[],
): readonly string[] {
  if (dimension === 'metrics') doubtKeys(context, names, path);
  return names;
}

/** Finds names as {@link knownNames} does, for figures that are asked for next: the batch waits for them. */
export function namesOfFigures(
  dimension: Dimension,
  context: GraphContext,
  path: () => GraphQLResolveInfo['path'],
  names: readonly string[],
): PromiseOrValue<readonly string[]> {
  const known = knownNames(dimension, context, path, names);
  return known instanceof Promise ? context.batchGate.closeDuring(known) : known;
}
