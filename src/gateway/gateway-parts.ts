import type { StoreOutage } from '../cache/outage.ts';
import type { Config } from '../config/config.ts';
import type { OperationEvent } from '../graphql/request/operation-events.ts';
import type { FiguresParts } from '../observations/client.ts';
import type { PluginDefinition } from '../plugin/definition.ts';
import type { Attempt } from '../service/attempt.ts';
import type { Clock } from '../shared/async/clock.ts';
import type { openSchema } from './open-schema.ts';
import type { Plugin } from './plugin.ts';

export interface Observer {
  operation(event: OperationEvent): void;
  attempt(event: Attempt): void;
  /** Called when a batch of figures leaves. */
  readonly batch?: FiguresParts['pooling']['onBatch'];
  /** Called when rows of figures have come. */
  rows?(received: number, unwanted: number): void;
  /** Called when a call or a batch has waited for a minute window. */
  minuteWait?(waitedMs: number): void;
  /** Called at the beginning and the end of an outage of the store; without it, `problem` is. */
  outage?(outage: StoreOutage): void;
  /** Warns the operator of what may not be meant. */
  warn?(words: string): void;
  /** Called with internal errors. */
  problem(error: unknown, where: string, requestId?: string): void;
}

export interface RunFile {
  readonly path: string;
  readonly mostBytes: number;
}

export interface GatewayParts {
  readonly config: Config;
  /** The same as for `readConfig`. */
  readonly plugins?: readonly PluginDefinition[];
  /** The program's own, which need no views: the outermost. */
  readonly own?: readonly Plugin[];
  readonly upstreamUrl: string;
  readonly observer: Observer;
  readonly clock?: Clock;
  /** The file that the processes of one program share if the settings name no store. */
  readonly runFile?: RunFile | undefined;
  /** Another way to open the schema: gateways of the same settings may share one. */
  readonly openSchema?: typeof openSchema | undefined;
  /** The share of its budget that the process takes; left out if the process is not the gateway's alone. */
  readonly takenMemory?: () => number;
}
