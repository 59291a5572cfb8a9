import type { Socket } from 'node:net';
import { Agent, type buildConnector, Client, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import type { OutgoingProxy } from '../config/config.ts';

/** Bytes, unpacked, beyond which a body is not read: a full data call of 1,000 rows has well under 1 MiB. */
export const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** Connections to the service that are open at once; calls beyond wait for one. */
const MAX_CONNECTIONS = 64;

/** One place for a connection to the service, and the traffic over the connection that is there. */
export interface ServiceConnection {
  socket: Socket | null;
  /** Answers that have come over it. */
  answers: number;
  /** Requests that have no answer yet. */
  running: number;
  /** Time of its last answer, in milliseconds of the process. */
  usedAtMs: number;
}

/** The handler of a request that is told the connection which it goes over. */
export interface TrackedHandler {
  goesOver(connection: ServiceConnection): void;
}

/** Opens the ways to the service: over connections that are kept alive, and anew for each request. */
export function openConnections(proxy: OutgoingProxy) {
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

  const limits = { connections: MAX_CONNECTIONS, maxResponseSize: MAX_RESPONSE_BYTES };
  const tracked = (origin: string | URL, options: object) =>
    new Tracked(origin, options as ConstructorParameters<typeof Tracked>[1]);
  const open = (poolOptions: Pool.Options) => {
    const options = { ...limits, ...poolOptions };
    // A proxy that passes requests on is given its own connections, which would forget the options.
    const factory = (origin: string | URL, further: object) => new Pool(origin, { ...options, ...further });
    return proxy === null
      ? new Agent({ ...options, factory })
      : new EnvHttpProxyAgent({ ...options, ...proxy, factory });
  };
  const keepAliveAgent = open({ keepAliveTimeout: 30_000, pipelining: 1, factory: tracked });
  const anew = open({ pipelining: 0, allowH2: false });

  return {
    persistent: keepAliveAgent,
    anew,
    /** Closes connections that have lain idle for as long as one that was found forgotten: the same may hold of them. */
    closeIdle(forgotten: ServiceConnection): void {
      for (const { socket, answers, running, usedAtMs } of all) {
        if (answers > 0 && running === 0 && usedAtMs <= forgotten.usedAtMs) socket?.destroy();
      }
    },
    async close() {
      await Promise.all([keepAliveAgent.close(), anew.close()]);
    },
  };
}
