import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { openProgram, type Program } from '../support/program.ts';
import { roundTrips } from '../support/quiet.ts';

const ROWS =
  '{ observations(metricKeys: ["population_total", "gdp_current_usd"]) { id value year unit record } }';
const PARTS =
  '{ countries { code ... @defer { observations(metricKeys: ["population_total"]) { id value } } } }';

const CODES = ['KE', 'NG', 'GH'];
const subscribing = CODES.map((code, id) => ({
  id: String(id),
  type: 'subscribe',
  payload: {
    query: `subscription { observationsChanged(countryCodes: ["${code}"], metricKeys: ["population_total"]) { observation { value } } }`,
  },
}));

const post = (accept: string, query: string) => {
  const body = JSON.stringify({ query });
  return `POST /graphql HTTP/1.1\r\nhost: a\r\nauthorization: Bearer demo-team\r\ncontent-type: application/json\r\n${accept}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
};
const UPGRADE =
  'GET /graphql HTTP/1.1\r\nhost: a\r\nauthorization: Bearer demo-team\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: graphql-transport-ws\r\n\r\n';

/** A frame of a client's, masked by zeros. */
function frame(message: object): Buffer {
  const text = Buffer.from(JSON.stringify(message));
  const length = text.length < 126 ? [0x80 | text.length] : [0xfe, text.length >> 8, text.length & 255];
  return Buffer.concat([Buffer.from([0x81, ...length]), Buffer.alloc(4), text]);
}

/** Sends something, and resets the connection as soon as the first bytes of an answer are there. */
async function left({ url }: Program, sent: string, more: (socket: Socket) => void = () => {}) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.write(sent);
  await new Promise((resolve) => socket.once('data', resolve));
  more(socket);
  socket.pause();
  socket.resetAndDestroy();
}

it.each(['', 'accept-encoding: gzip', 'accept-encoding: br'])(
  'a client that resets its connection is no problem of ours (%s)',
  async (coding) => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:', SUBSCRIPTIONS: 'on' } });
    await program.ask(ROWS);
    const types = [
      'application/json',
      'text/csv',
      'application/vnd.apache.arrow.stream',
      'application/x-ndjson',
    ];
    for (const type of types) await left(program, post(`accept: ${type}\r\n${coding || 'dnt: 1'}`, ROWS));
    await left(program, post(`accept: multipart/mixed\r\n${coding || 'dnt: 1'}`, PARTS));
    for (let times = 0; times < 5; times += 1)
      await left(program, UPGRADE, (socket) => {
        socket.write(
          Buffer.concat([{ type: 'connection_init' }, ...subscribing, { type: 'ping' }].map(frame)),
        );
      });
    // Whoever asks next is answered, once all that was left has been noticed.
    await expect.poll(async () => (await program.ask('{ health { status } }')).status).toBe(200);
    await roundTrips(program);
    expect(program.problems).toEqual([]);
  },
);
