import { readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { startFront } from './front.ts';

const CONFIG = new URL('../../docker/varnish/default.vcl', import.meta.url);

/** As operators make it their own. */
const configOf = (port: number, purgeKey: string) =>
  readFileSync(CONFIG, 'utf8').replace('"4000"', `"${port}"`).replace('your-purge-key', purgeKey);

/** A Varnish with xkey in a separate process, in front of a gateway on a local port. */
export async function startVarnish(
  gatewayPort: number,
  port: number,
  purgeKey: string,
  config = configOf(gatewayPort, purgeKey),
) {
  const folder = await mkdtemp(join(tmpdir(), 'country-graph-varnish-'));
  const file = join(folder, 'default.vcl');
  await writeFile(file, config);
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
  return startFront('varnishd', args, port, folder);
}
