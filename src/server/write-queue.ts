import type { FastifyInstance } from 'fastify';
import type { Outgoing } from './http.ts';
import type { Course } from './server-parts.ts';

/** Characters below which an answer doesn't count as waiting. */
const SHORT_LENGTH = 4_096;

/** Writes whole answers by a {@link WriteQueue}. If that fails, the connection is cut. */
export function writeTogether(
  app: FastifyInstance,
  course: Course,
  outgoing: Outgoing,
  problem: (error: unknown, requestId: string) => void,
): void {
  const writes = new WriteQueue();
  app.addHook('onSend', (request, reply, payload, done) => {
    if (course.isClosing) reply.header('connection', 'close');
    const isString = typeof payload === 'string';
    if (!isString && !Buffer.isBuffer(payload)) {
      done(null, payload);
      return;
    }
    writes.add(function writeAnswer() {
      const { socket } = request.raw;
      try {
        if (isString && payload.length < SHORT_LENGTH) done(null, payload);
        else {
          const body = isString ? Buffer.from(payload) : payload;
          done(null, body);
          outgoing.add(reply.raw, socket, body);
        }
      } catch (error) {
        problem(error, request.id);
        socket.destroy();
      }
    });
  });
}

/** Milliseconds that the first of several writes waits at most. */
const LONGEST_WAIT_MS = 1;

/**
 * Writes answers together at the end of the event loop's iteration. A client on the same machine that was woken for
 * each of them would take turns with the gateway, and waking it costs as much as the write. In a long iteration,
 * answers don't wait for its end.
 */
export class WriteQueue {
  readonly #waiting: (() => void)[] = [];
  #sinceMs = 0;

  /** @param write must not throw */
  add(write: () => void): void {
    const nowMs = performance.now();
    if (this.#waiting.length === 0) {
      this.#sinceMs = nowMs;
      setImmediate(this.#writeAll);
    }
    this.#waiting.push(write);
    if (nowMs - this.#sinceMs > LONGEST_WAIT_MS) this.#writeAll();
  }

  readonly #writeAll = () => {
    for (const write of this.#waiting.splice(0)) write();
  };
}
