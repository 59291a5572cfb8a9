import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { METRIC } from './service.ts';

/** Opens a subscription to all figures of a metric, and never reads from its socket. */
export async function subscribeWithoutReading(url: string, key: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  const changes =
    'changes { observation { id value unit source { key } country { code name } indicator { key name } } }';
  const query = `subscription { observationsChanged(metricKeys: ["${METRIC}"], latest: false, since: "0") { ${changes} } }`;
  const body = JSON.stringify({ query });
  socket.write(
    `POST /graphql/stream HTTP/1.1\r\nhost: ${hostname}\r\naccept: text/event-stream\r\ncontent-type: application/json\r\n` +
      `authorization: Bearer ${key}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  socket.pause();
  socket.on('error', () => {});
  return socket;
}

/** Opens subscriptions that get no changes, each on a separate connection. Returns a function that closes them. */
export function subscribeIdly(url: string, key: string, count: number): () => void {
  const clients = Array.from({ length: count }, () => {
    const client = createClient({
      url: url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${key}` },
    });
    client.subscribe(
      {
        query: `subscription { observationsChanged(countryCodes: ["KE"], metricKeys: ["${METRIC}"], latest: true) { revision } }`,
      },
      { next() {}, error() {}, complete() {} },
    );
    return client;
  });
  return () => {
    for (const client of clients) void Promise.resolve(client.dispose()).catch(() => {});
  };
}
