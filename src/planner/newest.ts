/** What decides which of several rows is the newest. */
export interface Dated {
  readonly year: number;
  readonly period: string;
  readonly asOfPeriod: string | null;
  readonly locationName: string | null;
  readonly retrievedAt: string;
}

/**
 * The row that the service would give as the latest: the highest year, then the period that ends last, the later
 * point in time, the national figure before one of a place, and the later retrieval.
 */
export function newestOf<Row extends Dated>(rows: readonly Row[]): Row | null {
  let newest: Row | null = null;
  for (const row of rows) {
    if (newest === null || compareAge(row, newest) > 0) newest = row;
  }
  return newest;
}

function compareAge(a: Dated, b: Dated): number {
  return (
    a.year - b.year ||
    compareText(periodEnd(a), periodEnd(b)) ||
    compareText(a.asOfPeriod ?? '', b.asOfPeriod ?? '') ||
    Number(a.locationName === null) - Number(b.locationName === null) ||
    compareText(a.retrievedAt, b.retrievedAt)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The last day of a period as a text that sorts; a period in no known form ends with its year. */
function periodEnd({ period, year }: Dated): string {
  const quarter = /^(\d{4})-?Q([1-4])$/i.exec(period);
  if (quarter !== null) return `${quarter[1]}-${String(Number(quarter[2]) * 3).padStart(2, '0')}-31`;
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(period)) return `${period}-31`;
  if (/^\d{4}-\d{2}-\d{2}/.test(period)) return period.slice(0, 10);
  return `${/^\d{4}$/.test(period) ? period : year}-12-31`;
}
