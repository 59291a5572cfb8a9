import { type DestinationStream, destination, pino } from 'pino';
import type { Config } from '../config.ts';
import type { Observer } from '../gateway.ts';

export interface Log extends Observer {
  /** What the operator should know of the program's own course. */
  note(message: string): void;
  /** A fault after which the program can't be trusted, whole. */
  fatal(fault: unknown, where: string): void;
}

/** Lines are written together, as soon as they make so many bytes, or after so long. */
const MIN_BYTES = 4_096;
const MAX_DELAY_MS = 100;

/**
 * One JSON line per operation and per problem. Standard output belongs to the ready line, so the log goes to standard
 * error: soon, and before an exit, so that no line is lost to one.
 */
export function createLog(level: Config['logLevel'], stream: DestinationStream = standardError()): Log {
  const log = pino({ level, base: null, hooks: { streamWrite: withoutKeys } }, stream);
  return {
    operation: ({ durationMs, ...event }) =>
      log.info({ ...event, durationMs: Math.round(durationMs) }, 'operation'),
    attempt: ({ durationMs, ...event }) =>
      log.debug({ ...event, durationMs: Math.round(durationMs) }, 'attempt'),
    problem: (error, where) => log.error({ err: error, where }, 'problem'),
    note: (message) => log.info(message),
    fatal: (fault, where) => log.fatal({ err: fault, where }, 'the program ends'),
  };
}

function standardError(): DestinationStream {
  const stream = destination({ fd: 2, sync: true, minLength: MIN_BYTES, periodicFlush: MAX_DELAY_MS });
  process.on('exit', () => stream.flushSync());
  return stream;
}

/**
 * A problem is logged whole, and no list of paths says where in an error a library left the request's headers. So keys
 * are taken out of the finished line: the value of any `authorization` field, and whatever follows the word Bearer.
 */
function withoutKeys(line: string): string {
  return line
    .replace(/("authorization"\s*:\s*)(?:"(?:[^"\\]|\\.)*"|\[[^\]]*\])/gi, '$1"[redacted]"')
    .replace(/\b(bearer\s+)[^\s"'\\,;]+/gi, '$1[redacted]');
}
