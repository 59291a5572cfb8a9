/**
 * The routes of policies, loaded if `EXTRA_ROUTES` names them. Specified: that there are such records. Observed: the
 * paths, the parameters, and the fields of a policy.
 */

import type { GraphQLResolveInfo } from 'graphql';
import {
  alpha2In,
  blockIn,
  checkCountry,
  checkStrings,
  countryNamedIn,
  type Endpoint,
  eachLocated,
  type FieldContext,
  type GraphPart,
  inside,
  integerIn,
  invalid,
  isObject,
  type JsonObject,
  kindOf,
  labelIn,
  objectIn,
  periodIn,
  plainFieldsOf,
  type RowList,
  readPart,
  rowListIn,
  stringIn,
  withLeftOut,
} from '../../plugin/index.ts';
import { checkNotEmpty, narrowed, ofPart, topOf, warnedOfLack, type YearsParams, yearsOf } from './common.ts';
import type { CountryPoliciesArgs, Resolvers, ResolversParentTypes } from './generated.ts';
import type { PolicyOverviewRecord, PolicyRecord } from './records.ts';

interface PolicyOverviewParams {
  readonly code: string;
  /** 1 to 20. */
  readonly top?: number | undefined;
}

interface PoliciesParams extends YearsParams {
  readonly countryCode?: string | undefined;
  /** The service's own words: `law`, `active`. */
  readonly documentType?: string | undefined;
  readonly status?: string | undefined;
  readonly search?: string | undefined;
}

/** Observed: the highest `limit`. */
const MAX_POLICIES = 500;

/** Observed: `top_limit` from 1 to 20; the latest policy, a count of those in force, and recent ones. */
const policyOverview: Endpoint<PolicyOverviewParams, PolicyOverviewRecord> = {
  route: '/v1/policies/country/{code}',
  ...ofPart('policy'),
  params: ({ code, top }) => ({
    path: { code: code.toUpperCase() },
    query: { top_limit: top?.toString() },
  }),
  decode: (body, { code }) => decodePolicyOverview(body, code),
  assumed: () => ({ latest_policy: { source: 'source_1' }, recent_policies: [{ source: 'source_1' }] }),
};

/** Observed: these filters, years, and `limit` from 1 to 500. */
const policies: Endpoint<PoliciesParams, RowList<PolicyRecord>> = {
  route: '/v1/policies',
  ...ofPart('policy'),
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
  decode: (body, { countryCode = null }) =>
    rowListIn(body, policies.route, (list) =>
      eachLocated(list, (row, place) => {
        const policy = decodePolicy(row, countryCode);
        checkCountry(policy.countryCode, countryCode, inside(place, 'country_code'));
        return policy;
      }),
    ),
  assumed: (target) => {
    const { searchParams } = new URL(target, 'http://service');
    return [
      { title: 'policy_1', source: 'source_1', country_code: searchParams.get('country_code') ?? 'KE' },
    ];
  },
};

const OVERVIEW = ['latest_policy', 'active_policy_count', 'recent_policies'] as const;

/**
 * An overview whose latest policy is no object counts it as left out.
 * @param asked code of the country, if the body doesn't say
 */
function decodePolicyOverview(body: unknown, asked: string): PolicyOverviewRecord {
  const object = objectIn(body, policyOverview.route, OVERVIEW);
  const { value: row, place } = object;
  const { code } = countryNamedIn(object, asked);
  const { latest_policy: latest } = row;
  const overview: PolicyOverviewRecord = {
    countryCode: code,
    latestPolicy: isObject(latest) ? decodePolicy(latest, code) : null,
    activePolicyCount: integerIn(row, 'active_policy_count'),
    recentPolicies:
      row.recent_policies == null
        ? []
        : blockIn(row, place, 'recent_policies', (policy) => decodePolicy(policy, code)),
    record: row,
  };
  if (latest == null || isObject(latest)) return overview;
  const first = invalid(inside(place, 'latest_policy'), `expected object, received ${kindOf(latest)}`);
  return withLeftOut(overview, { count: 1, first });
}

function decodePolicy(row: JsonObject, asked: string | null): PolicyRecord {
  return {
    countryCode: alpha2In(row, 'country_code', 'country') ?? asked?.toUpperCase() ?? null,
    wikidataId: stringIn(row, 'wikidata_id'),
    title: stringIn(row, 'title', 'name'),
    documentType: stringIn(row, 'document_type'),
    status: stringIn(row, 'policy_status', 'status'),
    publishedAt: stringIn(row, 'published_at'),
    source: labelIn(row, ['key', 'source'], 'source'),
    record: row,
  };
}

export const endpoints = { policies, policyOverview };

function policyList(
  { search, documentType, status, ...years }: CountryPoliciesArgs,
  countryCode: string | null | undefined,
  context: FieldContext,
  info: GraphQLResolveInfo,
): Promise<readonly PolicyRecord[] | null> {
  checkStrings({ search });
  checkNotEmpty({ search });
  const params: PoliciesParams = {
    ...yearsOf(years),
    countryCode: countryCode ?? undefined,
    documentType: documentType?.toLowerCase(),
    status: status?.toLowerCase(),
    search: search ?? undefined,
  };
  const list = narrowed(params, {
    ask: (asked) => context.load(policies, asked),
    limit: MAX_POLICIES,
    yearOf,
    passes: (row) => countryCode == null || row.countryCode === countryCode,
    areAllDated: false,
  });
  return warnedOfLack(context, info.path, policies.route, list);
}

function yearOf({ publishedAt }: PolicyRecord): number | null {
  const published = periodIn(publishedAt ?? '');
  return published === null || published.frequency === 'span' ? null : Number(published.lastDay.slice(0, 4));
}

const plainFields = plainFieldsOf<ResolversParentTypes>();

const resolvers = {
  Query: {
    policies: (_, { countryCode, ...args }, context, info) => policyList(args, countryCode, context, info),
  },
  Country: {
    policies: ({ code }, args, context, info) => policyList(args, code, context, info),
    policyOverview: ({ code }, { top }, { load }) => load(policyOverview, { code, top: topOf(top) }),
  },
  PolicyOverview: {
    ...plainFields('PolicyOverview', 'activePolicyCount', 'record'),
    country: ({ countryCode }) => ({ code: countryCode }),
    latestPolicy: (overview, _, context, info) => context.warned(() => info.path, overview).latestPolicy,
    recentPolicies: ({ recentPolicies }, _, context, info) => context.warned(() => info.path, recentPolicies),
  },
  Policy: {
    ...plainFields('Policy', 'wikidataId', 'title', 'documentType', 'status', 'publishedAt', 'record'),
    source: ({ source }) => (source === null ? null : { key: source }),
    country: ({ countryCode }) => (countryCode === null ? null : { code: countryCode }),
  },
} satisfies Resolvers;

export const part: GraphPart = {
  sdl: readPart(new URL('./policy.graphql', import.meta.url)),
  resolvers,
  endpoints: Object.values(endpoints),
};
