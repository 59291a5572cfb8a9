import type { Socket } from 'node:net';
import { Agent, type buildConnector, Client, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import type { OutgoingProxy } from '../config/config.ts';

/** Largest body that is read, in decompressed bytes: a full data call of 1,000 rows has well under 1 MiB. */
export const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** Open connections to the service; further calls wait for one. */
const MAX_CONNECTIONS = 64;

/** One of undici's clients, and the traffic over its current socket. */
export interface ServiceConnection {
  socket: Socket | null;
  /** Answers received over the socket. */
  answers: number;
  /** Requests without an answer yet. */
  running: number;
  /** Time of the last answer, by `performance.now()`. */
  usedAtMs: number;
}

/** A request's handler that is told its connection. */
export interface TrackedHandler {
  goesOver(connection: ServiceConnection): void;
}

/**
 * Opens two dispatchers: one keeps connections alive, the other opens one per request. Each request has a connection of
 * its own: undici would have all requests to an address wait for the first connection, to learn if it speaks HTTP/2, and
 * share it then, so that one which hangs would hold them all.
 * @param timeoutMs for opening a connection: a tunnel through a proxy, and the handshake within it
 */
export function openConnections(proxy: OutgoingProxy, timeoutMs: number) {
  const all = new Set<ServiceConnection>();

  class Tracked extends Client {
    readonly #connection: ServiceConnection;

    constructor(origin: string | URL, options: Client.Options & { connect: buildConnector.connector }) {
      const connection: ServiceConnection = { socket: null, answers: 0, running: 0, usedAtMs: 0 };
      super(origin, {
        ...options,
        connect: (target, callback) =>
          options.connect(target, (...[error, socket]) => {
            if (error !== null) return callback(error, null);
            Object.assign(connection, { socket, answers: 0, running: 0 });
            all.add(connection);
            socket.once('close', () => all.delete(connection));
            return callback(null, socket);
          }),
      });
      this.#connection = connection;
    }

    override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      if ('goesOver' in handler) (handler as TrackedHandler).goesOver(this.#connection);
      return super.dispatch(options, handler);
    }
  }

  const limits = {
    connections: MAX_CONNECTIONS,
    maxResponseSize: MAX_RESPONSE_BYTES,
    allowH2: false,
    connectTimeout: timeoutMs,
  };
  const tracked = (origin: string | URL, options: object) =>
    new Tracked(origin, options as ConstructorParameters<typeof Tracked>[1]);
  const open = (poolOptions: Pool.Options) => {
    const options = { ...limits, ...poolOptions };
    // Without a factory, EnvHttpProxyAgent would open pools without these options.
    const factory = (origin: string | URL, further: object) => new Pool(origin, { ...options, ...further });
    return proxy === null
      ? new Agent({ ...options, factory })
      : new EnvHttpProxyAgent({
          ...options,
          ...proxy,
          factory,
          // A request for a tunnel has only the deadline of its client, by default five minutes.
          clientFactory: (origin, further) =>
            new Pool(origin, { ...further, allowH2: false, headersTimeout: timeoutMs }),
          proxyTls: { allowH2: false },
        });
  };
  const keepAliveAgent = open({ keepAliveTimeout: 30_000, pipelining: 1, factory: tracked });
  const anew = open({ pipelining: 0 });

  return {
    persistent: keepAliveAgent,
    anew,
    /** Closes connections that have been idle at least as long as one that was found closed: they may be closed too. */
    closeIdle(forgotten: ServiceConnection): void {
      for (const { socket, answers, running, usedAtMs } of all) {
        if (answers > 0 && running === 0 && usedAtMs <= forgotten.usedAtMs) socket?.destroy();
      }
    },
    /** Not undici's `close`, which would wait for connections that nobody waits for any longer. */
    async close() {
      await Promise.all([keepAliveAgent.destroy(), anew.destroy()]);
    },
  };
}
