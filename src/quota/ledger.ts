import { createKeyTable } from '../cache/key-table.ts';
import type { SharedCounters } from '../cache/shared-counters.ts';
import type { Failure } from '../errors.ts';
import { Account, type QuotaRecord, type RateLimit } from './account.ts';
import { toldLimits } from './limit-text.ts';

/** Keys whose counters are kept at once; the longest unused are closed first. */
const MAX_ACCOUNTS = { proven: 10_000, unproven: 2_000 };

export interface Ledger {
  /**
   * Returns the instant at which a call for this key may leave, in milliseconds since the epoch; not after now if it
   * may at once.
   */
  opensAtMs(keyDigest: string): number;
  /** Returns the failure of a call that may not leave now. */
  refusal(keyDigest: string): Failure;
  /**
   * Bills one call that is to leave now; false if other gateways, whose counters are shared, have left none: then
   * `opensAtMs` says when there will be. At once if nobody shares counters.
   */
  take(keyDigest: string): boolean | Promise<boolean>;
  /** Learns the calls that other gateways have spent. */
  refresh(keyDigest: string): Promise<void>;
  /** Notes that the service took a call of this key. */
  accepted(keyDigest: string): void;
  /** Notes that the service answered 429, and the plan that `detail` tells. */
  limited(keyDigest: string, detail: string): Failure;
  /**
   * Returns true if the next call may be the one that a plan nobody has named yet refuses: the smallest plan's minute
   * is spent, and nothing has shown that this key has a larger one.
   */
  isDoubtful(keyDigest: string): boolean;
  quota(keyDigest: string): QuotaRecord;
  /** Returns the rest of the limits that the service has named for the key; none if it has named none. */
  limits(keyDigest: string): readonly RateLimit[];
  /**
   * Returns the same for the keys that were last in use, so many at the most; keys of which nothing was named are left
   * out.
   */
  recentLimits(most: number): readonly KeyLimits[];
  /** Returns the share of the minute's calls that is left, from 0 to 1; null if the plan may be the smallest. */
  shareLeft(keyDigest: string): number | null;
  /** Returns true if so many of the minute's calls are left that one more makes no difference. */
  hasPlenty(keyDigest: string): boolean;
}

/** Rest of the limits of one key. */
export interface KeyLimits {
  readonly keyDigest: string;
  readonly limits: readonly RateLimit[];
}

/**
 * Keeps the calls that each key has spent, by key digest. If gateways share counters, those count, and the ledger is a
 * copy to decide by at once. If they can't be reached any more, a gateway takes nothing for the rest of the minute,
 * since others may go on with the rest of its calls. In a minute in which it never reached them, it goes by its own
 * count, and takes no more than half of the calls that its copy shows to be left: another one may be doing the same.
 * Calls of other keys of the same account are not seen; the service's 429 tells.
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

  /** Has other gateways know the plan that the service has told this one. */
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
