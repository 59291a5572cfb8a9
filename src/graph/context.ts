import type { Effort } from '../loaders/effort.ts';
import type { Loaders } from '../loaders/loaders.ts';
import type { BatchGate } from '../observations/batch-gate.ts';
import type { QuotaRecord } from '../quota/account.ts';
import type { Bill, Caller } from '../upstream/call.ts';
import type { Warnings } from '../warnings.ts';

/** What the resolvers of one operation have at hand. */
export interface GraphContext {
  readonly caller: Caller;
  readonly bill: Bill;
  readonly loaders: Loaders;
  readonly batchGate: BatchGate;
  readonly effort: Effort;
  /** Whether graphql-js executes the operation, which counts no items of lists by itself. */
  readonly isByGraphqlJs?: boolean;
  readonly warnings: Warnings;
  readonly quota: () => Promise<QuotaRecord>;
}
