import type { Ledger, QuotaRecord } from '../../keys/ledger.ts';
import type { Tenant } from '../../keys/tenant.ts';
import type { TenantCache } from '../../keys/tenant-cache.ts';
import type { ObservationClient } from '../../observations/client.ts';
import type { ObservationEntries } from '../../observations/entries.ts';
import type { Planning } from '../../observations/planner/modes.ts';
import type { Ask } from '../../service/cached-lists.ts';
import type { Caller } from '../../service/caller.ts';
import type { Clock } from '../../shared/async/clock.ts';
import type { Failure } from '../../shared/errors.ts';
import type { Admission } from '../request/admission.ts';
import type { OpenRun } from '../request/operation-run.ts';
import type { OperationsParts } from '../request/operations-parts.ts';
import type { Wording } from '../request/prefixed.ts';
import type { GatewayRequest } from '../request/requests.ts';

/** What subscriptions take of a gateway. */
export interface LiveMeans {
  /**
   * Admits a long-lived request, if the terms of its key allow it.
   * @throws Failure if they don't, or there is no such key
   */
  enter(request: GatewayRequest): Promise<Entered>;
  /** Translates to the names that routers use; null if routers see what clients see. */
  readonly wording: Wording | null;
  /** What operations run with. */
  readonly operations: OperationMeans;
  /** The way to the service for what is no operation, planned, paced and billed all the same. */
  readonly service: ServiceMeans;
}

export interface Entered {
  readonly caller: Caller;
  /** Calls back if the key becomes invalid; returns a function that ends that. Left out for keys of the service. */
  readonly watch?: ((onEnd: (failure: Failure) => void) => () => void) | undefined;
}

export interface OperationMeans extends OperationsParts {
  readonly openRun: OpenRun;
  readonly admission: Admission;
}

export interface ServiceMeans {
  readonly ask: Ask;
  readonly observations: ObservationClient;
  readonly entries: ObservationEntries;
  readonly tenantCache: TenantCache;
  readonly ledger: Ledger;
  readonly quota: (tenant: Tenant) => Promise<QuotaRecord>;
  readonly clock: Clock;
  readonly steadyNow: () => number;
  readonly planning: Planning;
}
