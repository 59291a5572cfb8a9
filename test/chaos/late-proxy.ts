import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface LateProxyOrder {
  /** The port on this machine that it stands before. */
  readonly port: number;
  readonly lateMs: number;
  /** Draws for each reply if it is late. */
  readonly isLate: () => boolean;
}

export interface LateProxy {
  readonly port: number;
  /** Replies so far, and the late ones among them. */
  readonly counts: { replies: number; late: number };
  [Symbol.asyncDispose](): Promise<void>;
}

/** Stands before a server and has some of its replies come late. Later ones of a connection wait behind them, as TCP has it. */
export async function openLateProxy({ port, lateMs, isLate }: LateProxyOrder): Promise<LateProxy> {
  const counts = { replies: 0, late: 0 };
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect(port, '127.0.0.1');
    /** Replies that wait behind a late one, in their order; null while none is late. */
    let waiting: Buffer[] | null = null;
    client.on('data', (chunk) => void target.write(chunk));
    target.on('data', (chunk) => {
      counts.replies += 1;
      if (waiting !== null) return void waiting.push(chunk);
      if (!isLate()) return void client.write(chunk);
      counts.late += 1;
      waiting = [chunk];
      setTimeout(() => {
        client.write(Buffer.concat(waiting ?? []));
        waiting = null;
      }, lateMs);
    });
    for (const [end, other] of [
      [client, target],
      [target, client],
    ] as const) {
      open.add(end);
      end.setNoDelay(true);
      end.on('error', () => {});
      end.on('close', () => {
        open.delete(end);
        other.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    counts,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}
