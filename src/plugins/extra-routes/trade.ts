/**
 * The routes of trade, loaded if `EXTRA_ROUTES` names them. Specified: that there are such records. Observed: the paths
 * and parameters, but no answers. Only fields named like the parameters are read; the record has everything else.
 */

import type { GraphQLResolveInfo } from 'graphql';
import {
  alpha2In,
  checkCountry,
  checkStrings,
  countryNamedIn,
  type Endpoint,
  eachLocated,
  type FieldContext,
  type GraphPart,
  inside,
  integerIn,
  type JsonObject,
  numberIn,
  objectIn,
  type Place,
  plainFieldsOf,
  type RowList,
  readPart,
  rowListIn,
  stringIn,
} from '../../plugin/index.ts';
import { checkNotEmpty, narrowed, ofPart, topOf, warnedOfLack, type YearsParams, yearsOf } from './common.ts';
import type { CountryTradeFlowsArgs, Resolvers, ResolversParentTypes } from './generated.ts';
import type {
  TradeFlowRecord,
  TradeOverviewRecord,
  TradePartnerRecord,
  TradeProductRecord,
} from './records.ts';

interface CountryParams {
  readonly code: string;
}

interface TradeOverviewParams extends CountryParams, YearsParams {
  /** 1 to 20. */
  readonly top?: number | undefined;
}

interface TradeFlowsParams extends YearsParams {
  readonly reporterCode?: string | undefined;
  readonly partnerCode?: string | undefined;
  readonly productCode?: string | undefined;
  readonly flowType?: 'export' | 'import' | undefined;
}

/** Observed: the highest `limit`. */
const MAX_FLOWS = 1_000;

/** Observed: `start_year`, `end_year`, `top_limit` from 1 to 20. */
const tradeOverview: Endpoint<TradeOverviewParams, TradeOverviewRecord> = {
  route: '/v1/trade/overview/{code}',
  ...ofPart('trade'),
  params: ({ code, top, startYear, endYear }) => ({
    path: { code: code.toUpperCase() },
    query: {
      top_limit: top?.toString(),
      start_year: startYear?.toString(),
      end_year: endYear?.toString(),
    },
  }),
  decode(body, { code }) {
    const object = objectIn(body, tradeOverview.route, ['country', 'country_code']);
    return { countryCode: countryNamedIn(object, code).code, record: object.value };
  },
  assumed: () => ({}),
};

/** Observed: these filters, years, and `limit` from 1 to 1000. */
const tradeFlows: Endpoint<TradeFlowsParams, RowList<TradeFlowRecord>> = {
  route: '/v1/trade/flows',
  ...ofPart('trade'),
  params: ({ reporterCode, partnerCode, productCode, flowType, startYear, endYear }) => ({
    query: {
      reporter_country_code: reporterCode?.toUpperCase(),
      partner_country_code: partnerCode?.toUpperCase(),
      product_code: productCode,
      flow_type: flowType,
      start_year: startYear?.toString(),
      end_year: endYear?.toString(),
      limit: String(MAX_FLOWS),
    },
  }),
  decode: (body, asked) =>
    rowListIn(body, tradeFlows.route, (list) =>
      eachLocated(list, (row, place) => {
        const partnerCode = partnerIn(row);
        checkCountry(partnerCode, asked.partnerCode, inside(place, 'partner_country_code'));
        return {
          reporterCode: reporterIn(row, place, asked.reporterCode),
          partnerCode,
          productCode: productIn(row),
          flowType: stringIn(row, 'flow_type'),
          year: yearIn(row),
          record: row,
        };
      }),
    ),
  assumed: () => [],
};

/** Observed: the reporting country must be named. */
function reportedList<Row>(
  route: string,
  read: (row: JsonObject) => Row,
): Endpoint<CountryParams, RowList<Row>> {
  return {
    route,
    ...ofPart('trade'),
    params: ({ code }) => ({ query: { reporter_country_code: code.toUpperCase() } }),
    decode: (body, { code }) =>
      rowListIn(body, route, (list) =>
        eachLocated(list, (row, place) => {
          reporterIn(row, place, code);
          return read(row);
        }),
      ),
    assumed: () => [],
  };
}

const tradePartners = reportedList(
  '/v1/trade/partners',
  (row): TradePartnerRecord => ({ partnerCode: partnerIn(row), record: row }),
);

const tradeProducts = reportedList(
  '/v1/trade/products',
  (row): TradeProductRecord => ({ productCode: productIn(row), record: row }),
);

function reporterIn(row: JsonObject, place: Place, asked: string | undefined): string | null {
  const code = alpha2In(row, 'reporter_country_code', 'reporter');
  checkCountry(code, asked, inside(place, 'reporter_country_code'));
  return code;
}

const partnerIn = (row: JsonObject) => alpha2In(row, 'partner_country_code', 'partner');

/** Product codes are often all digits, and may be sent as numbers. */
function productIn(row: JsonObject): string | null {
  return stringIn(row, 'product_code') ?? numberIn(row, 'product_code')?.toString() ?? null;
}

function yearIn(row: JsonObject): number | null {
  const year = integerIn(row, 'year');
  return year !== null && Math.abs(year) < 10_000 ? year : null;
}

export const endpoints = { tradeOverview, tradeFlows, tradePartners, tradeProducts };

/** Every flow is one or the other. */
const WAYS = ['export', 'import'] as const;

function flowList(
  { partnerCode, productCode, flowType, ...years }: CountryTradeFlowsArgs,
  reporterCode: string | null | undefined,
  context: FieldContext,
  info: GraphQLResolveInfo,
): Promise<readonly TradeFlowRecord[] | null> {
  checkStrings({ productCode });
  checkNotEmpty({ productCode });
  const params: TradeFlowsParams = {
    ...yearsOf(years),
    reporterCode: reporterCode ?? undefined,
    partnerCode: partnerCode ?? undefined,
    productCode: productCode ?? undefined,
    flowType: flowType == null ? undefined : WAYS.find((way) => way === flowType.toLowerCase()),
  };
  const list = narrowed(params, {
    ask: (asked) => context.load(tradeFlows, asked),
    limit: MAX_FLOWS,
    partsOf: (asked) =>
      asked.flowType === undefined ? WAYS.map((way) => ({ ...asked, flowType: way })) : null,
    yearOf: ({ year }) => year,
    passes: (row, asked) => asked.flowType === undefined || row.flowType?.toLowerCase() === asked.flowType,
    areAllDated: true,
  });
  return warnedOfLack(context, info.path, tradeFlows.route, list);
}

/** Loads a list of a country that can't be asked for in parts. */
function listOf<Row>(
  endpoint: Endpoint<CountryParams, RowList<Row>>,
  { code }: CountryParams,
  context: FieldContext,
  info: GraphQLResolveInfo,
): Promise<readonly Row[] | null> {
  const list = narrowed(
    {},
    {
      ask: () => context.load(endpoint, { code }),
      limit: null,
      yearOf: () => null,
      passes: () => true,
      areAllDated: false,
    },
  );
  return warnedOfLack(context, info.path, endpoint.route, list);
}

const plainFields = plainFieldsOf<ResolversParentTypes>();

const resolvers = {
  Query: {
    tradeFlows: (_, { reporterCode, ...args }, context, info) => flowList(args, reporterCode, context, info),
  },
  Country: {
    tradeOverview: ({ code }, { top, ...years }, { load }) =>
      load(tradeOverview, { code, top: topOf(top), ...yearsOf(years) }),
    tradeFlows: ({ code }, args, context, info) => flowList(args, code, context, info),
    tradePartners: (country, _, context, info) => listOf(tradePartners, country, context, info),
    tradeProducts: (country, _, context, info) => listOf(tradeProducts, country, context, info),
  },
  TradeOverview: {
    ...plainFields('TradeOverview', 'record'),
    country: ({ countryCode }) => ({ code: countryCode }),
  },
  TradeFlow: plainFields(
    'TradeFlow',
    'reporterCode',
    'partnerCode',
    'productCode',
    'flowType',
    'year',
    'record',
  ),
  TradePartner: plainFields('TradePartner', 'partnerCode', 'record'),
  TradeProduct: plainFields('TradeProduct', 'productCode', 'record'),
} satisfies Resolvers;

export const part: GraphPart = {
  sdl: readPart(new URL('./trade.graphql', import.meta.url)),
  resolvers,
  endpoints: Object.values(endpoints),
};
