import { NO_TENANT_CACHE } from '../../src/keys/tenant-cache.ts';
import type { FiguresParts } from '../../src/observations/client.ts';
import { createObservationEntries } from '../../src/observations/entries.ts';
import { createLearned } from '../../src/observations/planner/learned.ts';
import { systemClock } from '../../src/shared/async/clock.ts';

/** Entries that hold nothing. */
export const NO_ENTRIES = createObservationEntries(NO_TENANT_CACHE);

type Flat = FiguresParts['planning'] &
  FiguresParts['service'] &
  FiguresParts['cache'] &
  FiguresParts['pooling'] &
  FiguresParts['renewal'] &
  Pick<FiguresParts['leasing'], 'inFlight'> & {
    readonly othersEntries: FiguresParts['leasing']['entries'];
    readonly othersTtlMs: number;
  };

export type FurtherParts = Partial<Flat>;

/** The parts of the figures over a service that is not there, with nothing cached and no other gateway: side by side. */
export function flatPartsWith(further: FurtherParts = {}): Flat {
  return {
    send: () => Promise.reject(new Error('No call is expected.')),
    ask: () => null,
    now: () => 0,
    clock: systemClock,
    learned: createLearned(),
    codesPerCall: 250,
    overfetchRows: 500,
    tenantCache: NO_TENANT_CACHE,
    freshness: { ttlMs: 1_000, staleMs: 5_000 },
    entries: NO_ENTRIES,
    save() {},
    inFlight: { cache: null, together: async () => {} },
    othersEntries: NO_ENTRIES,
    othersTtlMs: 0,
    refusedNames: { areNone: true, of: () => undefined, add() {} },
    outage: { failure: () => null },
    ledger: {} as FiguresParts['pooling']['ledger'],
    windowMs: 0,
    holdMs: 0,
    mayRenew: false,
    maxAskedLately: 0,
    ...further,
  };
}

/** The same by the stages that take them. */
export function partsWith(further: FurtherParts = {}): FiguresParts {
  const flat = flatPartsWith(further);
  const leasing = { ...flat, entries: flat.othersEntries, ttlMs: flat.othersTtlMs };
  return { planning: flat, service: flat, cache: flat, pooling: flat, renewal: flat, leasing, events: {} };
}
