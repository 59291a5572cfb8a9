import { writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

/** The destination of the log's lines. A writer never waits for a reader. */
export interface LogOutlet extends DestinationStream {
  /** Counts the lines that were given up so far: nobody read them, or they could not be written. */
  droppedLines(): number;
  /** Writes as much as the reader takes at once. */
  flush(): void;
}

export interface LogOutletParts {
  /**
   * Writes without waiting.
   * @returns the number of bytes that were taken
   * @throws Error with the code EAGAIN if the reader takes none at the moment
   */
  readonly write: (bytes: Buffer) => number;
  /** Characters that may wait for a reader that stalls. */
  readonly maxWaiting?: number;
}

/** Characters from which lines are written together, and the delay after which they are written anyway. */
const MIN_LENGTH = 4_096;
const MAX_DELAY_MS = 100;

const MAX_WAITING = 4 * 1_048_576;

/** Lines that are on their way. */
interface LogBatch {
  rest: Buffer;
  readonly lines: number;
  /** Number of dropped lines that the batch tells of. */
  readonly told: number;
}

/**
 * Gathers lines and writes them without waiting. The lines that wait for a reader that stalls are bounded: lines beyond
 * are dropped and counted, and a line gives their number once the reader goes on. Lines that can't be written at all
 * are dropped too.
 */
export function createLogOutlet({ write, maxWaiting = MAX_WAITING }: LogOutletParts): LogOutlet {
  let lines: string[] = [];
  let gathered = 0;
  let batch: LogBatch | null = null;
  let dropped = 0;
  /** Dropped lines that no line has told of. */
  let untold = 0;
  let timer: NodeJS.Timeout | undefined;

  function drop(count: number): void {
    dropped += count;
    untold += count;
  }

  function nextBatch(): LogBatch | null {
    if (lines.length === 0 && untold === 0) return null;
    const text = lines.join('') + (untold === 0 ? '' : lineOf(untold));
    const next = { rest: Buffer.from(text), lines: lines.length, told: untold };
    lines = [];
    gathered = 0;
    untold = 0;
    return next;
  }

  /** @returns true if the reader may take more at once */
  function send(sent: LogBatch): boolean {
    try {
      while (sent.rest.length > 0) sent.rest = sent.rest.subarray(write(sent.rest));
    } catch (error) {
      if (isStall(error)) return false;
      drop(sent.lines);
      untold += sent.told;
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
    write(line) {
      if (gathered + (batch?.rest.length ?? 0) + line.length > maxWaiting) {
        drop(1);
        return;
      }
      lines.push(line);
      gathered += line.length;
      if (gathered >= MIN_LENGTH && batch === null) flush();
      else flushLater();
    },
    droppedLines: () => dropped,
    flush,
  };
}

/** Opens standard error: lines are written soon, and before an exit as far as its reader takes them. */
export function standardError(): LogOutlet {
  // A pipe or socket that Node has opened as a stream doesn't block any more. Nothing is written by the stream itself,
  // since a stream is over for good after its first fault.
  const { fd } = process.stderr.on('error', () => {});
  const outlet = createLogOutlet({ write: (bytes) => writeSync(fd, bytes) });
  process.on('exit', outlet.flush);
  return outlet;
}

function isStall(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}

function lineOf(droppedLines: number): string {
  const msg = 'lines of the log were dropped, since they could not be written';
  return `${JSON.stringify({ level: 40, time: Date.now(), droppedLines, msg })}\n`;
}
