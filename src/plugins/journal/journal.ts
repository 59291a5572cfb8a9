import type { FieldPair, PluginHost, Turns } from '../../plugin/index.ts';
import { ALL_YEARS, figureName, isAllYears, type PairSight, type SeenFigure } from './sights.ts';

/**
 * Times are milliseconds since the epoch. A state is what a figure was from one sight to another; a figure's current one has
 * no end. A pair knows its latest figure, and all of its figures, since a time; null for never.
 */
export const FIGURE_TABLES = `
  CREATE TABLE IF NOT EXISTS pairs (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, country TEXT NOT NULL, metric TEXT NOT NULL, seen_ms INTEGER NOT NULL, latest_ms INTEGER, all_ms INTEGER, UNIQUE (owner, country, metric));
  CREATE INDEX IF NOT EXISTS pairs_seen ON pairs (seen_ms);
  CREATE TABLE IF NOT EXISTS states (id INTEGER PRIMARY KEY, pair INTEGER NOT NULL, year INTEGER NOT NULL, period TEXT NOT NULL, as_of TEXT, place TEXT, source TEXT NOT NULL, state TEXT NOT NULL, retrieved TEXT NOT NULL, from_ms INTEGER NOT NULL, to_ms INTEGER);
  CREATE INDEX IF NOT EXISTS states_of_pair ON states (pair, to_ms);
  CREATE INDEX IF NOT EXISTS states_ended ON states (to_ms) WHERE to_ms IS NOT NULL;
  CREATE TABLE IF NOT EXISTS revisions (id INTEGER PRIMARY KEY, pair INTEGER NOT NULL, at_ms INTEGER NOT NULL, before INTEGER, after INTEGER);
  CREATE INDEX IF NOT EXISTS revisions_of_pair ON revisions (pair, at_ms);
  CREATE INDEX IF NOT EXISTS revisions_at ON revisions (at_ms);
  CREATE TABLE IF NOT EXISTS dropped (at_ms INTEGER NOT NULL);
`;

/** Figures that are compared in one transaction: some milliseconds. */
const FIGURES_TOGETHER = 100;

/** Revisions that are dropped in one transaction. */
const REVISIONS_DROPPED = 1_000;

/** Until so much of the bound is used, so that not each answer has rows dropped. */
const SHARE_KEPT = 0.9;

/** Milliseconds after which it is noted that a pair was seen again. */
const SEEN_AGAIN_MS = 3_600_000;

/** A state as the journal has it. */
export interface RecordedState extends SeenFigure {
  readonly id: number;
  readonly fromMs: number;
}

export interface RecordedRevision extends FieldPair {
  readonly id: number;
  readonly atMs: number;
  /** Null if the figure was not there before. */
  readonly before: RecordedState | null;
  /** Null if it was withdrawn. */
  readonly after: RecordedState | null;
}

/** What is recorded of one pair. */
interface RecordedPair {
  readonly id: number;
  readonly seenMs: number;
  readonly latestMs: number | null;
  readonly allMs: number | null;
}

interface Sighted {
  readonly owner: string;
  readonly atMs: number;
  readonly sights: readonly PairSight[];
}

export type JournalFile = Awaited<ReturnType<PluginHost['openDatabase']>>;

const statementsIn = (file: JournalFile) => ({
  pair: file.prepare(
    'SELECT id, seen_ms AS seenMs, latest_ms AS latestMs, all_ms AS allMs FROM pairs WHERE owner = ? AND country = ? AND metric = ?',
  ),
  addPair: file.prepare('INSERT INTO pairs (owner, country, metric, seen_ms) VALUES (?, ?, ?, ?)'),
  see: file.prepare('UPDATE pairs SET seen_ms = ?, latest_ms = ?, all_ms = ? WHERE id = ?'),
  oldestPair: file.prepare('SELECT id FROM pairs ORDER BY seen_ms, id LIMIT 1'),
  dropPair: file.prepare('DELETE FROM pairs WHERE id = ?'),
  state: file.prepare('SELECT * FROM states WHERE id = ?'),
  currentStates: file.prepare('SELECT * FROM states WHERE pair = ? AND to_ms IS NULL'),
  statesAsOf: file.prepare('SELECT * FROM states WHERE pair = ? AND from_ms <= ? AND coalesce(to_ms, ?) > ?'),
  firstOfYear: file.prepare(
    'SELECT min(from_ms) AS from_ms FROM states WHERE pair = ? AND year = ? AND place IS NULL AND coalesce(to_ms, ?) > ?',
  ),
  addState: file.prepare(
    'INSERT INTO states (pair, year, period, as_of, place, source, state, retrieved, from_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  ),
  end: file.prepare('UPDATE states SET to_ms = ? WHERE id = ?'),
  dropStates: file.prepare('DELETE FROM states WHERE pair = ?'),
  dropEnded: file.prepare('DELETE FROM states WHERE to_ms <= ?'),
  revisions: file.prepare(
    'SELECT id, at_ms, before, after FROM revisions WHERE pair = ? AND at_ms >= ? ORDER BY at_ms DESC, id DESC LIMIT ?',
  ),
  addRevision: file.prepare('INSERT INTO revisions (pair, at_ms, before, after) VALUES (?, ?, ?, ?)'),
  lastOfOldest: file.prepare(
    'SELECT max(at_ms) AS at_ms FROM (SELECT at_ms FROM revisions ORDER BY at_ms LIMIT ?)',
  ),
  dropRevisions: file.prepare('DELETE FROM revisions WHERE at_ms <= ?'),
  dropped: file.prepare('SELECT max(at_ms) AS at_ms FROM dropped'),
  forgetDropped: file.prepare('DELETE FROM dropped'),
  noteDropped: file.prepare('INSERT INTO dropped VALUES (?)'),
});

/** The states of figures over time, by the key that has seen them. */
export class Journal {
  readonly #file: JournalFile;
  readonly #sql: ReturnType<typeof statementsIn>;
  readonly #mostBytes: number;
  /** Since the start of this process. */
  readonly counts = { revisions: 0, dropped: 0 };

  constructor(file: JournalFile, mostBytes: number) {
    this.#file = file;
    this.#sql = statementsIn(file);
    this.#mostBytes = mostBytes;
  }

  /** Compares what an answer shows with what is recorded, and records the difference. */
  async record({ owner, atMs, sights }: Sighted, turns: Turns): Promise<void> {
    for (const together of slicesOf(sights)) {
      await turns.next();
      await this.#file.atOnce(() => {
        for (const sight of together) this.#recordSight(owner, atMs, sight);
      });
    }
    while (this.#file.bytes > this.#mostBytes) {
      if (!(await this.#drop(turns))) return;
    }
  }

  /** Of one pair, the newest first. */
  revisions(owner: string, pair: FieldPair, sinceMs: number, most: number): readonly RecordedRevision[] {
    const recorded = this.#pair(owner, pair);
    if (recorded === null) return [];
    return this.#sql.revisions.all(recorded.id, sinceMs, most).map(({ id, at_ms, before, after }) => ({
      countryCode: pair.countryCode,
      metricKey: pair.metricKey,
      id: Number(id),
      atMs: Number(at_ms),
      before: this.#state(before),
      after: this.#state(after),
    }));
  }

  /** Since when the latest figure of a pair is known, and all of them; null for never. */
  knownSince(owner: string, pair: FieldPair): Pick<RecordedPair, 'latestMs' | 'allMs'> {
    return this.#pair(owner, pair) ?? { latestMs: null, allMs: null };
  }

  /** When a national figure of a year was first seen of those that were current at a time or later; null for none. */
  seenSince(owner: string, pair: FieldPair, year: number, atMs: number): number | null {
    const recorded = this.#pair(owner, pair);
    if (recorded === null) return null;
    const { from_ms } = this.#sql.firstOfYear.get(recorded.id, year, atMs + 1, atMs) ?? {};
    return from_ms == null ? null : Number(from_ms);
  }

  /** The states that were current at a time, as far as the journal had seen them by then. */
  statesAsOf(owner: string, pair: FieldPair, atMs: number): readonly RecordedState[] {
    const recorded = this.#pair(owner, pair);
    if (recorded === null) return [];
    return this.#sql.statesAsOf.all(recorded.id, atMs, atMs + 1, atMs).map(stateIn);
  }

  /** The time of the last revision that was dropped; null if all are here. */
  get droppedMs(): number | null {
    const { at_ms } = this.#sql.dropped.get() ?? {};
    return at_ms == null ? null : Number(at_ms);
  }

  #recordSight(owner: string, atMs: number, sight: PairSight): void {
    const { id, seenMs, latestMs, allMs } = this.#pair(owner, sight) ?? this.#addPair(owner, sight, atMs);
    // The clock of another process may be ahead.
    const nowMs = Math.max(atMs, seenMs);
    const current = this.#sql.currentStates.all(id).map(stateIn);
    const { revised, added, gone } = differenceBetween(current, sight);
    const lastYear = current.reduce((most, { year }) => Math.max(most, year), ALL_YEARS.from);
    for (const { before, after } of revised) {
      this.#end(before, nowMs);
      this.#addRevision(id, nowMs, before.id, this.#addState(id, nowMs, after));
    }
    for (const figure of added) {
      const state = this.#addState(id, nowMs, figure);
      // Otherwise it may have been there before, unseen.
      const wasAbsent = allMs !== null || (latestMs !== null && figure.year > lastYear);
      if (wasAbsent) this.#addRevision(id, nowMs, null, state);
    }
    for (const before of gone) {
      this.#end(before, nowMs);
      this.#addRevision(id, nowMs, before.id, null);
    }
    const isWhole = sight.whole !== null && isAllYears(sight.whole);
    const newLatestMs = latestMs ?? (sight.hasLatest ? nowMs : null);
    const newAllMs = allMs ?? (isWhole ? nowMs : null);
    const isKnownBetter = newLatestMs !== latestMs || newAllMs !== allMs;
    const isChanged = revised.length + added.length + gone.length > 0;
    if (!isKnownBetter && !isChanged && nowMs - seenMs < SEEN_AGAIN_MS) return;
    this.#sql.see.run(nowMs, newLatestMs, newAllMs, id);
  }

  #pair(owner: string, { countryCode, metricKey }: FieldPair): RecordedPair | null {
    const row = this.#sql.pair.get(owner, countryCode, metricKey);
    return (row as RecordedPair | undefined) ?? null;
  }

  #addPair(owner: string, { countryCode, metricKey }: FieldPair, atMs: number): RecordedPair {
    const { lastInsertRowid } = this.#sql.addPair.run(owner, countryCode, metricKey, atMs);
    return { id: Number(lastInsertRowid), seenMs: atMs, latestMs: null, allMs: null };
  }

  #state(id: unknown): RecordedState | null {
    if (id === null) return null;
    const row = this.#sql.state.get(Number(id));
    return row === undefined ? null : stateIn(row);
  }

  #addState(pair: number, atMs: number, figure: SeenFigure): number {
    const { year, period, asOfPeriod, locationName, source, state, retrievedAt } = figure;
    const place = [pair, year, period, asOfPeriod, locationName, source] as const;
    return Number(this.#sql.addState.run(...place, state, retrievedAt, atMs).lastInsertRowid);
  }

  #end({ id }: RecordedState, atMs: number): void {
    this.#sql.end.run(atMs, id);
  }

  #addRevision(pair: number, atMs: number, before: number | null, after: number | null): void {
    this.#sql.addRevision.run(pair, atMs, before, after);
    this.counts.revisions += 1;
  }

  /** Drops the oldest revisions; without any, the pair that was seen longest ago. @returns false if nothing is left */
  async #drop(turns: Turns): Promise<boolean> {
    for (;;) {
      await turns.next();
      const dropped = await this.#file.atOnce(() => this.#dropRevisions() || this.#dropPair());
      this.counts.dropped += dropped;
      if (dropped === 0) return false;
      if (this.#file.bytes <= this.#mostBytes * SHARE_KEPT) return true;
    }
  }

  #dropRevisions(): number {
    const { at_ms: untilMs } = this.#sql.lastOfOldest.get(REVISIONS_DROPPED) ?? {};
    if (untilMs == null) return 0;
    const { changes } = this.#sql.dropRevisions.run(untilMs);
    this.#sql.dropEnded.run(untilMs);
    this.#sql.forgetDropped.run();
    this.#sql.noteDropped.run(untilMs);
    return Number(changes);
  }

  #dropPair(): number {
    const { id } = this.#sql.oldestPair.get() ?? {};
    if (id === undefined) return 0;
    const { changes } = this.#sql.dropStates.run(id);
    this.#sql.dropPair.run(id);
    return Number(changes) + 1;
  }
}

interface Difference {
  readonly revised: readonly { readonly before: RecordedState; readonly after: SeenFigure }[];
  readonly added: readonly SeenFigure[];
  readonly gone: readonly RecordedState[];
}

/**
 * A figure is revised if one state of it takes the place of one other. With several of either, which one took the place of
 * which can't be told: each is added, or gone.
 */
function differenceBetween(current: readonly RecordedState[], { figures, whole }: PairSight): Difference {
  const recorded = new Map(current.map((state) => [contentOf(state), state]));
  const seen = new Map(figures.map((figure) => [contentOf(figure), figure]));
  const left = [...recorded].flatMap(([content, state]) => (seen.has(content) ? [] : state));
  const news = [...seen].flatMap(([content, figure]) => (recorded.has(content) ? [] : figure));
  const leftByFigure = Map.groupBy(left, figureName);
  const revised: { before: RecordedState; after: SeenFigure }[] = [];
  const added: SeenFigure[] = [];
  for (const [name, some] of Map.groupBy(news, figureName)) {
    const [before, ...others] = leftByFigure.get(name) ?? [];
    const [after] = some;
    if (before !== undefined && others.length === 0 && after !== undefined && some.length === 1)
      revised.push({ before, after });
    else added.push(...some);
  }
  const replaced = new Set(revised.map(({ before }) => before));
  const isGone = (state: RecordedState) =>
    !replaced.has(state) && whole !== null && state.year >= whole.from && state.year <= whole.to;
  return { revised, added, gone: left.filter(isGone) };
}

function contentOf(figure: SeenFigure): string {
  return `${figureName(figure)} ${figure.state}`;
}

function stateIn(row: Readonly<Record<string, unknown>>): RecordedState {
  return {
    id: Number(row.id),
    year: Number(row.year),
    period: String(row.period),
    asOfPeriod: textIn(row.as_of),
    locationName: textIn(row.place),
    source: String(row.source),
    state: String(row.state),
    retrievedAt: String(row.retrieved),
    fromMs: Number(row.from_ms),
  };
}

function textIn(value: unknown): string | null {
  return value === null ? null : String(value);
}

function* slicesOf(sights: readonly PairSight[]): Iterable<readonly PairSight[]> {
  let slice: PairSight[] = [];
  let figures = 0;
  for (const sight of sights) {
    slice.push(sight);
    // A pair without figures is compared, too.
    figures += sight.figures.length + 1;
    if (figures < FIGURES_TOGETHER) continue;
    yield slice;
    slice = [];
    figures = 0;
  }
  if (slice.length > 0) yield slice;
}
