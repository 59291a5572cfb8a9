import { createObjectMemo } from '../../cache/lru.ts';
import type { Ask } from '../../service/cached-lists.ts';
import { countries, indicators } from '../../service/endpoints.ts';
import type { CountryRecord } from '../../service/records/countries.ts';
import type { IndicatorRecord } from '../../service/records/reference.ts';
import { mapValue } from '../../shared/async/promises.ts';
import type { Learned } from '../planner/learned.ts';

/** Notes the names in passing lists: they are the last to be suspected of a refusal. */
export function noteNamesStage(ask: Ask, learned: Learned): Ask {
  const { listed } = learned;
  /** Of the last list of countries. */
  let codes: readonly string[] = [];
  /** A cached list is served again and again. */
  const noted = createObjectMemo<true>('noted');
  const isNew = (list: object) => {
    const isKnown = noted.of(list) === true;
    noted.put(list, true);
    return !isKnown;
  };
  return (endpoint, params, sending, maxAgeMs) =>
    mapValue(ask(endpoint, params, sending, maxAgeMs), (result) => {
      if (result === null || typeof result !== 'object') return result;
      if (endpoint.route === countries.route && isNew(result)) {
        const list = result as readonly CountryRecord[];
        // A list is mostly the last one over again.
        if (list.length !== codes.length || list.some(({ code }, i) => code !== codes[i])) {
          codes = list.map(({ code }) => code);
          for (const code of codes) listed.countries.add(code);
          learned.learnCountryCodes(codes);
        }
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
