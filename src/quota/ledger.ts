import { createKeyTable } from '../cache/key-table.ts';
import type { SharedCounters } from '../cache/shared-counters.ts';
import type { Failure } from '../errors.ts';
import { Account, type QuotaRecord, type RateLimit } from './account.ts';
import { toldLimits } from './limit-text.ts';

/** Keys whose counters are kept at once; the longest unused are closed first. */
const MAX_ACCOUNTS = { proven: 10_000, unproven: 2_000 };

export interface Ledger {
  /** When a call for this key may leave (milliseconds since the epoch); not after now if it may at once. */
  opensAtMs(keyDigest: string): number;
  /** Why a call may not leave now. */
  refusal(keyDigest: string): Failure;
  /**
   * Bills one request that is to leave now; false where other gateways, whose counters are shared, have left none: then
   * `opensAtMs` says when there will be. At once where nobody shares counters.
   */
  take(keyDigest: string): boolean | Promise<boolean>;
  /** Learns what other gateways have spent. */
  refresh(keyDigest: string): Promise<void>;
  /** The service took a request of this key. */
  accepted(keyDigest: string): void;
  /** The service answered 429: remembers it, and what `detail` says of the plan. */
  limited(keyDigest: string, detail: string): Failure;
  /**
   * Whether the next call may be the one that a plan nobody has named yet refuses: the smallest plan's minute is spent,
   * and nothing has shown that this key has a larger one.
   */
  isDoubtful(keyDigest: string): boolean;
  quota(keyDigest: string): QuotaRecord;
  /** What is left of the limits that the service has named for the key; none where it has named none. */
  limits(keyDigest: string): readonly RateLimit[];
  /** The same for the keys that were last in use, so many at the most; keys of which nothing was named are left out. */
  recentLimits(most: number): readonly KeyLimits[];
  /** Share of the minute's requests that is left, from 0 to 1; null where the plan may be the smallest. */
  shareLeft(keyDigest: string): number | null;
  /** Whether so many of the minute's requests are left that one more makes no difference. */
  hasPlenty(keyDigest: string): boolean;
}

/** What is left of the limits of one key. */
export interface KeyLimits {
  readonly keyDigest: string;
  readonly limits: readonly RateLimit[];
}

/**
 * Keeps what each key has spent, by key digest. Where gateways share counters, those count, and what stands here is a copy to decide by at once. Where
 * they can't be reached any more, a gateway takes nothing for the rest of the minute, since others may go on with what is
 * left. In a minute in which it never reached them, it goes by its own count, and takes no more than half of what its copy
 * shows to be left: another one may be doing the same. What other keys of the same account spend is not seen; the
 * service's 429 tells.
 */
export function createLedger(now: () => number, sharedCounters: SharedCounters | null = null): Ledger {
  const accounts = createKeyTable<Account>(MAX_ACCOUNTS);

  function accountOf(keyDigest: string): Account {
    const nowMs = now();
    const known = accounts.get(keyDigest);
    if (known !== undefined) return known.enter(nowMs);
    const account = new Account(nowMs);
    accounts.add(keyDigest, account);
    return account;
  }

  /** Has other gateways know what the service has told this one. */
  function share(keyDigest: string, account: Account): void {
    void sharedCounters?.note(keyDigest, account.note());
  }

  function probe(keyDigest: string, account: Account): void {
    if (account.probe(now())) share(keyDigest, account);
  }

  async function takeShared(counters: SharedCounters, keyDigest: string): Promise<boolean> {
    const snapshot = await counters.take(keyDigest, accountOf(keyDigest).window(now()));
    const account = accountOf(keyDigest);
    if (snapshot !== null) account.copy(snapshot);
    const isTaken = snapshot !== null && account.isMinuteShared ? snapshot.isTaken : account.takeAlone();
    if (isTaken) probe(keyDigest, account);
    return isTaken;
  }

  return {
    opensAtMs: (keyDigest) => accountOf(keyDigest).opensAtMs(now()),
    refusal: (keyDigest) => accountOf(keyDigest).refusal(now()),
    take(keyDigest) {
      const account = accountOf(keyDigest);
      if (sharedCounters === null) {
        account.count();
        probe(keyDigest, account);
        return true;
      }
      return takeShared(sharedCounters, keyDigest);
    },
    async refresh(keyDigest) {
      const snapshot = await sharedCounters?.read(keyDigest, accountOf(keyDigest).window(now()));
      if (snapshot) accountOf(keyDigest).copy(snapshot);
    },
    accepted(keyDigest) {
      const account = accountOf(keyDigest);
      accounts.prove(keyDigest);
      if (account.accept()) share(keyDigest, account);
    },
    limited(keyDigest, detail) {
      const account = accountOf(keyDigest);
      accounts.prove(keyDigest);
      const told = toldLimits(detail);
      account.limit(told, now());
      share(keyDigest, account);
      return account.refusal(now(), detail, told.isMonthly);
    },
    isDoubtful: (keyDigest) => accountOf(keyDigest).isDoubtful(),
    quota: (keyDigest) => accountOf(keyDigest).quota(),
    limits(keyDigest) {
      const nowMs = now();
      return accounts.get(keyDigest)?.enter(nowMs).limits(nowMs) ?? [];
    },
    recentLimits(most) {
      const nowMs = now();
      const recent: KeyLimits[] = [];
      for (const [keyDigest, account] of accounts.provenEntries()) {
        if (recent.length === most) break;
        const limits = account.enter(nowMs).limits(nowMs);
        if (limits.length > 0) recent.push({ keyDigest, limits });
      }
      return recent;
    },
    shareLeft: (keyDigest) => accountOf(keyDigest).shareLeft(),
    hasPlenty: (keyDigest) => accountOf(keyDigest).hasPlenty(),
  };
}
