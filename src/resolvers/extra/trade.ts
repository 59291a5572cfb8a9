import type { GraphQLResolveInfo } from 'graphql';
import type { GraphContext } from '../../graph/context.ts';
import type { CountryTradeFlowsArgs, Resolvers } from '../../graph/generated.ts';
import { lackOf, type NarrowedList, narrowed } from '../../loaders/narrowed.ts';
import type { Endpoint } from '../../upstream/call.ts';
import type { CountryParams } from '../../upstream/endpoints.ts';
import {
  MAX_FLOWS,
  type TradeFlowsParams,
  tradeFlows,
  tradeOverview,
  tradePartners,
  tradeProducts,
} from '../../upstream/extra/trade.ts';
import type { RowList } from '../../upstream/records/envelope.ts';
import type { TradeFlowRecord } from '../../upstream/records/trade.ts';
import { checkTexts } from '../arguments.ts';
import { plainFields } from '../record-fields.ts';
import { checkNotEmpty, topOf, yearsOf } from './arguments.ts';
import { warnedOfLack } from './lacking.ts';

export const endpoints = [tradeOverview, tradeFlows, tradePartners, tradeProducts];

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
  return warnedOfLack(context, { path: info.path }, tradeFlows.route, list);
}

/** A list of a country that can't be asked for in parts. */
function listOf<Row>(
  endpoint: Endpoint<CountryParams, RowList<Row>>,
  { code }: CountryParams,
  context: GraphContext,
  info: GraphQLResolveInfo,
): Promise<readonly Row[] | null> {
  const list = context.loaders
    .load(endpoint, { code })
    .then((found): NarrowedList<Row> | null => found && { rows: found.rows, lack: lackOf(found, null) });
  return warnedOfLack(context, { path: info.path }, endpoint.route, list);
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
