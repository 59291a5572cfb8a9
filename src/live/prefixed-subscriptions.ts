import { inverted, type PrefixedNames } from '../graph/prefixed-names.ts';
import { hasPrefixed, inOurWords, renamedIn } from '../operations/prefixed.ts';
import type { LiveResults, Subscriptions } from './subscriptions.ts';

/**
 * Does for subscriptions the work of `prefixed` of operations: takes subscriptions that routers word with prefixed
 * names, and prefixes names of types in their events.
 */
export function prefixedSubscriptions(
  next: Subscriptions,
  names: PrefixedNames,
  maxTokens: number,
): Subscriptions {
  const named = inverted(names.types);
  return {
    ...next,
    async open(request, caller) {
      if (!hasPrefixed(request.query, names)) return next.open(request, caller);
      const query = inOurWords(request.query, names, maxTokens);
      const opened = await next.open({ ...request, query }, caller);
      return 'errors' in opened ? opened : { ...opened, results: withPrefixedTypes(opened.results, named) };
    },
  };
}

function withPrefixedTypes(results: LiveResults, named: ReadonlyMap<string, string>): LiveResults {
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      const { done, value } = await results.next();
      return done
        ? { done, value }
        : { done: false, value: JSON.parse(renamedIn(JSON.stringify(value), named)) };
    },
    return: () => results.return(),
  };
}
