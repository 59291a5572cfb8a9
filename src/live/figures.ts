import { hash } from 'node:crypto';
import { Failure } from '../errors.ts';
import type { ObservationChangesRecord } from '../graph/sources.ts';
import type { ObservationEntries } from '../observations/entries.ts';
import { estimate, type Planning } from '../observations/estimate.ts';
import type { Outcome } from '../observations/outcome.ts';
import { areUnchanged, namedSources, type SourcesByMetric, sourcesIn } from '../observations/revalidation.ts';
import { changedAt, type Demand } from '../planner/demand.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';
import { asAdded, changesBetween, digestOf } from './changes.ts';
import type { Errand } from './errand.ts';
import { Inbox } from './inbox.ts';
import type { Look, SourceRuns } from './look.ts';

export interface FigureWatchParts {
  readonly keyDigest: string;
  readonly entries: Pick<ObservationEntries, 'read'>;
  readonly planning: Planning;
  readonly maxUpstreamCalls: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Figures that somebody has subscribed to. */
interface Watched {
  readonly demand: Demand;
  rows: readonly ObservationRecord[];
  digest: string | null;
  /** Whether there may be others by now. */
  isDue: boolean;
  readonly subscribers: Set<FigureSubscriber>;
}

type FigureRows = readonly ObservationRecord[];

/** Digits of an instant in milliseconds, so that revisions are in the order of their texts. */
const REVISION_DIGITS = 15;
const DIGEST_LENGTH = 22;

/** What all subscriptions to figures under one key have been told, and what they are to be told. */
export class FigureWatch {
  readonly #parts: FigureWatchParts;
  readonly #watched = new Map<string, Watched>();

  constructor(parts: FigureWatchParts) {
    this.#parts = parts;
  }

  get isWatching(): boolean {
    return this.#watched.size > 0;
  }

  /** Demands that there may be other figures of by now. */
  get due(): readonly Demand[] {
    return [...this.#watched.values()].filter(({ isDue }) => isDue).map(({ demand }) => demand);
  }

  /**
   * Adds a subscription. Its figures are from now on those that are held, whoever has been served them, or else those that the service has; what
   * these are by now is its first event, where they differ.
   * @param look what is known of the sources; null where nothing is
   * @throws Failure where it can't be told what figures there are, or they are too many
   */
  async subscribe(
    demands: readonly Demand[],
    since: string | null,
    look: Look | null,
    byMetric: SourcesByMetric,
    errand: Errand,
  ): Promise<Inbox<ObservationChangesRecord>> {
    this.#checkSize(demands);
    const missing = demands.filter(({ key }) => !this.#watched.has(key));
    const keys = demands.map(({ key }) => key);
    const subscriber = new FigureSubscriber(this, keys, this.#parts.now, () => this.#leave(subscriber));
    // Others may leave while this one waits: what it wants stays.
    for (const key of keys) this.#watched.get(key)?.subscribers.add(subscriber);
    let before: ReadonlyMap<string, FigureRows>;
    try {
      before = await this.#bringIn(missing, subscriber, look, byMetric, errand);
      // By now it is known how long the series are.
      this.#checkSize(demands);
    } catch (error) {
      this.#leave(subscriber);
      throw error;
    }
    if (since === null) for (const [key, rows] of before) subscriber.isBehind(key, rows);
    else if (since.slice(REVISION_DIGITS + 1) !== this.digest(keys)) subscriber.wantsAll();
    return subscriber.inbox;
  }

  rows(key: string): FigureRows {
    return this.#watched.get(key)?.rows ?? [];
  }

  /** Names the figures of demands as they are now. */
  digest(keys: readonly string[]): string {
    const digests = keys.map((key) => {
      const watched = this.#watched.get(key);
      if (watched === undefined) return '';
      watched.digest ??= digestOf(watched.rows);
      return watched.digest;
    });
    return hash('sha256', digests.sort().join('\n'), 'base64url').slice(0, DIGEST_LENGTH);
  }

  /** Sources have run: what they may bring is due. */
  sourcesRan({ records, areAll }: SourceRuns, byMetric: SourcesByMetric): void {
    if (records.length === 0 && areAll) return;
    const keys = new Set(records.map(({ key }) => key.toLowerCase()));
    for (const watched of this.#watched.values()) {
      const named = namedSources(watched.rows, byMetric.get(watched.demand.metricKey));
      if (!areAll || named === null || named.some((key) => keys.has(key))) watched.isDue = true;
    }
  }

  /**
   * Fetches what is due, all of it together. What fails stays due.
   * @param atMs when the sources were looked at: what has been fetched since, by whomever, is new enough
   * @returns who is to be told of something, and a failure that there was
   */
  async renew(
    atMs: number,
    errand: Errand,
  ): Promise<{
    readonly behind: readonly Inbox<ObservationChangesRecord>[];
    readonly failure: Error | null;
  }> {
    const behind = new Set<Inbox<ObservationChangesRecord>>();
    let failure: Error | null = null;
    const demands = this.due.map((demand) => changedAt(demand, atMs));
    if (demands.length === 0) return { behind: [...behind], failure };
    await errand.figures.fetch(demands, errand.sending, ({ key }, outcome) => {
      const watched = this.#watched.get(key);
      if (watched === undefined) return;
      if (outcome instanceof Error) {
        failure ??= outcome;
        return;
      }
      for (const subscriber of this.#put(watched, outcome)) behind.add(subscriber.inbox);
    });
    return { behind: [...behind], failure };
  }

  /** Takes over what the service has of a demand. @returns who is to be told */
  #put(watched: Watched, rows: FigureRows): Iterable<FigureSubscriber> {
    const before = watched.rows;
    watched.isDue = false;
    watched.rows = rows;
    if (changesBetween(before, rows).length === 0) return [];
    watched.digest = null;
    for (const subscriber of watched.subscribers) subscriber.isBehind(watched.demand.key, before);
    return watched.subscribers;
  }

  /**
   * Takes in what there is of demands by now.
   * @returns what was held of those where that is something else
   */
  async #bringIn(
    demands: readonly Demand[],
    subscriber: FigureSubscriber,
    look: Look | null,
    byMetric: SourcesByMetric,
    errand: Errand,
  ): Promise<ReadonlyMap<string, FigureRows>> {
    const before = new Map<string, FigureRows>();
    const held = await this.#parts.entries.read(this.#parts.keyDigest, demands);
    const sources = look && sourcesIn(look.records, look.atMs);
    const isCurrent = ({ key, metricKey }: Demand) => {
      const entry = held.get(key);
      if (entry === undefined || look === null || sources === null) return false;
      return entry.atMs > look.atMs || areUnchanged({ entry, metricKey }, byMetric, sources);
    };
    const missing = demands
      .filter((demand) => !isCurrent(demand))
      .map((demand) => (look === null ? demand : changedAt(demand, look.atMs)));
    const outcomes = new Map<string, Outcome>();
    if (missing.length > 0)
      await errand.figures.fetch(missing, errand.sending, ({ key }, outcome) => outcomes.set(key, outcome));
    for (const demand of demands) {
      const old = held.get(demand.key)?.rows;
      const outcome = outcomes.get(demand.key) ?? old ?? new Error(`No outcome of ${demand.key}.`);
      const isFailed = outcome instanceof Error;
      if (isFailed && old === undefined) throw outcome;
      const rows = isFailed ? (old ?? []) : outcome;
      this.#watched.set(demand.key, {
        demand,
        rows,
        digest: null,
        isDue: isFailed || look === null,
        subscribers: new Set([subscriber]),
      });
      if (old !== undefined && changesBetween(old, rows).length > 0) before.set(demand.key, old);
    }
    return before;
  }

  /** One refresh of all that is subscribed to under the key has to be affordable. */
  #checkSize(demands: readonly Demand[]): void {
    const { planning, maxUpstreamCalls: limit } = this.#parts;
    const all = new Map(demands.map((demand) => [demand.key, demand]));
    for (const { demand } of this.#watched.values()) all.set(demand.key, demand);
    const { calls: planned } = estimate([...all.values()], planning);
    if (planned <= limit) return;
    const message = `The figures of all subscriptions under the key would take ${planned} upstream calls each time that all of them may have changed; this gateway sends ${limit} (MAX_UPSTREAM_CALLS). Subscribe to less, or with \`latest: true\`.`;
    throw new Failure('OPERATION_TOO_EXPENSIVE', message, { planned, limit });
  }

  #leave(subscriber: FigureSubscriber): void {
    for (const key of subscriber.keys) {
      const watched = this.#watched.get(key);
      watched?.subscribers.delete(subscriber);
      if (watched?.subscribers.size === 0) this.#watched.delete(key);
    }
  }
}

/** One subscription to figures: it remembers what it was told last, as far as that isn't what there is now. */
class FigureSubscriber {
  readonly keys: readonly string[];
  readonly inbox: Inbox<ObservationChangesRecord>;
  readonly #watch: FigureWatch;
  readonly #now: () => number;
  /** By demand, the rows that were told last. */
  readonly #behind = new Map<string, FigureRows>();
  #wantsAll = false;
  #lastMs = 0;

  constructor(watch: FigureWatch, keys: readonly string[], now: () => number, onClose: () => void) {
    this.keys = keys;
    this.#watch = watch;
    this.#now = now;
    this.inbox = new Inbox({
      take: () => this.#take(),
      nothing: () => this.#told([], false),
      onClose,
    });
  }

  /** @param rows what was told last, unless something else was told before that and has not been read */
  isBehind(key: string, rows: FigureRows): void {
    if (!this.#wantsAll && !this.#behind.has(key)) this.#behind.set(key, rows);
  }

  wantsAll(): void {
    this.#wantsAll = true;
  }

  #take(): ObservationChangesRecord | null {
    if (this.#wantsAll) {
      this.#wantsAll = false;
      return this.#told(
        this.keys.flatMap((key) => asAdded(this.#watch.rows(key))),
        true,
      );
    }
    if (this.#behind.size === 0) return null;
    const changes = this.keys.flatMap((key) => {
      const before = this.#behind.get(key);
      return before === undefined ? [] : changesBetween(before, this.#watch.rows(key));
    });
    this.#behind.clear();
    return changes.length === 0 ? null : this.#told(changes, false);
  }

  #told(changes: ObservationChangesRecord['changes'], isWhole: boolean): ObservationChangesRecord {
    const atMs = Math.max(this.#now(), this.#lastMs + 1);
    this.#lastMs = atMs;
    const revision = `${String(atMs).padStart(REVISION_DIGITS, '0')}-${this.#watch.digest(this.keys)}`;
    return { changes, isWhole, revision, at: new Date(atMs).toISOString() };
  }
}
