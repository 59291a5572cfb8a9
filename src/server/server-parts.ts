import type { Config } from '../config/config.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** The progress of a server on the way to its end. */
export interface Course {
  /** Set once clients are asked to close their connections. */
  isClosing: boolean;
  /** Set once probes of readiness are told that the program isn't ready. */
  isLeaving: boolean;
  /** Set once no new operations are taken. */
  isDraining: boolean;
}

export interface ServerParts {
  readonly config: Config;
  readonly gateway: Gateway;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Demo keys of the embedded sandbox by name; null if the figures are real. */
  readonly demoKeys: Readonly<Record<string, string>> | null;
}
