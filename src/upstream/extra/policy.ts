/**
 * The routes of policies, loaded if `EXTRA_ROUTES` names them. Specified: that there are such records. Observed: the
 * paths, the parameters, and the fields of a policy.
 */

import type { Endpoint } from '../call.ts';
import type { CountryParams } from '../endpoints.ts';
import {
  decodePolicies,
  decodePolicyOverview,
  type PolicyList,
  type PolicyOverviewRecord,
} from '../records/policies.ts';
import type { YearsParams } from './years.ts';

export interface PolicyOverviewParams extends CountryParams {
  /** 1 to 20. */
  readonly top?: number | undefined;
}

export interface PoliciesParams extends YearsParams {
  readonly countryCode?: string | undefined;
  /** The service's own words: `law`, `active`. */
  readonly documentType?: string | undefined;
  readonly status?: string | undefined;
  readonly search?: string | undefined;
}

/** Rows that one answer may hold, as observed: the highest `limit`. */
export const MAX_POLICIES = 500;

/** Observed: `top_limit` from 1 to 20; the latest policy, a count of those in force, and recent ones. */
export const policyOverview: Endpoint<PolicyOverviewParams, PolicyOverviewRecord> = {
  route: '/v1/policies/country/{code}',
  isPublic: false,
  isOptional: true,
  caching: 'ttl',
  params: ({ code, top }) => ({
    path: { code: code.toUpperCase() },
    query: { top_limit: top?.toString() },
  }),
  decode: (body, { code }) => decodePolicyOverview(body, policyOverview.route, code),
  assumed: () => ({ latest_policy: { source: 'source_1' }, recent_policies: [{ source: 'source_1' }] }),
};

/** Observed: these filters, years, and `limit` from 1 to 500. */
export const policies: Endpoint<PoliciesParams, PolicyList> = {
  route: '/v1/policies',
  isPublic: false,
  isOptional: true,
  caching: 'ttl',
  params: ({ countryCode, documentType, status, search, startYear, endYear }) => ({
    query: {
      country_code: countryCode?.toUpperCase(),
      document_type: documentType,
      status,
      q: search,
      start_year: startYear?.toString(),
      end_year: endYear?.toString(),
      limit: String(MAX_POLICIES),
    },
  }),
  decode: (body, { countryCode = null }) => decodePolicies(body, policies.route, countryCode),
  assumed: (target) => {
    const { searchParams } = new URL(target, 'http://service');
    return [
      { title: 'policy_1', source: 'source_1', country_code: searchParams.get('country_code') ?? 'KE' },
    ];
  },
};
