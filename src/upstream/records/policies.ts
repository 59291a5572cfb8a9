import { alpha2In, checkCountry, countryNamedIn } from './countries.ts';
import { objectIn, type RowList, rowListIn } from './envelope.ts';
import {
  inside,
  integerIn,
  invalid,
  isObject,
  type JsonObject,
  kindOf,
  labelIn,
  type Place,
  textIn,
} from './fields.ts';
import { blockIn, eachFound, withLeftOut } from './left-out.ts';

/** A policy. No field is specified to be there: a missing one is null. */
export interface PolicyRecord {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly countryCode: string | null;
  readonly wikidataId: string | null;
  readonly title: string | null;
  /** The record's own word, such as `law`. */
  readonly documentType: string | null;
  /** The record's own word, such as `active`. */
  readonly status: string | null;
  /** The day, as sent. */
  readonly publishedAt: string | null;
  /** Key of a source. */
  readonly source: string | null;
  readonly record: JsonObject;
}

export interface PolicyOverviewRecord {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly countryCode: string;
  readonly latestPolicy: PolicyRecord | null;
  readonly activePolicyCount: number | null;
  readonly recentPolicies: readonly PolicyRecord[];
  readonly record: JsonObject;
}

export type PolicyList = RowList<PolicyRecord>;

const OVERVIEW = ['latest_policy', 'active_policy_count', 'recent_policies'] as const;

/** @param asked code of the country that was asked for; null if none was */
export function decodePolicies(body: unknown, route: string, asked: string | null): PolicyList {
  return rowListIn(body, route, (list) => eachFound(list, (row, place) => decodePolicyOf(row, place, asked)));
}

/**
 * Reads the overview of a country's policies. It says of itself that it lacks its latest policy, if something else
 * stands in its place.
 * @param asked code of the country that was asked for, if the body doesn't say
 */
export function decodePolicyOverview(body: unknown, route: string, asked: string): PolicyOverviewRecord {
  const found = objectIn(body, route, OVERVIEW);
  const { value: row, place } = found;
  const { code } = countryNamedIn(found, asked);
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

/** @throws Failure if it is one of another country than was asked for */
function decodePolicyOf(row: JsonObject, place: Place, asked: string | null): PolicyRecord {
  const policy = decodePolicy(row, asked);
  checkCountry(policy.countryCode, asked, inside(place, 'country_code'));
  return policy;
}

function decodePolicy(row: JsonObject, asked: string | null): PolicyRecord {
  return {
    countryCode: alpha2In(row, 'country_code', 'country') ?? asked?.toUpperCase() ?? null,
    wikidataId: textIn(row, 'wikidata_id'),
    title: textIn(row, 'title', 'name'),
    documentType: textIn(row, 'document_type'),
    status: textIn(row, 'policy_status', 'status'),
    publishedAt: textIn(row, 'published_at'),
    source: labelIn(row, ['key', 'source'], 'source'),
    record: row,
  };
}
