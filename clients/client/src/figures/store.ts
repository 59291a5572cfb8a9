import { ALL_YEARS, type Years } from './bound.ts';

/** Values of a figure by the names of fields (`fieldsIn`). */
export type Row = Readonly<Record<string, unknown>>;

/** Instants by two clocks: one may be set, the other stands still while a machine sleeps. */
export interface Instant {
  readonly wallMs: number;
  readonly steadyMs: number;
}

/** Figures of consecutive years, complete as they came in one answer. */
export interface Segment extends Years {
  readonly rows: readonly Row[];
  readonly at: Instant;
  /** Milliseconds from then on. */
  readonly freshMs: number;
}

/** What is held of a country and an indicator in one selection of fields. */
export interface Layer {
  readonly fields: readonly string[];
  segments: readonly Segment[];
}

export interface Found {
  readonly rows: readonly Row[];
  /** Years that aren't held, and maybe some between that are; null if all are. */
  readonly missing: Years | null;
  /** Milliseconds for which all of it stays fresh. */
  readonly freshMs: number;
  /** The answers that it came in. */
  readonly ats: readonly Instant[];
}

const NOTHING = { rows: [], freshMs: Number.POSITIVE_INFINITY, ats: [] };

/** What an operation is looked up in. */
export type Findable = Pick<HeldFigures, 'find' | 'isSeen'>;

export const NO_FIGURES: Findable = {
  find: (_pair, _fields, missing) => ({ ...NOTHING, missing }),
  isSeen: () => true,
};

/** By the clock that has gone further: setting one back makes nothing younger. */
function ageOf(at: Instant, now: Instant): number {
  const wallMs = now.wallMs - at.wallMs;
  const steadyMs = now.steadyMs - at.steadyMs;
  return Math.max(wallMs, steadyMs);
}

/** Figures of one key. */
export class HeldFigures {
  readonly #layers = new Map<string, Map<string, Layer>>();
  /** Countries and indicators that are known to have figures, and until when; by the steady clock. */
  readonly #seen = new Map<string, number>();
  count = 0;

  /**
   * @param pair of a variant, a country and an indicator (`pairName`)
   * @param graceMs further milliseconds for which figures may be served
   */
  find(pair: string, fields: readonly string[], years: Years, now: Instant, graceMs = 0): Found {
    const layers = this.#layers.get(pair);
    if (layers === undefined) return { ...NOTHING, missing: years };
    // The least recently used goes first.
    this.#layers.delete(pair);
    this.#layers.set(pair, layers);
    let best: Found | null = null;
    for (const layer of layers.values()) {
      if (!fields.every((field) => layer.fields.includes(field))) continue;
      const found = foundIn(layer.segments, years, now, graceMs);
      if (found.missing === null) return found;
      if (best === null || widthOf(found.missing) < widthOf(best.missing ?? years)) best = found;
    }
    return best ?? { ...NOTHING, missing: years };
  }

  /** Holds an answer in place of all that is held of its years. */
  put(pair: string, fields: readonly string[], segment: Segment): Layer {
    const layers = this.#layers.get(pair) ?? new Map<string, Layer>();
    this.#layers.set(pair, layers);
    const name = [...fields].sort().join();
    const layer = layers.get(name) ?? { fields, segments: [] };
    layers.set(name, layer);
    this.count -= sizeOf(layer);
    const before = layer.segments.flatMap((old) => [
      ...cut(old, { from: old.from, to: segment.from - 1 }),
      ...cut(old, { from: segment.to + 1, to: old.to }),
    ]);
    layer.segments = [...before, segment].sort((a, b) => a.from - b.from);
    this.count += sizeOf(layer);
    return layer;
  }

  isSeen(name: string, now: Instant): boolean {
    return (this.#seen.get(name) ?? 0) > now.steadyMs;
  }

  see(name: string, untilMs: number): void {
    this.#seen.set(name, Math.max(untilMs, this.#seen.get(name) ?? untilMs));
  }

  /** @returns the names of the pairs */
  forget(isForgotten: (pair: string) => boolean): readonly string[] {
    const pairs = [...this.#layers.keys()].filter(isForgotten);
    for (const pair of pairs) {
      for (const layer of this.#layers.get(pair)?.values() ?? []) this.count -= sizeOf(layer);
      this.#layers.delete(pair);
    }
    return pairs;
  }

  /** Forgets what was used least recently, until no more figures are left than these. */
  shrink(most: number): void {
    for (const pair of this.#layers.keys()) {
      if (this.count <= most) return;
      this.forget((one) => one === pair);
    }
  }

  clear(): void {
    this.#layers.clear();
    this.#seen.clear();
    this.count = 0;
  }
}

/** An empty segment takes room, too. */
const sizeOf = ({ segments }: Layer) => segments.reduce((sum, { rows }) => sum + rows.length + 1, 0);

const widthOf = ({ from, to }: Years) => to - from;

export const yearIn = (row: Row): number => (typeof row.year === 'number' ? row.year : 0);

/** The part of an answer for some of its years: none, or one. */
function cut(segment: Segment, years: Years): readonly Segment[] {
  const [from, to] = [Math.max(segment.from, years.from), Math.min(segment.to, years.to)];
  if (from > to || to === ALL_YEARS.from || from === ALL_YEARS.to) return [];
  if (from === segment.from && to === segment.to) return [segment];
  return [{ ...segment, from, to, rows: within(segment.rows, { from, to }) }];
}

export function within(rows: readonly Row[], { from, to }: Years): readonly Row[] {
  if (from === ALL_YEARS.from && to === ALL_YEARS.to) return rows;
  return rows.filter((row) => yearIn(row) >= from && yearIn(row) <= to);
}

function foundIn(segments: readonly Segment[], years: Years, now: Instant, graceMs: number): Found {
  const rows: Row[] = [];
  const gaps: Years[] = [];
  let next = years.from;
  let isOver = false;
  let freshMs = Number.POSITIVE_INFINITY;
  const ats: Instant[] = [];
  for (const segment of segments) {
    if (segment.to < years.from || segment.from > years.to || isOver) continue;
    const ageMs = ageOf(segment.at, now);
    if (ageMs >= segment.freshMs + graceMs) continue;
    if (segment.from > next) gaps.push({ from: next, to: segment.from - 1 });
    rows.push(...within(segment.rows, years));
    freshMs = Math.min(freshMs, segment.freshMs - ageMs);
    ats.push(segment.at);
    isOver = segment.to >= years.to;
    next = segment.to + 1;
  }
  if (!isOver) gaps.push({ from: next, to: years.to });
  const [first, last] = [gaps[0], gaps.at(-1)];
  const missing = first === undefined || last === undefined ? null : { from: first.from, to: last.to };
  return { rows, missing, freshMs, ats };
}

export function pairName(variant: string, country: string, metric: string): string {
  return `${country} ${metric} ${variant}`;
}
