import { type DestinationStream, pino } from 'pino';
import type { Config } from '../config.ts';
import { excerpt } from '../errors.ts';
import type { Observer } from '../gateway.ts';
import { countsOf } from '../operations/told-errors.ts';
import { boundedFault } from './bounded-fault.ts';
import { type LogOutlet, standardError } from './log-outlet.ts';

export interface Log extends Observer {
  /** Tells the operator about the program's own course. */
  note(message: string): void;
  /** Warns of a setting that the operator may not have meant. */
  warn(message: string): void;
  /** Logs a fault after which the program can't be trusted, whole. */
  fatal(fault: unknown, where: string): void;
  /** Counts the lines that were given up so far, since nobody read them. */
  droppedLines(): number;
}

/**
 * Writes one JSON line per operation and per problem. Standard output belongs to the ready line, so the log goes to
 * standard error.
 * @param worker the number of the worker that each line is of; left out if there is one process
 */
export function createLog(
  level: Config['logLevel'],
  outlet: DestinationStream & Partial<LogOutlet> = standardError(),
  worker?: number,
): Log {
  const log = pino(
    {
      level,
      base: worker === undefined ? null : { worker },
      hooks: { streamWrite: withoutKeys },
      serializers: { err: boundedFault },
    },
    outlet,
  );
  return {
    operation(event) {
      if (!log.isLevelEnabled('info')) return;
      const { name, durationMs, errorCodes, isProven: _, ...others } = event;
      log.info(
        {
          name: name && excerpt(name),
          ...others,
          durationMs: Math.round(durationMs),
          errorCodes: countsOf(errorCodes),
        },
        'operation',
      );
    },
    attempt: ({ durationMs, ...event }) =>
      log.debug({ ...event, durationMs: Math.round(durationMs) }, 'attempt'),
    problem: (error, where, requestId) => log.error({ err: error, where, requestId }, 'problem'),
    note: (message) => log.info(message),
    warn: (message) => log.warn(message),
    fatal: (fault, where) => log.fatal({ err: fault, where }, 'the program ends'),
    droppedLines: () => outlet.droppedLines?.() ?? 0,
  };
}

/**
 * Takes keys out of a finished line: the value of any `authorization` field, and any text after the word Bearer. A
 * problem is logged whole, and no list of paths tells the place in an error at which a library left the request's
 * headers.
 */
function withoutKeys(line: string): string {
  return line
    .replace(/("authorization"\s*:\s*)(?:"(?:[^"\\]|\\.)*"|\[[^\]]*\])/gi, '$1"[redacted]"')
    .replace(/\b(bearer\s+)[^\s"'\\,;]+/gi, '$1[redacted]');
}
