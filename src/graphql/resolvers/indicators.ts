import { type FieldNode, type GraphQLResolveInfo, getArgumentValues } from 'graphql';
import { indicators } from '../../service/endpoints.ts';
import { leftOutOf } from '../../service/records/envelope.ts';
import type { IndicatorRecord, SourceRecord } from '../../service/records/reference.ts';
import { mapValue, type PromiseOrValue, promiseTry } from '../../shared/async/promises.ts';
import { Failure } from '../../shared/errors.ts';
import { infoAt } from '../execution/field-info.ts';
import type { GraphContext, IndicatorRef, SourceRef } from '../schema/context.ts';
import type { IndicatorObservationArgs, QueryIndicatorsArgs, Resolvers } from '../schema/generated.ts';
import { costOf, type SelectedField } from '../schema/selection.ts';
import { checkMetricKey, checkStrings, maxAgeMsOf } from './argument-checks.ts';
import { existingNames } from './existing-names.ts';
import { plainFields } from './fields.ts';
import { byCode, byName, createListing, encodeId, lists } from './lists.ts';
import { type ObservationFilter, observationRows } from './observation-rows.ts';
import { observationList, observationPage } from './observations.ts';
import { derivedOf, latestFigures } from './operand-prefetch.ts';
import { recordReaders } from './record-readers.ts';
import { doubtKeys, warned, warnedFigures, warnedOnceLoaded, warnedTime, warnOfKeys } from './warned.ts';

const listing = createListing(
  'Indicator',
  {
    KEY: byCode<IndicatorRef>(({ key }) => key),
    NAME: byName<IndicatorRef>(({ partial }) => partial?.name ?? null),
    CATEGORY: byName<IndicatorRef>(({ partial }) => partial?.category ?? null),
  },
  ({ key }) => [key],
);

function loadIndicators(
  { category, hasData, keys, search, source }: QueryIndicatorsArgs,
  context: GraphContext,
  info: GraphQLResolveInfo,
): PromiseOrValue<readonly IndicatorRef[]> {
  checkStrings({ category, search, source });
  const filter = { category: category ?? undefined, hasData: hasData ?? undefined };
  const { path } = info;
  const all = warnedOnceLoaded(context, info, context.loaders.indicators(filter));
  const passing =
    search == null && source == null
      ? all
      : mapValue(
          all,
          (list) =>
            context.supposedRows?.(indicators.route, list) ??
            lists(context, ({ searched }) => searched(list, { search, source })),
        );
  return mapValue(passing, (records) => {
    const list = warned(context, () => path, records);
    if (keys == null) return list.map(indicatorOf);
    const wanted = [...new Set(keys)];
    const supposed = context.supposedRows?.(indicators.route, wanted);
    if (supposed != null) return supposed.map((key) => ({ key }));
    const byKey = new Map(list.map((record) => [record.key, record]));
    const missing = wanted.filter((key) => !byKey.has(key));
    const chosen = wanted.flatMap((key) => byKey.get(key) ?? []).map(indicatorOf);
    if (missing.length === 0) return chosen;
    return mapValue(context.loaders.indicators(), (catalogue) => {
      const keys = catalogue.map(({ key }) => key);
      // If records were left out, these keys may be among them, which has its own warning.
      if (leftOutOf(catalogue) === null) warnOfKeys(context, path, missing, keys);
      return chosen;
    });
  });
}

/** Fields that need nothing but the key. */
const BARE_FIELDS: ReadonlySet<string> = new Set(['id', 'key']);

const fieldsOfIndicator = ({ field }: GraphQLResolveInfo) =>
  field.below.filter(({ parentType }) => parentType.name === 'Indicator');

/** True if only figures are selected: they show by themselves, without the catalogue, whether the key has any. */
function asksForFiguresOnly(info: GraphQLResolveInfo): boolean {
  const fields = fieldsOfIndicator(info).filter(({ name }) => !BARE_FIELDS.has(name));
  return fields.length > 0 && fields.every(({ definition }) => costOf(definition) === 'FIGURES');
}

/**
 * The indicator of a key; null if the catalogue has none. If only figures are wanted, the catalogue isn't loaded as long
 * as an earlier one lists the key, or, if none has been seen, a figure shows that the indicator exists.
 *
 * @param isAlone true if no other figures would have to wait for these; otherwise the key is taken on trust for now
 */
export function indicatorByKey(
  key: string,
  context: GraphContext,
  info: GraphQLResolveInfo,
  isAlone: boolean,
): PromiseOrValue<IndicatorRef | null> {
  checkMetricKey(key);
  const { loaders, batchGate } = context;
  const { metrics } = loaders.listed;
  const inCatalogue = () =>
    mapValue(loaders.indicator.load(key), (record) => {
      if (record !== null) return indicatorOf(record);
      return context.supposedRows?.(indicators.route, [{ key }])?.[0] ?? null;
    });
  if (!asksForFiguresOnly(info)) return inCatalogue();
  if (metrics.has(key)) return { key };
  if (metrics.size > 0) return inCatalogue();
  if (!isAlone) {
    doubtKeys(context, [key], () => info.path);
    return { key };
  }
  return batchGate
    .openDuring(showsFigures(key, context, info))
    .then((isShown) => (isShown ? { key } : inCatalogue()));
}

/** True if the selection yields a figure, or an error that says nothing about the key; the fields below report it. */
async function showsFigures(key: string, context: GraphContext, info: GraphQLResolveInfo): Promise<boolean> {
  const { variableValues } = info;
  const { naive } = context.bill;
  const loads: PromiseOrValue<readonly unknown[]>[] = [];
  for (const field of fieldsOfIndicator(info)) {
    const { key: name, definition, nodes, parentType } = field;
    if (costOf(definition) !== 'FIGURES') continue;
    // Warnings are added once, at the field that has the figures.
    const here = infoAt(info, { prev: info.path, key: name, typename: parentType.name });
    loads.push(
      promiseTry(() => {
        const args = getArgumentValues(definition, nodes[0] as FieldNode, variableValues);
        return figuresOf(key, args, context, here, { field, variableValues });
      }),
    );
  }
  // Restored, since the fields below count these calls as well.
  context.bill.naive = naive;
  const outcomes = await Promise.allSettled(loads);
  return outcomes.some((outcome) =>
    outcome.status === 'fulfilled' ? outcome.value.length > 0 : !isRefused(outcome.reason),
  );
}

function figuresOf(
  key: string,
  { countryCode, ...filter }: Partial<IndicatorObservationArgs> & ObservationFilter,
  context: GraphContext,
  info: GraphQLResolveInfo,
  field: SelectedField,
): PromiseOrValue<readonly unknown[]> {
  if (countryCode === undefined)
    return observationRows(
      { ...filter, metricKeys: [key], ofObject: 'metrics' },
      // The field itself notes why it has none.
      { ...context, absences: undefined },
      info,
      field,
    );
  const maxAgeMs = maxAgeMsOf(filter.maxAge);
  const figures = latestFigures(derivedOf(field), [countryCode], key, maxAgeMs, context);
  return mapValue(figures, ([national]) => {
    if (national instanceof Error) throw national;
    return national == null ? [] : [national];
  });
}

/**
 * True if the service refused the key, or may have: a 404 that names nothing leaves that to the catalogue. A refusal of
 * invalid arguments has no route.
 */
function isRefused(reason: unknown): boolean {
  if (!(reason instanceof Failure) || reason.fields.route === undefined) return false;
  return reason.code === 'BAD_USER_INPUT' || reason.code === 'UPSTREAM_INVALID_RESPONSE';
}

export function sourceByKey(key: string, { loaders }: GraphContext): PromiseOrValue<SourceRef | null> {
  return mapValue(loaders.source.load(key), (record) => record && sourceOf(record));
}

const fromCatalogue = recordReaders.Indicator;
const fromStatus = recordReaders.Source;

function timeFromStatus(name: 'lastSuccessfulRefresh' | 'nextRun') {
  const read = fromStatus([name])[name];
  return (source: SourceRef, args: unknown, context: GraphContext, info: GraphQLResolveInfo) => {
    const text = read(source, args, context);
    if (!(text instanceof Promise)) return warnedTime(context, () => info.path, text);
    const { path } = info;
    return text.then((time) => warnedTime(context, () => path, time));
  };
}

/** The name or address of a source as the service has it, otherwise as the operator has configured it. */
function nameFromStatus(field: 'name' | 'url') {
  const read = fromStatus([field])[field];
  return (source: SourceRef, args: unknown, context: GraphContext) =>
    mapValue(
      read(source, args, context),
      (name) => name ?? context.citing?.sourceNames.get(source.key)?.[field] ?? null,
    );
}

export const resolvers = {
  Query: {
    indicators: (_, args, context, info) =>
      listing.ordered(loadIndicators(args, context, info), args.orderBy, context),
    indicatorsConnection: (_, args, context, info) =>
      listing.page(args, context, () => loadIndicators(args, context, info)),
    indicator(_, { key }, context, info) {
      const { path } = info;
      return mapValue(indicatorByKey(key, context, info, true), (record) => {
        if (record !== null) return record;
        context.absences?.note(() => path, 'UNKNOWN_INDICATOR');
        return mapValue(
          existingNames('metrics', context, () => path, [key]),
          () => null,
        );
      });
    },
    sources: (_, __, context, info) =>
      mapValue(warnedOnceLoaded(context, info, context.loaders.sources()), (list) => list.map(sourceOf)),
    source: (_, { key }, context) => sourceByKey(key, context),
  },
  Indicator: {
    id: ({ key }) => encodeId('Indicator', key),
    ...plainFields('Indicator', 'key'),
    ...fromCatalogue(['name', 'unit', 'category', 'hasData', 'record']),
    sources({ key, partial }, _, context, info) {
      const keys =
        partial?.sources === undefined
          ? mapValue(context.loaders.indicator.load(key), (record) => record?.sources ?? null)
          : partial.sources;
      return mapValue(warnedOnceLoaded(context, info, keys), (list) => list?.map((key) => ({ key })) ?? null);
    },
    async observation({ key }, { countryCode, maxAge }, context, info) {
      const { path } = info;
      const maxAgeMs = maxAgeMsOf(maxAge);
      const derived = derivedOf(info);
      const existing = existingNames('countries', context, () => path, [countryCode]);
      const codes = existing instanceof Promise ? await existing : existing;
      const figures = latestFigures(derived, codes, key, maxAgeMs, context);
      if (codes.length === 0) context.absences?.note(() => path, 'NOT_OFFERED');
      else
        context.absences?.latest(
          { countryCodes: codes, metricKey: key, maxAgeMs },
          figures,
          () => path,
          context.loaders.observations.outcomeOf,
        );
      const [national] = await warnedFigures(context, () => path, figures, true);
      if (national instanceof Error) throw national;
      return national ?? null;
    },
    observations: ({ key }, { countryCodes, ...filter }, context, info) =>
      observationList({ ...filter, countryCodes, metricKeys: [key], ofObject: 'metrics' }, context, info),
    observationsConnection: ({ key }, { countryCodes, ...filter }, context, info) =>
      observationPage({ ...filter, countryCodes, metricKeys: [key], ofObject: 'metrics' }, context, info),
  },
  Source: {
    id: ({ key }) => encodeId('Source', key),
    ...plainFields('Source', 'key'),
    ...fromStatus(['record']),
    name: nameFromStatus('name'),
    url: nameFromStatus('url'),
    lastSuccessfulRefresh: timeFromStatus('lastSuccessfulRefresh'),
    nextRun: timeFromStatus('nextRun'),
  },
} satisfies Resolvers;

const indicatorOf = (record: IndicatorRecord): IndicatorRef => ({ key: record.key, partial: record });

const sourceOf = (record: SourceRecord): SourceRef => ({ key: record.key, partial: record });
