import { z } from 'zod';
import { digestOf, type IssuedKey, isPast, issuedKeyFrom, makeKey, Terms } from './key.ts';
import { countsOf } from './key-purse.ts';
import type { KeyStore } from './key-store.ts';
import { daysUpTo, forecastsOf, KEPT_DAYS, shownUsage } from './usage.ts';

/** A fault of the operator's: `message` says what to do. */
export class KeyFault extends Error {
  override readonly name = 'KeyFault';
  /** HTTP status that fits. */
  readonly status: 400 | 404 | 409;

  constructor(status: KeyFault['status'], message: string) {
    super(message);
    this.status = status;
  }
}

/** Seconds for which a key still works after another has taken its place, unless told. */
const OVERLAP_SECONDS = 24 * 60 * 60;

/** Days of usage that are told, unless asked for others. */
const USAGE_DAYS = 30;

/** Days that a forecast looks back at: the longest month. */
const DAYS_OF_FORECAST = 31;

/** A key as operators see it: its terms and its state, and nothing that it could be found by. */
export type ShownKey = ReturnType<typeof shown>;

/** Shows the key itself, once. */
interface MadeKey {
  readonly key: string;
  readonly terms: ShownKey;
}

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

/** The work on issued keys that operators do, by command or over `ADMIN_PORT`. */
export class KeyDesk {
  readonly #store: KeyStore;
  readonly #now: () => number;
  readonly #flush: () => Promise<void>;

  /** @param flush writes the usage that this process has gathered */
  constructor(store: KeyStore, now: () => number, flush = async () => {}) {
    this.#store = store;
    this.#now = now;
    this.#flush = flush;
  }

  /** @throws KeyFault if the terms are wrong, or the name is taken */
  async create(given: unknown): Promise<MadeKey> {
    const parsed = Terms.safeParse(given);
    if (!parsed.success) throw new KeyFault(400, z.prettifyError(parsed.error));
    const terms = parsed.data;
    const keys = await this.#all();
    if (keys.some((key) => key.name === terms.name && this.#isGood(key)))
      throw new KeyFault(409, `There is a key ${terms.name} already. Rotate it, or revoke it first.`);
    const members = keys.filter(({ group }) => group !== null && group.name === terms.group?.name);
    const group = groupOf(terms, members);
    // The budget of a group is that of the word that was said last, for all members.
    if (group !== members[0]?.group) for (const member of members) await this.#keep({ ...member, group });
    return this.#make({ ...terms, group });
  }

  /** Lists the keys, by name and the newest first, with those that no longer work. */
  async list(): Promise<readonly ShownKey[]> {
    const nowMs = this.#now();
    return (await this.#all()).map((key) => shown(key, nowMs));
  }

  /** Shows the keys of a name, and the calls that they have sent in the windows that run. */
  async show(name: string) {
    const keys = await this.#named(name);
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

  /**
   * Tells the use of all keys, or of those of a name, by day, and the calls that their months will have taken.
   * @throws KeyFault if there is no such key, or that many days are not kept
   */
  async usage({ days = USAGE_DAYS, name }: { readonly days?: number; readonly name?: string | undefined }) {
    if (!Number.isInteger(days) || days < 1 || days > KEPT_DAYS)
      throw new KeyFault(400, `The days must be a whole number up to ${KEPT_DAYS}: older usage isn't kept.`);
    const keys = await this.#all();
    if (name !== undefined && !keys.some((key) => key.name === name))
      throw new KeyFault(404, `There is no key ${name}.`);
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

  /** Finds the newest key of a name that works; null if none does. */
  async newest(name: string): Promise<IssuedKey | null> {
    const keys = await this.#all();
    return keys.find((key) => key.name === name && this.#isGood(key)) ?? null;
  }

  /** Ends all keys of a name at once. */
  async revoke(name: string): Promise<readonly ShownKey[]> {
    const nowMs = this.#now();
    const revokedAt = new Date(nowMs).toISOString();
    const revoked = (await this.#named(name)).map((key) => ({
      ...key,
      revokedAt: key.revokedAt ?? revokedAt,
    }));
    for (const key of revoked) await this.#keep(key);
    return revoked.map((key) => shown(key, nowMs));
  }

  /** Makes another key of the same name, terms and budget. The former ones still work for a while. */
  async rotate(name: string, overlapSeconds = OVERLAP_SECONDS): Promise<MadeKey> {
    if (!Number.isInteger(overlapSeconds) || overlapSeconds < 0)
      throw new KeyFault(400, 'The overlap must be a whole number of seconds.');
    const good = (await this.#named(name)).filter((key) => this.#isGood(key));
    const [newest] = good;
    if (newest === undefined) throw new KeyFault(409, `No key ${name} works any more. Create one.`);
    const endsAtMs = this.#now() + overlapSeconds * 1000;
    const latest = new Date(endsAtMs).toISOString();
    const { digest: _, createdAt: __, endsAt: ___, revokedAt: ____, ...terms } = newest;
    const made = await this.#make(terms);
    for (const key of good) {
      const endsSooner = isPast(key.endsAt, endsAtMs);
      await this.#keep({ ...key, endsAt: endsSooner ? key.endsAt : latest });
    }
    return made;
  }

  async #make(terms: z.output<typeof Terms>): Promise<MadeKey> {
    const key = makeKey();
    const nowMs = this.#now();
    const kept = {
      ...terms,
      digest: digestOf(key),
      createdAt: new Date(nowMs).toISOString(),
      endsAt: null,
      revokedAt: null,
    };
    await this.#keep(kept);
    return { key, terms: shown(kept, nowMs) };
  }

  #isGood(key: IssuedKey): boolean {
    const state = stateOf(key, this.#now());
    return state === 'active' || state === 'ending';
  }

  #keep(key: IssuedKey): Promise<void> {
    return this.#store.set(key.digest, JSON.stringify(key));
  }

  async #all(): Promise<readonly IssuedKey[]> {
    const texts = await this.#store.all();
    const keys = texts.flatMap((text) => issuedKeyFrom(text, JSON.parse(text).digest) ?? []);
    return keys.toSorted((a, b) => a.name.localeCompare(b.name) || b.createdAt.localeCompare(a.createdAt));
  }

  async #named(name: string): Promise<readonly IssuedKey[]> {
    const keys = (await this.#all()).filter((key) => key.name === name);
    if (keys.length === 0) throw new KeyFault(404, `There is no key ${name}.`);
    return keys;
  }
}

/** Returns the group that a new key joins: with the budget that comes with it, or else that of the members. */
function groupOf({ group }: Pick<IssuedKey, 'group'>, members: readonly IssuedKey[]) {
  if (group === null) return null;
  const isTold = group.perMinute !== null || group.perDay !== null || group.perMonth !== null;
  if (isTold) return group;
  const known = members[0]?.group;
  if (known == null) throw new KeyFault(400, `The group ${group.name} is new: give it a budget.`);
  return known;
}
