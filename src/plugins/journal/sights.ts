import type { FieldPair, OutgoingCall } from '../../plugin/index.ts';

type FiguresIn = ReturnType<OutgoingCall['figuresIn']>;
type Row = FiguresIn['rows'][number];

/** A figure as an answer shows it. */
export interface SeenFigure {
  readonly year: number;
  readonly period: string;
  readonly asOfPeriod: string | null;
  /** Null for the whole country. */
  readonly locationName: string | null;
  readonly source: string;
  /** JSON of a {@link State}. */
  readonly state: string;
  readonly retrievedAt: string;
}

export interface Years {
  readonly from: number;
  readonly to: number;
}

/** What one answer shows of one country and metric. */
export interface PairSight extends FieldPair {
  readonly figures: readonly SeenFigure[];
  /** Years of which there are no other figures; null if the answer proves nothing about absent ones. */
  readonly whole: Years | null;
  /** True if the latest national figure is among these, or there is none. */
  readonly hasLatest: boolean;
}

export const ALL_YEARS: Years = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

export function isAllYears({ from, to }: Years): boolean {
  return from === ALL_YEARS.from && to === ALL_YEARS.to;
}

/** Reads what an answer shows of each pair that was requested: of one without figures too, if that is proved. */
export function sightsIn(target: string, { rows, blanks, errors, isWhole }: FiguresIn): readonly PairSight[] {
  const query = new URLSearchParams(target.slice(target.indexOf('?')));
  const isLatest = query.get('latest') === 'true';
  const years = {
    from: Number(query.get('start_year') ?? ALL_YEARS.from),
    to: Number(query.get('end_year') ?? ALL_YEARS.to),
  };
  const byPair = new Map<string, Row[]>();
  for (const pair of pairsIn(query)) byPair.set(nameOf(pair), []);
  const isRequested = (row: Row) => byPair.has(nameOf(row)) && row.year >= years.from && row.year <= years.to;
  // A service that hasn't heeded the request proves nothing by what it leaves out.
  const isProof = isWhole && rows.every(isRequested);
  for (const row of rows) {
    const name = nameOf(row);
    const ofPair = byPair.get(name);
    if (ofPair === undefined) byPair.set(name, [row]);
    else ofPair.push(row);
  }
  const unread = new Set(errors.map(nameOf));
  const isUnread = (name: string) => unread.has(name) || unread.has(NO_NAME);
  const blank = new Set(blanks.map(nameOf));
  const sights: PairSight[] = [];
  for (const [name, ofPair] of byPair) {
    const [countryCode, metricKey] = [name.slice(0, 2), name.slice(3)];
    // If the latest row has no value, the latest figure is an earlier one.
    const isKnown = isProof && !isUnread(name) && !(isLatest && blank.has(name));
    const whole = isKnown ? (isLatest ? yearsAfter(ofPair) : years) : null;
    if (whole === null && ofPair.length === 0) continue;
    const figures = ofPair.map(figureOf);
    sights.push({ countryCode, metricKey, figures, whole, hasLatest: hasLatest(figures, whole) });
  }
  return sights;
}

/** A row whose country or metric can't be read may be of any pair. */
const NO_NAME = '';

function nameOf({
  countryCode,
  metricKey,
}: {
  readonly countryCode: string | null;
  readonly metricKey: string | null;
}): string {
  return countryCode === null || metricKey === null ? NO_NAME : `${countryCode} ${metricKey}`;
}

function pairsIn(query: URLSearchParams): readonly FieldPair[] {
  const codes = query.get('country_codes')?.split(',') ?? [];
  const keys = query.get('metric_keys')?.split(',') ?? [];
  return codes.flatMap((code) => keys.map((metricKey) => ({ countryCode: code.toUpperCase(), metricKey })));
}

/** There is no figure of a later year than the latest. */
function yearsAfter(latest: readonly Row[]): Years {
  const last = latest.reduce((most, { year }) => Math.max(most, year), ALL_YEARS.from);
  return { from: last + 1, to: ALL_YEARS.to };
}

function hasLatest(figures: readonly SeenFigure[], whole: Years | null): boolean {
  if (whole === null || whole.to !== ALL_YEARS.to) return false;
  return isAllYears(whole) || figures.some(({ locationName }) => locationName === null);
}

function figureOf(row: Row): SeenFigure {
  const { year, period, asOfPeriod, locationName, source, retrievedAt } = row;
  const { estimateLow, estimateHigh, unit, valueStatus, datasetVersion, record } = row;
  const state = JSON.stringify([
    record.value,
    unit,
    valueStatus,
    datasetVersion,
    estimateLow,
    estimateHigh,
  ] satisfies State);
  return { year, period, asOfPeriod, locationName, source, state, retrievedAt };
}

/** What a revision may change. The value has all of its digits, which a number may lose. */
export type State = readonly [
  value: unknown,
  unit: string,
  valueStatus: string,
  datasetVersion: string | null,
  estimateLow: number | null,
  estimateHigh: number | null,
];

/**
 * Names a figure, whatever its state: another value, release, status or unit is a revision of it. Rows that have all of
 * this in common are told apart by their states.
 */
export function figureName({ year, period, asOfPeriod, locationName, source }: SeenFigure): string {
  return JSON.stringify([year, period, asOfPeriod, locationName, source]);
}
