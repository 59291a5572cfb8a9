import { Mutex } from 'async-mutex';
import { z } from 'zod';
import {
  DamagedKey,
  dayOf,
  digestOf,
  type IssuedKey,
  isPast,
  issuedKeyFrom,
  makeKey,
  msOf,
  Terms,
} from './key.ts';
import { countsOf } from './key-budget.ts';
import { type KeyStore, MEASURES, type UsageRow } from './key-store.ts';
import { RETENTION_DAYS } from './usage.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The operator's mistake: `message` says what to do. */
export class KeyError extends Error {
  override readonly name = 'KeyFault';
  readonly status: 400 | 404 | 409;

  constructor(status: KeyError['status'], message: string) {
    super(message);
    this.status = status;
  }
}

/** Seconds for which a rotated key still works, by default and at most (ten years). */
const OVERLAP_SECONDS = 24 * 60 * 60;
const MAX_OVERLAP_SECONDS = 3_660 * 24 * 60 * 60;

/** Days of usage that are shown by default. */
const USAGE_DAYS = 30;

/** Days that a forecast looks back at: the longest month. */
const DAYS_OF_FORECAST = 31;

function stateOf({ revokedAt, endsAt, expiresAt }: IssuedKey, nowMs: number) {
  if (revokedAt !== null) return 'revoked';
  if (isPast(expiresAt, nowMs)) return 'expired';
  if (isPast(endsAt, nowMs)) return 'replaced';
  return endsAt === null ? 'active' : 'ending';
}

function shown(key: IssuedKey, nowMs: number) {
  const { digest: _, ...terms } = key;
  return { ...terms, state: stateOf(key, nowMs) } as const;
}

/** A key whose stored record is damaged works nowhere; lists show it all the same. */
type UnreadableKey = ReturnType<typeof unreadable>;

function unreadable({ keyName: name, message: problem }: DamagedKey) {
  return { name, state: 'unreadable', createdAt: null, expiresAt: null, group: null, problem } as const;
}

/** Each try that fails means that another change was made, so that somebody makes progress. */
const MOST_TRIES = 200;

/** Characters of all origins of a key, which a header of each of its pages has; proxies take 8 kB of headers or more. */
const MAX_ORIGINS = 4_000;

const NewTerms = Terms.refine(({ origins }) => origins.join(' ').length <= MAX_ORIGINS, {
  path: ['origins'],
  error: `must have at most ${MAX_ORIGINS} characters together, since a header of each page names them`,
});

/** What operators do with issued keys, by command or over `ADMIN_PORT`. */
export class KeyDesk {
  readonly #store: KeyStore;
  readonly #now: () => number;
  readonly #flush: () => Promise<void>;
  /** Concurrent changes of one desk would only make each other start over. */
  readonly #turn = new Mutex();

  /** @param flush writes the usage that this process has gathered */
  constructor(store: KeyStore, now: () => number, flush = async () => {}) {
    this.#store = store;
    this.#now = now;
    this.#flush = flush;
  }

  /** @throws KeyError if the terms are wrong, or the name is taken */
  async create(given: unknown) {
    const parsed = NewTerms.safeParse(given);
    if (!parsed.success) throw new KeyError(400, z.prettifyError(parsed.error));
    const terms = parsed.data;
    if (isPast(terms.expiresAt, this.#now()))
      throw new KeyError(400, `The key would never work: its end, ${terms.expiresAt}, is over.`);
    return this.#change(({ keys }) => {
      if (keys.some((key) => key.name === terms.name && this.#isGood(key)))
        throw new KeyError(409, `There is a key ${terms.name} already. Rotate it, or revoke it first.`);
      const members = keys.filter(({ group }) => group !== null && group.name === terms.group?.name);
      const group = groupOf(terms, members);
      const { made, answer } = this.#make({ ...terms, group });
      // The budget given last holds for all members of a group.
      const changedMembers =
        group === members[0]?.group ? [] : members.map((member) => ({ ...member, group }));
      return { keys: [...changedMembers, made], answer: (version) => ({ ...answer, version }) };
    });
  }

  /** By name, the newest first, then the unreadable ones. */
  async list() {
    const nowMs = this.#now();
    const { keys, unreadable } = await this.#read();
    return [...keys.map((key) => shown(key, nowMs)), ...unreadable];
  }

  async show(name: string) {
    const keys = namedIn(await this.#read(), name);
    const [newest] = keys as [IssuedKey];
    const nowMs = this.#now();
    const counts = countsOf(newest, nowMs);
    const calls = await this.#store.read(counts.map((count) => count.name));
    const usage = counts.map(({ window, isOfGroup, most }, i) => ({
      window,
      of: isOfGroup ? 'group' : 'key',
      calls: calls[i] ?? 0,
      limit: most,
    }));
    return { keys: keys.map((key) => shown(key, nowMs)), usage };
  }

  /** @throws KeyError if there is no such key, or usage isn't retained for that long */
  async usage({ days = USAGE_DAYS, name }: { readonly days?: number; readonly name?: string | undefined }) {
    if (!Number.isInteger(days) || days < 1 || days > RETENTION_DAYS)
      throw new KeyError(
        400,
        `The days must be a whole number up to ${RETENTION_DAYS}: older usage isn't retained.`,
      );
    const { keys } = await this.#read();
    if (name !== undefined && !keys.some((key) => key.name === name))
      throw new KeyError(404, `There is no key ${name}.`);
    await this.#flush();
    const nowMs = this.#now();
    const rows = await this.#store.readUsage(daysUpTo(nowMs, Math.max(days, DAYS_OF_FORECAST)));
    const [first = ''] = daysUpTo(nowMs, days);
    const isMeant = (key: string) => name === undefined || key === name;
    const wanted = rows.filter(({ day, key }) => day >= first && isMeant(key)).map(shownUsage);
    const forecasts = forecastsOf(rows, keys, nowMs);
    const groups = new Set(keys.flatMap((key) => (isMeant(key.name) && key.group?.name) || []));
    return {
      usage: wanted.toSorted(
        (a, b) => a.day.localeCompare(b.day) || a.key.localeCompare(b.key) || b.operations - a.operations,
      ),
      forecasts: forecasts.filter((one) => (one.of === 'key' ? isMeant(one.name) : groups.has(one.name))),
    };
  }

  async newest(name: string): Promise<IssuedKey | null> {
    const { keys } = await this.#read();
    return keys.find((key) => key.name === name && this.#isGood(key)) ?? null;
  }

  async revoke(name: string) {
    return this.#change((read) => {
      const nowMs = this.#now();
      const revokedAt = new Date(nowMs).toISOString();
      const revoked = namedIn(read, name).map((key) => ({ ...key, revokedAt: key.revokedAt ?? revokedAt }));
      return {
        keys: revoked,
        answer: (version) => revoked.map((key) => ({ ...shown(key, nowMs), version })),
      };
    });
  }

  /** Makes another key of the same name, terms and budget; the former ones work on for the overlap. */
  async rotate(name: string, overlapSeconds = OVERLAP_SECONDS) {
    if (!Number.isInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > MAX_OVERLAP_SECONDS)
      throw new KeyError(400, `The overlap must be a whole number of seconds up to ${MAX_OVERLAP_SECONDS}.`);
    return this.#change((read) => {
      const good = namedIn(read, name).filter((key) => this.#isGood(key));
      const [newest] = good;
      if (newest === undefined) throw new KeyError(409, `No key ${name} works any more. Create one.`);
      const endsAtMs = this.#now() + overlapSeconds * 1000;
      const latest = new Date(endsAtMs).toISOString();
      const ending = good.map((key) => ({
        ...key,
        endsAt: isPast(key.endsAt, endsAtMs) ? key.endsAt : latest,
      }));
      const { digest: _, createdAt: __, endsAt: ___, revokedAt: ____, ...terms } = newest;
      const { made, answer } = this.#make(terms);
      return { keys: [...ending, made], answer: (version) => ({ ...answer, version }) };
    });
  }

  /** The key itself is only in this answer. */
  #make(terms: z.output<typeof Terms>) {
    const key = makeKey();
    const nowMs = this.#now();
    const createdAt = new Date(nowMs).toISOString();
    const made: IssuedKey = { ...terms, digest: digestOf(key), createdAt, endsAt: null, revokedAt: null };
    return { made, answer: { key, terms: shown(made, nowMs) } };
  }

  /**
   * Compare-and-set: starts over if another gateway of the store has changed any key meanwhile.
   * @param plan may be called several times; throws if there is nothing to change
   */
  #change<Outcome>(plan: (read: ReadKeys) => PlannedChange<Outcome>): Promise<Outcome> {
    return this.#turn.runExclusive(async () => {
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        const read = await this.#read();
        const { keys, answer } = plan(read);
        const texts = new Map(keys.map((key) => [key.digest, JSON.stringify(key)]));
        const version = await this.#store.change(read.version, texts);
        if (version !== null) return answer(version);
      }
      throw new KeyError(409, 'Others are changing keys all the time, and nothing was changed. Ask again.');
    });
  }

  #isGood(key: IssuedKey): boolean {
    const state = stateOf(key, this.#now());
    return state === 'active' || state === 'ending';
  }

  async #read(): Promise<ReadKeys> {
    const { version, texts } = await this.#store.all();
    const keys: IssuedKey[] = [];
    const damaged: UnreadableKey[] = [];
    for (const text of texts) {
      try {
        keys.push(issuedKeyFrom(text));
      } catch (error) {
        if (!(error instanceof DamagedKey)) throw error;
        damaged.push(unreadable(error));
      }
    }
    keys.sort((a, b) => a.name.localeCompare(b.name) || b.createdAt.localeCompare(a.createdAt));
    return { version, keys, unreadable: damaged };
  }
}

interface ReadKeys {
  readonly version: number;
  readonly keys: readonly IssuedKey[];
  readonly unreadable: readonly UnreadableKey[];
}

interface PlannedChange<Outcome> {
  readonly keys: readonly IssuedKey[];
  readonly answer: (version: number) => Outcome;
}

function namedIn({ keys, unreadable }: ReadKeys, name: string): readonly IssuedKey[] {
  const named = keys.filter((key) => key.name === name);
  if (named.length > 0) return named;
  const lost = unreadable.find((key) => key.name === name);
  if (lost === undefined) throw new KeyError(404, `There is no key ${name}.`);
  throw new KeyError(409, `The key ${name} works nowhere, since it can't be read: ${lost.problem}`);
}

/** A new key may give its group another budget; otherwise the group keeps that of its members. */
function groupOf({ group }: Pick<IssuedKey, 'group'>, members: readonly IssuedKey[]) {
  if (group === null) return null;
  const isGiven = group.perMinute !== null || group.perDay !== null || group.perMonth !== null;
  if (isGiven) return group;
  const existing = members[0]?.group;
  if (existing == null) throw new KeyError(400, `The group ${group.name} is new: give it a budget.`);
  return existing;
}

/** Days over which the pace of a forecast is measured. */
const PACE_DAYS = 7;

function shownUsage({ day, key, client, document, counts }: UsageRow) {
  const { operations = 0, failed = 0, calls = 0, shared = 0, cached = 0 } = counts;
  const free = shared + cached;
  const measures: ReadonlySet<string> = new Set(MEASURES);
  const errors = Object.fromEntries(
    Object.entries(counts)
      .filter(([measure]) => !measures.has(measure))
      .toSorted(([a], [b]) => a.localeCompare(b)),
  );
  // Percent of answers that took no call; null if nothing was asked.
  const cacheShare = free + calls === 0 ? null : Math.round((100 * free) / (free + calls));
  return { day, key, client, document, operations, failed, calls, shared, cached, cacheShare, errors };
}

export const USAGE_COLUMNS = [
  'day',
  'key',
  'client',
  'document',
  'operations',
  'failed',
  'calls',
  'shared',
  'cached',
  'cacheShare',
  'errors',
] as const;

/** Errors are written as `RATE_LIMITED=2`. */
export function usageCells(row: ReturnType<typeof shownUsage>): (string | number | null)[] {
  const { errors, ...cells } = row;
  const errorCounts = Object.entries(errors).map(([code, count]) => `${code}=${count}`);
  return [...Object.values(cells), errorCounts.join(' ')];
}

function daysUpTo(nowMs: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => dayOf(nowMs - (count - 1 - i) * DAY_MS));
}

/**
 * Forecasts the calls of the month by key and by group, at the pace of the last week.
 * @param keys the newest first, whose limits count
 */
export function forecastsOf(rows: readonly UsageRow[], keys: readonly IssuedKey[], nowMs: number) {
  const forecast = (of: 'key' | 'group', holders: readonly IssuedKey[]) => {
    const [newest] = holders as [IssuedKey];
    const { name, perMonth: limit } = (of === 'group' ? newest.group : null) ?? newest;
    const names = new Set(holders.map((key) => key.name));
    const members = keys.filter((key) => names.has(key.name));
    const sinceMs = Math.min(...members.map(({ createdAt }) => msOf(createdAt)));
    const memberRows = rows.filter(({ key }) => names.has(key));
    return { name, of, ...paceOf(memberRows, sinceMs, nowMs, limit), limit };
  };
  const grouped = keys.filter(({ group }) => group !== null);
  return [
    ...Array.from(Map.groupBy(keys, ({ name }) => name).values(), (holders) => forecast('key', holders)),
    ...Array.from(Map.groupBy(grouped, ({ group }) => group?.name).values(), (holders) =>
      forecast('group', holders),
    ),
  ];
}

/** @param sinceMs creation of the oldest key: there can't have been calls before */
function paceOf(rows: readonly UsageRow[], sinceMs: number, nowMs: number, limit: number | null) {
  const date = new Date(nowMs);
  const endsAtMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  const [month, fromMs] = [dayOf(nowMs).slice(0, 7), nowMs - (nowMs % DAY_MS) - (PACE_DAYS - 1) * DAY_MS];
  const sum = (some: readonly UsageRow[]) =>
    some.reduce((calls, { counts }) => calls + (counts.calls ?? 0), 0);
  const calls = sum(rows.filter(({ day }) => day.startsWith(month)));
  const lately = sum(rows.filter(({ day }) => day >= dayOf(fromMs)));
  // At least an hour: the first minutes of a key say little about its days.
  const days = Math.max(HOUR_MS, nowMs - Math.max(fromMs, sinceMs)) / DAY_MS;
  const callsADay = lately / days;
  const atMonthEnd = Math.round(calls + (callsADay * (endsAtMs - nowMs)) / DAY_MS);
  const isSpent = limit !== null && atMonthEnd >= limit && limit > 0;
  const spentAtMs = isSpent ? nowMs + (Math.max(0, limit - calls) / callsADay) * DAY_MS : null;
  return {
    /** Calls of the month so far. */
    calls,
    callsADay: Math.round(callsADay),
    atMonthEnd,
    /** Day on which the limit is reached; null if not in this month. */
    spentOn: spentAtMs === null || !(spentAtMs < endsAtMs) ? null : dayOf(spentAtMs),
  };
}
