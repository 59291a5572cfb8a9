import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { hasProgram } from '../support/programs.ts';
import { startVarnish } from '../support/varnish.ts';
import { openAddresses } from './tagged.ts';

/** Varnish holds every answer with a tag, and asks again each time whether it is still the same. */
const revalidating = (port: number) => `vcl 4.1;
backend gateway { .host = "127.0.0.1"; .port = "${port}"; }
sub vcl_recv { return (hash); }
sub vcl_hash { hash_data(req.http.authorization); }
sub vcl_backend_response {
  set beresp.http.x-was-304 = beresp.was_304;
  set beresp.ttl = 0.001ms;
  set beresp.grace = 0s;
  set beresp.keep = 1h;
  return (deliver);
}
`;

const TOLD = ['content-type', 'etag', 'vary', 'content-encoding', 'x-content-type-options'];

describe.skipIf(!hasProgram('varnishd', '-V'))('a Varnish that revalidates', () => {
  it.for(['identity', 'gzip'])(
    'answers by a 304 of each tagged address as the gateway does (%s)',
    async (encoding) => {
      await using program = await openAddresses();
      const port = await freePort();
      const gatewayPort = Number(new URL(program.url).port);
      await using varnish = await startVarnish(gatewayPort, port, '', revalidating(gatewayPort));
      const seen: Record<string, string> = {};
      for (const path of program.paths) {
        const ask = async (origin: string) => {
          const { statusCode, headers, body } = await request(origin + path, {
            headers: { ...program.headers, host: new URL(program.url).host, 'accept-encoding': encoding },
          });
          return {
            was304: headers['x-was-304'],
            told: [statusCode, ...TOLD.map((name) => headers[name])],
            bytes: Buffer.from(await body.bytes()),
          };
        };
        const own = await ask(program.origin);
        if (own.told[2] === undefined) continue;
        await ask(varnish.url);
        const again = await ask(varnish.url);
        seen[path] = String(again.was304);
        expect([path, ...again.told]).toEqual([path, ...own.told]);
        if (!path.startsWith('/graphql')) expect(again.bytes.equals(own.bytes)).toBe(true);
      }
      expect(new Set(Object.values(seen))).toEqual(new Set(['true']));
      expect(Object.keys(seen).length).toBeGreaterThan(10);
    },
  );
});
