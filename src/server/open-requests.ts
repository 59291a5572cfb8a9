import type { FastifyInstance, FastifyReply } from 'fastify';

/** Requests whose answers have not left yet. */
export function watchOpenRequests(app: FastifyInstance) {
  const open = new Set<FastifyReply>();
  let lastClosed = () => {};
  app.addHook('onRequest', (_request, reply, done) => {
    open.add(reply);
    reply.raw.once('close', () => {
      open.delete(reply);
      if (open.size === 0) lastClosed();
    });
    done();
  });
  return {
    get count() {
      return open.size;
    },
    /** Those that the gateway still works on: the others wait for their clients. */
    get underWay() {
      let count = 0;
      for (const reply of open) count += Number(!waitsForClient(reply));
      return count;
    },
    none(): Promise<void> {
      if (open.size === 0) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      lastClosed = resolve;
      return promise;
    },
  };
}

/** True if the client has to send the rest of its request, or to take its answer. */
function waitsForClient({ request, raw }: FastifyReply): boolean {
  if (raw.writableEnded || !request.raw.complete) return true;
  // Once an answer has begun, all of it is known, unless it comes in parts.
  return raw.headersSent && !String(raw.getHeader('content-type')).startsWith('multipart/');
}
