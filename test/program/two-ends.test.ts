import { once } from 'node:events';
import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { definePlugin, type StartedServices } from '../../src/plugin/index.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { begin, open, REFRESHED } from '../live/live.ts';
import { openProgram } from '../support/program.ts';

/** A service whose answers for one path come only once they are released. */
async function openGated(path: string) {
  const sandbox = createSandbox();
  const { url } = await sandbox.listen();
  const released = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const gate = createServer(async (request, response) => {
    if (request.url?.startsWith(path)) {
      arrived.resolve();
      await released.promise;
    }
    const passed = ask(new URL(request.url ?? '/', url), { headers: request.headers });
    const [answer] = await once(passed.end(), 'response');
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  await once(gate.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(gate.address() as AddressInfo).port}`,
    arrived: arrived.promise,
    release: () => released.resolve(),
    connections: () => new Promise<number>((resolve) => gate.getConnections((_, count) => resolve(count))),
    async [Symbol.asyncDispose]() {
      gate.closeAllConnections();
      gate.close();
      await sandbox.close();
    },
  };
}

const request = (body: object) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: 'Bearer demo-team' },
  search: '',
  body,
  signal: new AbortController().signal,
});

it('a stop has two instants: subscribers leave first, and connections to the service are closed last', async () => {
  await using service = await openGated('/v1/indicators');
  const log: string[] = [];
  let gateway: StartedServices | undefined;
  const ends = definePlugin({
    name: 'ends',
    settings: {},
    open: () => ({
      start(composed) {
        gateway = composed;
      },
      async beforeStop() {
        const answer = await gateway?.handle(request({ query: '{ sources { key } }' }));
        log.push(`a call was answered by ${answer?.status}`);
      },
      async close() {
        await expect.poll(service.connections).toBe(0);
        log.push('connections are closed');
      },
    }),
  });
  const program = await openProgram({
    upstreamUrl: service.url,
    env: { SUBSCRIPTIONS: 'on' },
    plugins: [ends],
  });
  const client = open(program, 'ws', { onClosed: (code) => void log.push(`the subscriber left by ${code}`) });
  await begin(program, () => client.subscribe({ query: REFRESHED }));
  const underWay = program.ask('{ indicators { key } }', { key: 'demo-team' });
  await service.arrived;
  const drained = program.drain();
  await expect
    .poll(() => log.toSorted())
    .toEqual(['a call was answered by 200', 'the subscriber left by 1012']);
  service.release();
  expect((await underWay).data.indicators).not.toEqual([]);
  await drained;
  expect(log[2]).toBe('connections are closed');
});
