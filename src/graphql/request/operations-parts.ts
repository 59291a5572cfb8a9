import type { GraphQLSchema } from 'graphql';
import type { Config } from '../../config/config.ts';
import type { TenantCache } from '../../keys/tenant-cache.ts';
import type { Learned } from '../../observations/planner/learned.ts';
import type { Caller } from '../../service/caller.ts';
import type { Clock } from '../../shared/async/clock.ts';
import type { OperationEvent } from './operation-events.ts';
import type { PersistedTexts } from './persisted.ts';

/** What all stages of an operation share. */
export interface OperationsParts {
  readonly config: Config;
  readonly schema: GraphQLSchema;
  readonly persisted: PersistedTexts;
  readonly tenantCache: TenantCache;
  /** Operations are bounded by the sizes and limits that the service has shown. */
  readonly learned: Learned;
  /** Wall clock, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Never goes back: for ages. */
  readonly steadyNow: () => number;
  /** Timers of deadlines. */
  readonly after: Clock['after'];
  readonly onOperation: (event: OperationEvent, caller: Caller) => void;
  /** Called with an internal error, where it was met, and the request if known. */
  readonly onError: (error: unknown, where: string, requestId?: string) => void;
}
