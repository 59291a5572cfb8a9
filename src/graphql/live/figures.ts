import { hash } from 'node:crypto';
import type { Tenant } from '../../keys/tenant.ts';
import type { Outcome } from '../../observations/fetch.ts';
import { changedAt, type Demand } from '../../observations/planner/demand.ts';
import { estimate } from '../../observations/planner/modes.ts';
import { newestOf } from '../../observations/planner/newest.ts';
import {
  areUnchanged,
  namedSources,
  type SourcesByMetric,
  sourcesIn,
} from '../../observations/revalidation.ts';
import type { ObservationRecord } from '../../service/records/observations.ts';
import { Failure } from '../../shared/errors.ts';
import { observationId, observationNames } from '../resolvers/observation-ids.ts';
import { EventQueue, type LiveParts, type Look, type SourceRuns, type Task } from './event-queue.ts';
import type { ObservationChangeRecord, ObservationChangesRecord } from './subscribing.ts';

class FigureChange implements ObservationChangeRecord {
  readonly kind: ObservationChangeRecord['kind'];
  readonly observation: ObservationRecord;
  readonly before: ObservationRecord | null;

  constructor(
    kind: ObservationChangeRecord['kind'],
    observation: ObservationRecord,
    before: ObservationRecord | null,
  ) {
    this.kind = kind;
    this.observation = observation;
    this.before = before;
  }

  /** Made when it is asked for. */
  get formerId(): string | null {
    return this.before && observationId(this.before);
  }
}

/**
 * Returns the changes from one state of a country and metric to another. A new release of the dataset gives a figure
 * another identifier: it counts as revised if all that tells figures apart is the same.
 */
export function changesBetween(
  before: readonly ObservationRecord[],
  now: readonly ObservationRecord[],
): ObservationChangeRecord[] {
  if (before === now) return [];
  const gone = byName(before);
  const changes: ObservationChangeRecord[] = [];
  const added: ObservationRecord[] = [];
  for (const [id, observation] of byName(now)) {
    const old = gone.get(id);
    gone.delete(id);
    if (old === undefined) added.push(observation);
    else if (!isSame(old, observation)) changes.push(new FigureChange('REVISED', observation, old));
  }
  const released = byFigure([...gone.values()]);
  for (const observation of added) {
    const old = released.get(figureOf(observation));
    if (old === undefined) changes.push(new FigureChange('ADDED', observation, null));
    else {
      released.delete(figureOf(observation));
      changes.push(new FigureChange('REVISED', observation, old));
    }
  }
  const revised = new Set(changes.map((change) => change.before));
  for (const old of gone.values()) {
    if (!revised.has(old)) changes.push(new FigureChange('REMOVED', old, old));
  }
  return changes;
}

/** Rows with the same digest have no changes between them. */
export function digestOf(rows: readonly ObservationRecord[]): string {
  const said = Array.from(byName(rows), ([id, row]) => `${id} ${textOf(row)}`).sort();
  return hash('sha256', said.join('\n'), 'base64url');
}

function byName(rows: readonly ObservationRecord[]): Map<string, ObservationRecord> {
  const names = observationNames(rows);
  return new Map(rows.map((row, i) => [names[i] as string, row]));
}

/** Indexes rows by everything but their release; ambiguous ones are left out. */
function byFigure(rows: readonly ObservationRecord[]): Map<string, ObservationRecord> {
  const records = new Map<string, ObservationRecord>();
  const several = new Set<string>();
  for (const row of rows) {
    const figure = figureOf(row);
    if (records.has(figure)) several.add(figure);
    records.set(figure, row);
  }
  for (const figure of several) records.delete(figure);
  return records;
}

function figureOf({
  countryCode,
  metricKey,
  period,
  year,
  asOfPeriod,
  locationName,
  source,
}: ObservationRecord) {
  return JSON.stringify([countryCode, metricKey, year, period, asOfPeriod, locationName, source]);
}

function isSame(one: ObservationRecord, other: ObservationRecord): boolean {
  return one.record === other.record || textOf(one) === textOf(other);
}

/** Without the time of retrieval, which is new after each run even if the figure is the same. */
function textOf({ record }: ObservationRecord): string {
  const fields = Object.entries(record).filter(([name]) => name !== 'retrieved_at');
  return JSON.stringify(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface Watched {
  readonly demand: Demand;
  rows: readonly ObservationRecord[];
  digest: string | null;
  /** True if the figures may have changed. */
  isDue: boolean;
  readonly subscribers: Set<FigureSubscriber>;
}

type FigureRows = readonly ObservationRecord[];

interface SourceKnowledge {
  /** Null if the service hasn't told. */
  readonly look: Look | null;
  readonly byMetric: SourcesByMetric;
}

interface FetchedFigures {
  readonly demand: Demand;
  readonly cachedRows: FigureRows | undefined;
  /** The cached rows, if they are known to be current. */
  readonly outcome: Outcome;
}

/** Digits of an instant in milliseconds: revisions compare as text. */
const REVISION_DIGITS = 15;
const DIGEST_LENGTH = 22;

/** The figures of a key's subscriptions, as each subscriber has been sent them and as they are now. */
export class FigureWatch {
  readonly #tenant: Tenant;
  readonly #parts: LiveParts;
  readonly #watched = new Map<string, Watched>();
  /** Demands of subscriptions that are being added. */
  readonly #arriving = new Map<string, Demand>();

  constructor(tenant: Tenant, parts: LiveParts) {
    this.#tenant = tenant;
    this.#parts = parts;
  }

  get isWatching(): boolean {
    return this.#watched.size > 0;
  }

  get due(): readonly Demand[] {
    return [...this.#watched.values()].filter(({ isDue }) => isDue).map(({ demand }) => demand);
  }

  /**
   * Adds a subscription. It begins with the cached figures; if those have changed, the difference is its first event.
   * @param before settles once the earlier ones have been added
   * @throws Failure if the figures can't be known, or are too many
   */
  async subscribe(
    demands: readonly Demand[],
    since: string | null,
    sources: SourceKnowledge,
    task: Task,
    before: Promise<unknown>,
  ): Promise<EventQueue<ObservationChangesRecord>> {
    this.#checkSize([...this.#arriving.values(), ...demands]);
    const missing = demands.filter(({ key }) => !this.#watched.has(key));
    const keys = demands.map(({ key }) => key);
    const onClose = () => this.#leave(subscriber);
    const subscriber: FigureSubscriber = createSubscriber(this, keys, this.#parts.clock.now, onClose);
    // Keeps its figures watched if others leave while it waits.
    for (const key of keys) this.#watched.get(key)?.subscribers.add(subscriber);
    for (const demand of missing) this.#arriving.set(demand.key, demand);
    let cachedRows: ReadonlyMap<string, FigureRows>;
    try {
      const fetched = await this.#fetchMissing(missing, sources, task);
      await before;
      cachedRows = this.#watch(fetched, subscriber, sources.look !== null);
      // The lengths of the series are known by now.
      this.#checkSize(demands);
    } catch (error) {
      this.#leave(subscriber);
      throw error;
    } finally {
      for (const { key } of missing) this.#arriving.delete(key);
    }
    if (since === null) for (const [key, rows] of cachedRows) subscriber.isBehind(key, rows);
    else if (since.slice(REVISION_DIGITS + 1) !== this.digest(keys)) subscriber.wantsAll();
    return subscriber.queue;
  }

  rows(key: string): FigureRows {
    return this.#watched.get(key)?.rows ?? [];
  }

  digest(keys: readonly string[]): string {
    const digests = keys.map((key) => {
      const watched = this.#watched.get(key);
      if (watched === undefined) return '';
      watched.digest ??= digestOf(watched.rows);
      return watched.digest;
    });
    return hash('sha256', digests.sort().join('\n'), 'base64url').slice(0, DIGEST_LENGTH);
  }

  /** Marks the figures that may have come with these runs as due. */
  sourcesRan({ records, possible, areAll }: SourceRuns, byMetric: SourcesByMetric): void {
    const ran = [...records, ...possible];
    if (ran.length === 0 && areAll) return;
    const keys = new Set(ran.map(({ key }) => key.toLowerCase()));
    for (const watched of this.#watched.values()) {
      const named = namedSources(watched.rows, byMetric.get(watched.demand.metricKey));
      if (!areAll || named === null || named.some((key) => keys.has(key))) watched.isDue = true;
    }
  }

  /**
   * Fetches the due figures together. Those that fail stay due.
   * @param atMs instant of the look at the sources: figures that any gateway has fetched since are new enough
   * @returns the queues that have news, and the first failure
   */
  async renew(atMs: number, task: Task) {
    const behind = new Set<EventQueue<ObservationChangesRecord>>();
    let failure: Error | null = null;
    const demands = this.due.map((demand) => changedAt(demand, atMs));
    const outcomes = demands.length === 0 ? null : await task.figures.fetch(demands, task.sending);
    for (const { key, name } of demands) {
      const watched = this.#watched.get(key);
      const outcome = outcomes?.get(name);
      if (watched === undefined || outcome === undefined) continue;
      if (outcome instanceof Error) failure ??= outcome;
      else for (const subscriber of this.#put(watched, outcome)) behind.add(subscriber.queue);
    }
    return { behind, failure };
  }

  /** Returns the subscribers that have news. */
  #put(watched: Watched, outcome: FigureRows): Iterable<FigureSubscriber> {
    const rows = listedOf(watched.demand, outcome);
    const before = watched.rows;
    watched.isDue = false;
    watched.rows = rows;
    if (changesBetween(before, rows).length === 0) return [];
    watched.digest = null;
    for (const subscriber of watched.subscribers) subscriber.isBehind(watched.demand.key, before);
    return watched.subscribers;
  }

  async #fetchMissing(
    demands: readonly Demand[],
    { look, byMetric }: SourceKnowledge,
    task: Task,
  ): Promise<readonly FetchedFigures[]> {
    const cachedEntries = await this.#parts.entries.read(this.#tenant, demands);
    const sources = look && sourcesIn(look.records, look.atMs);
    const isCurrent = ({ key, metricKey }: Demand) => {
      const entry = cachedEntries.get(key);
      if (entry === undefined || look === null || sources === null) return false;
      return entry.atMs > look.atMs || areUnchanged({ entry, metricKey }, byMetric, sources);
    };
    const changed = new Map(
      demands
        .filter((demand) => !isCurrent(demand))
        .map((demand) => [demand.key, look === null ? demand : changedAt(demand, look.atMs)]),
    );
    const came = changed.size === 0 ? null : await task.figures.fetch([...changed.values()], task.sending);
    return demands.map((demand) => {
      const entry = cachedEntries.get(demand.key);
      const cachedRows = entry && listedOf(demand, entry.rows);
      const fetched = changed.get(demand.key);
      const outcome = fetched === undefined ? cachedRows : came?.get(fetched.name);
      return { demand, cachedRows, outcome: outcome ?? new Error(`No outcome of ${demand.key}.`) };
    });
  }

  /**
   * Watches the fetched figures, or else the cached ones, unless another subscription already does.
   * @param isLookedAt true if it is known when the sources last ran
   * @returns the cached rows of demands whose rows have changed
   */
  #watch(
    figures: readonly FetchedFigures[],
    subscriber: FigureSubscriber,
    isLookedAt: boolean,
  ): ReadonlyMap<string, FigureRows> {
    const before = new Map<string, FigureRows>();
    for (const { demand, cachedRows, outcome } of figures) {
      const { key } = demand;
      let watched = this.#watched.get(key);
      if (watched === undefined) {
        const isFailed = outcome instanceof Error;
        if (isFailed && cachedRows === undefined) throw outcome;
        const rows = isFailed ? (cachedRows ?? []) : listedOf(demand, outcome);
        watched = { demand, rows, digest: null, isDue: isFailed || !isLookedAt, subscribers: new Set() };
        this.#watched.set(key, watched);
      }
      watched.subscribers.add(subscriber);
      if (cachedRows !== undefined && changesBetween(cachedRows, watched.rows).length > 0)
        before.set(key, cachedRows);
    }
    return before;
  }

  /** @throws Failure if refreshing all subscriptions of the key at once would take too many calls */
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

/** Returns what `Query.observations` lists: the service may give several rows as the latest. */
function listedOf({ mode }: Demand, rows: FigureRows): FigureRows {
  const newest = mode === 'series' || rows.length < 2 ? null : newestOf(rows);
  return newest === null ? rows : [newest];
}

type FigureSubscriber = ReturnType<typeof createSubscriber>;

/** One subscription to figures. Of those that have changed, it keeps the rows that it was sent last. */
function createSubscriber(
  watch: FigureWatch,
  keys: readonly string[],
  now: () => number,
  onClose: () => void,
) {
  const behind = new Map<string, FigureRows>();
  let isWhole = false;
  let lastMs = 0;

  function take(): ObservationChangesRecord | null {
    if (isWhole) {
      isWhole = false;
      const all = keys.flatMap((key) => changesBetween([], watch.rows(key)));
      return eventOf(all, true);
    }
    if (behind.size === 0) return null;
    const changes = keys.flatMap((key) => {
      const before = behind.get(key);
      return before === undefined ? [] : changesBetween(before, watch.rows(key));
    });
    behind.clear();
    return changes.length === 0 ? null : eventOf(changes, false);
  }

  function eventOf(changes: ObservationChangesRecord['changes'], areAll: boolean): ObservationChangesRecord {
    const atMs = Math.max(now(), lastMs + 1);
    lastMs = atMs;
    const revision = `${String(atMs).padStart(REVISION_DIGITS, '0')}-${watch.digest(keys)}`;
    return { changes, isWhole: areAll, revision, at: new Date(atMs).toISOString() };
  }

  return {
    keys,
    queue: new EventQueue(take, () => eventOf([], false), onClose),
    /** @param rows what it was sent last; older unread rows take precedence */
    isBehind(key: string, rows: FigureRows): void {
      if (!isWhole && !behind.has(key)) behind.set(key, rows);
    },
    wantsAll(): void {
      isWhole = true;
    },
  };
}
