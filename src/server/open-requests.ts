import type { FastifyInstance, FastifyReply } from 'fastify';

/** Counts the requests whose answers have not left yet. */
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
    /** Number of them that the gateway still works on: the others wait for their clients to take or to send. */
    get underWay() {
      let count = 0;
      for (const reply of open) count += Number(!waitsForClient(reply));
      return count;
    },
    /** Resolves once there is none. */
    none(): Promise<void> {
      if (open.size === 0) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      lastClosed = resolve;
      return promise;
    },
  };
}

/** True if only the client's part is left: to send the rest of its request, or to take its answer. */
function waitsForClient({ request, raw }: FastifyReply): boolean {
  if (raw.writableEnded || !request.raw.complete) return true;
  // An answer that is written while it is read begins once all of it is known; one in parts may still have some to come.
  return raw.headersSent && !String(raw.getHeader('content-type')).startsWith('multipart/');
}
