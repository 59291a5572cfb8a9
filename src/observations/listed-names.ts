import { mapValue } from '../async/promise-or-value.ts';
import type { Dimension, Learned } from '../planner/learned.ts';
import type { Ask } from '../upstream/cached.ts';
import type { Sending } from '../upstream/call.ts';
import { countries, indicators } from '../upstream/endpoints.ts';
import type { CountryRecord } from '../upstream/records/countries.ts';
import type { IndicatorRecord } from '../upstream/records/indicators.ts';

/**
 * Notes the names in the lists that go by: the service knows them, so they are the last to be suspected of a refusal.
 */
export function notingNames(ask: Ask, learned: Learned): Ask {
  const { listed } = learned;
  /** Lists seen before: a held list is served again and again. */
  const noted = new WeakSet<object>();
  const isNew = (list: object) => {
    if (noted.has(list)) return false;
    noted.add(list);
    return true;
  };
  return (endpoint, params, sending, maxAgeMs) =>
    mapValue(ask(endpoint, params, sending, maxAgeMs), (result) => {
      if (result === null || typeof result !== 'object') return result;
      if (endpoint.route === countries.route && isNew(result)) {
        const codes = (result as readonly CountryRecord[]).map(({ code }) => code);
        for (const code of codes) listed.countries.add(code);
        learned.learnCountryCodes(codes);
      }
      if (endpoint.route === indicators.route && isNew(result)) {
        // A measure without data may be unknown to the data endpoint.
        for (const { key, hasData } of result as readonly IndicatorRecord[]) {
          if (hasData !== false) listed.metrics.add(key);
        }
      }
      return result;
    });
}

/** Asks for the service's own lists, by an `ask` that notes their names. A list that can't be had tells nothing. */
export function createNameLists(ask: Ask): (dimension: Dimension, sending: Sending) => Promise<void> {
  return async (dimension, sending) => {
    try {
      await (dimension === 'countries' ? ask(countries, {}, sending) : ask(indicators, {}, sending));
    } catch {
      sending.signal.throwIfAborted();
    }
  };
}
