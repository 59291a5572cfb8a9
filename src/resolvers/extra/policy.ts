import type { GraphQLResolveInfo } from 'graphql';
import type { GraphContext } from '../../graph/context.ts';
import type { CountryPoliciesArgs, Resolvers } from '../../graph/generated.ts';
import { narrowed } from '../../loaders/narrowed.ts';
import { periodIn } from '../../periods.ts';
import { MAX_POLICIES, type PoliciesParams, policies, policyOverview } from '../../upstream/extra/policy.ts';
import type { PolicyRecord } from '../../upstream/records/policies.ts';
import { checkTexts } from '../arguments.ts';
import { plainFields } from '../record-fields.ts';
import { warned } from '../warned.ts';
import { checkNotEmpty, topOf, yearsOf } from './arguments.ts';
import { warnedOfLack } from './lacking.ts';

export const endpoints = [policies, policyOverview];

function policyList(
  { search, documentType, status, ...years }: CountryPoliciesArgs,
  countryCode: string | null | undefined,
  context: GraphContext,
  info: GraphQLResolveInfo,
): Promise<readonly PolicyRecord[] | null> {
  checkTexts({ search });
  checkNotEmpty({ search });
  const params: PoliciesParams = {
    ...yearsOf(years),
    countryCode: countryCode ?? undefined,
    documentType: documentType?.toLowerCase(),
    status: status?.toLowerCase(),
    search: search ?? undefined,
  };
  const list = narrowed(params, {
    ask: (asked) => context.loaders.load(policies, asked),
    limit: MAX_POLICIES,
    yearOf,
    passes: (row) => countryCode == null || row.countryCode === countryCode,
    areAllDated: false,
  });
  return warnedOfLack(context, { path: info.path }, policies.route, list);
}

function yearOf({ publishedAt }: PolicyRecord): number | null {
  const published = periodIn(publishedAt ?? '');
  return published === null || published.frequency === 'span' ? null : Number(published.lastDay.slice(0, 4));
}

export const resolvers = {
  Query: {
    policies: (_, { countryCode, ...args }, context, info) => policyList(args, countryCode, context, info),
  },
  Country: {
    policies: ({ code }, args, context, info) => policyList(args, code, context, info),
    policyOverview: ({ code }, { top }, { loaders }) =>
      loaders.load(policyOverview, { code, top: topOf(top) }),
  },
  PolicyOverview: {
    ...plainFields('PolicyOverview', 'activePolicyCount', 'record'),
    country: ({ countryCode }) => ({ code: countryCode }),
    latestPolicy: (overview, _, context, info) => warned(context, () => info.path, overview).latestPolicy,
    recentPolicies: ({ recentPolicies }, _, context, info) =>
      warned(context, () => info.path, recentPolicies),
  },
  Policy: {
    ...plainFields('Policy', 'wikidataId', 'title', 'documentType', 'status', 'publishedAt', 'record'),
    source: ({ source }) => (source === null ? null : { key: source }),
    country: ({ countryCode }) => (countryCode === null ? null : { code: countryCode }),
  },
} satisfies Resolvers;
