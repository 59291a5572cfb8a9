import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from './free-port.ts';

/** The configuration of `docs/federation.md`: responses by key, tagged by `Surrogate-Key`, and purges by tag. */
const configOf = (port: number) => `vcl 4.1;
import xkey;
backend gateway { .host = "127.0.0.1"; .port = "${port}"; }
sub vcl_recv {
  if (req.method == "POST" && req.url == "/purge") {
    set req.http.x-dropped = xkey.purge(req.http.surrogate-key);
    return (synth(200));
  }
  if (req.method == "GET") { return (hash); }
  return (pass);
}
sub vcl_hash { hash_data(req.http.authorization); }
sub vcl_backend_response {
  if (beresp.http.cache-control ~ "max-age") {
    set beresp.http.xkey = beresp.http.surrogate-key;
    return (deliver);
  }
}
sub vcl_deliver {
  if (obj.hits > 0) { set resp.http.x-cache = "HIT"; } else { set resp.http.x-cache = "MISS"; }
}
`;

/** A Varnish with xkey in a separate process, in front of a gateway on a local port. */
export async function startVarnish(gatewayPort: number, port: number) {
  const folder = await mkdtemp(join(tmpdir(), 'country-graph-varnish-'));
  const file = join(folder, 'default.vcl');
  await writeFile(file, configOf(gatewayPort));
  const managing = `127.0.0.1:${await freePort()}`;
  const args = [
    '-j',
    'none',
    '-F',
    '-a',
    `127.0.0.1:${port}`,
    '-T',
    managing,
    '-f',
    file,
    '-n',
    join(folder, 'work'),
    '-s',
    'malloc,32m',
  ];
  const child = spawn('varnishd', args, { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  while (child.exitCode === null) {
    const ready = await fetch(`${url}/health/live`).catch(() => null);
    if (ready?.status === 200) break;
    await pause(50);
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
