import type { GraphQLSchema } from 'graphql';
import type { Config } from '../../config/config.ts';
import type { TenantCache } from '../../keys/tenant-cache.ts';
import type { Learned } from '../../observations/planner/learned.ts';
import type { Caller } from '../../service/caller.ts';
import type { OperationEvent } from './operation-events.ts';
import type { PersistedTexts } from './persisted.ts';

/** The settings, the schema and the means that all stages of an operation have. */
export interface OperationsParts {
  readonly config: Config;
  readonly schema: GraphQLSchema;
  readonly persisted: PersistedTexts;
  readonly tenantCache: TenantCache;
  /** Sizes and limits that the service has shown: operations are bounded by them. */
  readonly learned: Learned;
  /** The wall clock, in milliseconds since the epoch. */
  readonly now: () => number;
  /** The same without steps back, to tell how old things are. */
  readonly steadyNow: () => number;
  readonly onOperation: (event: OperationEvent, caller: Caller) => void;
  /** Called with an error of our own, the place that met it, and the request, if that is known. */
  readonly onError: (error: unknown, where: string, requestId?: string) => void;
}
