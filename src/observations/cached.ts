import { yieldToEventLoop } from '../async/yielding.ts';
import type { TenantCache } from '../cache/tenant-cache.ts';
import { type Demand, demandKey } from '../planner/demand.ts';
import { type Freshness, isBetterOld } from '../upstream/cached.ts';
import { billStale, type Sending } from '../upstream/call.ts';
import { observations } from '../upstream/endpoints.ts';
import type { Outage } from '../upstream/outage.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';
import type { ObservationEntries, ObservationEntry } from './entries.ts';
import { estimate, type Planning } from './estimate.ts';
import type { Fetch } from './fetch.ts';
import type { Outcome } from './outcome.ts';
import { goingAlong, type Prefetch } from './prefetch.ts';
import type { RefusedNames } from './refused-names.ts';
import type { Revalidation } from './revalidation.ts';

/** A demand, and how old a held answer to it may be. */
export interface Want {
  readonly demand: Demand;
  /** In milliseconds; infinite where the caller doesn't insist. */
  readonly maxAgeMs: number;
}

/** Names a want: fields that insist on different ages may get different outcomes. */
export function wantKey({ demand, maxAgeMs }: Want): string {
  return maxAgeMs === Number.POSITIVE_INFINITY
    ? demandKey(demand)
    : `${demandKey(demand)} within ${maxAgeMs} ms`;
}

/** Where the figures of one operation come from. */
export interface Figures {
  /** Tells what is held of a want and may be served without asking; null where nothing can be told at once. */
  held(): ((want: Want) => readonly ObservationRecord[] | undefined) | null;
  /**
   * The outcome of each want, by its key.
   * @throws the signal's reason where the client leaves first
   */
  load(wants: readonly Want[]): Promise<ReadonlyMap<string, Outcome>>;
}

export interface CachedFiguresParts {
  /** Fetches what is missing. */
  readonly next: Fetch;
  readonly entries: ObservationEntries;
  readonly tenantCache: TenantCache;
  readonly revalidation: Revalidation;
  readonly outage: Pick<Outage, 'failure'>;
  readonly freshness: Freshness;
  readonly prefetch: Prefetch;
  readonly refusedNames: Pick<RefusedNames, 'of'>;
  readonly planning: Planning;
  readonly now: () => number;
  /** Hears of demands that were met by what is held. */
  readonly onHeld?: (demand: Demand) => void;
}

/** A want on its way, the key of its demand, and what is held of it. */
interface Matter {
  readonly want: Want;
  readonly key: string;
  readonly entry: ObservationEntry | undefined;
}

/** Wants that take milliseconds to look after. */
const MANY = 2_000;

/** Share of their time after which figures that are asked for are counted anew among what the key asks for. */
const RECOUNTING_SHARE = 0.1;

/**
 * Meets wants from what is held and fresh, and has the missing ones fetched alone. Where the service gives no answer,
 * what is past its time is served and said to be, unless the service refuses the key, or the caller insists on newer.
 */
export function cachedFigures(parts: CachedFiguresParts, sending: Sending): Figures {
  const {
    next,
    entries,
    tenantCache,
    revalidation,
    prefetch,
    outage,
    freshness,
    planning,
    refusedNames,
    now,
  } = parts;
  const { bill, caller } = sending;
  const { keyDigest } = caller;

  const freshUntilMs = ({ checkedAtMs }: ObservationEntry, { maxAgeMs }: Want) =>
    checkedAtMs + Math.min(freshness.ttlMs, maxAgeMs);
  const isFresh = ({ entry, want }: Matter) => entry !== undefined && now() < freshUntilMs(entry, want);
  const isUsable = ({ entry, want }: Matter) =>
    entry !== undefined &&
    now() - entry.checkedAtMs <= Math.min(freshness.ttlMs + freshness.staleMs, want.maxAgeMs);

  /** Counts a figure that is served as it is held. */
  function serve(want: Want, entry: ObservationEntry): readonly ObservationRecord[] {
    bill.cached += 1;
    sending.onHeld?.(freshUntilMs(entry, want));
    parts.onHeld?.(want.demand);
    return entry.rows;
  }

  /** What the service said of a want's names lately, where it refused one: they are not asked for again so soon. */
  function refusedLately({ demand, maxAgeMs }: Want): Outcome | undefined {
    const refused = tenantCache.isAccepted(keyDigest) ? refusedNames.of(keyDigest, demand) : undefined;
    if (refused === undefined) return undefined;
    const freshUntilMs = refused.atMs + Math.min(freshness.ttlMs, maxAgeMs);
    if (now() >= freshUntilMs) return undefined;
    bill.cached += 1;
    sending.onHeld?.(freshUntilMs);
    return refused.outcome;
  }

  async function fetch(matters: readonly Matter[]): Promise<ReadonlyMap<string, Outcome>> {
    const down = matters.length > 0 && matters.every(isUsable) ? outage.failure() : null;
    if (down !== null) {
      await next([], sending, () => {});
      return new Map(matters.map(({ key }) => [key, down.with({ route: observations.route, attempts: 0 })]));
    }
    const callsBefore = bill.byRoute[observations.route] ?? 0;
    const demands = new Map(matters.map(({ key, want }) => [key, want.demand]));
    const asked = [...demands.values()];
    const along = asked.length === 0 ? [] : goingAlong(asked, prefetch.of(keyDigest, asked), planning);
    const outcomes = new Map<string, Outcome>();
    await next([...asked, ...along], sending, (demand, outcome) => {
      outcomes.set(demandKey(demand), outcome);
    });
    const isLanded = (demand: Demand) => !(outcomes.get(demandKey(demand)) instanceof Error);
    prefetch.brought(keyDigest, along.filter(isLanded));
    revalidation.spent(keyDigest, (bill.byRoute[observations.route] ?? 0) - callsBefore);
    return outcomes;
  }

  const callsFor = (matters: readonly Matter[]) =>
    estimate(
      matters.map(({ want }) => want.demand),
      planning,
    ).calls;

  /** Puts right what the sources say of entries past their time. */
  async function renew(matters: readonly Matter[]): Promise<void> {
    const missing = matters.filter((matter) => !isFresh(matter));
    const isRenewable = ({ entry, want }: Matter) => entry !== undefined && want.maxAgeMs > 0;
    const prospect = {
      calls: () => callsFor(missing),
      callsIfRenewed: () => callsFor(missing.filter((matter) => !isRenewable(matter))),
    };
    const held = missing
      .filter(isRenewable)
      .flatMap(({ entry, want }) => (entry ? { entry, metricKey: want.demand.metricKey } : []));
    const checkedAtMs = await revalidation.check(held, prospect, sending);
    for (const figures of held) figures.entry.checkedAtMs = checkedAtMs(figures);
  }

  /**
   * What has to be fetched. A key that the service has not accepted lately is put to the test even where everything
   * is held: with all of it where that takes one call, with the oldest figure where it takes more.
   */
  function toFetch(matters: readonly Matter[]): readonly Matter[] {
    const missing = matters.filter((matter) => !isFresh(matter));
    if (missing.length > 0 || tenantCache.isAccepted(keyDigest)) return missing;
    if (callsFor(matters) <= 1) return matters;
    const checkedAtMs = ({ entry }: Matter) => entry?.checkedAtMs ?? 0;
    return [matters.reduce((oldest, one) => (checkedAtMs(one) < checkedAtMs(oldest) ? one : oldest))];
  }

  /** What stands in for an outcome, where that is a failure. */
  function stale(matter: Matter, why: Error): Outcome {
    const { entry } = matter;
    if (entry === undefined || !isUsable(matter) || !isBetterOld(why)) return why;
    billStale(bill, observations.route, why, entry.atMs, now());
    for (const row of entry.rows) sending.onStale?.(row, why.code);
    return entry.rows;
  }

  return {
    held() {
      if (!tenantCache.isAtHand || !tenantCache.isAccepted(keyDigest)) return null;
      const nowMs = now();
      return (want) => {
        const { demand } = want;
        const entry = entries.atHand(keyDigest, demandKey(demand));
        if (entry === undefined || nowMs >= freshUntilMs(entry, want)) return undefined;
        if (nowMs - entry.wantedAtMs > freshness.ttlMs * RECOUNTING_SHARE) {
          entry.wantedAtMs = nowMs;
          prefetch.wanted(keyDigest, demand, entry.checkedAtMs);
        }
        return serve(want, entry);
      };
    },
    async load(wants) {
      const held = await entries.read(
        keyDigest,
        wants.map(({ demand }) => demand),
      );
      if (wants.length > MANY) await yieldToEventLoop(caller);
      const outcomes = new Map<string, Outcome>();
      const matters: Matter[] = [];
      for (const want of wants) {
        const key = demandKey(want.demand);
        const matter = { want, key, entry: held.get(key) };
        const refused = isFresh(matter) ? undefined : refusedLately(want);
        if (refused === undefined) matters.push(matter);
        else outcomes.set(wantKey(want), refused);
      }
      await renew(matters);

      const fetched = new Map(await fetch(toFetch(matters)));
      const isUnproven = () => !tenantCache.isAccepted(keyDigest) && tenantCache.refusal(keyDigest) === null;
      const failure = () => [...fetched.values()].find(isBetterOld) ?? null;
      const unmet = matters.filter(({ key }) => !fetched.has(key));
      if (unmet.length > 0 && isUnproven() && failure() === null) {
        // Nothing was asked of the service, so the key is as unproven as before.
        for (const [key, outcome] of await fetch(unmet)) fetched.set(key, outcome);
      }
      // The service may have refused the key by now: then nothing that is held for it is served.
      const refusal = tenantCache.refusal(keyDigest);
      const doubt = isUnproven() ? failure() : null;

      for (const [done, matter] of matters.entries()) {
        if (done > 0 && done % MANY === 0) await yieldToEventLoop(caller);
        const own = fetched.get(matter.key);
        const isNew = own !== undefined && !(own instanceof Error);
        const { entry, want } = matter;
        // What has never come doesn't go along with other calls: it may be what makes them fail.
        if (isNew || entry !== undefined)
          prefetch.wanted(keyDigest, want.demand, isNew ? now() : (entry?.checkedAtMs ?? 0));
        const outcome = own ?? refusal ?? doubt ?? (entry && serve(want, entry)) ?? [];
        const mayBeOld = outcome instanceof Error && refusal === null;
        outcomes.set(wantKey(matter.want), mayBeOld ? stale(matter, outcome) : outcome);
      }
      return outcomes;
    },
  };
}
