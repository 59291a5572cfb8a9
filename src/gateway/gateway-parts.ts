import type { StoreOutage } from '../cache/outage.ts';
import type { HubLink } from '../cache/store.ts';
import type { Config } from '../config/config.ts';
import type { OperationEvent } from '../graphql/request/operation-events.ts';
import type { FiguresParts } from '../observations/client.ts';
import type { Attempt } from '../service/attempt.ts';
import type { Clock } from '../shared/async/clock.ts';
import type { openSchema } from './open-schema.ts';
import type { PluginDefinition } from './plugin.ts';

export interface Observer {
  operation(event: OperationEvent): void;
  attempt(event: Attempt): void;
  /** Called when a batch of figures leaves. */
  readonly batch?: FiguresParts['pooling']['onBatch'];
  /** Called when rows of figures have come, some of which nobody had asked for. */
  rows?(received: number, unwanted: number): void;
  /** Called when a call or a batch has waited for a minute window. */
  minuteWait?(waitedMs: number): void;
  /** Called when an outage of the store begins, and when it is over; left out to have it called a problem. */
  outage?(outage: StoreOutage): void;
  /** Called with words to the operator on what he may not have meant. */
  warn?(words: string): void;
  /** Called with an internal error of the gateway, whole, and the request that met it, if that is known. */
  problem(error: unknown, where: string, requestId?: string): void;
}

export interface GatewayParts {
  readonly config: Config;
  /** Those whose settings `config` was read with; left out for none. */
  readonly plugins?: readonly PluginDefinition[];
  readonly upstreamUrl: string;
  readonly observer: Observer;
  readonly clock?: Clock;
  /** The link to the state that processes of one program share; left out if there is one alone. */
  readonly link?: HubLink | undefined;
  /** Another way to open the schema: gateways of the same settings may share one. */
  readonly openSchema?: typeof openSchema | undefined;
  /** Returns the share of its memory that the process takes; left out if the process is not the gateway's alone. */
  readonly takenMemory?: () => number;
}
