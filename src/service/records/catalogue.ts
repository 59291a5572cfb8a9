import {
  eachFound,
  eachOf,
  findObject,
  inside,
  invalid,
  isObject,
  type JsonObject,
  keyIn,
  kindOf,
  labelIn,
  missing,
  noList,
  type Place,
  textIn,
  timeTextIn,
  wholeListIn,
} from './envelope.ts';

export interface IndicatorRecord {
  readonly key: string;
  /** Null if the catalogue has no name: only key, unit and sources are promised. */
  readonly name: string | null;
  readonly unit: string | null;
  readonly category: string | null;
  readonly hasData: boolean | null;
  /** Keys of the publishing bodies. */
  readonly sources: readonly string[];
  /** True if these are all that may bring the measure: a single name in place of a list may be the main one. */
  readonly areAllSources: boolean;
  readonly record: JsonObject;
}

/** Filters of a catalogue that was asked for. */
interface AskedOfCatalogue {
  readonly category?: string | undefined;
  readonly hasData?: boolean | undefined;
}

/**
 * Reads the measures of a catalogue. A measure that says that it doesn't fit the filters is none of the list. If there
 * is one, a measure that doesn't say is none either.
 */
export function decodeIndicators(
  body: unknown,
  route: string,
  { category, hasData }: AskedOfCatalogue = {},
): IndicatorRecord[] {
  const list = wholeListIn(body, route);
  if (category === undefined && hasData === undefined) return eachFound(list, decodeIndicator);
  const asked = { category: category?.toLowerCase(), has_data: hasData };
  const saidOf = (row: JsonObject) => ({
    category: textIn(row, 'category')?.toLowerCase() ?? null,
    has_data: booleanIn(row, 'has_data'),
  });
  const isOther = (said: unknown, wanted: unknown) =>
    wanted !== undefined && said !== null && said !== wanted;
  const isHeeded = !list.value.some((row) => {
    const said = isObject(row) ? saidOf(row) : null;
    return said !== null && FILTERS.some((name) => isOther(said[name], asked[name]));
  });
  if (isHeeded) return eachFound(list, decodeIndicator);
  return eachFound(list, (row, place) => {
    const said = saidOf(row);
    const other = FILTERS.find((name) => asked[name] !== undefined && said[name] !== asked[name]);
    if (other !== undefined)
      throw invalid(inside(place, other), `expected ${asked[other]}, received ${said[other]}`);
    return decodeIndicator(row, place);
  });
}

const FILTERS = ['category', 'has_data'] as const;

function decodeIndicator(row: JsonObject, place: Place): IndicatorRecord {
  return {
    key: keyIn(row, place, 'metric_key', 'key', 'id'),
    name: textIn(row, 'metric_name', 'name'),
    unit: textIn(row, 'unit'),
    category: textIn(row, 'category'),
    hasData: booleanIn(row, 'has_data'),
    sources: sourceKeysIn(row, place),
    areAllSources: Array.isArray(row.sources),
    record: row,
  };
}

const NAMES_OF_SOURCE = ['key', 'source', 'source_key', 'code'] as const;

function sourceKeysIn(row: JsonObject, place: Place): string[] {
  const name = row.sources == null && row.source != null ? 'source' : 'sources';
  const sent = row[name];
  const here = inside(place, name);
  if (sent == null) return noList(sent, here, 'array');
  return Array.isArray(sent) ? eachOf(sent, here, sourceKeyOf) : eachOf([sent], here, sourceKeyOf);
}

/** @throws Failure if it is neither text nor a block with a key */
function sourceKeyOf(source: unknown, place: Place): string {
  const key = textIn(isObject(source) ? source : { key: source }, ...NAMES_OF_SOURCE);
  if (key !== null) return key;
  throw invalid(place, `expected string, received ${kindOf(source)}`);
}

export interface SourceRecord {
  readonly key: string;
  /** Null if the service gives no name. */
  readonly name: string | null;
  /** Address of its page; null if the service gives none. */
  readonly url: string | null;
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
    name: textIn(row, 'name', 'source_name'),
    url: addressIn(row, 'url', 'source_url', 'homepage'),
    lastSuccessfulRefresh: timeTextIn(row, 'last_successful_refresh', 'last_success_at', 'last_success'),
    nextRun: timeTextIn(row, 'next_run', 'next_run_at'),
    record: row,
  };
}

/** Reads the address of a page; null if there is none, or it leads to no page. */
function addressIn(row: JsonObject, ...names: readonly string[]): string | null {
  const text = textIn(row, ...names);
  return text !== null && /^https?:\/\//i.test(text) && URL.canParse(text) ? text : null;
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

function booleanIn(row: JsonObject, name: string): boolean | null {
  const value = row[name];
  return typeof value === 'boolean' ? value : null;
}
