import { writeSync } from 'node:fs';
import { type DestinationStream, pino, stdSerializers } from 'pino';
import type { Config } from '../config/config.ts';
import type { Observer } from '../gateway/gateway-parts.ts';
import { countsOf } from '../graphql/request/shown-errors.ts';
import { excerpt } from '../shared/errors.ts';

/** Bytes of an error as JSON. With the rest of its line it stays below the 16 kB at which Docker's logs split lines. */
const MAX_BYTES = 15_000;

/** Characters of the texts of an error and of those further below, of which the first that fit are taken. */
const TEXT_LENGTHS = [
  [12_000, 12_000],
  [4_000, 1_000],
  [1_500, 200],
  [200, 20],
] as const;

/** Characters that are read of an error at all. */
const MAX_LENGTH = 65_536;
const MAX_ITEMS = 20;
const MAX_DEPTH = 8;

/** Cuts a long error, and says how much was left out. */
function boundedError(error: unknown): unknown {
  const read = error instanceof Error ? stdSerializers.err(withFewErrors(error)) : error;
  for (const lengths of TEXT_LENGTHS) {
    const bounded = withShortTexts(read, lengths);
    if (bytesOf(bounded) <= MAX_BYTES) return bounded;
  }
  return { message: 'an error of too many parts for a line' };
}

function bytesOf(value: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(value) ?? '');
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function withShortTexts(error: unknown, [ofError, below]: readonly [number, number]): unknown {
  let left = MAX_LENGTH;
  const spend = (text: string, depth: number): string => {
    const most = Math.min(depth >= MAX_DEPTH - 1 ? ofError : below, left);
    left -= Math.min(text.length, most);
    return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} characters more)`;
  };
  const bound = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return spend(value, depth);
    if (typeof value === 'bigint') return String(value);
    // JSON.stringify calls `toJSON`, so its members don't matter.
    if (typeof value !== 'object' || value === null || 'toJSON' in value) return value;
    if (depth === 0 || left <= 0) return '…';
    if (Array.isArray(value)) {
      const omittedCount = value.length - MAX_ITEMS;
      const items = value.slice(0, MAX_ITEMS).map((item) => bound(item, depth - 1));
      return omittedCount > 0 ? [...items, `… (${omittedCount} more)`] : items;
    }
    const entries: [string, unknown][] = [];
    for (const [name, item] of Object.entries(value)) {
      if (left <= 0) break;
      entries.push([spend(name, depth), bound(item, depth - 1)]);
    }
    return Object.fromEntries(entries);
  };
  return bound(error, MAX_DEPTH);
}

/** The stacks of thousands of errors would take seconds. */
function withFewErrors(error: Error): Error {
  if (!(error instanceof AggregateError) || error.errors.length <= MAX_ITEMS) return error;
  return Object.create(error, {
    errors: { value: error.errors.slice(0, MAX_ITEMS) },
    errorsLeftOut: { value: error.errors.length - MAX_ITEMS, enumerable: true },
  });
}

/** Characters after which gathered lines are written, and the delay after which they are written anyway. */
const MIN_LENGTH = 4_096;
const MAX_DELAY_MS = 100;

const MAX_WAITING = 4 * 1_048_576;

interface LogBatch {
  rest: Buffer;
  readonly lines: number;
  /** Dropped lines that the batch reports. */
  readonly reported: number;
}

/**
 * Gathers lines and writes them without waiting. Lines that wait for a slow reader are bounded: those beyond are
 * dropped and counted, and a line gives their number once the reader goes on. Lines that can't be written at all are
 * dropped too.
 * @param write writes without waiting, and returns the number of bytes that were taken; throws an Error with the code
 * EAGAIN if the reader takes none at the moment
 * @param maxWaiting characters that may wait
 */
export function createLogOutlet(write: (bytes: Buffer) => number, maxWaiting = MAX_WAITING) {
  let lines: string[] = [];
  let gathered = 0;
  let batch: LogBatch | null = null;
  let dropped = 0;
  /** Dropped lines that no line has reported yet. */
  let unreported = 0;
  let timer: NodeJS.Timeout | undefined;

  function drop(count: number): void {
    dropped += count;
    unreported += count;
  }

  function nextBatch(): LogBatch | null {
    if (lines.length === 0 && unreported === 0) return null;
    const text = lines.join('') + (unreported === 0 ? '' : lineOf(unreported));
    const next = { rest: Buffer.from(text), lines: lines.length, reported: unreported };
    lines = [];
    gathered = 0;
    unreported = 0;
    return next;
  }

  /** @returns true if the reader may take more at once */
  function send(sent: LogBatch): boolean {
    try {
      while (sent.rest.length > 0) sent.rest = sent.rest.subarray(write(sent.rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return false;
      drop(sent.lines);
      unreported += sent.reported;
      batch = null;
      return false;
    }
    batch = null;
    return true;
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    for (;;) {
      batch ??= nextBatch();
      if (batch === null || !send(batch)) break;
    }
    if (batch !== null) flushLater();
  }

  function flushLater(): void {
    timer ??= setTimeout(flush, MAX_DELAY_MS).unref();
  }

  return {
    write(line: string): void {
      if (gathered + (batch?.rest.length ?? 0) + line.length > maxWaiting) {
        drop(1);
        return;
      }
      lines.push(line);
      gathered += line.length;
      if (gathered >= MIN_LENGTH && batch === null) flush();
      else flushLater();
    },
    /** Lines that were dropped so far. */
    droppedLines: () => dropped,
    /** Writes as much as the reader takes without waiting. */
    flush,
  };
}

/** Lines are written before an exit as far as the reader takes them. */
export function standardError() {
  // Node's stream makes a pipe or socket non-blocking. Nothing is written by the stream itself, since a stream is over
  // for good after its first error.
  const { fd } = process.stderr.on('error', () => {});
  const outlet = createLogOutlet((bytes) => writeSync(fd, bytes));
  process.on('exit', outlet.flush);
  return outlet;
}

function lineOf(droppedLines: number): string {
  const msg = 'lines of the log were dropped, since they could not be written';
  return `${JSON.stringify({ level: 40, time: Date.now(), droppedLines, msg })}\n`;
}

export interface Log extends Observer {
  note(message: string): void;
  /** Warns of a setting that the operator may not have meant. */
  warn(message: string): void;
  /** Logs an error after which the program can't be trusted. */
  fatal(error: unknown, where: string): void;
  droppedLines(): number;
}

/**
 * Writes one JSON line per operation and per problem, to standard error, since standard output is for the ready line.
 * @param worker the number of the worker that writes; left out if there is one process
 */
export function createLog(
  level: Config['logLevel'],
  outlet: DestinationStream & Partial<ReturnType<typeof standardError>> = standardError(),
  worker?: number,
): Log {
  const log = pino(
    {
      level,
      base: worker === undefined ? null : { worker },
      hooks: { streamWrite: withoutKeys },
      serializers: { err: boundedError },
    },
    outlet,
  );
  return {
    operation(event) {
      if (!log.isLevelEnabled('info')) return;
      const { name, durationMs, errorCodes, isProven: _, ...rest } = event;
      log.info(
        {
          name: name && excerpt(name),
          ...rest,
          durationMs: Math.round(durationMs),
          errorCodes: countsOf(errorCodes),
        },
        'operation',
      );
    },
    attempt(event) {
      if (log.isLevelEnabled('debug'))
        log.debug({ ...event, durationMs: Math.round(event.durationMs) }, 'attempt');
    },
    problem: (error, where, requestId) => log.error({ err: error, where, requestId }, 'problem'),
    outage(outage) {
      const fields = { setting: 'CACHE_URL', isOver: outage.isOver };
      if (outage.isOver) log.info(fields, outage.message);
      else log.warn(fields, outage.message);
    },
    note: (message) => log.info(message),
    warn: (message) => log.warn(message),
    fatal: (error, where) => log.fatal({ err: error, where }, 'the program ends'),
    droppedLines: () => outlet.droppedLines?.() ?? 0,
  };
}

/**
 * Redacts keys in a finished line: the value of any `authorization` field, and any text after the word Bearer. Paths
 * would not do, since a library may leave the request's headers anywhere in an error.
 */
function withoutKeys(line: string): string {
  return line
    .replace(/("authorization"\s*:\s*)(?:"(?:[^"\\]|\\.)*"|\[[^\]]*\])/gi, '$1"[redacted]"')
    .replace(/\b(bearer\s+)[^\s"'\\,;]+/gi, '$1[redacted]');
}
