/**
 * The routes of trade, loaded if `EXTRA_ROUTES` names them. Specified: that there are such records. Observed: the paths
 * and parameters, and nothing of the answers.
 */

import type { Endpoint } from '../call.ts';
import type { CountryParams } from '../endpoints.ts';
import type { RowList } from '../records/envelope.ts';
import {
  decodeTradeFlows,
  decodeTradeOverview,
  decodeTradePartners,
  decodeTradeProducts,
  type TradeFlowRecord,
  type TradeOverviewRecord,
  type TradePartnerRecord,
  type TradeProductRecord,
} from '../records/trade.ts';
import type { YearsParams } from './years.ts';

export interface TradeOverviewParams extends CountryParams, YearsParams {
  /** 1 to 20. */
  readonly top?: number | undefined;
}

export interface TradeFlowsParams extends YearsParams {
  readonly reporterCode?: string | undefined;
  readonly partnerCode?: string | undefined;
  readonly productCode?: string | undefined;
  readonly flowType?: 'export' | 'import' | undefined;
}

/** Rows that one answer of flows may hold, as observed: the highest `limit`. */
export const MAX_FLOWS = 1_000;

/** Observed: `start_year`, `end_year`, `top_limit` from 1 to 20. */
export const tradeOverview: Endpoint<TradeOverviewParams, TradeOverviewRecord> = {
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
export const tradeFlows: Endpoint<TradeFlowsParams, RowList<TradeFlowRecord>> = {
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
export const tradePartners: Endpoint<CountryParams, RowList<TradePartnerRecord>> = {
  route: '/v1/trade/partners',
  isPublic: false,
  isOptional: true,
  caching: 'ttl',
  params: ({ code }) => ({ query: { reporter_country_code: code.toUpperCase() } }),
  decode: (body, { code }) => decodeTradePartners(body, tradePartners.route, { reporterCode: code }),
  assumed: () => [],
};

/** Observed: the reporter must be named. */
export const tradeProducts: Endpoint<CountryParams, RowList<TradeProductRecord>> = {
  route: '/v1/trade/products',
  isPublic: false,
  isOptional: true,
  caching: 'ttl',
  params: ({ code }) => ({ query: { reporter_country_code: code.toUpperCase() } }),
  decode: (body, { code }) => decodeTradeProducts(body, tradeProducts.route, { reporterCode: code }),
  assumed: () => [],
};
