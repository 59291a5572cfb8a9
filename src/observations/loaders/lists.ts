import { createObjectMemo } from '../../cache/lru.ts';
import type { Ask } from '../../service/cached-lists.ts';
import type { Endpoint } from '../../service/call.ts';
import {
  countries,
  etlStatus,
  type IndicatorsParams,
  indicators,
  type NoParams,
} from '../../service/endpoints.ts';
import { leftOutOf, notFoundIn, withLeftOut } from '../../service/records/envelope.ts';
import type { IndicatorRecord } from '../../service/records/reference.ts';
import type { Sending } from '../../service/sending.ts';
import { mapValue, type PromiseOrValue } from '../../shared/async/promises.ts';
import { once } from '../../shared/once.ts';

/** Each list is loaded once an operation, by the first field that needs it. */
export function createLists(ask: Ask, sending: Sending) {
  const listOf = <Result>(endpoint: Endpoint<NoParams, Result>) =>
    once(() => ask(endpoint, {}, sending) as PromiseOrValue<Result>);
  const [allCountries, allSources] = [listOf(countries), listOf(etlStatus)];
  const catalogue = once(() => createCatalogue(ask, sending));
  return {
    countries: allCountries,
    sources: allSources,
    indicators: (filter?: IndicatorsParams) => catalogue()(filter),
    country: finding(allCountries, ({ code }) => code),
    source: finding(allSources, ({ key }) => key),
    indicator: finding(
      () => catalogue()(),
      ({ key }) => key,
    ),
  };
}

const indexes = createObjectMemo<ReadonlyMap<string, unknown>>('index');

function finding<Value>(
  list: () => PromiseOrValue<readonly Value[]>,
  keyOf: (value: Value) => string,
): (key: string) => PromiseOrValue<Value | null> {
  let scanned: readonly Value[] | undefined;
  const find = (values: readonly Value[], key: string) => {
    const index = indexes.of(values) as ReadonlyMap<string, Value> | undefined;
    if (index !== undefined) return index.get(key) ?? notFoundIn(values);
    // Most operations look up one item of a list that they have just received: an index would cost more than it saves.
    if (values === scanned) indexes.put(values, new Map(values.map((value) => [keyOf(value), value])));
    scanned = values;
    return values.find((value) => keyOf(value) === key) ?? notFoundIn(values);
  };
  return (key) => mapValue(list(), (values) => find(values, key));
}

/** The catalogue answers every filter. The filtered list is asked for only if its items lack the field. */
function createCatalogue(ask: Ask, sending: Sending) {
  const listed = (filter: IndicatorsParams) =>
    mapValue(ask(indicators, filter, sending), (list) => list ?? []);
  const whole = once(() => listed({}));
  const filtered = new Map<string, PromiseOrValue<readonly IndicatorRecord[]>>();

  return ({ category, hasData }: IndicatorsParams = {}) =>
    mapValue(whole(), (all): PromiseOrValue<readonly IndicatorRecord[]> => {
      if (category === undefined && hasData === undefined) return all;
      const says = (field: 'category' | 'hasData') => all.every((item) => item[field] !== null);
      if ((category === undefined || says('category')) && (hasData === undefined || says('hasData'))) {
        const chosen = all.filter(
          (item) =>
            (category === undefined || item.category?.toLowerCase() === category.toLowerCase()) &&
            (hasData === undefined || item.hasData === hasData),
        );
        return withLeftOut(chosen, leftOutOf(all));
      }
      const name = JSON.stringify([category, hasData]);
      const list = filtered.get(name) ?? listed({ category, hasData });
      filtered.set(name, list);
      return list;
    });
}
