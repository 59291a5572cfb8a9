import { setTimeout as pause } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import {
  createLru,
  Failure,
  type GatewayRequest,
  HeldOperations,
  isAmong,
  type KeyHolder,
  type KeyTerms,
  looksIssued,
  type PluginHost,
  type PluginServices,
  type PromiseOrValue,
  unreachable,
} from '../../plugin/index.ts';
import { DamagedKey, digestOf, type IssuedKey, isPast, issuedKeyFrom, issuedKeyIn, isWhole } from './key.ts';
import { KeyBudget } from './key-budget.ts';
import { KeyDesk } from './key-desk.ts';
import { type KeyStore, LATE_MS } from './key-store.ts';
import { clientOf, Usage } from './usage.ts';
import { Visitors } from './visitors.ts';

/** Milliseconds after which a key is read anew, since another gateway may have revoked it. */
const FRESH_MS = 500;

/** Milliseconds for which a good key stays good while the store can't be reached. */
const TRUSTED_MS = 10_000;

/** `Retry-After` under a key whose stored record is damaged. */
const DAMAGED_SECONDS = 60;

/** Milliseconds for which the absence of a key is cached. */
const ABSENT_MS = 1_000;

/** Cached keys, and cached absences, which anybody can make up. */
const MOST = { keys: 10_000, absent: 2_000 };

/** Concurrent reads of unknown keys; further ones are refused. */
const MAX_LOOKS = 16;

/** Milliseconds between looks at the keys of open subscriptions: with {@link FRESH_MS}, less than a second to end them. */
const WATCH_MS = 300;

interface CachedKey {
  readonly text: string;
  readonly key: IssuedKey;
  // Both in milliseconds since the process began. Asked is later than read while the store doesn't answer.
  readAtMs: number;
  askedAtMs: number;
}

interface OpenedBudget {
  readonly terms: KeyBudget;
  readonly budget: NonNullable<KeyTerms['budget']>;
}

interface NamedKey {
  /** Null if there was no working key of the name. */
  readonly digest: string | null;
  readonly readAtMs: number;
}

/** Exchanges keys that this gateway has issued for its own key of the service. */
export class Exchange {
  readonly desk: KeyDesk;
  readonly usage: Usage;
  readonly #gatewayKey: string;
  readonly #host: PluginHost;
  readonly #store: KeyStore;
  readonly #cached = createLru<CachedKey>(MOST.keys);
  readonly #absent = new LRUCache<string, true>({ max: MOST.absent, ttl: ABSENT_MS });
  /** Digests of damaged texts that have been reported. */
  readonly #damaged = new LRUCache<string, true>({ max: MOST.absent });
  readonly #looks = new Map<string, Promise<IssuedKey | null>>();
  /** Keys by name; only the operator's own settings name any. */
  readonly #named = new Map<string, Promise<NamedKey>>();
  /** Names without a working key, which the operator has been warned of. */
  readonly #missing = new Set<string>();
  readonly #budgets = createLru<OpenedBudget>(MOST.keys);
  readonly #visitors: Visitors;
  /** Listeners to the end of a key, by its digest. */
  readonly #watched = new Map<string, Set<(failure: Failure) => void>>();
  #watching: NodeJS.Timeout | undefined;

  constructor(gatewayKey: string, host: PluginHost, store: KeyStore) {
    this.#gatewayKey = gatewayKey;
    this.#host = host;
    this.#store = store;
    this.#visitors = new Visitors(store, gatewayKey);
    this.usage = new Usage(store, host.now);
    this.desk = new KeyDesk(store, host.now, () => this.usage.flush());
  }

  holding(gateway: PluginServices): KeyHolder {
    return {
      owns: looksIssued,
      exchange: async (request) => {
        const key = await this.#find(issuedKeyIn(request.headers.authorization) ?? '');
        return this.#admitted(key, request, gateway, () => this.#check(key, request));
      },
      holderOf: async (authorization) => (await this.#find(issuedKeyIn(authorization) ?? '')).name,
      // The operator lets anybody ask under this key, from any origin.
      named: async (name, request) => {
        const key = await this.#findNamed(name);
        const check = () => this.#checkVisitor(key, request);
        return { origins: key.origins, terms: await this.#admitted(key, request, gateway, check) };
      },
    };
  }

  async close(): Promise<void> {
    clearInterval(this.#watching);
    await this.usage.flush();
  }

  /** @throws Failure, which is counted, if the key doesn't allow the request */
  async #admitted(
    key: IssuedKey,
    request: GatewayRequest,
    gateway: PluginServices,
    check: () => Promise<void>,
  ): Promise<KeyTerms> {
    const client = clientOf(request.headers);
    const note: KeyTerms['note'] = (operation, of) =>
      this.usage.note(key, client, operation.name ?? gateway.documents.listedIn(of) ?? '', operation);
    try {
      await check();
    } catch (error) {
      if (error instanceof Failure)
        note({ name: null, calls: 0, shared: 0, cached: 0, errorCodes: [error.code] }, request);
      throw error;
    }
    const { origins, visitorPerMinute: perMinute } = key;
    const isOfPage = origins.length > 0 || perMinute !== null;
    const name = isOfPage ? this.#visitors.nameOf(key, request.address ?? '') : '';
    return {
      authorization: `Bearer ${this.#gatewayKey}`,
      budget: this.#budgetOf(key, gateway),
      visitor: isOfPage ? { name, perMinute } : undefined,
      isOfListed: key.documents === 'trusted',
      tags: key.tags.length === 0 ? undefined : key.tags,
      note,
      watch: (onEnd) => this.#watch(key.digest, onEnd),
    };
  }

  #watch(name: string, onEnd: (failure: Failure) => void): () => void {
    const listeners = this.#watched.get(name) ?? new Set();
    this.#watched.set(name, listeners.add(onEnd));
    this.#watching ??= setInterval(() => {
      for (const watched of this.#watched.keys()) void this.#lookAt(watched);
    }, WATCH_MS).unref();
    return () => {
      listeners.delete(onEnd);
      if (listeners.size === 0) this.#watched.delete(name);
      if (this.#watched.size > 0) return;
      clearInterval(this.#watching);
      this.#watching = undefined;
    };
  }

  /** Tells the listeners of a key that has ended. While the store can't be reached, no call leaves anyway. */
  async #lookAt(name: string): Promise<void> {
    try {
      const key = await this.#look(name);
      const failure = key === null || key.revokedAt !== null ? unknownKey() : this.#ended(key);
      if (failure === null) return;
      for (const onEnd of this.#watched.get(name) ?? []) onEnd(failure);
    } catch {
      // Nobody awaits this: the error would end the program. The next request under the key meets it too.
    }
  }

  async #find(given: string): Promise<IssuedKey> {
    const key = isWhole(given) ? await this.#look(digestOf(given)) : null;
    if (key === null || key.revokedAt !== null) throw unknownKey();
    return key;
  }

  /** Looks the name up once; from then on the key is read like any other. */
  async #findNamed(name: string): Promise<IssuedKey> {
    const pendingKey = this.#named.get(name) ?? this.#readNamed(name);
    this.#named.set(name, pendingKey);
    const { digest, readAtMs } = await pendingKey;
    const key = digest === null ? null : await this.#look(digest);
    if (key !== null && key.revokedAt === null && this.#ended(key) === null) {
      this.#missing.delete(name);
      return key;
    }
    // Another key may have taken its place.
    if (performance.now() - readAtMs >= ABSENT_MS) {
      if (this.#named.get(name) === pendingKey) this.#named.delete(name);
      return this.#findNamed(name);
    }
    if (!this.#missing.has(name)) {
      this.#missing.add(name);
      this.#host.warn(
        `There is no valid issued key ${name}, so nobody without a key can be answered. Create it: country-graph keys create ${name}`,
      );
    }
    // Whoever asks is a stranger.
    throw new Failure('KEY_EXPIRED', 'This is not public at present. The operator has been told.');
  }

  async #readNamed(name: string): Promise<NamedKey> {
    const readAtMs = performance.now();
    try {
      return { digest: (await this.desk.newest(name))?.digest ?? null, readAtMs };
    } catch {
      this.#named.delete(name);
      throw unreachable();
    }
  }

  #look(name: string): PromiseOrValue<IssuedKey | null> {
    const cachedKey = this.#cached.get(name);
    const nowMs = performance.now();
    const isAsked = cachedKey !== undefined && nowMs - cachedKey.askedAtMs < FRESH_MS;
    if (isAsked && nowMs - cachedKey.readAtMs < TRUSTED_MS) return cachedKey.key;
    if (this.#absent.has(name)) return null;
    const looking = this.#looks.get(name);
    if (looking !== undefined) return looking;
    if (cachedKey === undefined && this.#looks.size >= MAX_LOOKS)
      throw new Failure(
        'OVERLOADED',
        'Too many unknown keys are being looked for. Ask again a little later.',
        { retryAfterSeconds: 1 },
      );
    const look = this.#read(name, cachedKey).finally(() => this.#looks.delete(name));
    this.#looks.set(name, look);
    return look;
  }

  async #read(name: string, cachedKey: CachedKey | undefined): Promise<IssuedKey | null> {
    const readAtMs = performance.now();
    const trusted = cachedKey !== undefined && readAtMs - cachedKey.readAtMs < TRUSTED_MS ? cachedKey : null;
    const reading = this.#store.get(name).then(
      (text) => this.#noteStored(name, text, readAtMs),
      () => {
        if (trusted !== null) return trusted.key;
        throw unreachable();
      },
    );
    if (trusted === null) return reading;
    trusted.askedAtMs = readAtMs;
    // A late answer is still noted, for the next request.
    reading.catch(() => {});
    return Promise.race([reading, pause(LATE_MS, trusted.key, { ref: false })]);
  }

  /** @throws Failure if the record is damaged: the key may be good, and nobody can know */
  #noteStored(name: string, text: string | null, readAtMs: number): IssuedKey | null {
    const cachedKey = this.#cached.get(name);
    // A later read may have been faster.
    if (cachedKey !== undefined && cachedKey.readAtMs > readAtMs) return cachedKey.key;
    if (text !== null && text === cachedKey?.text) {
      cachedKey.readAtMs = readAtMs;
      return cachedKey.key;
    }
    this.#cached.delete(name);
    if (text === null) {
      this.#absent.set(name, true);
      if (cachedKey !== undefined) this.#reportLoss(cachedKey.key);
      return null;
    }
    try {
      const key = issuedKeyFrom(text, name);
      this.#cached.set(name, { text, key, readAtMs, askedAtMs: readAtMs });
      return key;
    } catch (error) {
      if (!(error instanceof DamagedKey)) throw error;
      this.#reportDamage(error, text);
      throw new Failure(
        'UPSTREAM_UNAVAILABLE',
        "This gateway's record of the key is damaged, so nothing was run. Its operator has been told.",
        { attempts: 0, retryAfterSeconds: DAMAGED_SECONDS },
      );
    }
  }

  /** Keys are revoked, never deleted. */
  #reportLoss({ name }: IssuedKey): void {
    this.#host.problem(
      new Error(
        `The store (CACHE_URL) has lost the issued key ${name}, and maybe others: was it flushed, evicted or replaced? Restore it, or create the keys anew.`,
      ),
      'issued keys',
    );
  }

  /** Once per damaged record. */
  #reportDamage({ keyName, message }: DamagedKey, text: string): void {
    const seen = digestOf(text);
    if (this.#damaged.has(seen)) return;
    this.#damaged.set(seen, true);
    const which = keyName === null ? 'An issued key without a name' : `The issued key ${keyName}`;
    this.#host.problem(
      new Error(`${which} works nowhere, since what is stored of it is damaged. Create it anew. ${message}`),
      'issued keys',
    );
  }

  /** All keys of a name share a budget, with the terms of the newest. */
  #budgetOf(key: IssuedKey, gateway: PluginServices): OpenedBudget['budget'] {
    const { terms, budget } = this.#budgets.get(key.name) ?? this.#openBudget(key, gateway);
    if (terms.key.createdAt <= key.createdAt) terms.key = key;
    this.#budgets.set(key.name, { terms, budget });
    return budget;
  }

  #openBudget(key: IssuedKey, { openBudget }: PluginServices): OpenedBudget {
    const terms = new KeyBudget(key, this.#store, this.#host.now);
    return { terms, budget: openBudget(terms, this.#store) };
  }

  async #check(key: IssuedKey, request: GatewayRequest): Promise<void> {
    const ended = this.#ended(key);
    if (ended !== null) throw ended;
    if (key.origins.length > 0 && !isAmong(request.headers.origin, key.origins))
      throw new Failure('ORIGIN_NOT_ALLOWED', 'The request has no Origin of the sites that the key is for.');
    await this.#checkVisitor(key, request);
  }

  /** Null if the key still works. */
  #ended({ expiresAt, endsAt }: IssuedKey): Failure | null {
    const nowMs = this.#host.now();
    const ended = [expiresAt, endsAt].find((at) => isPast(at, nowMs)) ?? null;
    return ended === null ? null : new Failure('KEY_EXPIRED', `The key has worked until ${ended}.`);
  }

  /** @throws Failure if the visitor asks too often */
  async #checkVisitor(key: IssuedKey, request: GatewayRequest): Promise<void> {
    const { visitorPerMinute } = key;
    if (visitorPerMinute === null || request.isCounted) return;
    const visitor = this.#visitors.nameOf(key, request.address ?? '');
    const { count } = new HeldOperations(request);
    await this.#visitors.count(visitor, count, visitorPerMinute, this.#host.now());
  }
}

function unknownKey(): Failure {
  return new Failure('UNAUTHENTICATED', 'This gateway has issued no such key, or has revoked it.');
}
