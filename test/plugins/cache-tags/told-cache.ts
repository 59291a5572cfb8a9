import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** A cache that is told what to drop. */
export async function openCache(status = 200) {
  const purges: { readonly authorization: unknown; readonly header: unknown; readonly body: unknown }[] = [];
  const server = createServer(async (request, response) => {
    const { authorization, 'surrogate-key': header } = request.headers;
    purges.push({ authorization, header, body: await json(request) });
    response.writeHead(status).end();
    server.emit('purged');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/purge`,
    purges,
    purged: () => once(server, 'purged'),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
