import type { Config } from '../config/config.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Clock } from '../shared/async/clock.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** The progress of a server's shutdown. */
export interface Course {
  /** Clients are asked to close their connections. */
  isClosing: boolean;
  /** Probes of readiness are told that the program isn't ready. */
  isLeaving: boolean;
  /** No new operations are taken. */
  isDraining: boolean;
}

export interface ServerParts {
  readonly config: Config;
  readonly gateway: Gateway;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Demo keys of the embedded sandbox by name; null if the figures are real. */
  readonly demoKeys: Readonly<Record<string, string>> | null;
  /** For the deadlines of a drain. */
  readonly clock?: Pick<Clock, 'after'>;
}
