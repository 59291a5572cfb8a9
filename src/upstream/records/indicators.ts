import { wholeListIn } from './envelope.ts';
import {
  booleanIn,
  inside,
  invalid,
  isObject,
  type JsonObject,
  keyIn,
  kindOf,
  type Place,
  textIn,
} from './fields.ts';
import { eachFound, eachOf, noList } from './left-out.ts';

export interface IndicatorRecord {
  readonly key: string;
  /** Null where the catalogue has no name: only key, unit and sources are promised. */
  readonly name: string | null;
  readonly unit: string | null;
  readonly category: string | null;
  readonly hasData: boolean | null;
  /** Keys of the publishing bodies. */
  readonly sources: readonly string[];
  /** Whether these are all that may bring the measure: a single name in place of a list may be the main one. */
  readonly areAllSources: boolean;
  readonly record: JsonObject;
}

export function decodeIndicators(body: unknown, route: string): IndicatorRecord[] {
  return eachFound(wholeListIn(body, route), decodeIndicator);
}

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

const SOURCE_NAMES = ['key', 'source', 'source_key', 'code'] as const;

function sourceKeysIn(row: JsonObject, place: Place): string[] {
  const name = row.sources == null && row.source != null ? 'source' : 'sources';
  const sent = row[name];
  const here = inside(place, name);
  if (sent == null) return noList(sent, here, 'array');
  return Array.isArray(sent) ? eachOf(sent, here, sourceKeyOf) : eachOf([sent], here, sourceKeyOf);
}

/** @throws Failure where it is neither text nor a block with a key */
function sourceKeyOf(source: unknown, place: Place): string {
  const key = textIn(isObject(source) ? source : { key: source }, ...SOURCE_NAMES);
  if (key !== null) return key;
  throw invalid(place, `expected string, received ${kindOf(source)}`);
}
