import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import type { Store } from '../cache/store.ts';
import { Flow } from '../shared/async/turns.ts';
import type { Failure } from '../shared/errors.ts';
import type { Account } from './ledger.ts';

interface TenantTable {
  /** Milliseconds since the epoch, by a clock that never goes back. */
  readonly now: () => number;
  /** Instant at which the service last refused any key. */
  refusedAtMs: number;
  prove(tenant: Tenant): void;
}

/** Counts over all tenants, so that one that was forgotten and comes back has a generation of its own. */
let generations = 0;

/** Data calls of a key in the current interval and in the one before. */
export interface Traffic {
  interval: number;
  calls: number;
  callsBefore: number;
  /** Instant of the last call for the sources; 0 if there was none. */
  askedAtMs: number;
}

/** Milliseconds that a key counts as proven after the service's last answer. That gives it room, but no data. */
const PROVEN_MS = 60 * 60_000;

/** Milliseconds after a refusal of any key in which other keys that were never accepted are doubtful. */
const DOUBTFUL_MS = 60_000;

/** The holder of one key, and all that this process knows of it. */
export class Tenant {
  /** A keyed digest of the key, which names the tenant in stores and metrics. */
  readonly digest: string;
  readonly #table: TenantTable;
  /** The flow of work under the key, while it is proven. */
  readonly flow = new Flow();
  /** True once the service has accepted the key, so that it can't be made up. */
  isKnown = false;
  /** What is under way: a tenant that has any of it is not forgotten. */
  #kept = 0;
  operations = 0;
  /** True once the table has given its place to another. */
  isForgotten = false;
  /** Calls that the key has spent, and its plan; null before the first. */
  account: Account | null = null;
  /** Instants of the service's last verdicts, as far as this process or the store knows; 0 for never. */
  acceptedAtMs = 0;
  refusedAtMs = 0;
  /** Instant at which these were last written to the store. */
  writtenAtMs = 0;
  /** The last refusal; null if the service has accepted the key since, or has told another gateway. */
  refusal: Failure | null = null;
  /** Changes each time that anything is cached for the key, or that the key is refused. */
  generation = 0;
  /** Memoized names in the store, and the group that they count with: when it is too large, all are dropped. */
  names: { readonly among: object; readonly keys: Map<string, string> } | null = null;
  /** Data calls, by which a look at the sources is judged; null before the first. */
  traffic: Traffic | null = null;
  /** Figures from before this instant count only if a look at the sources says so; 0 for none. */
  recheckBeforeMs = 0;
  /** Instant until which the key counts as proven. */
  #provenUntilMs = 0;

  constructor(digest: string, table: TenantTable = LONE) {
    this.digest = digest;
    this.#table = table;
    this.renew();
  }

  /** True if there is no key of the service. */
  get isNobody(): boolean {
    return this.digest === NO_KEY;
  }

  /**
   * True if the service has accepted the key lately. Anybody can make up keys, so a caller without a good one gets
   * little of the memory and of the processor, and takes none away from the others.
   */
  get isProven(): boolean {
    return this.#provenUntilMs > 0 && this.#table.now() <= this.#provenUntilMs;
  }

  /** True if the service may well refuse the key: it has not accepted it lately, and has just refused some key. */
  get isDoubtful(): boolean {
    return !this.isProven && this.#table.now() - this.#table.refusedAtMs < DOUBTFUL_MS;
  }

  /** True as long as a call, an operation or a subscription of the key is under way. */
  get isKept(): boolean {
    return this.#kept > 0;
  }

  /** @returns ends it; later calls change nothing */
  keep(): () => void {
    this.#kept += 1;
    let isOver = false;
    return () => {
      if (!isOver) this.#kept -= 1;
      isOver = true;
    };
  }

  renew(): void {
    generations += 1;
    this.generation = generations;
  }

  accept(atMs = this.#table.now()): void {
    this.#provenUntilMs = atMs + PROVEN_MS;
    this.prove();
  }

  refuse(): void {
    this.#provenUntilMs = 0;
    this.#table.refusedAtMs = this.#table.now();
  }

  prove(): void {
    if (!this.isKnown) this.#table.prove(this);
  }
}

/** For a tenant that is in no table. */
const LONE: TenantTable = {
  now: Date.now,
  refusedAtMs: Number.NEGATIVE_INFINITY,
  prove(tenant) {
    tenant.isKnown = true;
  },
};

/** The owner of data that anybody may read. */
export const PUBLIC = new Tenant('public');
PUBLIC.prove();

/** Digest of callers who bring no key. */
const NO_KEY = 'none';

const MOST = { accepted: 10_000, unproven: 2_000 };

/** Headers with memoized tenants: a digest takes as long as it takes to find a cached answer. */
const MAX_AT_HAND = 256;

class LeastRecentTenants {
  readonly #most: number;
  readonly #byDigest = new Map<string, Tenant>();

  constructor(most: number) {
    this.#most = most;
  }

  find(digest: string): Tenant | undefined {
    return this.#byDigest.get(digest);
  }

  /** Makes a tenant the last one in use; if there is no room, the idle one that was in use longest ago goes. */
  put(tenant: Tenant): void {
    if (!this.#byDigest.delete(tenant.digest) && this.#byDigest.size >= this.#most) this.#forgetOne();
    this.#byDigest.set(tenant.digest, tenant);
  }

  delete(tenant: Tenant): void {
    this.#byDigest.delete(tenant.digest);
  }

  all(): MapIterator<Tenant> {
    return this.#byDigest.values();
  }

  #forgetOne(): void {
    for (const tenant of this.#byDigest.values()) {
      if (tenant.isKept) continue;
      this.delete(tenant);
      tenant.isForgotten = true;
      return;
    }
  }
}

/**
 * All tenants of this process, within bounds: known keys apart from keys that anybody can have made up, so that none of
 * the latter takes the place of one of the former.
 */
export class Tenants implements TenantTable {
  readonly now: () => number;
  refusedAtMs = Number.NEGATIVE_INFINITY;
  readonly #digest: (authorization: string) => string;
  readonly #accepted = new LeastRecentTenants(MOST.accepted);
  readonly #unproven = new LeastRecentTenants(MOST.unproven);
  /** Tenants by the headers that were last in use. */
  readonly #atHand = new Map<string, Tenant>();
  /** The tenant that was last in use. */
  #last: Tenant | null = null;

  /** @param digest makes the digest of an `Authorization` header */
  constructor(digest: (authorization: string) => string, now: () => number) {
    this.#digest = digest;
    this.now = now;
  }

  /** Finds the tenant that an `Authorization` header names; null names nobody, and so does what looks like an issued key. */
  of(authorization: string | null): Tenant {
    if (authorization === null) return this.named(NO_KEY);
    const atHand = this.#atHand.get(authorization);
    if (atHand !== undefined && !atHand.isForgotten) {
      this.#use(atHand);
      return atHand;
    }
    const tenant = this.named(looksIssued(authorization) ? NO_KEY : this.#digest(authorization));
    if (this.#atHand.size >= MAX_AT_HAND) this.#atHand.clear();
    this.#atHand.set(authorization, tenant);
    return tenant;
  }

  /** Finds a tenant by its digest, and adds one that is new. */
  named(digest: string): Tenant {
    const existing = this.find(digest);
    if (existing !== undefined) return existing;
    const tenant = new Tenant(digest, this);
    this.#use(tenant);
    return tenant;
  }

  find(digest: string): Tenant | undefined {
    if (this.#last?.digest === digest) return this.#last;
    const tenant = this.#accepted.find(digest) ?? this.#unproven.find(digest);
    if (tenant !== undefined) this.#use(tenant);
    return tenant;
  }

  prove(tenant: Tenant): void {
    tenant.isKnown = true;
    this.#unproven.delete(tenant);
    // The key of a forgotten tenant may have come back as another one.
    if (this.#accepted.find(tenant.digest) !== undefined) return;
    tenant.isForgotten = false;
    this.#last = null;
    this.#use(tenant);
  }

  /** Ends what keeps the digests the same for all who share the store. */
  stop(): void {}

  /** To be called when digests change. */
  rename(): void {
    this.#atHand.clear();
  }

  *all(): Generator<Tenant, void> {
    yield* this.#accepted.all();
    yield* this.#unproven.all();
  }

  /** The known tenants, the most recently used first. */
  accepted(): readonly Tenant[] {
    return [...this.#accepted.all()].reverse();
  }

  #use(tenant: Tenant): void {
    if (tenant === this.#last) return;
    (tenant.isKnown ? this.#accepted : this.#unproven).put(tenant);
    this.#last = tenant;
  }
}

/** The beginning of an issued key, however it is quoted or escaped; as it stands, even in the middle of a word. */
const ISSUED = [/(?<![0-9a-z])cgk[^0-9a-z]/i, /cgk_/];

/** A header may be percent-encoded so many times. */
const MOST_ENCODED = 3;

/**
 * True if a header has what looks like a key that a gateway has issued, in any spelling. It is no key of the service,
 * and goes to nobody, whether this gateway issues keys or not.
 */
export function looksIssued(authorization: string): boolean {
  let text = authorization;
  for (let times = 0; times < MOST_ENCODED; times += 1) {
    if (ISSUED.some((form) => form.test(text)) || /cgk_/i.test(inBase64(text))) return true;
    if (!text.includes('%')) return false;
    text = text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    );
  }
  return false;
}

/** Decodes the last word of a header, as Basic has it. */
function inBase64(text: string): string {
  return Buffer.from(text.slice(text.lastIndexOf(' ') + 1), 'base64').toString('latin1');
}

const PEPPER_BYTES = 32;

/** Milliseconds between looks at the pepper in the store. */
const AGREE_MS = 1_000;

/**
 * Opens the table of tenants, named by keyed digests of the `Authorization` header. Gateways that share a store must
 * agree on the pepper: if none is given, the first of them makes one and leaves it in the store; without a store it
 * lives as long as the process. A store may lose it while it runs (FLUSHALL, a file that is deleted): each gateway puts
 * it back every second, or takes over the one that another has left there.
 */
export async function openTenants(
  pepper: string | undefined,
  store: Store | null,
  now: () => number,
): Promise<Tenants> {
  let text = pepper ?? randomBytes(PEPPER_BYTES).toString('base64url');
  /** A text would be made into a key for each digest. */
  let secret = createSecretKey(text, 'utf8');
  const tenants = new Tenants((authorization) => {
    // All spellings of the scheme name the same tenant.
    const spelt = authorization.replace(/^bearer +/i, 'Bearer ');
    return createHmac('sha256', secret).update(spelt).digest('base64url');
  }, now);
  if (pepper === undefined && store !== null) {
    const agree = async () => {
      const agreed = (await store.first('pepper', text)) ?? text;
      if (agreed === text) return;
      text = agreed;
      secret = createSecretKey(text, 'utf8');
      tenants.rename();
    };
    await agree();
    const timer = setInterval(() => void agree(), AGREE_MS).unref();
    tenants.stop = () => clearInterval(timer);
  }
  return tenants;
}
