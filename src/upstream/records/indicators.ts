import { wholeListIn } from './envelope.ts';
import { booleanIn, eachIn, isObject, type JsonObject, keyIn, type Place, textIn } from './fields.ts';

export interface IndicatorRecord {
  readonly key: string;
  /** The key where the catalogue has no name: only key, unit and sources are promised. */
  readonly name: string;
  readonly unit: string | null;
  readonly category: string | null;
  readonly hasData: boolean | null;
  /** Keys of the publishing bodies. */
  readonly sources: readonly string[];
  readonly record: JsonObject;
}

export function decodeIndicators(body: unknown, route: string): IndicatorRecord[] {
  const { value, place } = wholeListIn(body, route);
  return eachIn(value, place, decodeIndicator);
}

function decodeIndicator(row: JsonObject, place: Place): IndicatorRecord {
  const key = keyIn(row, place, 'metric_key', 'key', 'id');
  return {
    key,
    name: textIn(row, 'metric_name', 'name') ?? key,
    unit: textIn(row, 'unit'),
    category: textIn(row, 'category'),
    hasData: booleanIn(row, 'has_data'),
    sources: sourceKeysIn(row),
    record: row,
  };
}

function sourceKeysIn(row: JsonObject): string[] {
  const sent = row.sources ?? row.source;
  return (Array.isArray(sent) ? sent : [sent])
    .map((source) =>
      textIn(isObject(source) ? source : { key: source }, 'key', 'source', 'source_key', 'code'),
    )
    .filter((key) => key !== null);
}
