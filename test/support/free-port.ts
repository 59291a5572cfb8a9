import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A free port on loopback. */
export async function freePort(): Promise<number> {
  const { port, release } = await reservedPort();
  await release();
  return port;
}

/** A port on loopback that nobody else is given before it is released: for one that is named long before it is used. */
export async function reservedPort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, release: () => new Promise<void>((resolve) => server.close(() => resolve())) };
}
