import { checkNotEmpty, listOf, narrowed, topOf, warnedOfLack, type YearsParams, yearsOf } from './common.ts';
/**
 * The routes of trade, loaded if `EXTRA_ROUTES` names them. Specified: that there are such records. Observed: the paths
 * and parameters, and nothing of the answers.
 */

import type { GraphQLResolveInfo } from 'graphql';
import type { GraphContext } from '../../graph/context.ts';
import type { CountryTradeFlowsArgs, Resolvers } from '../../graph/generated.ts';
import { plainFields } from '../../resolvers/fields.ts';
import { checkTexts } from '../../resolvers/warned.ts';
import type { Endpoint } from '../../service/call.ts';
import type { CountryParams } from '../../service/endpoints.ts';
import type { RowList } from '../../service/records/envelope.ts';
import {
  decodeTradeFlows,
  decodeTradeOverview,
  decodeTradePartners,
  decodeTradeProducts,
  type TradeFlowRecord,
  type TradeOverviewRecord,
  type TradePartnerRecord,
  type TradeProductRecord,
} from './records.ts';

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

/** Rows that one answer of flows may hold, as observed: the highest `limit`. */
const MAX_FLOWS = 1_000;

/** Observed: `start_year`, `end_year`, `top_limit` from 1 to 20. */
const tradeOverview: Endpoint<TradeOverviewParams, TradeOverviewRecord> = {
  route: '/v1/trade/overview/{code}',
  isPublic: false,
  isOptional: true,
  caching: 'ttl',
  params: ({ code, top, startYear, endYear }) => ({
    path: { code: code.toUpperCase() },
    query: {
      top_limit: top?.toString(),
      start_year: startYear?.toString(),
      end_year: endYear?.toString(),
    },
  }),
  decode: (body, { code }) => decodeTradeOverview(body, tradeOverview.route, code),
  assumed: () => ({}),
};

/** Observed: these filters, years, and `limit` from 1 to 1000. */
const tradeFlows: Endpoint<TradeFlowsParams, RowList<TradeFlowRecord>> = {
  route: '/v1/trade/flows',
  isPublic: false,
  isOptional: true,
  caching: 'ttl',
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
  decode: (body, asked) => decodeTradeFlows(body, tradeFlows.route, asked),
  assumed: () => [],
};

/** Observed: the reporter must be named. */
const tradePartners: Endpoint<CountryParams, RowList<TradePartnerRecord>> = {
  route: '/v1/trade/partners',
  isPublic: false,
  isOptional: true,
  caching: 'ttl',
  params: ({ code }) => ({ query: { reporter_country_code: code.toUpperCase() } }),
  decode: (body, { code }) => decodeTradePartners(body, tradePartners.route, { reporterCode: code }),
  assumed: () => [],
};

/** Observed: the reporter must be named. */
const tradeProducts: Endpoint<CountryParams, RowList<TradeProductRecord>> = {
  route: '/v1/trade/products',
  isPublic: false,
  isOptional: true,
  caching: 'ttl',
  params: ({ code }) => ({ query: { reporter_country_code: code.toUpperCase() } }),
  decode: (body, { code }) => decodeTradeProducts(body, tradeProducts.route, { reporterCode: code }),
  assumed: () => [],
};

export const endpoints = { tradeOverview, tradeFlows, tradePartners, tradeProducts };

/** All flows there are go one of these ways. */
const WAYS = ['export', 'import'] as const;

function flowList(
  { partnerCode, productCode, flowType, ...years }: CountryTradeFlowsArgs,
  reporterCode: string | null | undefined,
  context: GraphContext,
  info: GraphQLResolveInfo,
): Promise<readonly TradeFlowRecord[] | null> {
  checkTexts({ productCode });
  checkNotEmpty({ productCode });
  const params: TradeFlowsParams = {
    ...yearsOf(years),
    reporterCode: reporterCode ?? undefined,
    partnerCode: partnerCode ?? undefined,
    productCode: productCode ?? undefined,
    flowType: flowType == null ? undefined : WAYS.find((way) => way === flowType.toLowerCase()),
  };
  const list = narrowed(params, {
    ask: (asked) => context.loaders.load(tradeFlows, asked),
    limit: MAX_FLOWS,
    partsOf: (asked) =>
      asked.flowType === undefined ? WAYS.map((way) => ({ ...asked, flowType: way })) : null,
    yearOf: ({ year }) => year,
    passes: (row, asked) => asked.flowType === undefined || row.flowType?.toLowerCase() === asked.flowType,
    areAllDated: true,
  });
  return warnedOfLack(context, info.path, tradeFlows.route, list);
}

export const resolvers = {
  Query: {
    tradeFlows: (_, { reporterCode, ...args }, context, info) => flowList(args, reporterCode, context, info),
  },
  Country: {
    tradeOverview: ({ code }, { top, ...years }, { loaders }) =>
      loaders.load(tradeOverview, { code, top: topOf(top), ...yearsOf(years) }),
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
