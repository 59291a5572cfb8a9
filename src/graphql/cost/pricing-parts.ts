import type { QuotaRecord } from '../../keys/ledger.ts';
import type { Tenant } from '../../keys/tenant.ts';
import type { FiguresParts } from '../../observations/client.ts';
import type { TickersLearned } from '../../observations/loaders/tickers.ts';
import type { Caller } from '../../service/caller.ts';
import type { Plan } from '../execution/plan.ts';
import type { openGivenLists } from './given-lists.ts';

export interface PricedOperation {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly caller: Caller;
  readonly plan: Plan;
}

export interface PricingParts {
  readonly figures: FiguresParts;
  readonly given: ReturnType<typeof openGivenLists>;
  readonly tickersLearned: TickersLearned;
  readonly maxUpstreamCalls: number;
  readonly maxListItems: number;
  readonly quota: (tenant: Tenant) => Promise<QuotaRecord>;
}

/**
 * What a price assumes of the unknown. `expected`: every figure exists, and lists and records have their documented
 * size. `least`: nothing exists.
 */
export interface Supposition {
  readonly supposed: 'expected' | 'least';
  /** The fraction of an unknown list's rows that a filter is assumed to let through, from 0 to 1. */
  readonly share: number;
}
