import type { Failure } from '../errors.ts';
import type { Effort } from '../loaders/effort.ts';
import { createLoaders, type Loaders, type LoadersParts } from '../loaders/loaders.ts';
import type { BatchGate } from '../observations/batch-gate.ts';
import type { QuotaRecord } from '../quota/account.ts';
import type { Bill, Caller } from '../upstream/call.ts';
import { createWarnings, type Warnings } from '../warnings.ts';
import type { LiveSources } from './live.ts';

/** The means of one operation's resolvers. */
export interface GraphContext {
  readonly caller: Caller;
  readonly bill: Bill;
  readonly loaders: Loaders;
  readonly batchGate: BatchGate;
  readonly effort: Effort;
  /** True if graphql-js executes the operation, which counts no items of lists by itself. */
  readonly isByGraphqlJs?: boolean;
  readonly warnings: Warnings;
  /** Rows of one page. */
  readonly maxListItems: number;
  readonly quota: () => Promise<QuotaRecord>;
  /** Returns the failure by which the service has just refused the key; null if it hasn't. */
  readonly keyRefusal?: (() => Failure | null) | undefined;
  /** The source of subscriptions' events; only there while a subscription begins. */
  readonly live?: LiveSources;
}

export interface ContextParts
  extends LoadersParts,
    Pick<GraphContext, 'quota' | 'keyRefusal' | 'maxListItems'> {}

/** Puts together the means of one operation's resolvers. */
export function openContext(parts: ContextParts): GraphContext {
  const { sending, batchGate, effort, quota, keyRefusal, maxListItems } = parts;
  const { caller, bill } = sending;
  return {
    caller,
    bill,
    loaders: createLoaders(parts),
    batchGate,
    effort,
    warnings: createWarnings(),
    maxListItems,
    quota,
    keyRefusal,
  };
}
