import { findObject, wholeListIn } from './envelope.ts';
import {
  invalid,
  isObject,
  type JsonObject,
  kindOf,
  labelIn,
  missing,
  type Place,
  textIn,
  timeTextIn,
} from './fields.ts';
import { eachFound } from './left-out.ts';

export interface SourceRecord {
  readonly key: string;
  /** As sent; null if the source has never been refreshed, or the service doesn't say. */
  readonly lastSuccessfulRefresh: string | null;
  readonly nextRun: string | null;
  readonly record: JsonObject;
}

export interface HealthRecord {
  /** The service's own word; `unknown` if it has none. */
  readonly status: string;
  /** As sent: an object, or the bare word. */
  readonly record: unknown;
}

export interface PlatformVersionRecord {
  readonly version: string | null;
  /** As sent: an object, or the bare version. */
  readonly record: unknown;
}

const SOURCE_NAMES = ['key', 'source_key', 'source', 'code'] as const;
const VERSION_NAMES = ['version', 'platform_version', 'api_version', 'tag'] as const;

export function decodeSources(body: unknown, route: string): SourceRecord[] {
  return eachFound(wholeListIn(body, route), decodeSource);
}

function decodeSource(row: JsonObject, place: Place): SourceRecord {
  return {
    key: labelIn(row, SOURCE_NAMES, ...SOURCE_NAMES) ?? missing(row, place, SOURCE_NAMES),
    lastSuccessfulRefresh: timeTextIn(row, 'last_successful_refresh', 'last_success_at', 'last_success'),
    nextRun: timeTextIn(row, 'next_run', 'next_run_at'),
    record: row,
  };
}

export function decodeHealth(body: unknown, route: string): HealthRecord {
  const record = recordIn(body, route, ['status']);
  return { status: textIn(isObject(record) ? record : { status: record }, 'status') ?? 'unknown', record };
}

export function decodeVersion(body: unknown, route: string): PlatformVersionRecord {
  const record = recordIn(body, route, VERSION_NAMES);
  const fields = isObject(record) ? record : { version: record };
  const spelt = VERSION_NAMES.map((name) =>
    typeof fields[name] === 'number' ? String(fields[name]) : textIn(fields, name),
  );
  return { version: spelt.find((text) => text !== null) ?? null, record };
}

/**
 * Finds the record of a public route, which may answer in any form. Only a value that is neither object, text nor
 * number is refused.
 */
function recordIn(body: unknown, route: string, known: readonly string[]): unknown {
  const isWrapped = isObject(body) && 'data' in body;
  const sent = findObject(body, route, known)?.value ?? (isWrapped ? body.data : body);
  if (isObject(sent) || typeof sent === 'string' || typeof sent === 'number') return sent;
  throw invalid({ route, path: isWrapped ? 'data' : '' }, `expected object, received ${kindOf(sent)}`);
}
