import { type GraphQLObjectType, type GraphQLResolveInfo, getArgumentValues } from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields.js';
import { mapValue, type PromiseOrValue, promiseTry } from '../async/promise-or-value.ts';
import { Failure } from '../errors.ts';
import type { GraphContext } from '../graph/context.ts';
import { costOf } from '../graph/field-costs.ts';
import type {
  IndicatorObservationArgs,
  IndicatorResolvers,
  Resolvers,
  SourceResolvers,
} from '../graph/generated.ts';
import { encodeId } from '../graph/ids.ts';
import { selectedFields } from '../graph/selection.ts';
import { type IndicatorRef, indicatorOf, type SourceRef, sourceOf } from '../graph/sources.ts';
import type { IndicatorRecord } from '../upstream/records/indicators.ts';
import type { SourceRecord } from '../upstream/records/platform.ts';
import { checkMetricKey, maxAgeMsOf } from './arguments.ts';
import { askAhead, derivedOf, type FiguresField, latestOf } from './derived-ahead.ts';
import { indicatorList } from './indicator-list.ts';
import { knownNames, namesOfFigures } from './known-names.ts';
import { observationList, observationPage } from './observation-lists.ts';
import { type ObservationFilter, observationRows } from './observations.ts';
import { namedBy, pageOf, pagingOf } from './paging.ts';
import { plainFields, recordFields } from './record-fields.ts';
import { doubtKeys, warnedFigures, warnedOnceLoaded, warnedTime } from './warned.ts';

const BARE_FIELDS: ReadonlySet<string> = new Set(['__typename', 'id', 'key']);

function indicatorIn({ schema }: GraphQLResolveInfo): GraphQLObjectType {
  return schema.getType('Indicator') as GraphQLObjectType;
}

/** True if nothing needs the catalogue: figures tell if the key has any. */
function asksForFiguresOnly(info: GraphQLResolveInfo): boolean {
  const fields = indicatorIn(info).getFields();
  const names = [...selectedFields(info, 'Indicator')].filter((name) => !BARE_FIELDS.has(name));
  return names.length > 0 && names.every((name) => costOf(fields[name]) === 'FIGURES');
}

/**
 * The indicator of a key; null if the catalogue has none. If only figures are wanted, no catalogue is asked as long as
 * one that has gone by lists the key, or, before any has, a figure shows that there is such an indicator.
 *
 * @param isAlone true if nobody else's figures would have to wait until these are there; else the key is believed for
 * now
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
  const inCatalogue = () => mapValue(loaders.indicator.load(key), (record) => record && indicatorOf(record));
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

/**
 * True if the selection below an indicator brings a figure of it, or an error that says nothing of the key. The fields
 * below find the figures loaded here.
 */
async function showsFigures(key: string, context: GraphContext, info: GraphQLResolveInfo): Promise<boolean> {
  const { schema, fragments, variableValues, fieldNodes } = info;
  const type = indicatorIn(info);
  const selected = collectSubfields(schema, fragments, variableValues, type, fieldNodes);
  const { naive } = context.bill;
  const loads: PromiseOrValue<readonly unknown[]>[] = [];
  for (const nodes of selected.values()) {
    const [node] = nodes;
    const field = node === undefined ? undefined : type.getFields()[node.name.value];
    if (node === undefined || field === undefined || costOf(field) !== 'FIGURES') continue;
    const below = { schema, fragments, variableValues, fieldNodes: nodes, returnType: field.type };
    const path = { prev: info.path, key: node.alias?.value ?? node.name.value, typename: type.name };
    // Warnings here are told once, as of the field that has the figures.
    const here: GraphQLResolveInfo = Object.create(info, { path: { value: path } });
    loads.push(
      promiseTry(() => figuresOf(key, getArgumentValues(field, node, variableValues), context, here, below)),
    );
  }
  // The fields below will count themselves.
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
  field: FiguresField,
): PromiseOrValue<readonly unknown[]> {
  if (countryCode === undefined)
    return observationRows({ ...filter, metricKeys: [key], ofObject: 'metrics' }, context, info, field);
  const maxAgeMs = maxAgeMsOf(filter.maxAge);
  askAhead(derivedOf(field), latestOf([countryCode], key, maxAgeMs), context);
  const nationals = context.loaders.observations.nationals([countryCode], key, maxAgeMs);
  return mapValue(nationals, ([national]) => {
    if (national instanceof Error) throw national;
    return national == null ? [] : [national];
  });
}

/** True if the service refused the key; invalid arguments are refused without a route. */
function isRefused(reason: unknown): boolean {
  return reason instanceof Failure && reason.code === 'BAD_USER_INPUT' && reason.fields.route !== undefined;
}

export function sourceByKey(key: string, { loaders }: GraphContext): PromiseOrValue<SourceRef | null> {
  return mapValue(loaders.source.load(key), (record) => record && sourceOf(record));
}

const sourceOfKey = (key: string): SourceRef => ({ key });

const fromCatalogue = recordFields<IndicatorRecord, IndicatorRef>(({ key }, { loaders }) =>
  loaders.indicator.load(key),
);
const fromStatus = recordFields<SourceRecord, SourceRef>(({ key }, { loaders }) => loaders.source.load(key));

function timeFromStatus(name: 'lastSuccessfulRefresh' | 'nextRun') {
  const read = fromStatus([name])[name];
  return (source: SourceRef, args: unknown, context: GraphContext, info: GraphQLResolveInfo) => {
    const text = read(source, args, context);
    if (!(text instanceof Promise)) return warnedTime(context, () => info.path, text);
    const { path } = info;
    return text.then((there) => warnedTime(context, () => path, there));
  };
}

const NAMING = namedBy<IndicatorRef>('Indicator', ({ key }) => [key]);

const Indicator = {
  id: ({ key }) => encodeId('Indicator', key),
  ...plainFields('Indicator', 'key'),
  ...fromCatalogue(['name', 'unit', 'category', 'hasData', 'record']),
  sources({ key, known }, _, context, info) {
    const keys =
      known?.sources === undefined
        ? mapValue(context.loaders.indicator.load(key), (record) => record?.sources ?? null)
        : known.sources;
    return mapValue(warnedOnceLoaded(context, info, keys), (list) => list?.map(sourceOfKey) ?? null);
  },
  async observation({ key }, { countryCode, maxAge }, context, info) {
    const { path } = info;
    const maxAgeMs = maxAgeMsOf(maxAge);
    const derived = derivedOf(info);
    const found = namesOfFigures('countries', context, () => path, [countryCode]);
    const codes = found instanceof Promise ? await found : found;
    askAhead(derived, latestOf(codes, key, maxAgeMs), context);
    const figures = context.loaders.observations.nationals(codes, key, maxAgeMs);
    const [national] = await warnedFigures(context, () => path, figures, true);
    if (national instanceof Error) throw national;
    return national ?? null;
  },
  observations: ({ key }, { countryCodes, ...filter }, context, info) =>
    observationList({ ...filter, countryCodes, metricKeys: [key], ofObject: 'metrics' }, context, info),
  observationsConnection: ({ key }, { countryCodes, ...filter }, context, info) =>
    observationPage({ ...filter, countryCodes, metricKeys: [key], ofObject: 'metrics' }, context, info),
} satisfies IndicatorResolvers;

const Source = {
  id: ({ key }) => encodeId('Source', key),
  ...plainFields('Source', 'key'),
  ...fromStatus(['record']),
  lastSuccessfulRefresh: timeFromStatus('lastSuccessfulRefresh'),
  nextRun: timeFromStatus('nextRun'),
} satisfies SourceResolvers;

export const resolvers = {
  Query: {
    indicators: (_, args, context, info) => indicatorList(args, context, info),
    indicatorsConnection(_, args, context, info) {
      const paging = pagingOf(args, 'Indicator', context.maxListItems);
      return mapValue(indicatorList(args, context, info), (list) => pageOf(paging, NAMING, list));
    },
    indicator(_, { key }, context, info) {
      const { path } = info;
      return mapValue(indicatorByKey(key, context, info, true), (found) => {
        if (found !== null) return found;
        return mapValue(
          knownNames('metrics', context, () => path, [key]),
          () => null,
        );
      });
    },
    sources: (_, __, context, info) =>
      mapValue(warnedOnceLoaded(context, info, context.loaders.sources()), (list) => list.map(sourceOf)),
    source: (_, { key }, context) => sourceByKey(key, context),
  },
  Indicator,
  Source,
} satisfies Resolvers;
