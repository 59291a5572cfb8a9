import { excerpt, Failure } from '../errors.ts';
import type { Rectangle } from '../planner/cover.ts';
import { observations } from '../upstream/endpoints.ts';
import type { ObservationList, ObservationRecord } from '../upstream/records/observations.ts';

/**
 * Tells if an answer has rows that nobody asked for. Then a filter was not heeded, or the answer is that to another
 * question, and rows that it lacks may be there all the same. Metrics that differ in case alone are one here.
 *
 * @param figures the rows with a figure by their pairs
 */
export function strayIn(
  list: ObservationList,
  figures: Iterable<readonly ObservationRecord[]>,
  rectangle: Rectangle,
): Failure | null {
  const codes = new Set(rectangle.countryCodes.map((code) => code.toUpperCase()));
  const keys = new Set(rectangle.metricKeys.map((key) => key.toLowerCase()));
  const isStray = ({ countryCode, metricKey }: NamedRow) =>
    (countryCode !== null && !codes.has(countryCode.toUpperCase())) ||
    (metricKey !== null && !keys.has(metricKey) && !keys.has(metricKey.toLowerCase()));
  for (const rows of figures) {
    const row = rows[0];
    if (row !== undefined && isStray(row)) return strayRows(row);
  }
  const other = list.blanks.find(isStray) ?? list.faults.find(isStray);
  return other === undefined ? null : strayRows(other);
}

interface NamedRow {
  readonly countryCode: string | null;
  readonly metricKey: string | null;
}

function strayRows({ countryCode, metricKey }: NamedRow): Failure {
  return new Failure(
    'UPSTREAM_INVALID_RESPONSE',
    'The service answered with rows that nobody asked for and none of these: that is no word on what it holds.',
    {
      route: observations.route,
      detail: excerpt(`rows that nobody asked for, such as ${countryCode ?? '?'} ${metricKey ?? '?'}`),
    },
  );
}
