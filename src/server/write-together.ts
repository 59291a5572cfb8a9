import type { FastifyInstance } from 'fastify';
import { IterationQueue } from '../shared/async/iteration-queue.ts';
import type { Outgoing } from './http.ts';
import type { Course } from './server-parts.ts';

/** Characters below which an answer doesn't count as waiting. */
const SHORT_LENGTH = 4_096;

/** Writes whole answers together, by an {@link IterationQueue}. If that fails, the connection is cut. */
export function writeTogether(
  app: FastifyInstance,
  course: Course,
  outgoing: Outgoing,
  problem: (error: unknown, requestId: string) => void,
): void {
  const writes = new IterationQueue();
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
