import type { Socket } from 'node:net';
import { Agent, type buildConnector, Client, type Dispatcher, Pool } from 'undici';

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

/** A handler that is told which connection its request goes over. */
export interface OverConnection {
  goesOver(connection: ServiceConnection): void;
}

/** Ways to the service. */
export interface Connections {
  /** Sends over connections that are kept alive. */
  readonly kept: Dispatcher;
  /** Sends over a new connection for each request, closed after it. */
  readonly anew: Dispatcher;
  /** Closes connections that have lain idle for as long as one that was found forgotten: the same may hold of them. */
  closeIdle(forgotten: ServiceConnection): void;
  close(): Promise<void>;
}

/** @param maxBodyBytes bytes after which a body is given up, as they come over the wire */
export function openConnections(maxBodyBytes: number): Connections {
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
      (handler as Partial<OverConnection>).goesOver?.(this.#connection);
      return super.dispatch(options, handler);
    }
  }

  const limits = { connections: MAX_CONNECTIONS, maxResponseSize: maxBodyBytes };
  const kept = new Agent({
    ...limits,
    keepAliveTimeout: 30_000,
    pipelining: 1,
    factory: (origin, options) =>
      new Pool(origin, {
        ...options,
        factory: (target, further) =>
          new Tracked(target, further as ConstructorParameters<typeof Tracked>[1]),
      }),
  });
  const anew = new Agent({ ...limits, pipelining: 0, allowH2: false });

  return {
    kept,
    anew,
    closeIdle(forgotten) {
      for (const { socket, answers, running, usedAtMs } of all) {
        if (answers > 0 && running === 0 && usedAtMs <= forgotten.usedAtMs) socket?.destroy();
      }
    },
    async close() {
      await Promise.all([kept.close(), anew.close()]);
    },
  };
}
